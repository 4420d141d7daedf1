// The intrinsics of the level.
//
// With REMAPND_EMULATE_V4 the v4 kernels are compiled for v3, AVX-512 made of its instructions by SIMDe: for testing
// them on machines without.
#pragma once
#if REMAPND_LEVEL_V4 && REMAPND_EMULATE_V4
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>

// What SIMDe 0.7 lacks.
inline simde__m512i remapnd_cvtepu8_epi16(__m256i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepu8_epi16(_mm256_castsi256_si128(v))),
                                   _mm256_cvtepu8_epi16(_mm256_extracti128_si256(v, 1)), 1);
}
inline simde__m512i remapnd_cvtepu8_epi32(__m128i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepu8_epi32(v)),
                                   _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8)), 1);
}
inline simde__m512i remapnd_cvtepu8_epi64(__m128i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepu8_epi64(v)),
                                   _mm256_cvtepu8_epi64(_mm_srli_si128(v, 4)), 1);
}
inline simde__m512i remapnd_cvtepi8_epi64(__m128i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepi8_epi64(v)),
                                   _mm256_cvtepi8_epi64(_mm_srli_si128(v, 4)), 1);
}
inline simde__m512i remapnd_cvtepi16_epi64(__m128i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepi16_epi64(v)),
                                   _mm256_cvtepi16_epi64(_mm_srli_si128(v, 8)), 1);
}
inline simde__m512i remapnd_cvtepu16_epi64(__m128i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepu16_epi64(v)),
                                   _mm256_cvtepu16_epi64(_mm_srli_si128(v, 8)), 1);
}
inline simde__m512i remapnd_cvtepi32_epi64(__m256i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v))),
                                   _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)), 1);
}
inline simde__m512i remapnd_cvtepu32_epi64(__m256i v) {
    return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(_mm256_cvtepu32_epi64(_mm256_castsi256_si128(v))),
                                   _mm256_cvtepu32_epi64(_mm256_extracti128_si256(v, 1)), 1);
}
#define _mm512_cvtepi8_epi64 remapnd_cvtepi8_epi64
#define _mm512_cvtepi16_epi64 remapnd_cvtepi16_epi64
#define _mm512_cvtepu16_epi64 remapnd_cvtepu16_epi64
#define _mm512_cvtepi32_epi64 remapnd_cvtepi32_epi64
#define _mm512_cvtepu32_epi64 remapnd_cvtepu32_epi64
inline simde__m512i remapnd_srai_epi64(simde__m512i v, unsigned) {  // by 63, the only use
    return simde_mm512_movm_epi64(simde_mm512_movepi64_mask(v));
}
#define _mm512_srai_epi64 remapnd_srai_epi64
#define _mm512_stream_ps simde_mm512_store_ps
#define _mm512_stream_pd simde_mm512_store_pd
inline simde__m512 remapnd_maskz_loadu_ps(unsigned mask, const void* p) {
    float lanes[16] = {};
    for (int k = 0; k < 16; ++k)
        if (mask >> k & 1) __builtin_memcpy(lanes + k, static_cast<const char*>(p) + 4 * k, 4);
    return simde_mm512_loadu_ps(lanes);
}
#define _mm512_maskz_loadu_ps remapnd_maskz_loadu_ps
#define _mm512_cvtepu8_epi16 remapnd_cvtepu8_epi16
#define _mm512_cvtepu8_epi32 remapnd_cvtepu8_epi32
#define _mm512_cvtepu8_epi64 remapnd_cvtepu8_epi64
#elif REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own undefined vectors (PR 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

// For what is only fast as a part of its caller, where the compiler would rather call it.
#if defined(_MSC_VER)
#define REMAPND_INLINE __forceinline
#else
#define REMAPND_INLINE inline __attribute__((always_inline))
#endif
