// Vectors of int64 for turning indices into offsets, on the levels where they beat what the compiler makes of a loop.
//
// Defines REMAPND_LANES where there are any.  Included in the namespace of a level, after simd/intrinsics.hpp.
#if defined(REMAPND_LEVEL_V4)
#define REMAPND_LANES 1

struct Lanes {
    static constexpr std::size_t count = 8;
    __m512i v;

    static Lanes all(std::int64_t x) { return {_mm512_set1_epi64(x)}; }
    static Lanes load(const std::int64_t* p) { return {_mm512_loadu_si512(p)}; }
    void store(std::int64_t* p) const { _mm512_storeu_si512(p, v); }

    friend Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_epi64(a.v, b.v)}; }
    friend Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_epi64(a.v, b.v)}; }
    friend Lanes operator&(Lanes a, Lanes b) { return {_mm512_and_si512(a.v, b.v)}; }
    friend Lanes operator|(Lanes a, Lanes b) { return {_mm512_or_si512(a.v, b.v)}; }
    Lanes without(Lanes mask) const { return {_mm512_andnot_si512(mask.v, v)}; }
    // All ones where negative.
    Lanes negative() const { return {_mm512_srai_epi64(v, 63)}; }
    // One bit for each negative lane.
    unsigned negatives() const { return _mm512_movepi64_mask(v); }
    // Both factors lie in [-2**31, 2**31).
    static Lanes times_narrow(Lanes a, Lanes b) { return {_mm512_mul_epi32(a.v, b.v)}; }
    static Lanes times(Lanes a, Lanes b) { return {_mm512_mullo_epi64(a.v, b.v)}; }
};

// `count` indices of type T from any address.
template <class T>
inline Lanes load_indices(const std::byte* p) {
    constexpr bool is_signed = T(-1) < T(0);
    if constexpr (sizeof(T) == 1) {
        const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        return {is_signed ? _mm512_cvtepi8_epi64(x) : _mm512_cvtepu8_epi64(x)};
    } else if constexpr (sizeof(T) == 2) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return {is_signed ? _mm512_cvtepi16_epi64(x) : _mm512_cvtepu16_epi64(x)};
    } else if constexpr (sizeof(T) == 4) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return {is_signed ? _mm512_cvtepi32_epi64(x) : _mm512_cvtepu32_epi64(x)};
    } else {
        return {_mm512_loadu_si512(p)};
    }
}

inline Lanes lanes_of(const std::int64_t (&v)[8]) {
    return {_mm512_set_epi64(v[7], v[6], v[5], v[4], v[3], v[2], v[1], v[0])};
}

#elif defined(REMAPND_LEVEL_V3)
#define REMAPND_LANES 1

struct Lanes {
    static constexpr std::size_t count = 4;
    __m256i v;

    static Lanes all(std::int64_t x) { return {_mm256_set1_epi64x(x)}; }
    static Lanes load(const std::int64_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
    void store(std::int64_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

    friend Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_epi64(a.v, b.v)}; }
    friend Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_epi64(a.v, b.v)}; }
    friend Lanes operator&(Lanes a, Lanes b) { return {_mm256_and_si256(a.v, b.v)}; }
    friend Lanes operator|(Lanes a, Lanes b) { return {_mm256_or_si256(a.v, b.v)}; }
    Lanes without(Lanes mask) const { return {_mm256_andnot_si256(mask.v, v)}; }
    // All ones where negative.
    Lanes negative() const { return {_mm256_cmpgt_epi64(_mm256_setzero_si256(), v)}; }
    // One bit for each negative lane.
    unsigned negatives() const { return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(v))); }
    // Both factors lie in [-2**31, 2**31).
    static Lanes times_narrow(Lanes a, Lanes b) { return {_mm256_mul_epi32(a.v, b.v)}; }
    static Lanes times(Lanes a, Lanes b) {
        const __m256i crossed = _mm256_mullo_epi32(a.v, _mm256_shuffle_epi32(b.v, 0xB1));
        const __m256i high = _mm256_slli_epi64(_mm256_add_epi32(crossed, _mm256_srli_epi64(crossed, 32)), 32);
        return {_mm256_add_epi64(_mm256_mul_epu32(a.v, b.v), high)};
    }
};

// `count` indices of type T from any address.
template <class T>
inline Lanes load_indices(const std::byte* p) {
    constexpr bool is_signed = T(-1) < T(0);
    if constexpr (sizeof(T) == 1) {
        const __m128i x = _mm_loadu_si32(p);
        return {is_signed ? _mm256_cvtepi8_epi64(x) : _mm256_cvtepu8_epi64(x)};
    } else if constexpr (sizeof(T) == 2) {
        const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        return {is_signed ? _mm256_cvtepi16_epi64(x) : _mm256_cvtepu16_epi64(x)};
    } else if constexpr (sizeof(T) == 4) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return {is_signed ? _mm256_cvtepi32_epi64(x) : _mm256_cvtepu32_epi64(x)};
    } else {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
    }
}

inline Lanes lanes_of(const std::int64_t (&v)[4]) { return {_mm256_set_epi64x(v[3], v[2], v[1], v[0])}; }

// Both components of as many pairs of int64 or int32, in an order that in_order undoes.
#define REMAPND_LANE_PAIRS 1
struct LanePairs {
    Lanes first, second;

    explicit LanePairs(const std::byte* p, std::int64_t) {
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p) + 1);
        first.v = _mm256_unpacklo_epi64(a, b), second.v = _mm256_unpackhi_epi64(a, b);
    }
    explicit LanePairs(const std::byte* p, std::int32_t) {
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i b = _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
        first.v = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(b));
        second.v = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(b, 1));
    }
    static Lanes in_order(Lanes x) { return {_mm256_permute4x64_epi64(x.v, 0xD8)}; }
};

#endif

#ifdef REMAPND_LANES
// The same, one every `stride` bytes, such as a component of tuples.
template <class T>
inline Lanes load_spaced(const std::byte* p, std::intptr_t stride) {
    std::int64_t v[Lanes::count];
    for (std::size_t k = 0; k < Lanes::count; ++k, p += stride) {
        T t;
        std::memcpy(&t, p, sizeof t);
        v[k] = static_cast<std::int64_t>(t);
    }
    return lanes_of(v);
}
#endif
