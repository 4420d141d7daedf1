// Copies that go past the caches, for results that the last of them cannot keep: a line is then not read before it is
// written, and what the caches hold stays there.
//
// Included in the namespace of a level, after simd/intrinsics.hpp.  Where the level has no such stores these are ordinary
// copies.
#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4

// `bytes` from `from` to `to`; parts of a line that neighbouring calls complete leave the core as one.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto odd = [&] { return reinterpret_cast<std::uintptr_t>(to); };
    while (bytes && odd() % 4) *to++ = *from++, --bytes;
    for (; bytes >= 4 && odd() % 16; to += 4, from += 4, bytes -= 4) {
        int x;
        std::memcpy(&x, from, 4);
        _mm_stream_si32(reinterpret_cast<int*>(to), x);
    }
    for (; bytes >= 16; to += 16, from += 16, bytes -= 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
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
