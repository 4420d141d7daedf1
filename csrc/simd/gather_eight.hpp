// Eight indices at a time: read once, counted from the end where negative, checked.
//
// Included in the namespace of a level, after simd/intrinsics.hpp.
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_EIGHT 1

// An axis of 0 < n < 2**31 items, and what was found out of its range.
struct Range {
    __m256i n, last, outside;

    explicit Range(std::int64_t size) : Range(size, size) {}
    // Of the axes of both components of pairs.
    Range(std::int64_t x, std::int64_t y)
        : n(_mm256_set1_epi64x(x | static_cast<std::int64_t>(static_cast<std::uint64_t>(y) << 32))),
          last(_mm256_sub_epi32(n, _mm256_set1_epi32(1))), outside(_mm256_setzero_si256()) {}
    bool any_outside() const { return _mm256_movemask_ps(_mm256_castsi256_ps(outside)) != 0; }
};

// The indices at p, of type int32, int64, uint8 or uint16, as 32-bit lanes in [0, n), or anything in lanes that `range` takes
// note of.  Those of int64 in the order 0, 1, 4, 5, 2, 3, 6, 7.
template <class T>
REMAPND_INLINE __m256i eight_unordered(const std::byte* p, Range& range) {
    const auto* at = reinterpret_cast<const __m256i*>(p);
    __m256i v, outside;
    if constexpr (sizeof(T) == 8) {
        const __m256 a = _mm256_castsi256_ps(_mm256_loadu_si256(at)), b = _mm256_castsi256_ps(_mm256_loadu_si256(at + 1));
        v = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
        const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD));
        outside = _mm256_xor_si256(_mm256_cmpeq_epi32(high, _mm256_srai_epi32(v, 31)), _mm256_set1_epi32(-1));
    } else {
        if constexpr (sizeof(T) == 4)
            v = _mm256_loadu_si256(at);
        else if constexpr (sizeof(T) == 2)
            v = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
        else
            v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
        outside = _mm256_setzero_si256();
    }
    v = _mm256_add_epi32(v, _mm256_and_si256(_mm256_srai_epi32(v, 31), range.n));
    outside = _mm256_or_si256(outside, _mm256_or_si256(v, _mm256_sub_epi32(range.last, v)));
    range.outside = _mm256_or_si256(range.outside, outside);
    return v;
}

// The same in their order.
template <class T>
REMAPND_INLINE __m256i eight_lanes(const std::byte* p, Range& range) {
    const __m256i v = eight_unordered<T>(p, range);
    return sizeof(T) == 8 ? _mm256_permute4x64_epi64(v, 0xD8) : v;
}

// The same as numbers, in pairs: as an array of eight the compiler would send them through memory.
struct Eight {
    std::uint64_t pairs[4];

    std::size_t operator[](int k) const { return k % 2 ? pairs[k / 2] >> 32 : static_cast<std::uint32_t>(pairs[k / 2]); }
};

// False when one is out of range.
template <class T>
REMAPND_INLINE bool eight_numbers(const std::byte* p, Range& range, Eight& numbers) {
    const __m256i v = eight_lanes<T>(p, range);
    if (range.any_outside()) return false;
    const __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    numbers.pairs[0] = static_cast<std::uint64_t>(_mm_cvtsi128_si64(low));
    numbers.pairs[1] = static_cast<std::uint64_t>(_mm_extract_epi64(low, 1));
    numbers.pairs[2] = static_cast<std::uint64_t>(_mm_cvtsi128_si64(high));
    numbers.pairs[3] = static_cast<std::uint64_t>(_mm_extract_epi64(high, 1));
    return true;
}

#endif
