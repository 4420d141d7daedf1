// Copies that go past the caches, for results that the last of them cannot keep: a line is then not read before it is
// written, and what the caches hold stays there.
//
// Defines REMAPND_STREAM where the level has such stores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_STREAM 1
#include "intrinsics.hpp"
#endif

namespace remapnd::REMAPND_LEVEL {

#ifdef REMAPND_STREAM

inline void stream_16(std::byte* to, const std::byte* from) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
inline void stream_32(std::byte* to, const std::byte* from) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
#endif

// `bytes` is a multiple of 16, `to` too; units next to each other fill lines together.
inline void stream_units(std::byte* to, const std::byte* from, std::size_t bytes) {
    std::size_t k = 0;
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
    if (reinterpret_cast<std::uintptr_t>(to) % 32 && bytes) stream_16(to, from), k = 16;
    for (; k + 32 <= bytes; k += 32) stream_32(to + k, from + k);
#endif
    for (; k < bytes; k += 16) stream_16(to + k, from + k);
}

// `bytes` from `from` to `to`; parts of a line that neighbouring calls complete leave the core as one.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto odd = [&] { return reinterpret_cast<std::uintptr_t>(to); };
    while (bytes && odd() % 4) *to++ = *from++, --bytes;
    for (; bytes >= 4 && odd() % 16; to += 4, from += 4, bytes -= 4) {
        int x;
        std::memcpy(&x, from, 4);
        _mm_stream_si32(reinterpret_cast<int*>(to), x);
    }
    const std::size_t units = odd() % 16 ? 0 : bytes / 16 * 16;
    stream_units(to, from, units);
    to += units, from += units, bytes -= units;
    for (; bytes >= 4; to += 4, from += 4, bytes -= 4) {
        int x;
        std::memcpy(&x, from, 4);
        _mm_stream_si32(reinterpret_cast<int*>(to), x);
    }
    while (bytes) *to++ = *from++, --bytes;
}

// To be called before another thread may look at what was streamed.
inline void stream_end() { _mm_sfence(); }

// A copy of runs that are whole units, to addresses that are.
struct Stream {
    static constexpr std::size_t unit = 16;
    std::size_t run;

    explicit Stream(std::size_t n) : run(n) {}
    void operator()(std::byte* to, const std::byte* from) const { stream_units(to, from, run); }
};

#else

inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void stream_end() {}

#endif

}  // namespace remapnd::REMAPND_LEVEL
