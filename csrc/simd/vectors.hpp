// Vectors of working values with the arithmetic of filter passes, and elements of any type loaded as such.
//
// Defines REMAPND_VECTORS where the level has them: 256 bits on v3 and v4.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "half.hpp"
#include "intrinsics.hpp"

#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_VECTORS 1
#endif

namespace remapnd::REMAPND_LEVEL {

// Vec<W>::lanes values of W (0: the level has none).
template <class W>
struct Vec {
    static constexpr int lanes = 0;
};

#ifdef REMAPND_VECTORS

template <>
struct Vec<float> {
    static constexpr int lanes = 8;
    __m256 v;

    static Vec all(float x) { return {_mm256_set1_ps(x)}; }
    static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
    // Four values from each of two places.
    static Vec load(const float* low, const float* high) {
        return {_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1)};
    }
    template <class T>
    static Vec load(const T* p) {
        const auto* at = reinterpret_cast<const __m128i*>(p);
        return of<T>(sizeof(T) == 1 ? _mm_loadl_epi64(at) : _mm_loadu_si128(at));
    }
    template <class T>
    static Vec load(const T* low, const T* high) {
        const auto four = [](const T* p) {
            return sizeof(T) == 1 ? _mm_loadu_si32(p) : _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        };
        return of<T>(sizeof(T) == 1 ? _mm_unpacklo_epi32(four(low), four(high)) : _mm_unpacklo_epi64(four(low), four(high)));
    }
    // The first eight elements in x.
    template <class T>
    static Vec of(__m128i x) {
        if constexpr (std::is_same_v<T, std::uint8_t>)
            return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x))};
        else if constexpr (std::is_same_v<T, std::int8_t>)
            return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x))};
        else if constexpr (std::is_same_v<T, std::uint16_t>)
            return {_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(x))};
        else if constexpr (std::is_same_v<T, std::int16_t>)
            return {_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x))};
        else if constexpr (std::is_same_v<T, Half>)
            return {_mm256_cvtph_ps(x)};
        else if constexpr (std::is_same_v<T, BFloat>)
            return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16))};
    }
    void store(float* p) const { _mm256_storeu_ps(p, v); }
    void store(float* low, float* high) const {
        _mm_storeu_ps(low, _mm256_castps256_ps128(v));
        _mm_storeu_ps(high, _mm256_extractf128_ps(v, 1));
    }

    friend Vec operator+(Vec a, Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
    friend Vec operator-(Vec a, Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
    friend Vec operator*(Vec a, Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
    // *this where `w` is -0.0, else `other`.
    Vec unless(Vec other, Vec w) const {
        const __m256i nothing = _mm256_cmpeq_epi32(_mm256_castps_si256(w.v), _mm256_set1_epi32(INT32_MIN));
        return {_mm256_blendv_ps(other.v, v, _mm256_castsi256_ps(nothing))};
    }
    // The values of a window of 8 by their numbers.
    using Lanes = __m256i;
    static Lanes load_lanes(const std::uint8_t* p) {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    }
    Vec pick(Lanes n) const { return {_mm256_permutevar8x32_ps(v, n)}; }
};

// Whether a value of those seen is not finite: zeros times it add up to something else than zero then.  Two sums in turn, as an
// addition waits for the one before.
struct Nonfinite {
    __m256 sum = _mm256_setzero_ps(), other = _mm256_setzero_ps();

    REMAPND_INLINE void see(Vec<float> v) {
        const __m256 next = _mm256_fmadd_ps(v.v, _mm256_setzero_ps(), other);
        other = sum;
        sum = next;
    }
    explicit operator bool() const {
        const __m256 all = _mm256_add_ps(sum, other);
        return _mm256_movemask_ps(_mm256_cmp_ps(all, all, _CMP_UNORD_Q)) != 0;
    }
};

template <>
struct Vec<double> {
    static constexpr int lanes = 4;
    __m256d v;

    static Vec all(double x) { return {_mm256_set1_pd(x)}; }
    static Vec load(const double* p) { return {_mm256_loadu_pd(p)}; }
    template <class T>
    static Vec load(const T* p) {
        if constexpr (sizeof(T) == 8) {
            return {_mm256_setr_pd(static_cast<double>(static_cast<std::int64_t>(p[0])),
                                   static_cast<double>(static_cast<std::int64_t>(p[1])),
                                   static_cast<double>(static_cast<std::int64_t>(p[2])),
                                   static_cast<double>(static_cast<std::int64_t>(p[3])))};
        } else if constexpr (std::is_same_v<T, std::uint32_t>) {
            // below 2**31 in the signed conversion, and the rest back
            const __m128i x = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), _mm_set1_epi32(INT32_MIN));
            return {_mm256_add_pd(_mm256_cvtepi32_pd(x), _mm256_set1_pd(0x1p31))};
        } else {
            __m128i x;
            if constexpr (sizeof(T) == 1) {
                int four;
                std::memcpy(&four, p, 4);
                x = _mm_cvtsi32_si128(four);
            } else if constexpr (sizeof(T) == 2) {
                x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
            } else {
                x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            }
            if constexpr (std::is_same_v<T, std::uint8_t>) x = _mm_cvtepu8_epi32(x);
            if constexpr (std::is_same_v<T, std::int8_t>) x = _mm_cvtepi8_epi32(x);
            if constexpr (std::is_same_v<T, std::uint16_t>) x = _mm_cvtepu16_epi32(x);
            if constexpr (std::is_same_v<T, std::int16_t>) x = _mm_cvtepi16_epi32(x);
            return {_mm256_cvtepi32_pd(x)};
        }
    }
    void store(double* p) const { _mm256_storeu_pd(p, v); }

    friend Vec operator+(Vec a, Vec b) { return {_mm256_add_pd(a.v, b.v)}; }
    friend Vec operator-(Vec a, Vec b) { return {_mm256_sub_pd(a.v, b.v)}; }
    friend Vec operator*(Vec a, Vec b) { return {_mm256_mul_pd(a.v, b.v)}; }
    Vec unless(Vec other, Vec w) const {
        const __m256i nothing = _mm256_cmpeq_epi64(_mm256_castpd_si256(w.v), _mm256_set1_epi64x(INT64_MIN));
        return {_mm256_blendv_pd(other.v, v, _mm256_castsi256_pd(nothing))};
    }
};

