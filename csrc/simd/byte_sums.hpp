// Vertical passes of a filter on bytes: exact sums of products with 16-bit numbers.
//
// Included in the namespace of a level, after simd/vectors.hpp.
#ifdef REMAPND_VECTORS
// Sums of bytes of an even number of rows times 16-bit numbers, in parts: row k times numbers[p][k], all that times scale[p].
template <int parts>
struct ByteSums {
    const void* const* rows;
    const std::int16_t* numbers[parts];
    float scale[parts];
    int64_t taps;
};

// Of n times 32 columns from i on those that unpacking puts low, 0-7 and 16-23, or those that it puts high.  One half after the
// other: the compiler keeps twice as many sums in memory.
template <int parts, int n, bool high>
REMAPND_INLINE void byte_sums_half(const ByteSums<parts>& s, int64_t i, float* out) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum[parts][n][2];
    for (int p = 0; p < parts; ++p)
        for (int j = 0; j < n; ++j) sum[p][j][0] = sum[p][j][1] = zero;
    for (int64_t k = 0; k < s.taps; k += 2) {
        const auto *a = static_cast<const uint8_t*>(s.rows[k]) + i, *b = static_cast<const uint8_t*>(s.rows[k + 1]) + i;
        for (int j = 0; j < n; ++j) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a) + j);
            const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b) + j);
            const __m256i pairs = high ? _mm256_unpackhi_epi8(x, y) : _mm256_unpacklo_epi8(x, y);
            const __m256i columns[2] = {_mm256_unpacklo_epi8(pairs, zero), _mm256_unpackhi_epi8(pairs, zero)};
            for (int p = 0; p < parts; ++p) {
                int two;
                std::memcpy(&two, s.numbers[p] + k, sizeof two);
                for (int l = 0; l < 2; ++l)
                    sum[p][j][l] = _mm256_add_epi32(sum[p][j][l], _mm256_madd_epi16(columns[l], _mm256_set1_epi32(two)));
            }
        }
    }
    for (int j = 0; j < n; ++j) {
        __m256 v[2];
        for (int l = 0; l < 2; ++l) {
            const auto part = [&](int p) { return _mm256_mul_ps(_mm256_cvtepi32_ps(sum[p][j][l]), _mm256_set1_ps(s.scale[p])); };
            v[l] = part(0);
            for (int p = 1; p < parts; ++p) v[l] = _mm256_add_ps(v[l], part(p));
        }
        float* to = out + i + 32 * j + (high ? 8 : 0);
        _mm256_storeu_ps(to, _mm256_permute2f128_ps(v[0], v[1], 0x20));
        _mm256_storeu_ps(to + 16, _mm256_permute2f128_ps(v[0], v[1], 0x31));
    }
}

template <int parts>
void byte_sums(const ByteSums<parts>& given, int64_t count, float* out) {
    const ByteSums<parts> s = given;  // a copy: `out` might alias it
    constexpr int n = 2 / parts;
    int64_t i = 0;
    for (; i + 32 * n <= count; i += 32 * n) {
        byte_sums_half<parts, n, false>(s, i, out);
        byte_sums_half<parts, n, true>(s, i, out);
    }
    for (; i < count; ++i) {
        float value = 0;
        for (int p = 0; p < parts; ++p) {
            int32_t sum = 0;
            for (int64_t k = 0; k < s.taps; ++k) sum += s.numbers[p][k] * static_cast<const uint8_t*>(s.rows[k])[i];
            value += static_cast<float>(sum) * s.scale[p];
        }
        out[i] = value;
    }
}

void down_bytes(const void* const* rows, const std::int16_t* numerators, int64_t taps, float scale, int64_t count,
                float* out) {
    byte_sums<1>({rows, {numerators}, {scale}, taps}, count, out);
}

void down_parts(const void* const* rows, const std::int16_t* numerators, const std::int16_t* lows, int64_t taps, float scale,
                int64_t count, float* out) {
    byte_sums<2>({rows, {numerators, lows}, {scale, 0x1p-29f}, taps}, count, out);
}

#endif
