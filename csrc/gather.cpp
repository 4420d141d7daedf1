// Gather kernels: indices to byte offsets, and the loops that move what the offsets say.
//
// Compiled once per level; no standard header with code in it may come in here (ARCHITECTURE.md, Levels).
#include <cstring>

#include "kernels.hpp"
#include "simd/intrinsics.hpp"
#include "simd/prefetch.hpp"
#include "simd/stream.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

using std::byte;
using std::int64_t;
using std::intptr_t;
using std::size_t;
using std::uint64_t;
using std::uint8_t;

#include "simd/gather_lanes.hpp"

constexpr int64_t kLargest = INT64_MAX;

void ramp(int64_t* offsets, size_t count, size_t first, size_t row, int64_t base, int64_t row_step, int64_t item_step) {
    if (row_step == 0 && item_step == 0) {
        for (size_t i = 0; i < count; ++i) offsets[i] = base;
        return;
    }
    for (size_t i = 0, j = first; i < count; j = 0, base += row_step) {
        const size_t end = count - i < row - j ? count - i : row - j;
        const int64_t start = base + static_cast<int64_t>(j) * item_step;
        for (size_t k = 0; k < end; ++k) offsets[i + k] = start + static_cast<int64_t>(k) * item_step;
        i += end;
    }
}

// An index as int64; those of 2**63 and more become 2**63 - 1, which is out of range for every axis too.
template <class T>
inline int64_t load(const byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    if constexpr (sizeof(T) == 8 && T(-1) > T(0))
        return v > static_cast<uint64_t>(kLargest) ? kLargest : static_cast<int64_t>(v);
    else
        return static_cast<int64_t>(v);
}

template <class T>
inline int64_t from_end(int64_t v, int64_t n) {
    if constexpr (T(-1) < T(0)) v += (v >> 63) & n;
    return v;
}

// Negative exactly when v is not in [0, n): one OR collects a whole block.
inline int64_t outside(int64_t v, int64_t n) {
    return static_cast<int64_t>(static_cast<uint64_t>(v) | (static_cast<uint64_t>(n - 1) - static_cast<uint64_t>(v)));
}

// before + v * step, where v may be anything: an index that is out of range leads to a number that is not used.
inline int64_t plus_times(int64_t before, int64_t v, int64_t step) {
    return static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(v) * static_cast<uint64_t>(step));
}

// The indices [i, count).  `stride` is a constant in the calls for contiguous indices, which lets the compiler use
// whole vectors.
template <class T, Bounds bounds, bool add>
inline bool put_from(size_t i, const IndexRun& run, intptr_t stride, int64_t* offsets, uint8_t* bad) {
    const byte* p = run.source;
    const int64_t n = run.n, step = run.step, base = run.base, slope = run.ramp;
    const size_t count = run.count;  // a copy: `offsets` might alias `run`
    int64_t any = 0;
    for (; i < count; ++i) {
        int64_t v = from_end<T>(load<T>(p + static_cast<intptr_t>(i) * stride), n);
        if constexpr (bounds == Bounds::clip) {
            v = v > n - 1 ? n - 1 : v;
            v = v < 0 ? 0 : v;
        } else {
            const int64_t out = outside(v, n);
            any |= out;
            if constexpr (bounds == Bounds::fill) {
                const int64_t mask = out >> 63;
                v &= ~mask;
                bad[i] |= static_cast<uint8_t>(mask & 1);
            }
        }
        offsets[i] = plus_times(add ? offsets[i] : base + static_cast<int64_t>(i) * slope, v, step);
    }
    return any < 0;
}

