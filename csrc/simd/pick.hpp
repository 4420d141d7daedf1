// Values picked within registers: the heart of the horizontal pass.
//
// Picker<W>::lanes is how many values a vector has (0: the level has no such instructions).  A window of one or two
// vectors is loaded from memory, and each lane of a result names the value of the window that it wants.
#pragma once
#include <cstdint>
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#include <immintrin.h>
#endif

namespace remapnd::REMAPND_LEVEL {

template <class W>
struct Picker {
    static constexpr int lanes = 0;
};

#if REMAPND_LEVEL_V3

template <>
struct Picker<float> {
    static constexpr int lanes = 8;
    using Vector = __m256;
    using Lanes = __m256i;

    static Vector load(const float* p) { return _mm256_loadu_ps(p); }
    static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm256_permutevar8x32_ps(window, n); }
    static Vector pick(Vector low, Vector high, Lanes n) {
        const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(n, 28));  // bit 3 of the number to the sign
        return _mm256_blendv_ps(pick(low, n), pick(high, n), is_high);
    }
    static Vector lerp(Vector a, Vector b, Vector w) {
        return _mm256_add_ps(a, _mm256_mul_ps(_mm256_sub_ps(b, a), w));
    }
};

#elif REMAPND_LEVEL_V4

template <>
struct Picker<float> {
    static constexpr int lanes = 16;
    using Vector = __m512;
    using Lanes = __m512i;

    static Vector load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm512_permutexvar_ps(n, window); }
    static Vector pick(Vector low, Vector high, Lanes n) { return _mm512_permutex2var_ps(low, n, high); }
    static Vector lerp(Vector a, Vector b, Vector w) {
        return _mm512_add_ps(a, _mm512_mul_ps(_mm512_sub_ps(b, a), w));
    }
};

template <>
struct Picker<double> {
    static constexpr int lanes = 8;
    using Vector = __m512d;
    using Lanes = __m512i;

    static Vector load(const double* p) { return _mm512_loadu_pd(p); }
    static void store(double* p, Vector v) { _mm512_storeu_pd(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm512_permutexvar_pd(n, window); }
    static Vector pick(Vector low, Vector high, Lanes n) { return _mm512_permutex2var_pd(low, n, high); }
    static Vector lerp(Vector a, Vector b, Vector w) {
        return _mm512_add_pd(a, _mm512_mul_pd(_mm512_sub_pd(b, a), w));
    }
};

#endif

}  // namespace remapnd::REMAPND_LEVEL
