// How far kernels of two rows may read, and what they ask for ahead.  Included in the namespace of a level.

// Asks for the next rows from a byte on, as far as the second-level cache: the first is too small for rows to come.  float32 RGB 1080p
// to a half took 1.44 ms with them there and takes 1.11, uint8 0.26 and 0.24 (AMD EPYC, 2026-11-30).
REMAPND_INLINE void ask_for_next(const NextRows& next, int64_t offset) {
    if (!next.a) return;
    prefetch_far(next.a + offset);
    prefetch_far(next.b + offset);
}

// How many outputs at the beginning have taps of which `values` values may be read, and results behind them.
inline int64_t readable(const PixelLerps& t, int64_t values) {
    int64_t count = t.count - 1;
    while (count > 0 && t.second[count - 1] + values > t.values) --count;
    return count > 0 ? count : 0;
}

// Pixels asked for ahead where each is on a line of its own: float32 (2160,3840,3) to 224x224, out of memory, took 0.97, 0.95
// and 0.84 ms with it and 0.98, 1.08 and 1.00 without, in turn (AMD EPYC, 2026-11).
constexpr int64_t kPixelsAhead = 16;

template <class T>
inline void ask_for_pixel(const PixelLerps& t, int64_t x, const T* a, const T* b) {
    prefetch(reinterpret_cast<const byte*>(a + t.first[x]));
    prefetch(reinterpret_cast<const byte*>(b + t.first[x]));
}