#ifdef REMAPND_LANES
// The same, lanes at a time; `spaced` unless the indices are contiguous.  `narrow`: an index in range and `step` are less
// than 2**31, so that one cheap product is enough.
template <class T, Bounds bounds, bool add, bool narrow, bool spaced>
inline bool put_lanes(const IndexRun& run, int64_t* offsets, uint8_t* bad) {
    const byte* p = run.source;
    const size_t count = run.count;
    const Lanes n = Lanes::all(run.n), last = Lanes::all(run.n - 1), step = Lanes::all(run.step);
    Lanes any = Lanes::all(0);
    int64_t ramp_of_first[Lanes::count];
    for (size_t k = 0; k < Lanes::count; ++k) ramp_of_first[k] = plus_times(run.base, static_cast<int64_t>(k), run.ramp);
    Lanes ramp = Lanes::load(ramp_of_first);
    const Lanes ramp_step = Lanes::all(plus_times(0, Lanes::count, run.ramp));
    size_t i = 0;
    for (; i + Lanes::count <= count; i += Lanes::count) {
        Lanes v;
        if constexpr (spaced)
            v = load_spaced<T>(p + static_cast<intptr_t>(i) * run.stride, run.stride);
        else
            v = load_indices<T>(p + i * sizeof(T));
        if constexpr (T(-1) < T(0)) v = v + (v.negative() & n);
        if constexpr (bounds == Bounds::clip) {
            // An unsigned one of 2**63 and more looks negative, but is the largest.
            if constexpr (sizeof(T) == 8 && T(-1) > T(0)) v = v.without(v.negative()) | (last & v.negative());
            const Lanes over = (last - v).negative().without(v.negative());
            v = v.without(over | v.negative()) | (last & over);
        } else {
            const Lanes out = v | (last - v);
            any = any | out;
            if constexpr (bounds == Bounds::fill) {
                v = v.without(out.negative());
                if (unsigned left = out.negatives())
                    for (size_t k = i; left; ++k, left >>= 1) bad[k] |= static_cast<uint8_t>(left & 1);
            }
        }
        const Lanes product = narrow ? Lanes::times_narrow(v, step) : Lanes::times(v, step);
        ((add ? Lanes::load(offsets + i) : ramp) + product).store(offsets + i);
        if constexpr (!add) ramp = ramp + ramp_step;
    }
    const bool outside = any.negatives() != 0;
    return put_from<T, bounds, add>(i, run, spaced ? run.stride : intptr_t(sizeof(T)), offsets, bad) || outside;
}
#endif

template <class T, Bounds bounds, bool add>
inline bool put_with(const IndexRun& run, int64_t* offsets, uint8_t* bad) {
#ifdef REMAPND_LANES
    constexpr int64_t narrow = int64_t{1} << 31;
    const bool contiguous = run.stride == static_cast<intptr_t>(sizeof(T));
    if (run.n <= narrow && -narrow <= run.step && run.step < narrow)
        return contiguous ? put_lanes<T, bounds, add, true, false>(run, offsets, bad)
                          : put_lanes<T, bounds, add, true, true>(run, offsets, bad);
    return contiguous ? put_lanes<T, bounds, add, false, false>(run, offsets, bad)
                      : put_lanes<T, bounds, add, false, true>(run, offsets, bad);
#else
    if (run.stride == static_cast<intptr_t>(sizeof(T))) return put_from<T, bounds, add>(0, run, sizeof(T), offsets, bad);
    return put_from<T, bounds, add>(0, run, run.stride, offsets, bad);
#endif
}

template <class T, Bounds bounds>
inline bool put(const IndexRun& run, int64_t* offsets, uint8_t* bad) {
    return run.add ? put_with<T, bounds, true>(run, offsets, bad) : put_with<T, bounds, false>(run, offsets, bad);
}

#ifdef REMAPND_LANE_PAIRS
// Offsets of contiguous pairs of components, lanes at a time.  scatter_nd, float32 add of 1 million items at pairs of int64: 2.7 ms
// component after component, 2.4 so (AMD EPYC, 2026-11).
template <class T>
bool put_pairs(const IndexRun& first, const IndexRun& second, int64_t* offsets) {
    const IndexRun x = first, y = second;  // copies: `offsets` might alias them
    const Lanes nx = Lanes::all(x.n), ny = Lanes::all(y.n), last_x = Lanes::all(x.n - 1), last_y = Lanes::all(y.n - 1);
    const Lanes step_x = Lanes::all(x.step), step_y = Lanes::all(y.step);
    int64_t ramp_of_first[Lanes::count];
    for (size_t k = 0; k < Lanes::count; ++k) ramp_of_first[k] = plus_times(x.base, static_cast<int64_t>(k), x.ramp);
    Lanes any = Lanes::all(0), ramp = Lanes::load(ramp_of_first);
    const Lanes ramp_step = Lanes::all(plus_times(0, Lanes::count, x.ramp));
    size_t i = 0;
    for (; i + Lanes::count <= x.count; i += Lanes::count) {
        const LanePairs pairs(x.source + i * 2 * sizeof(T), T());
        const Lanes u = pairs.first + (pairs.first.negative() & nx), v = pairs.second + (pairs.second.negative() & ny);
        any = any | u | (last_x - u) | v | (last_y - v);
        const Lanes sum = Lanes::times_narrow(u, step_x) + Lanes::times_narrow(v, step_y);
        (LanePairs::in_order(sum) + ramp).store(offsets + i);
        ramp = ramp + ramp_step;
    }
    const bool x_outside = put_from<T, Bounds::raise, false>(i, x, 2 * sizeof(T), offsets, nullptr);
    const bool y_outside = put_from<T, Bounds::raise, true>(i, y, 2 * sizeof(T), offsets, nullptr);
    return any.negatives() != 0 || x_outside || y_outside;
}
#define REMAPND_PUT_PAIRS(T) put_pairs<T>
#else
#define REMAPND_PUT_PAIRS(T) nullptr
#endif

