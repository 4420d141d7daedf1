// 16-bit sums divided.  Included in the namespace of a level.
#pragma once
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4

struct ByteQuotients {
    const __m256i add, multiplier;
    const __m128i shift;

    explicit ByteQuotients(const Rounding& r)
        : add(_mm256_set1_epi16(static_cast<short>(r.add))), multiplier(_mm256_set1_epi16(static_cast<short>(r.multiplier))),
          shift(_mm_cvtsi32_si128(r.shift)) {}

    REMAPND_INLINE __m256i operator()(__m256i sums) const {
        return _mm256_srl_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(sums, add), multiplier), shift);
    }
    // The bytes of x and then y.
    static __m256i bytes(__m256i x, __m256i y) { return _mm256_permute4x64_epi64(_mm256_packus_epi16(x, y), 0xD8); }
};

#endif
