// Values picked within registers: the heart of the horizontal pass.
//
// Only what the levels have instructions for is here; resample.cpp has the plain form of everything.
//
// Picker<W>::lanes is how many values a vector has (0: the level has no such instructions).  A window of one, two or four
// vectors is loaded from memory, and each lane of a result names the value of the window that it wants.
#pragma once
#include <cstdint>
#include "intrinsics.hpp"
#include "vectors.hpp"

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
    static Vector pick(Vector a, Vector b, Vector c, Vector d, Lanes n) {
        const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(n, 27));  // bit 4
        return _mm256_blendv_ps(pick(a, b, n), pick(c, d, n), is_high);
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
    static Vector pick(Vector a, Vector b, Vector c, Vector d, Lanes n) {
        return _mm512_mask_blend_ps(_mm512_test_epi32_mask(n, _mm512_set1_epi32(32)), pick(a, b, n), pick(c, d, n));
    }
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
    static Vector pick(Vector a, Vector b, Vector c, Vector d, Lanes n) {
        return _mm512_mask_blend_pd(_mm512_test_epi64_mask(n, _mm512_set1_epi64(16)), pick(a, b, n), pick(c, d, n));
    }
    static Vector lerp(Vector a, Vector b, Vector w, Vector) {
        return _mm512_add_pd(a, _mm512_mul_pd(_mm512_sub_pd(b, a), w));
    }
};

#endif

// Finished<W>::width values are stored at a time, and searched for non-finite ones (width 0: the level has no such
// instructions).  What is stored past the caches is aligned to a whole vector.
template <class W>
struct Finished {
    static constexpr int width = 0;
};

#if REMAPND_LEVEL_V3

// Words [n, n + 8) of a and b in a row.
inline __m256 join_words(__m256 a, __m256 b, int n) {
    const __m256i places = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(n));
    const __m256 in_b = _mm256_castsi256_ps(_mm256_slli_epi32(places, 28));  // bit 3 to the sign
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(a, places), _mm256_permutevar8x32_ps(b, places), in_b);
}

template <>
struct Finished<float> {
    static constexpr int width = 8;
    using Vector = __m256;
    Nonfinite any;

    void see(Vector v) { any.see({v}); }
    void put(float* out, Vector v) {
        see(v);
        _mm256_storeu_ps(out, v);
    }
    // Values [n, n + width) of a and b in a row.
    static Vector joined(Vector a, Vector b, int64_t n) { return join_words(a, b, static_cast<int>(n)); }
    static void store(float* out, Vector v) { _mm256_storeu_ps(out, v); }
    static void store_past_caches(float* out, Vector v) { _mm256_stream_ps(out, v); }
    void put_past_caches(float* out, Vector v) {
        see(v);
        store_past_caches(out, v);
    }
    bool nonfinite() const { return static_cast<bool>(any); }
    static Vector load(const float* p) { return _mm256_loadu_ps(p); }
    static Vector of(const Vec<float> (&v)[1]) { return v[0].v; }
    static Vector lerp(const float* a, const float* b, float w) {
        const Vector x = _mm256_loadu_ps(a), y = _mm256_loadu_ps(b);
        return _mm256_add_ps(x, _mm256_mul_ps(_mm256_sub_ps(y, x), _mm256_set1_ps(w)));
    }
};

template <>
struct Finished<double> {
    static constexpr int width = 4;
    using Vector = __m256d;
    __m256i any = _mm256_setzero_si256();

    void see(Vector v) {
        const __m256i exponent = _mm256_set1_epi64x(0x7ff0000000000000);
        any = _mm256_or_si256(any, _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_castpd_si256(v), exponent), exponent));
    }
    void put(double* out, Vector v) {
        see(v);
        _mm256_storeu_pd(out, v);
    }
    static Vector joined(Vector a, Vector b, int64_t n) {
        return _mm256_castps_pd(join_words(_mm256_castpd_ps(a), _mm256_castpd_ps(b), static_cast<int>(2 * n)));
    }
    static void store(double* out, Vector v) { _mm256_storeu_pd(out, v); }
    static void store_past_caches(double* out, Vector v) { _mm256_stream_pd(out, v); }
    void put_past_caches(double* out, Vector v) {
        see(v);
        store_past_caches(out, v);
    }
    bool nonfinite() const { return !_mm256_testz_si256(any, any); }
    static Vector load(const double* p) { return _mm256_loadu_pd(p); }
    static Vector lerp(const double* a, const double* b, double w) {
        const Vector x = _mm256_loadu_pd(a), y = _mm256_loadu_pd(b);
        return _mm256_add_pd(x, _mm256_mul_pd(_mm256_sub_pd(y, x), _mm256_set1_pd(w)));
    }
};

#elif REMAPND_LEVEL_V4

template <>
struct Finished<float> {
    static constexpr int width = 16;
    using Vector = __m512;
    __mmask16 any = 0;

