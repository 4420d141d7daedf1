// Copies that go past the caches, for results larger than the last of them: a line is then not read before it is written.
//
// Defines REMAPND_STREAM where the level has the instructions.
#pragma once
#include <cstddef>
#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_STREAM 1
#include <immintrin.h>

namespace remapnd::REMAPND_LEVEL {

// For runs that are whole units, to addresses that are; those next to each other fill lines together.
struct Stream {
    static constexpr std::size_t unit = 16;
    std::size_t run;

    explicit Stream(std::size_t n) : run(n) {}
    void operator()(std::byte* to, const std::byte* from) const {
        for (std::size_t k = 0; k < run; k += unit)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + k),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
    }
    // To be called before others may look at what was written.
    static void finish() { _mm_sfence(); }
};

}  // namespace remapnd::REMAPND_LEVEL
#endif
