// Both passes of an output row at once, from the two rows that it is made of.
//
// Included in the namespace of a level, after simd/pick.hpp and the operations on one value.  Defines REMAPND_TWO_ROWS where the
// level has the instructions.
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_TWO_ROWS 1

// What a pair of groups becomes in across_two_bytes.
template <int windows>
struct TwoRows {
    const ByteLerps table;
    const uint8_t *const a, *const b;
    const __m256i a_weight, b_weight, add, multiplier;
    const __m128i shift;

    TwoRows(const ByteLerps& t, const uint8_t* a_, const uint8_t* b_, uint16_t w, uint16_t one, const Rounding& r)
        : table(t), a(a_), b(b_), a_weight(_mm256_set1_epi16(static_cast<short>(one - w))),
          b_weight(_mm256_set1_epi16(static_cast<short>(w))), add(_mm256_set1_epi16(static_cast<short>(r.add))),
          multiplier(_mm256_set1_epi16(static_cast<short>(r.multiplier))), shift(_mm_cvtsi32_si128(r.shift)) {}

    __m256i across(const uint8_t* row, int64_t g) const {
        return _mm256_maddubs_epi16(pick_32<windows>(row + table.base[g], row + table.base[g + 1], table.pick + 16 * g),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table.weight + 16 * g)));
    }
    __m256i operator()(int64_t g) const {
        const __m256i sum = _mm256_add_epi16(_mm256_mullo_epi16(across(a, g), a_weight),
                                             _mm256_mullo_epi16(across(b, g), b_weight));
        return _mm256_srl_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(sum, add), multiplier), shift);
    }
};

// Returns how many groups it has done.
template <int windows>
int64_t across_two_byte_groups(const TwoRows<windows>& rows, int64_t groups, uint8_t* out) {
    const TwoRows<windows> t = rows;  // a copy: `out` might alias it
    int64_t g = 0;
    for (; g + 4 <= groups; g += 4)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * g),
                            _mm256_permute4x64_epi64(_mm256_packus_epi16(t(g), t(g + 2)), 0xD8));
    for (; g + 2 <= groups; g += 2) {
        const __m256i v = t(g);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8 * g),
                         _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
    }
    return g;
}

void across_two_bytes(const ByteLerps& t, const Lerps<uint16_t>& rest, const uint8_t* a, const uint8_t* b, uint16_t w,
                      uint16_t one, const Rounding& r, uint8_t* out) {
    const auto run = [&](auto windows) {
        return across_two_byte_groups(TwoRows<decltype(windows)::value>(t, a, b, w, one, r), rest.count / 8, out);
    };
    const int64_t groups = t.windows == 1   ? run(std::integral_constant<int, 1>())
                           : t.windows == 2 ? run(std::integral_constant<int, 2>())
                                            : run(std::integral_constant<int, 4>());
    const auto at = [&rest](const uint8_t* row, int64_t e) {
        return lerp_one<uint16_t>(row[rest.first[e]], row[rest.second[e]], rest.weight[e], rest.one);
    };
    for (int64_t e = 8 * groups; e < rest.count; ++e)
        out[e] = static_cast<uint8_t>(divided<Rule::half_up>(lerp_one<uint16_t>(at(a, e), at(b, e), w, one), r));
}

// How many outputs at the beginning have taps of which `values` values may be read, and results behind them.
inline int64_t readable(const PixelLerps& t, int64_t values) {
    int64_t count = t.count - 1;
    while (count > 0 && t.second[count - 1] * t.block + values > t.pixels * t.block) --count;
    return count > 0 ? count : 0;
}