    void see(Vector v) {
        const __m512i exponent = _mm512_set1_epi32(0x7f800000);
        any |= _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_castps_si512(v), exponent), exponent);
    }
    void put(float* out, Vector v) {
        see(v);
        _mm512_storeu_ps(out, v);
    }
    static Vector joined(Vector a, Vector b, int64_t n) {
        const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        return _mm512_permutex2var_ps(a, _mm512_add_epi32(places, _mm512_set1_epi32(static_cast<int>(n))), b);
    }
    static void store(float* out, Vector v) { _mm512_storeu_ps(out, v); }
    static void store_past_caches(float* out, Vector v) { _mm512_stream_ps(out, v); }
    void put_past_caches(float* out, Vector v) {
        see(v);
        store_past_caches(out, v);
    }
    bool nonfinite() const { return any != 0; }
    static Vector load(const float* p) { return _mm512_loadu_ps(p); }
    static Vector of(const Vec<float> (&v)[2]) {
        const __m512d low = _mm512_castpd256_pd512(_mm256_castps_pd(v[0].v));
        return _mm512_castpd_ps(_mm512_insertf64x4(low, _mm256_castps_pd(v[1].v), 1));
    }
    static Vector lerp(const float* a, const float* b, float w) {
        const Vector x = _mm512_loadu_ps(a), y = _mm512_loadu_ps(b);
        return _mm512_add_ps(x, _mm512_mul_ps(_mm512_sub_ps(y, x), _mm512_set1_ps(w)));
    }
};

template <>
struct Finished<double> {
    static constexpr int width = 8;
    using Vector = __m512d;
    __mmask8 any = 0;

    void see(Vector v) {
        const __m512i exponent = _mm512_set1_epi64(0x7ff0000000000000);
        any |= _mm512_cmpeq_epi64_mask(_mm512_and_si512(_mm512_castpd_si512(v), exponent), exponent);
    }
    void put(double* out, Vector v) {
        see(v);
        _mm512_storeu_pd(out, v);
    }
    static Vector joined(Vector a, Vector b, int64_t n) {
        const __m512i places = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm512_permutex2var_pd(a, _mm512_add_epi64(places, _mm512_set1_epi64(n)), b);
    }
    static void store(double* out, Vector v) { _mm512_storeu_pd(out, v); }
    static void store_past_caches(double* out, Vector v) { _mm512_stream_pd(out, v); }
    void put_past_caches(double* out, Vector v) {
        see(v);
        store_past_caches(out, v);
    }
    bool nonfinite() const { return any != 0; }
    static Vector load(const double* p) { return _mm512_loadu_pd(p); }
    static Vector lerp(const double* a, const double* b, double w) {
        const Vector x = _mm512_loadu_pd(a), y = _mm512_loadu_pd(b);
        return _mm512_add_pd(x, _mm512_mul_pd(_mm512_sub_pd(y, x), _mm512_set1_pd(w)));
    }
};

#endif

#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_HAS_BYTE_PICKS 1

// Bytes by their numbers in one, two or four vectors.  The shuffle picks zero for a number with the top bit set, which
// all but those of the vector get.
inline __m128i pick_bytes(__m128i window, __m128i n) { return _mm_shuffle_epi8(window, n); }
inline __m128i pick_bytes(__m128i low, __m128i high, __m128i n) {
    return _mm_or_si128(_mm_shuffle_epi8(low, _mm_add_epi8(n, _mm_set1_epi8(0x70))),
                        _mm_shuffle_epi8(high, _mm_sub_epi8(n, _mm_set1_epi8(0x10))));
}
inline __m128i pick_bytes(__m128i a, __m128i b, __m128i c, __m128i d, __m128i n) {
    const __m128i later = _mm_sub_epi8(n, _mm_set1_epi8(0x20));  // wraps to 0xe0 and more for a and b
    const auto numbers = [](__m128i from) { return _mm_adds_epu8(from, _mm_set1_epi8(0x70)); };
    return _mm_or_si128(
        _mm_or_si128(_mm_shuffle_epi8(a, numbers(n)), _mm_shuffle_epi8(b, numbers(_mm_sub_epi8(n, _mm_set1_epi8(0x10))))),
        _mm_or_si128(_mm_shuffle_epi8(c, numbers(later)),
                     _mm_shuffle_epi8(d, numbers(_mm_sub_epi8(later, _mm_set1_epi8(0x10))))));
}

// 16 of the bytes of one, two or four windows of 16.
template <int windows>
inline __m128i pick_16(const std::uint8_t* window, const std::uint8_t* place) {
    const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
    const __m128i n = load(place);
    if constexpr (windows == 1)
        return pick_bytes(load(window), n);
    else if constexpr (windows == 2)
        return pick_bytes(load(window), load(window + 16), n);
    else
        return pick_bytes(load(window), load(window + 16), load(window + 32), load(window + 48), n);
}

