// Vertical passes of filters.  Included in the namespace of a level, after simd/vectors.hpp, simd/pick.hpp and simd/prefetch.hpp.

// Columns [begin, begin + count); the sums go through out.
template <class T, class W, bool sums>
void down_chunk(const RowTaps& t, int64_t begin, int64_t count, W* out) {
    const T* c = static_cast<const T*>(t.base) + (sums ? 0 : begin);
    for (int64_t i = 0; i < count; ++i) out[i] = sums && t.taps == 0 ? W(0) : kNothing<W>;
    for (int64_t k = 0; k < t.taps; ++k) {
        const T* x = static_cast<const T*>(t.rows[k]) + begin;
        const W w = static_cast<const W*>(t.weights)[k];
        for (int64_t i = 0; i < count; ++i) {
            const W tap = Element<T, W>::load(x[i], 0);
            if constexpr (sums)
                out[i] = out[i] + w * tap;
            else
                out[i] = out[i] + w * (tap - Element<T, W>::load(c[i], 0));
        }
    }
    if constexpr (!sums)
        for (int64_t i = 0; i < count; ++i) out[i] = Element<T, W>::load(c[i], 0) + out[i];
}

#ifdef REMAPND_VECTORS
// The taps of a vertical pass; few, of a known number, stay in registers.  float32 512x512 to 1024x1024, cubic, 3 planes: 1.75 ms
// with loops over all of them and 1.70 so (AMD EPYC, 2026-11-30).
template <class T, class W, int fixed>
struct DownTaps {
    const RowTaps& t;
    const T* rows[fixed];
    Vec<W> weights[fixed];

    explicit DownTaps(const RowTaps& taps) : t(taps) {
        for (int k = 0; k < fixed; ++k) {
            rows[k] = static_cast<const T*>(t.rows[k]);
            weights[k] = Vec<W>::all(static_cast<const W*>(t.weights)[k]);
        }
    }
    int64_t count() const { return fixed; }
    const T* row(int64_t k) const { return rows[k]; }
    Vec<W> weight(int64_t k) const { return weights[k]; }
};

template <class T, class W>
struct DownTaps<T, W, 0> {
    const RowTaps& t;

    explicit DownTaps(const RowTaps& taps) : t(taps) {}
    int64_t count() const { return t.taps; }
    const T* row(int64_t k) const { return static_cast<const T*>(t.rows[k]); }
    Vec<W> weight(int64_t k) const { return Vec<W>::all(static_cast<const W*>(t.weights)[k]); }
};

// The columns of n vectors from `begin` on.  At least one tap.
template <class T, class W, bool sums, int n, int fixed>
REMAPND_INLINE void sum_vectors(const DownTaps<T, W, fixed>& taps, int64_t begin, Vec<W> (&sum)[n]) {
    using V = Vec<W>;
    V c[n];
    if constexpr (!sums)
        for (int i = 0; i < n; ++i) c[i] = V::load(static_cast<const T*>(taps.t.base) + begin + i * V::lanes);
    for (int64_t k = 0; k < taps.count(); ++k) {
        const T* x = taps.row(k) + begin;
        const V w = taps.weight(k);
        for (int i = 0; i < n; ++i) {
            const V tap = V::load(x + i * V::lanes);
            V term;
            if constexpr (sums)
                term = w * tap;
            else
                term = w * (tap - c[i]);
            sum[i] = k == 0 ? term : sum[i] + term;
        }
    }
    if constexpr (!sums)
        for (int i = 0; i < n; ++i) sum[i] = c[i] + sum[i];
}

// Asks for so many bytes of them from `begin` on, as far as the second-level cache.  float32 planes of 1080p to 224x224,
// antialiased, took 2.20 ms without and takes 1.92 so (AMD EPYC, 2026-11-30).
REMAPND_INLINE void ask_ahead(const RowsAhead& ahead, int64_t begin, int64_t bytes) {
    for (int64_t k = 0; k < ahead.count; ++k)
        for (int64_t line = 0; line < bytes; line += 64) prefetch_far(ahead.first + k * ahead.stride + begin + line);
}

