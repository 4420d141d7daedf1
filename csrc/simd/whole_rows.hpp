// Both passes of a filter on bytes in 16-bit integers: rows of sums, and sums of these.
//
// Included in the namespace of a level, after simd/vectors.hpp.  Defines REMAPND_WHOLE_ROWS where the level has the
// instructions.
#ifdef REMAPND_VECTORS
#define REMAPND_WHOLE_ROWS 1

// The numerators of two taps, a byte each, side by side in every lane.
inline __m256i byte_pairs(const std::int16_t* two) {
    return _mm256_set1_epi16(static_cast<short>((two[0] & 255) | (two[1] & 255) << 8));
}

void down_short(const void* const* rows, const std::int16_t* numerators, int64_t taps, int64_t count, std::int16_t* out) {
    const auto row = [&](int64_t k) { return static_cast<const uint8_t*>(rows[k]); };
    const auto load = [](const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256i low = _mm256_setzero_si256(), high = low;  // columns 0-7 and 16-23, 8-15 and 24-31
        for (int64_t k = 0; k < taps; k += 2) {
            const __m256i x = load(row(k) + i), y = load(row(k + 1) + i), w = byte_pairs(numerators + k);
            low = _mm256_add_epi16(low, _mm256_maddubs_epi16(_mm256_unpacklo_epi8(x, y), w));
            high = _mm256_add_epi16(high, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(x, y), w));
        }
        const auto put = [&](__m256i v, int at) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + at), v); };
        put(_mm256_permute2x128_si256(low, high, 0x20), 0);
        put(_mm256_permute2x128_si256(low, high, 0x31), 16);
    }
    for (; i < count; ++i) {
        int sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += numerators[k] * row(k)[i];
        out[i] = static_cast<std::int16_t>(sum);
    }
}

// Two outputs of three or four values, two taps a step.
template <int block>
void across_short_pixels(const WholeTaps& table, const std::int16_t* row, float scale, float* out) {
    const WholeTaps t = table;  // a copy: `out` might alias it
    // the values of two neighbouring pixels side by side
    const __m256i pairs = _mm256_broadcastsi128_si256(
        block == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                   : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256 all = _mm256_set1_ps(scale);
    const auto load = [](const std::int16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    for (int64_t v = 0; 2 * v < t.outputs; ++v) {
        const std::int16_t *a = row + t.first[2 * v], *b = row + t.first[2 * v + 1], *w = t.packed + t.begin[v];
        __m256i sum = _mm256_setzero_si256();
        for (int64_t step = 0; step < t.steps[v]; ++step, a += 2 * block, b += 2 * block, w += 16) {
            const __m256i taps = _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(taps, pairs),
                                                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))));
        }
        const __m256 by = _mm256_mul_ps(_mm256_loadu_ps(t.scale + 8 * v), all);
        Vec<float>{_mm256_mul_ps(_mm256_cvtepi32_ps(sum), by)}.store(out + 2 * v * block, out + (2 * v + 1) * block);
    }
}

// Eight outputs of one value, eight taps a step.
inline void across_short_values(const WholeTaps& table, const std::int16_t* row, float scale, float* out) {
    const WholeTaps t = table;  // a copy: `out` might alias it
    const __m256 all = _mm256_set1_ps(scale);
    const auto load = [](const std::int16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    for (int64_t v = 0; 8 * v < t.outputs; ++v) {
        const int64_t* first = t.first + 8 * v;
        __m256i sum[4];  // of outputs i and i + 4
        for (__m256i& s : sum) s = _mm256_setzero_si256();
        const std::int16_t* w = t.packed + t.begin[v];
        for (int64_t step = 0; step < t.steps[v]; ++step, w += 64)
            for (int i = 0; i < 4; ++i) {
                const auto both = [](__m128i low, __m128i high) {
                    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
                };
                const __m256i taps = both(load(row + first[i] + 8 * step), load(row + first[i + 4] + 8 * step));
                sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(taps, both(load(w + 8 * i), load(w + 8 * i + 32))));
            }
        const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
        _mm256_storeu_ps(out + 8 * v, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_mul_ps(_mm256_loadu_ps(t.scale + 8 * v), all)));
    }
}

void across_short(const WholeTaps& t, int64_t block, const std::int16_t* row, float scale, float* out) {
    if (block == 1)
        across_short_values(t, row, scale, out);
    else
        block == 3 ? across_short_pixels<3>(t, row, scale, out) : across_short_pixels<4>(t, row, scale, out);
}

#endif
