// Copies that go past the caches, for results larger than the last of them: a line is then not read before it is written.
//
// Defines REMAPND_STREAM where the level has the instructions.
#pragma once
#include <cstddef>
#include <cstdint>
#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_STREAM 1
#include "intrinsics.hpp"

namespace remapnd::REMAPND_LEVEL {

// For runs that are whole units, to addresses that are; those next to each other fill lines together.
struct Stream {
    static constexpr std::size_t unit = 16;
    std::size_t run;

    explicit Stream(std::size_t n) : run(n) {}
    void operator()(std::byte* to, const std::byte* from) const {
        std::size_t k = 0;
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
        if (reinterpret_cast<std::uintptr_t>(to) % 32 && k < run) unit_to(to, from), k = unit;
        for (; k + 32 <= run; k += 32)
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to + k),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k)));
#endif
        for (; k < run; k += unit) unit_to(to + k, from + k);
    }
    static void unit_to(std::byte* to, const std::byte* from) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    // To be called before others may look at what was written.
    static void finish() { _mm_sfence(); }
};

}  // namespace remapnd::REMAPND_LEVEL
#endif