// Returns how many columns it has done.
template <class T, class W, bool sums, int fixed>
int64_t down_vectors(const RowTaps& given, int64_t count, W* out) {
    const RowTaps t = given;  // a copy: `out` might alias it
    const DownTaps<T, W, fixed> taps(t);
    int64_t i = 0;
    const auto some = [&](auto vectors) {
        constexpr int n = decltype(vectors)::value;
        for (; i + n * Vec<W>::lanes <= count; i += n * Vec<W>::lanes) {
            Vec<W> sum[n];
            constexpr auto size = static_cast<int64_t>(sizeof(T));
            if constexpr (n > 1) ask_ahead(t.ahead, i * size, n * Vec<W>::lanes * size);
            sum_vectors<T, W, sums>(taps, i, sum);
            for (int j = 0; j < n; ++j) sum[j].store(out + i + j * Vec<W>::lanes);
        }
    };
    some(std::integral_constant<int, 4>());
    some(std::integral_constant<int, 1>());
    return i;
}
#endif

template <class T, class W, bool sums>
void down_form(const RowTaps& t, int64_t count, W* out) {
    int64_t i = 0;
#ifdef REMAPND_VECTORS
    switch (t.taps) {
        case 0: break;
        case kHeldTaps: i = down_vectors<T, W, sums, kHeldTaps>(t, count, out); break;
        default: i = down_vectors<T, W, sums, 0>(t, count, out); break;
    }
#endif
    for (; i < count; i += kChunk)
        down_chunk<T, W, sums>(t, i, i + kChunk < count ? kChunk : count - i, out + i);
}

template <class T, class W>
void down(const RowTaps& t, int64_t count, W* out) {
    t.base ? down_form<T, W, false>(t, count, out) : down_form<T, W, true>(t, count, out);
}

template <class T, class W>
void down_typed(const RowTaps& t, int64_t count, void* out) {
    down<T, W>(t, count, static_cast<W*>(out));
}

#ifdef REMAPND_VECTORS
#include "finish.hpp"

template <bool sums>
bool down_last_form(const RowTaps& given, int64_t count, float* out) {
    constexpr int n = 4;
    const RowTaps t = given;  // a copy: `out` might alias it
    const DownTaps<float, float, 0> taps(t);
    Nonfinite seen;
    int64_t i = 0;
    for (; t.taps > 0 && i + n * Vec<float>::lanes <= count; i += n * Vec<float>::lanes) {
        Vec<float> sum[n];
        sum_vectors<float, float, sums>(taps, i, sum);
        for (int j = 0; j < n; ++j) {
            seen.see(sum[j]);
            sum[j].store(out + i + j * Vec<float>::lanes);
        }
    }
    for (int64_t c = i; c < count; c += kChunk)
        down_chunk<float, float, sums>(t, c, c + kChunk < count ? kChunk : count - c, out + c);
    return static_cast<bool>(seen) | any_nonfinite(out + i, count - i);
}

// Of kHeldTaps taps.  float32 512x512 to 1024x1024, cubic, 3 planes: 1.62 ms with rows made before they go past the caches, 1.40 so
// (AMD EPYC, 2026-11-30).
template <bool sums>
bool down_held(const RowTaps& given, int64_t count, float* out, OpenLine* open) {
    const RowTaps t = given;
    const DownTaps<float, float, kHeldTaps> taps(t);
    const auto vector = [&taps](auto by, int64_t i) {
        using F = typename decltype(by)::type;
        Vec<float> sum[F::width / Vec<float>::lanes];
        sum_vectors<float, float, sums>(taps, i, sum);
        return F::of(sum);
    };
    return finish(count, out, open, vector, [&t, out](int64_t begin, int64_t end) {
        down_chunk<float, float, sums>(t, begin, end - begin, out + begin);
    });
}

bool down_last(const RowTaps& t, int64_t count, float* out, OpenLine* open) {
    if (t.taps == kHeldTaps) return t.base ? down_held<false>(t, count, out, open) : down_held<true>(t, count, out, open);
    return t.base ? down_last_form<false>(t, count, out) : down_last_form<true>(t, count, out);
}
#endif

// Where `out` is not finite, the sum over the taps of non-zero weight.
template <class W>
void down_careful(const RowTaps& t, int64_t count, W* out) {
    down<W, W>(t, count, out);
    if (t.base && t.taps == 0) return;
    for (int64_t i = 0; i < count; ++i) {
        if (!nonfinite(out[i])) continue;
        W sum = kNothing<W>;
        bool any = false;
        const auto add = [&](const void* row, W w) {
            if (w == 0) return;
            sum = sum + w * static_cast<const W*>(row)[i];
            any = true;
        };
        for (int64_t k = 0; k <= t.taps; ++k) {
            if (t.base && k == t.base_at) add(t.base, static_cast<W>(t.base_weight));
            if (k < t.taps) add(t.rows[k], static_cast<const W*>(t.weights)[k]);
        }
        out[i] = any ? sum : W(0);
    }
}