void blend_byte_pixels(const PixelLerps& t, const uint64_t* weights, const uint8_t* a, const uint8_t* b, uint16_t w,
                       uint16_t one, const Rounding& r, uint8_t* out) {
    const auto all = [](uint16_t v) { return _mm256_set1_epi16(static_cast<short>(v)); };
    const __m256i a_weight = all(static_cast<uint16_t>(one - w)), b_weight = all(w), add = all(r.add),
                  multiplier = all(r.multiplier);
    const __m128i shift = _mm_cvtsi32_si128(r.shift);
    const bool three = t.block == 3;
    const __m256i pairs = _mm256_broadcastsi128_si256(
        three ? _mm_setr_epi8(0, 3, 1, 4, 2, 5, -1, -1, 8, 11, 9, 12, 10, 13, -1, -1)
              : _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
    const __m256i packed = _mm256_broadcastsi128_si256(
        three ? _mm_setr_epi8(0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)
              : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1));
    const auto taps = [&](const uint8_t* row, int64_t x) {
        const auto two = [&](int64_t e) {
            const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + t.first[e] * t.block));
            return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low),
                                                 reinterpret_cast<const __m64*>(row + t.first[e + 1] * t.block)));
        };
        const __m256i four = _mm256_inserti128_si256(_mm256_castsi128_si256(two(x)), two(x + 2), 1);
        return _mm256_maddubs_epi16(_mm256_shuffle_epi8(four, pairs),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + x)));
    };
    const int64_t count = readable(t, 8);
    int64_t x = 0;
    for (; x + 4 <= count; x += 4) {
        const __m256i sum = _mm256_add_epi16(_mm256_mullo_epi16(taps(a, x), a_weight), _mm256_mullo_epi16(taps(b, x), b_weight));
        const __m256i v = _mm256_srl_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(sum, add), multiplier), shift);
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(v, v), packed);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + x * t.block), _mm256_castsi256_si128(bytes));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (x + 2) * t.block), _mm256_extracti128_si256(bytes, 1));
    }
    for (; x < t.count; ++x) {
        const uint16_t first = static_cast<uint16_t>(weights[x] & 255), second = static_cast<uint16_t>(weights[x] >> 8 & 255);
        for (int64_t j = 0; j < t.block; ++j) {
            const auto at = [&](const uint8_t* row) {
                return static_cast<uint16_t>(row[t.first[x] * t.block + j] * first + row[t.second[x] * t.block + j] * second);
            };
            out[x * t.block + j] = static_cast<uint8_t>(divided<Rule::half_up>(lerp_one<uint16_t>(at(a), at(b), w, one), r));
        }
    }
}

// Pixels asked for ahead: float32 (2160,3840,3) to 224x224 took 0.42 ms without and 0.36 with it (AMD EPYC, 2026-11).
constexpr int64_t kPixelsAhead = 16;

inline __m128 load_four(const float* p) { return _mm_loadu_ps(p); }
inline __m128 load_four(const uint8_t* p) { return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_loadu_si32(p))); }
inline __m128 load_four(const uint16_t* p) {
    return _mm_cvtepi32_ps(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}

template <class T>
bool blend_pixels(const PixelLerps& t, const float* weight, const byte* a_, const byte* b_, float w, float* out) {
    const T *a = reinterpret_cast<const T*>(a_), *b = reinterpret_cast<const T*>(b_);
    const int64_t count = readable(t, 4);
    const __m256 down = _mm256_set1_ps(w);
    const auto lerp = [](__m256 x, __m256 y, __m256 by) { return _mm256_add_ps(x, _mm256_mul_ps(_mm256_sub_ps(y, x), by)); };
    const auto two = [&](const T* row, const int64_t* at) {
        return _mm256_insertf128_ps(_mm256_castps128_ps256(load_four(row + at[0] * t.block)),
                                    load_four(row + at[1] * t.block), 1);
    };
    int64_t x = 0;
    for (; x + 2 <= count; x += 2) {
        for (int64_t k = x + kPixelsAhead; k < x + kPixelsAhead + 2 && k < count; ++k) {
            prefetch(reinterpret_cast<const byte*>(a + t.first[k] * t.block));
            prefetch(reinterpret_cast<const byte*>(b + t.first[k] * t.block));
        }
        const __m256 first = lerp(two(a, t.first + x), two(b, t.first + x), down);
        const __m256 second = lerp(two(a, t.second + x), two(b, t.second + x), down);
        const __m256 by = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_broadcast_ss(weight + x * t.block)),
                                               _mm_broadcast_ss(weight + (x + 1) * t.block), 1);
        const __m256 v = lerp(first, second, by);
        _mm_storeu_ps(out + x * t.block, _mm256_castps256_ps128(v));
        _mm_storeu_ps(out + (x + 1) * t.block, _mm256_extractf128_ps(v, 1));
    }
    const auto down_at = [&](int64_t k) {
        return lerp_one(static_cast<float>(a[k]), static_cast<float>(b[k]), w, 1.0f);
    };
    for (; x < t.count; ++x)
        for (int64_t j = 0; j < t.block; ++j)
            out[x * t.block + j] = lerp_one(down_at(t.first[x] * t.block + j), down_at(t.second[x] * t.block + j),
                                            weight[x * t.block], 1.0f);
    return std::is_same_v<T, float> && any_nonfinite(out, t.count * t.block);
}

#define REMAPND_BLEND_PIXELS                                                                                  \
    {blend_pixels<uint8_t>, nullptr, blend_pixels<uint16_t>, nullptr, nullptr, nullptr, nullptr, nullptr,     \
     nullptr, nullptr, blend_pixels<float>, nullptr}

#endif