// The index modulo n, whatever its size.
template <class T>
void put_wrapped(const IndexRun& run, int64_t* offsets) {
    for (size_t i = 0; i < run.count; ++i) {
        T t;
        std::memcpy(&t, run.source + static_cast<intptr_t>(i) * run.stride, sizeof t);
        int64_t v;
        if constexpr (T(-1) > T(0)) {
            v = static_cast<int64_t>(static_cast<uint64_t>(t) % static_cast<uint64_t>(run.n));
        } else {
            v = static_cast<int64_t>(t) % run.n;
            v += (v >> 63) & run.n;
        }
        offsets[i] = (run.add ? offsets[i] : run.base + static_cast<int64_t>(i) * run.ramp) + v * run.step;
    }
}

template <class T>
bool all_inside(const IndexRun& run) {
    int64_t any = 0;
    for (size_t i = 0; i < run.count; ++i)
        any |= outside(from_end<T>(load<T>(run.source + static_cast<intptr_t>(i) * run.stride), run.n), run.n);
    return any >= 0;
}

template <class T>
bool put_indices(const IndexRun& run, Bounds bounds, int64_t* offsets, uint8_t* bad) {
    switch (bounds) {
        case Bounds::raise:
            return put<T, Bounds::raise>(run, offsets, bad);
        case Bounds::fill:
            return put<T, Bounds::fill>(run, offsets, bad);
        case Bounds::clip:
            if (run.n == 0) return run.count > 0;
            return put<T, Bounds::clip>(run, offsets, bad);
        case Bounds::wrap:
            if (run.n == 0) return run.count > 0;
            break;
    }
    // A division for each index is needed only where one is outside.  An index that changes between the two readings
    // is the reason to clip here.
    if (all_inside<T>(run))
        put<T, Bounds::clip>(run, offsets, bad);
    else
        put_wrapped<T>(run, offsets);
    return false;
}

// ---- Moving: a Copy moves one run.

// Indices looked ahead where data is far, and bytes of a run that are asked for: 20,000 rows of 256 bytes out of 12.8 MB
// took 0.36 ms without and 0.24 ms with it; 200,000 rows of 64 bytes out of as many 2.0, 2.4 and 1.6 ms with 8 ahead, 1.6, 1.4
// and 1.3 with 16, in turn (AMD EPYC, 2026-11).
constexpr size_t kAhead = 8, kAheadItems = 32, kAheadBytes = 512, kShortRun = 128;

template <size_t N>
struct Fixed {
    explicit Fixed(size_t) {}
    void operator()(byte* to, const byte* from) const { std::memcpy(to, from, N); }
};

// N <= run <= 2 * N: two copies that overlap.
template <size_t N>
struct Twice {
    size_t last;
    explicit Twice(size_t run) : last(run - N) {}
    void operator()(byte* to, const byte* from) const {
        byte a[N], b[N];
        std::memcpy(a, from, N);
        std::memcpy(b, from + last, N);
        std::memcpy(to, a, N);
        std::memcpy(to + last, b, N);
    }
};

// run > 64: whole lines, the last one overlapping the one before.
struct Lines {
    size_t last;
    explicit Lines(size_t run) : last(run - 64) {}
    void operator()(byte* to, const byte* from) const {
        for (size_t k = 0; k < last; k += 64) std::memcpy(to + k, from + k, 64);
        std::memcpy(to + last, from + last, 64);
    }
};

struct Any {
    size_t run;
    explicit Any(size_t n) : run(n) {}
    void operator()(byte* to, const byte* from) const { std::memcpy(to, from, run); }
};

