// Both passes of a filter on bytes in 16-bit integers, across first, and rounded.
//
// Included in the namespace of a level, after simd/pick.hpp.  Defines REMAPND_BYTE_FILTERS where the level has the instructions.
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_BYTE_FILTERS 1

#include "byte_quotients.hpp"

// 32 of the weights of a pair of groups.
inline __m256i byte_weights(const ByteTaps& t, int64_t pair, int64_t step) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t.weight + 32 * (pair * t.steps + step)));
}

REMAPND_INLINE void put_groups(__m256i sums, int64_t group, uint16_t* out) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(sums));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + group), _mm256_extracti128_si256(sums, 1));
}

// The pairs of groups [begin, end).
template <int windows>
void across_byte_pairs(const ByteTaps& table, int64_t begin, int64_t end, const uint8_t* row, uint16_t* out) {
    const ByteTaps t = table;  // a copy: `out` might alias it
    for (int64_t v = begin; v < end; ++v) {
        const uint8_t *low = row + t.base[2 * v], *high = row + t.base[2 * v + 1];
        __m256i sum = _mm256_setzero_si256();
        for (int64_t k = 0; k < t.steps; ++k, low += t.step, high += t.step)
            sum = _mm256_add_epi16(sum,
                                   _mm256_maddubs_epi16(pick_32<windows>(low, high, t.pick + 32 * v), byte_weights(t, v, k)));
        put_groups(sum, t.group, out + t.place[v]);
    }
}

// Those alike, of one window and so many steps: their tables stay in registers.  uint8 RGB 1080p to 720p, antialiased, took 1.04 ms
// with the places read from memory and takes 0.84 so (AMD EPYC, 2026-11-30).
template <int steps, int group>
void across_same_byte_pairs(const ByteTaps& t, const uint8_t* row, uint16_t* out) {
    const std::int32_t* base = t.base + 2 * t.same_begin;
    const int64_t step = t.step, beside = base[1] - base[0], advance = t.same_end - t.same_begin > 1 ? base[2] - base[0] : 0;
    const __m256i pick = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t.pick + 32 * t.same_begin));
    __m256i weights[steps];
    for (int64_t k = 0; k < steps; ++k) weights[k] = byte_weights(t, t.same_begin, k);
    const uint8_t* low = row + base[0];
    uint16_t *to = out + t.place[t.same_begin], *const end = to + 2 * group * (t.same_end - t.same_begin);
    for (; to != end; to += 2 * group, low += advance) {
        const auto products = [&](int64_t k) {
            const auto half = [](const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
            const uint8_t* p = low + k * step;
            const __m256i taps = _mm256_inserti128_si256(_mm256_castsi128_si256(half(p)), half(p + beside), 1);
            return _mm256_maddubs_epi16(_mm256_shuffle_epi8(taps, pick), weights[k]);
        };
        __m256i sum = products(0);
        for (int k = 1; k < steps; ++k) sum = _mm256_add_epi16(sum, products(k));
        put_groups(sum, group, to);
    }
}

void across_bytes(const ByteTaps& t, const uint8_t* row, uint16_t* out) {
    if (t.windows == 2) return across_byte_pairs<2>(t, 0, t.pairs, row, out);
    const auto same = [&](auto steps) {
        constexpr int n = decltype(steps)::value;
        t.group == 6 ? across_same_byte_pairs<n, 6>(t, row, out) : across_same_byte_pairs<n, 8>(t, row, out);
    };
    across_byte_pairs<1>(t, 0, t.same_begin, row, out);
    switch (t.steps) {
        case 1: same(std::integral_constant<int, 1>()); break;
        case 2: same(std::integral_constant<int, 2>()); break;
        case 3: same(std::integral_constant<int, 3>()); break;
        default: across_byte_pairs<1>(t, t.same_begin, t.same_end, row, out);
    }
    across_byte_pairs<1>(t, t.same_end, t.pairs, row, out);
}

// `fixed` is the number of rows, or 0.
template <int fixed>
void divided_rows(const WeightedRows& given, int64_t columns, const Rounding& rounding, uint8_t* out) {
    constexpr int most = fixed ? fixed : 1;
    const WeightedRows s = given;  // copies: `out` might alias them
    const Rounding r = rounding;
    const ByteQuotients quotients(r);
    const uint16_t* rows[most] = {};
    __m256i weights[most] = {};
    for (int k = 0; k < fixed; ++k) {
        rows[k] = static_cast<const uint16_t*>(s.rows[k]);
        weights[k] = _mm256_set1_epi16(s.numerators[k]);
    }
    const auto term = [&](int64_t k, int64_t i) {
        const uint16_t* row = fixed ? rows[k] : static_cast<const uint16_t*>(s.rows[k]);
        const __m256i weight = fixed ? weights[k] : _mm256_set1_epi16(s.numerators[k]);
        return _mm256_mullo_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i)), weight);
    };
    const auto sixteen = [&](int64_t i) {
        __m256i sum = term(0, i);
        for (int64_t k = 1; k < (fixed ? fixed : s.count); ++k) sum = _mm256_add_epi16(sum, term(k, i));
        return quotients(sum);
    };
    const auto put = [&](int64_t i) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), ByteQuotients::bytes(sixteen(i), sixteen(i + 16)));
    };
    if (columns >= 32) {
        int64_t i = 0;
        for (; i + 32 <= columns; i += 32) put(i);
        if (i < columns) put(columns - 32);
        return;
    }
    for (int64_t i = 0; i < columns; ++i) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < s.count; ++k)
            sum += static_cast<uint32_t>(s.numerators[k]) * static_cast<const uint16_t*>(s.rows[k])[i];
        out[i] = static_cast<uint8_t>(divided<Rule::half_up>(static_cast<uint16_t>(sum), r));
    }
}

void down_divided(const WeightedRows& rows, int64_t columns, const Rounding& rounding, uint8_t* out) {
    switch (rows.count) {
        case 2: return divided_rows<2>(rows, columns, rounding, out);
        case 3: return divided_rows<3>(rows, columns, rounding, out);
        case 4: return divided_rows<4>(rows, columns, rounding, out);
        case 5: return divided_rows<5>(rows, columns, rounding, out);
        default: return divided_rows<0>(rows, columns, rounding, out);
    }
}

#endif