// Values of a and b in turn.
REMAPND_INLINE void store_in_turn(Vec<float> a, Vec<float> b, float* out) {
    const __m256 low = _mm256_unpacklo_ps(a.v, b.v), high = _mm256_unpackhi_ps(a.v, b.v);
    _mm256_storeu_ps(out, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(out + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

// Values k .. k + 3 of eight rows, turned: lane e of turned[i] is rows[e][i].
REMAPND_INLINE void turn(const float* const* rows, std::int64_t k, Vec<float>* turned) {
    __m256 r[4];
    for (int e = 0; e < 4; ++e) r[e] = Vec<float>::load(rows[e] + k, rows[e + 4] + k).v;
    const __m256 low01 = _mm256_unpacklo_ps(r[0], r[1]), high01 = _mm256_unpackhi_ps(r[0], r[1]);
    const __m256 low23 = _mm256_unpacklo_ps(r[2], r[3]), high23 = _mm256_unpackhi_ps(r[2], r[3]);
    turned[0] = {_mm256_shuffle_ps(low01, low23, 0x44)};
    turned[1] = {_mm256_shuffle_ps(low01, low23, 0xEE)};
    turned[2] = {_mm256_shuffle_ps(high01, high23, 0x44)};
    turned[3] = {_mm256_shuffle_ps(high01, high23, 0xEE)};
}

// The same of four rows of pairs, or of doubles.
template <class W>
REMAPND_INLINE void turn_pairs(const double* const* rows, std::int64_t k, Vec<W>* turned) {
    const auto load = [&](int e, std::int64_t i) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(rows[e] + i)), _mm_loadu_pd(rows[e + 2] + i), 1);
    };
    for (int i = 0; i < 4; i += 2) {
        const __m256d r02 = load(0, k + i), r13 = load(1, k + i);
        const __m256d low = _mm256_unpacklo_pd(r02, r13), high = _mm256_unpackhi_pd(r02, r13);
        if constexpr (sizeof(W) == 8) {
            turned[i] = {low};
            turned[i + 1] = {high};
        } else {
            turned[i] = {_mm256_castpd_ps(low)};
            turned[i + 1] = {_mm256_castpd_ps(high)};
        }
    }
}

#endif

// The leading whole vectors of out[i] = floor(row[i] + add), clamped to bytes; returns how many values they hold.
inline std::int64_t floats_to_bytes(const float* row, std::int64_t count, float add, std::uint8_t* out) {
    std::int64_t i = 0;
#ifdef REMAPND_VECTORS
    const __m256 a = _mm256_set1_ps(add), most = _mm256_set1_ps(512);
    // What the conversion rounds up, numbers below zero, the packing makes zero.
    const auto load = [&](const float* p) {
        return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_add_ps(_mm256_loadu_ps(p), a), most));
    };
    for (; i + 32 <= count; i += 32) {
        const __m256i low = _mm256_packs_epi32(load(row + i), load(row + i + 8));
        const __m256i high = _mm256_packs_epi32(load(row + i + 16), load(row + i + 24));
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bytes);
    }
#else
    (void)row, (void)count, (void)add, (void)out;
#endif
    return i;
}

}  // namespace remapnd::REMAPND_LEVEL