#endif

#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4

// What pick_16 picks by place from a, and by place + 16 from b.
template <int windows>
inline __m256i pick_32(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* place) {
    const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
    const auto load_two = [](const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); };
    if constexpr (windows == 1) {
        return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b), 1), load_two(place));
    } else {
        // Two windows are the halves of a vector, each shuffled by the numbers that it has.
        const __m256i first = _mm256_setr_m128i(_mm_setzero_si128(), _mm_set1_epi8(0x10));
        const auto picked = [&](const std::uint8_t* window, const std::uint8_t* at) {
            const __m256i n = _mm256_sub_epi8(_mm256_broadcastsi128_si256(load(at)), first);
            if constexpr (windows == 2)
                return _mm256_shuffle_epi8(load_two(window), _mm256_adds_epu8(n, _mm256_set1_epi8(0x70)));
            const __m256i m = _mm256_sub_epi8(n, _mm256_set1_epi8(0x20));
            return _mm256_or_si256(
                _mm256_shuffle_epi8(load_two(window), _mm256_adds_epu8(n, _mm256_set1_epi8(0x70))),
                _mm256_shuffle_epi8(load_two(window + 32), _mm256_adds_epu8(m, _mm256_set1_epi8(0x70))));
        };
        const __m256i from_a = picked(a, place), from_b = picked(b, place + 16);
        return _mm256_or_si256(_mm256_inserti128_si256(from_a, _mm256_castsi256_si128(from_b), 1),
                               _mm256_permute2x128_si256(from_a, from_b, 0x31));
    }
}

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
    static Vector pick(Vector a, Vector b, Vector c, Vector d, Lanes n) {
        return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(n, _mm512_set1_epi16(64)), pick(a, b, n), pick(c, d, n));
    }
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
    using Lanes = __m128i;  // the two byte numbers of each value, 0 to 63

    static Vector all(std::uint16_t v) { return _mm_set1_epi16(static_cast<short>(v)); }
    static Vector load(const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
    static void store(std::uint16_t* p, Vector v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
    static Lanes load_lanes(const std::uint8_t* p) {
        const __m128i n = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
        return _mm_add_epi16(_mm_mullo_epi16(n, _mm_set1_epi16(0x0202)), _mm_set1_epi16(0x0100));
    }
    template <class... Windows>
    static Vector pick(Windows... windows_and_lanes) {
        return pick_bytes(windows_and_lanes...);
    }
    static Vector lerp(Vector a, Vector b, Vector w, Vector one) {
        return _mm_add_epi16(_mm_mullo_epi16(a, _mm_sub_epi16(one, w)), _mm_mullo_epi16(b, w));
    }
};

#endif

#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4

// The bits of floats, picked as those are.
template <>
struct Picker<std::uint32_t> {
    using Floats = Picker<float>;
    static constexpr int lanes = Floats::lanes;
    using Lanes = Floats::Lanes;
#if REMAPND_LEVEL_V4
    using Vector = __m512i;

    static Vector all(std::uint32_t v) { return _mm512_set1_epi32(static_cast<int>(v)); }
    static Vector load(const std::uint32_t* p) { return _mm512_loadu_si512(p); }
    static void store(std::uint32_t* p, Vector v) { _mm512_storeu_si512(p, v); }
    static Vector lerp(Vector a, Vector b, Vector w, Vector one) {
        return _mm512_add_epi32(_mm512_mullo_epi32(a, _mm512_sub_epi32(one, w)), _mm512_mullo_epi32(b, w));
    }
    static __m512 floats(Vector v) { return _mm512_castsi512_ps(v); }
    static Vector bits(__m512 v) { return _mm512_castps_si512(v); }
#else
    using Vector = __m256i;

    static Vector all(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
    static Vector load(const std::uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
    static void store(std::uint32_t* p, Vector v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
    static Vector lerp(Vector a, Vector b, Vector w, Vector one) {
        return _mm256_add_epi32(_mm256_mullo_epi32(a, _mm256_sub_epi32(one, w)), _mm256_mullo_epi32(b, w));
    }
    static __m256 floats(Vector v) { return _mm256_castsi256_ps(v); }
    static Vector bits(__m256 v) { return _mm256_castps_si256(v); }
#endif
    static Lanes load_lanes(const std::uint8_t* p) { return Floats::load_lanes(p); }
    static Vector pick(Vector window, Lanes n) { return bits(Floats::pick(floats(window), n)); }
    static Vector pick(Vector low, Vector high, Lanes n) { return bits(Floats::pick(floats(low), floats(high), n)); }
    static Vector pick(Vector a, Vector b, Vector c, Vector d, Lanes n) {
        return bits(Floats::pick(floats(a), floats(b), floats(c), floats(d), n));
    }
};

#endif

}  // namespace remapnd::REMAPND_LEVEL
