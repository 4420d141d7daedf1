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

// n vectors of columns from i on.
template <int n>
REMAPND_INLINE void down_short_vectors(const void* const* rows, const std::int16_t* numerators, int64_t taps, int64_t i,
                                       std::int16_t* out) {
    __m256i low[n], high[n];  // columns 0-7 and 16-23, 8-15 and 24-31
    for (int j = 0; j < n; ++j) low[j] = high[j] = _mm256_setzero_si256();
    for (int64_t k = 0; k < taps; k += 2) {
        const auto *a = static_cast<const __m256i*>(rows[k]), *b = static_cast<const __m256i*>(rows[k + 1]);
        const __m256i w = byte_pairs(numerators + k);
        for (int j = 0; j < n; ++j) {
            const auto load = [&](const __m256i* row) {
                return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(reinterpret_cast<const uint8_t*>(row) + i) + j);
            };
            const __m256i x = load(a), y = load(b);
            low[j] = _mm256_add_epi16(low[j], _mm256_maddubs_epi16(_mm256_unpacklo_epi8(x, y), w));
            high[j] = _mm256_add_epi16(high[j], _mm256_maddubs_epi16(_mm256_unpackhi_epi8(x, y), w));
        }
    }
    for (int j = 0; j < n; ++j) {
        const auto put = [&](__m256i v, int at) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 32 * j + at), v); };
        put(_mm256_permute2x128_si256(low[j], high[j], 0x20), 0);
        put(_mm256_permute2x128_si256(low[j], high[j], 0x31), 16);
    }
}

void down_short(const void* const* rows, const std::int16_t* numerators, int64_t taps, int64_t count, std::int16_t* out) {
    int64_t i = 0;
    for (; i + 128 <= count; i += 128) down_short_vectors<4>(rows, numerators, taps, i, out);
    for (; i + 32 <= count; i += 32) down_short_vectors<1>(rows, numerators, taps, i, out);
    const auto row = [&](int64_t k) { return static_cast<const uint8_t*>(rows[k]); };
    for (; i < count; ++i) {
        int sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += numerators[k] * row(k)[i];
        out[i] = static_cast<std::int16_t>(sum);
    }
}

inline __m128i load_shorts(const std::int16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

inline __m256i load_shorts(const std::int16_t* low, const std::int16_t* high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_shorts(low)), load_shorts(high), 1);
}

inline Vec<float> scaled(__m256i sums, const float* scale, __m256 all) {
    return {_mm256_mul_ps(_mm256_cvtepi32_ps(sums), _mm256_mul_ps(_mm256_loadu_ps(scale), all))};
}

// Two outputs of three or four values, two taps a step; `fixed` is the number of steps, or 0.  With loops of a known number of
// steps uint8 (1080,1920,3) to (720,1280,3) took 2.16 ms, and 2.34 without (AMD EPYC, 2026-11).
template <int block, int fixed>
void across_short_pixels(const WholeTaps& table, const std::int16_t* row, float scale, float* out) {
    const WholeTaps t = table;  // a copy: `out` might alias it
    // the values of two neighbouring pixels side by side
    const __m256i pairs = _mm256_broadcastsi128_si256(
        block == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                   : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m256 all = _mm256_set1_ps(scale);
    const int64_t steps = fixed ? fixed : t.steps;
    const std::int16_t* w = t.packed;
    for (int64_t x = 0; x < t.outputs; x += 2) {
        const std::int16_t *a = row + t.first[x], *b = row + t.first[x + 1];
        __m256i sum = _mm256_setzero_si256();
        for (int64_t step = 0; step < steps; ++step, a += 2 * block, b += 2 * block, w += 16)
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(load_shorts(a, b), pairs),
                                                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))));
        scaled(sum, t.scale + 4 * x, all).store(out + x * block, out + (x + 1) * block);
    }
}

// Eight outputs of one value, eight taps a step.
void across_short_values(const WholeTaps& table, const std::int16_t* row, float scale, float* out) {
    const WholeTaps t = table;  // a copy: `out` might alias it
    const __m256 all = _mm256_set1_ps(scale);
    const std::int16_t* w = t.packed;
    for (int64_t x = 0; x < t.outputs; x += 8) {
        __m256i sum[4];  // of outputs i and i + 4
        for (__m256i& s : sum) s = _mm256_setzero_si256();
        for (int64_t step = 0; step < t.steps; ++step, w += 64)
            for (int i = 0; i < 4; ++i) {
                const __m256i taps = load_shorts(row + t.first[x + i] + 8 * step, row + t.first[x + i + 4] + 8 * step);
                sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(taps, load_shorts(w + 8 * i, w + 8 * i + 32)));
            }
        const __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
        scaled(sums, t.scale + x, all).store(out + x);
    }
}

template <int block>
void across_short_steps(const WholeTaps& t, const std::int16_t* row, float scale, float* out) {
    switch (t.steps) {
        case 1: return across_short_pixels<block, 1>(t, row, scale, out);
        case 2: return across_short_pixels<block, 2>(t, row, scale, out);
        case 3: return across_short_pixels<block, 3>(t, row, scale, out);
        case 4: return across_short_pixels<block, 4>(t, row, scale, out);
        default: return across_short_pixels<block, 0>(t, row, scale, out);
    }
}

void across_short(const WholeTaps& t, int64_t block, const std::int16_t* row, float scale, float* out) {
    if (block == 1)
        across_short_values(t, row, scale, out);
    else
        block == 3 ? across_short_steps<3>(t, row, scale, out) : across_short_steps<4>(t, row, scale, out);
}

#endif
