// Copies that go past the caches, for results that the last of them cannot keep: a line is then not read before it is
// written, and what the caches hold stays there.
//
// Defines REMAPND_STREAMS where the level has such stores.  Included in the namespace of a level, after simd/intrinsics.hpp.
#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_STREAMS 1

// `bytes` is a multiple of 16, `to` too.
inline void stream_units(std::byte* to, const std::byte* from, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
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

#else

inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void stream_end() {}

#endif
