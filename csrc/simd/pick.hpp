// Values picked within registers: the heart of the horizontal pass.
//
// Only what the levels have instructions for is here; resample.cpp has the plain form of everything.
//
// Picker<W>::lanes is how many values a vector has (0: the level has no such instructions).  A window of one or two
// vectors is loaded from memory, and each lane of a result names the value of the window that it wants.
#pragma once
#include <cstdint>
#include "intrinsics.hpp"

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

    static Vector all(float v) { return _mm256_set1_ps(v); }
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
    static Vector lerp(Vector a, Vector b, Vector w, Vector) {
        return _mm256_add_ps(a, _mm256_mul_ps(_mm256_sub_ps(b, a), w));
    }
};

#elif REMAPND_LEVEL_V4

template <>
struct Picker<float> {
    static constexpr int lanes = 16;
    using Vector = __m512;
    using Lanes = __m512i;

    static Vector all(float v) { return _mm512_set1_ps(v); }
    static Vector load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm512_permutexvar_ps(n, window); }
    static Vector pick(Vector low, Vector high, Lanes n) { return _mm512_permutex2var_ps(low, n, high); }
    static Vector lerp(Vector a, Vector b, Vector w, Vector) {
        return _mm512_add_ps(a, _mm512_mul_ps(_mm512_sub_ps(b, a), w));
    }
};

template <>
struct Picker<double> {
    static constexpr int lanes = 8;
    using Vector = __m512d;
    using Lanes = __m512i;

    static Vector all(double v) { return _mm512_set1_pd(v); }
    static Vector load(const double* p) { return _mm512_loadu_pd(p); }
    static void store(double* p, Vector v) { _mm512_storeu_pd(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm512_permutexvar_pd(n, window); }
    static Vector pick(Vector low, Vector high, Lanes n) { return _mm512_permutex2var_pd(low, n, high); }
    static Vector lerp(Vector a, Vector b, Vector w, Vector) {
        return _mm512_add_pd(a, _mm512_mul_pd(_mm512_sub_pd(b, a), w));
    }
};

#endif

#if REMAPND_LEVEL_V4

template <>
struct Picker<std::uint16_t> {
    static constexpr int lanes = 32;
    using Vector = __m512i;
    using Lanes = __m512i;

    static Vector all(std::uint16_t v) { return _mm512_set1_epi16(static_cast<short>(v)); }
    static Vector load(const std::uint16_t* p) { return _mm512_loadu_si512(p); }
    static void store(std::uint16_t* p, Vector v) { _mm512_storeu_si512(p, v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static Vector pick(Vector window, Lanes n) { return _mm512_permutexvar_epi16(n, window); }
    static Vector pick(Vector low, Vector high, Lanes n) { return _mm512_permutex2var_epi16(low, n, high); }
    static Vector lerp(Vector a, Vector b, Vector w, Vector one) {
        return _mm512_add_epi16(_mm512_mullo_epi16(a, _mm512_sub_epi16(one, w)), _mm512_mullo_epi16(b, w));
    }
};

#elif REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3

// 128 bits: the shuffle of bytes does not cross them, and a window of their size serves 8 outputs.
template <>
struct Picker<std::uint16_t> {
    static constexpr int lanes = 8;
    using Vector = __m128i;
    using Lanes = __m128i;  // the two byte numbers of each value, 0 to 31

    static Vector all(std::uint16_t v) { return _mm_set1_epi16(static_cast<short>(v)); }
    static Vector load(const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
    static void store(std::uint16_t* p, Vector v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        const __m128i n = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
        return _mm_add_epi16(_mm_mullo_epi16(n, _mm_set1_epi16(0x0202)), _mm_set1_epi16(0x0100));
    }
    static Vector pick(Vector window, Lanes n) { return _mm_shuffle_epi8(window, n); }
    static Vector pick(Vector low, Vector high, Lanes n) {  // a byte number with the top bit set picks zero
        return _mm_or_si128(_mm_shuffle_epi8(low, _mm_add_epi8(n, _mm_set1_epi8(0x70))),
                            _mm_shuffle_epi8(high, _mm_sub_epi8(n, _mm_set1_epi8(0x10))));
    }
    static Vector lerp(Vector a, Vector b, Vector w, Vector one) {
        return _mm_add_epi16(_mm_mullo_epi16(a, _mm_sub_epi16(one, w)), _mm_mullo_epi16(b, w));
    }
};

#endif

#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_HAS_BYTE_LERPS 1

// One group of ByteLerps: 8 outputs from 16 or 32 bytes.
template <int windows>
inline __m128i lerp_bytes(const std::uint8_t* window, const std::uint8_t* pick, const std::int8_t* weight) {
    const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
    const __m128i n = load(pick), low = load(window);
    __m128i pairs;
    if constexpr (windows == 1)
        pairs = _mm_shuffle_epi8(low, n);
    else
        pairs = _mm_or_si128(_mm_shuffle_epi8(low, _mm_add_epi8(n, _mm_set1_epi8(0x70))),
                             _mm_shuffle_epi8(load(window + 16), _mm_sub_epi8(n, _mm_set1_epi8(0x10))));
    return _mm_maddubs_epi16(pairs, load(weight));
}

#endif

}  // namespace remapnd::REMAPND_LEVEL