// The lines of a run, of a long one the first.  Inlined by force: GCC 12 takes a function of prefetches for one that does
// nothing, and drops its calls.
REMAPND_INLINE void ask_for(const byte* p, size_t run) {
    if (run < kAheadBytes) {
        for (size_t k = 0; k < run; k += 64) prefetch_far(p + k);
        prefetch_far(p + run - 1);
    } else {
        for (size_t k = 0; k < kAheadBytes; k += 64) prefetch_far(p + k);
        prefetch_far(p + kAheadBytes - 1);
    }
}

template <class Copy>
void move_indexed(const Move& m, Copy copy) {
    for (size_t r = 0; r < m.reps; ++r) {
        const byte* data = m.data + static_cast<intptr_t>(r) * m.rep_data;
        byte* out = m.out + static_cast<intptr_t>(r) * m.rep_out;
        size_t i = 0;
        if (m.far)
            for (const size_t ahead = m.run <= kShortRun ? 2 * kAhead : kAhead; i + ahead < m.count; ++i, out += m.out_step) {
                ask_for(data + m.offsets[i + ahead], m.run);
                copy(out, data + m.offsets[i]);
            }
        for (; i < m.count; ++i, out += m.out_step) copy(out, data + m.offsets[i]);
    }
}

// Few indices, many reps: a strided loop for each index, over as many reps as stay in the first-level cache.
template <class Copy>
void move_tall(const Move& m, Copy copy) {
    constexpr size_t tile = 128;
    for (size_t r = 0; r < m.reps; r += tile) {
        const size_t some = m.reps - r < tile ? m.reps - r : tile;
        for (size_t i = 0; i < m.count; ++i) {
            const byte* from = m.data + static_cast<intptr_t>(r) * m.rep_data + m.offsets[i];
            byte* to = m.out + static_cast<intptr_t>(r) * m.rep_out + static_cast<intptr_t>(i) * m.out_step;
            for (size_t k = 0; k < some; ++k, from += m.rep_data, to += m.rep_out) copy(to, from);
        }
    }
}

inline bool is_tall(const Move& m) { return m.count < 8 && m.reps > m.count; }

// Rows are far apart in data and side by side in out: a line of out for each index, so that neither the lines read nor
// those written leave the cache half used.
template <class Copy>
void move_rows(const Move& m, Copy copy) {
    const size_t tile = m.run < 16 ? 64 / m.run : 4;
    for (size_t r = 0; r < m.reps; ++r)
        for (size_t j = 0; j < m.rows; j += tile) {
            const size_t some = m.rows - j < tile ? m.rows - j : tile;
            const byte* data = m.data + static_cast<intptr_t>(r) * m.rep_data + static_cast<intptr_t>(j) * m.row_data;
            byte* out = m.out + static_cast<intptr_t>(r) * m.rep_out + static_cast<intptr_t>(j) * m.row_out;
            for (size_t i = 0; i < m.count; ++i, out += m.out_step) {
                const byte* from = data + m.offsets[i];
                byte* to = out;
                for (size_t k = 0; k < some; ++k, from += m.row_data, to += m.row_out) copy(to, from);
            }
        }
}

#ifdef REMAPND_STREAM
// Whether every run of out is whole units of a stream.
inline bool streams_runs(const Move& m) {
    return m.stream && m.rows == 1 &&
           (m.run | reinterpret_cast<std::uintptr_t>(m.out) | static_cast<std::uintptr_t>(m.out_step) |
            static_cast<std::uintptr_t>(m.rep_out)) %
                   Stream::unit ==
               0;
}
#endif

template <class Copy>
void move_with(const Move& m) {
    if (m.rows != 1)
        move_rows(m, Copy(m.run));
    else if (is_tall(m))
        move_tall(m, Copy(m.run));
    else
        move_indexed(m, Copy(m.run));
}

// `step` is a constant in the call for contiguous results.  Four items are read before one is written.  `known` offsets may
// be looked at.
template <size_t N, class Offset>
inline void move_items_by(byte* out, intptr_t step, const byte* data, const Offset* offsets, size_t count,
                          [[maybe_unused]] size_t known, [[maybe_unused]] bool far) {
    size_t i = 0;
    for (; i + 4 <= count; i += 4, out += 4 * step) {
        if (far && i + kAheadItems + 4 <= known)
            for (size_t k = i + kAheadItems; k < i + kAheadItems + 4; ++k) prefetch(data + offsets[k]);
        byte a[N], b[N], c[N], d[N];
        std::memcpy(a, data + offsets[i], N);
        std::memcpy(b, data + offsets[i + 1], N);
        std::memcpy(c, data + offsets[i + 2], N);
        std::memcpy(d, data + offsets[i + 3], N);
        std::memcpy(out, a, N);
        std::memcpy(out + step, b, N);
        std::memcpy(out + 2 * step, c, N);
        std::memcpy(out + 3 * step, d, N);
    }
    for (; i < count; ++i, out += step) std::memcpy(out, data + offsets[i], N);
}

template <size_t N, class Offset>
void move_items_with(const Move& m, const Offset* offsets) {
    // Results are collected in the first-level cache before they are streamed.
    constexpr size_t piece = 2048 / N;
    alignas(64) byte stage[piece * N];
    for (size_t r = 0; r < m.reps; ++r) {
        const byte* data = m.data + static_cast<intptr_t>(r) * m.rep_data;
        byte* out = m.out + static_cast<intptr_t>(r) * m.rep_out;
        if (r + 1 < m.reps) touch(data + m.rep_data, m.span);
        const bool far = m.far && !m.span;
        if (m.out_step != static_cast<intptr_t>(N)) {
            move_items_by<N>(out, m.out_step, data, offsets, m.count, m.count, far);
        } else if (!m.stream) {
            move_items_by<N>(out, N, data, offsets, m.count, m.count, far);
        } else {
            for (size_t i = 0; i < m.count; i += piece) {
                const size_t some = m.count - i < piece ? m.count - i : piece;
                move_items_by<N>(stage, N, data, offsets + i, some, m.count - i, far);
                stream_copy(out + i * N, stage, some * N);
            }
        }
    }
    if (m.stream) stream_end();
}

// Items of a size that is one load and one store.
template <size_t N>
void move_items(const Move& m) {
    if (m.rows != 1) return move_rows(m, Fixed<N>(N));
    if (is_tall(m)) return move_tall(m, Fixed<N>(N));
    if (m.narrow) return move_items_with<N>(m, m.narrow);
    move_items_with<N>(m, m.offsets);
}

void move(const Move& m) {
    switch (m.run) {
        case 1:
            return move_items<1>(m);
        case 2:
            return move_items<2>(m);
        case 3:
            return move_with<Fixed<3>>(m);
        case 4:
            return move_items<4>(m);
        case 6:
            return move_with<Fixed<6>>(m);
        case 8:
            return move_items<8>(m);
        case 12:
            return move_with<Fixed<12>>(m);
        case 16:
            return move_items<16>(m);
    }
#ifdef REMAPND_STREAM
    if (streams_runs(m)) {
        move_indexed(m, Stream(m.run));
        return stream_end();
    }
#endif
    if (m.run < 8) return move_with<Twice<4>>(m);
    if (m.run < 16) return move_with<Twice<8>>(m);
    if (m.run <= 32) return move_with<Twice<16>>(m);
    if (m.run <= 64) return move_with<Twice<32>>(m);
    if (m.run <= 1024) return move_with<Lines>(m);
    return move_with<Any>(m);
}

void fill(const Move& m, const uint8_t* bad, const byte* item, size_t itemsize) {
    for (size_t r = 0; r < m.reps; ++r)
        for (size_t i = 0; i < m.count; ++i) {
            if (!bad[i]) continue;
            byte* out = m.out + static_cast<intptr_t>(r) * m.rep_out + static_cast<intptr_t>(i) * m.out_step;
            for (size_t j = 0; j < m.rows; ++j, out += m.row_out)
                for (size_t k = 0; k < m.run; k += itemsize) std::memcpy(out + k, item, itemsize);
        }
}

}  // namespace

extern const GatherKernels gather_table;
const GatherKernels gather_table{
    ramp,
    {put_indices<std::int8_t>, put_indices<std::int16_t>, put_indices<std::int32_t>, put_indices<std::int64_t>,
     put_indices<std::uint8_t>, put_indices<std::uint16_t>, put_indices<std::uint32_t>, put_indices<std::uint64_t>},
    {nullptr, nullptr, REMAPND_PUT_PAIRS(std::int32_t), REMAPND_PUT_PAIRS(std::int64_t), nullptr, nullptr, nullptr, nullptr},
    move,
    fill,
};

}  // namespace remapnd::REMAPND_LEVEL
