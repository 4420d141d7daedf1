// Scatter kernels: updates put or reduced into the places that offsets say, in their order.
//
// Compiled once per level; no standard header with code in it may come in here (ARCHITECTURE.md, Levels).
#include <cstring>

#include "kernels.hpp"
#include "simd/half.hpp"
#include "simd/intrinsics.hpp"
#include "simd/prefetch.hpp"
#include "simd/stream.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

using std::byte;
using std::int64_t;
using std::intptr_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

// ---- none: bytes

template <size_t N>
struct Fixed {
    explicit Fixed(size_t) {}
    void operator()(byte* to, const byte* from) const { std::memcpy(to, from, N); }
};

struct Any {
    size_t run;
    explicit Any(size_t n) : run(n) {}
    void operator()(byte* to, const byte* from) const { std::memcpy(to, from, run); }
};
// each(data + offsets[i], updates + i * step) for all i.  Blocks of indices are read in bursts, which the processor does not
// foresee: asking for the next block meanwhile takes a fourth off the time (float32 add, 100000 places, AMD EPYC, 2026-11).
//
// With `asks`, the places too: an update of many instructions leaves the processor few to look ahead at (float32 max of 2 million
// items, 1 million places: 8.0 ms without and 5.4 with it; add 4.2 and 4.6).
//
// each.four(data + offset, updates, step), if there is one, takes four updates of one place.
template <bool asks = false, class Each>
inline void each_update(const Scatter& s, byte* data, const byte* updates, Each each) {
    constexpr int places_ahead = 32;
    const int64_t* offset = s.offsets;
    const int64_t* const end = offset + s.count;
    const intptr_t step = s.update_step, ahead = 4 * s.soon_step, far = 256 * step;
    if (const byte* soon = s.soon)
        for (; end - offset >= 4; offset += 4, soon += ahead) {
            prefetch_once(soon);
            prefetch_once(updates + far);
            if constexpr (asks)
                if (end - offset >= places_ahead + 4)
                    for (int k = places_ahead; k < places_ahead + 4; ++k) prefetch(data + offset[k]);
            const byte* from = updates;
            updates += 4 * step;
            if constexpr (requires { each.four(data, from, step); })
                if (offset[0] == offset[3] && offset[0] == offset[1] && offset[0] == offset[2]) {
                    each.four(data + offset[0], from, step);
                    continue;
                }
            each(data + offset[0], from);
            each(data + offset[1], from + step);
            each(data + offset[2], from + 2 * step);
            each(data + offset[3], from + 3 * step);
        }
    for (; offset < end; ++offset, updates += step) each(data + *offset, updates);
}

template <class Copy>
void put_runs(const Scatter& given) {
    const Scatter s = given;  // a copy: what is written might alias `given`
    const Copy copy(s.run);
    for (size_t r = 0; r < s.reps; ++r) {
        byte* data = s.data + static_cast<intptr_t>(r) * s.rep_data;
        const byte* updates = s.updates + static_cast<intptr_t>(r) * s.rep_updates;
        each_update(s, data, updates, [&](byte* to, const byte* from) {
            for (size_t j = 0; j < s.rows; ++j, to += s.row_data, from += s.row_updates) copy(to, from);
        });
    }
}

void put(const Scatter& s) {
    switch (s.run) {
        case 1:
            return put_runs<Fixed<1>>(s);
        case 2:
            return put_runs<Fixed<2>>(s);
        case 3:
            return put_runs<Fixed<3>>(s);
        case 4:
            return put_runs<Fixed<4>>(s);
        case 8:
            return put_runs<Fixed<8>>(s);
        case 12:
            return put_runs<Fixed<12>>(s);
        case 16:
            return put_runs<Fixed<16>>(s);
        case 32:
            return put_runs<Fixed<32>>(s);
    }
    return put_runs<Any>(s);
}

// ---- Arithmetic: of(a, b) is the old value a reduced with the update b.  A NaN result is the positive quiet NaN with empty
// payload: which payload survives an operation differs between processors and compilers.

template <class F>
struct Float;
template <>
struct Float<float> {
    using Bits = uint32_t;
    static constexpr Bits sign = 0x80000000u, infinity = 0x7f800000u, quiet_nan = 0x7fc00000u;
};
template <>
struct Float<double> {
    using Bits = uint64_t;
    static constexpr Bits sign = 0x8000000000000000u, infinity = 0x7ff0000000000000u, quiet_nan = 0x7ff8000000000000u;
};

template <>
struct Float<Half> {
    using Bits = uint16_t;
    static constexpr Bits sign = 0x8000u, infinity = 0x7c00u, quiet_nan = 0x7e00u;
};
template <>
struct Float<BFloat> {
    using Bits = uint16_t;
    static constexpr Bits sign = 0x8000u, infinity = 0x7f80u, quiet_nan = 0x7fc0u;
};

template <class F>
inline F canonical(F v) {
    return v == v ? v : bit_cast<F>(Float<F>::quiet_nan);
}

template <bool large>
struct Unsigned {
    using Type = uint32_t;
};
template <>
struct Unsigned<true> {
    using Type = uint64_t;
};

// What wraps is computed without sign; small types in 32 bits, whose products do not overflow int.
template <class T, Reduction reduction>
struct Integer {
    using Item = T;
    static constexpr bool is_long = false;  // many instructions
    static T of(T a, T b) {
        using Wide = typename Unsigned<(sizeof(T) > 4)>::Type;
        if constexpr (reduction == Reduction::add) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
        if constexpr (reduction == Reduction::mul) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
        if constexpr (reduction == Reduction::min) return b < a ? b : a;
        return a < b ? b : a;
    }
};

// add is or, mul is and; whatever is not 0 is true.
template <Reduction reduction>
struct Boolean {
    using Item = uint8_t;
    static constexpr bool is_long = false;
    static uint8_t of(uint8_t a, uint8_t b) {
        if constexpr (reduction == Reduction::mul || reduction == Reduction::min)
            return static_cast<uint8_t>((a != 0) & (b != 0));
        return static_cast<uint8_t>((a | b) != 0);
    }
};

// minimum and maximum of IEEE 754-2019: NaN wins, and -0 is less than +0.  In integers, whose order tells the zeros apart, too,
// and which no branch decides: it would be foretold wrongly.  float32 max of 2 million items, 100000 places: 9.0 ms with
// branches, 4.3 so (AMD EPYC, 2026-11).
template <class F, Reduction reduction>
inline F extreme(F a, F b) {
    using Bits = typename Float<F>::Bits;
    const auto rank = [](Bits x) { return static_cast<Bits>(x & Float<F>::sign ? ~x : x | Float<F>::sign); };
    const auto is_nan = [](Bits x) { return static_cast<Bits>(x & ~Float<F>::sign) > Float<F>::infinity; };
    const Bits x = bit_cast<Bits>(a), y = bit_cast<Bits>(b);
    const Bits z = (reduction == Reduction::min ? rank(x) < rank(y) : rank(x) > rank(y)) ? x : y;
    return bit_cast<F>(is_nan(x) | is_nan(y) ? Float<F>::quiet_nan : z);
}

template <class F, Reduction reduction>
struct Real {
    using Item = F;
    static constexpr bool is_long = reduction == Reduction::min || reduction == Reduction::max;
    static F of(F a, F b) {
        if constexpr (reduction == Reduction::add) return canonical(a + b);
        if constexpr (reduction == Reduction::mul) return canonical(a * b);
        return extreme<F, reduction>(a, b);
    }
    // a reduced with all of b; a NaN made on the way stays one.
    static F canonical_last(F a, const F (&b)[4])
        requires(!is_long)
    {
        for (const F x : b) a = reduction == Reduction::add ? a + x : a * x;
        return canonical(a);
    }
};

inline float widened(Half h) { return to_float(h); }
inline float widened(BFloat b) { return to_float(b); }
inline void narrow(float f, Half& h) { h = to_half(f); }
inline void narrow(float f, BFloat& b) { b = to_bfloat(f); }

// Each sum and product is computed in float32 and rounded.
template <class T, Reduction reduction>
struct Small {
    using Item = T;
    static constexpr bool is_long = true;
    static T of(T a, T b) {
        if constexpr (reduction == Reduction::min || reduction == Reduction::max) return extreme<T, reduction>(a, b);
        T result;
        narrow(Real<float, reduction>::of(widened(a), widened(b)), result);
        return result;
    }
};

template <class F>
struct Pair {
    F re, im;
};

template <class F, Reduction reduction>
struct Complex {
    using Item = Pair<F>;
    static constexpr bool is_long = true;
    static Pair<F> of(Pair<F> a, Pair<F> b) {
        if constexpr (reduction == Reduction::add) return {canonical(a.re + b.re), canonical(a.im + b.im)};
        // Canonical products, too, for GCC 12 contracts products to be added and subtracted in turn (vfmaddsub), though it
        // was told not to.
        return {canonical(canonical(a.re * b.re) - canonical(a.im * b.im)),
                canonical(canonical(a.re * b.im) + canonical(a.im * b.re))};
    }
};

template <class Op>
inline void reduce_one(byte* to, const byte* from) {
    typename Op::Item a, b;
    std::memcpy(&a, to, sizeof a);
    std::memcpy(&b, from, sizeof b);
    a = Op::of(a, b);
    std::memcpy(to, &a, sizeof a);
}

template <class Op>
struct ReduceOne {
    using Item = typename Op::Item;

    void operator()(byte* to, const byte* from) const { reduce_one<Op>(to, from); }
    // The place is read and written once: where indices are sorted each update would wait for the one before to be in memory
    // (float32 add of 2 million items to 1000 places in turn: 11.2 ms without and 5.0 with it, int32 max 7.6 and 2.4; long updates
    // are not faster so; AMD EPYC, 2026-11).
    void four(byte* to, const byte* from, intptr_t step) const
        requires(!Op::is_long)
    {
        Item a, b[4];
        std::memcpy(&a, to, sizeof a);
        for (int k = 0; k < 4; ++k) std::memcpy(&b[k], from + k * step, sizeof a);
        if constexpr (requires { Op::canonical_last(a, b); })
            a = Op::canonical_last(a, b);
        else
            for (int k = 0; k < 4; ++k) a = Op::of(a, b[k]);
        std::memcpy(to, &a, sizeof a);
    }
};

template <class Op>
inline void reduce_run(byte* __restrict to, const byte* __restrict from, size_t run) {
    constexpr size_t size = sizeof(typename Op::Item);
    for (size_t k = 0; k < run; k += size) reduce_one<Op>(to + k, from + k);
}

template <class Op>
void reduce_items(const Scatter& given) {
    const Scatter s = given;
    for (size_t r = 0; r < s.reps; ++r) {
        byte* data = s.data + static_cast<intptr_t>(r) * s.rep_data;
        const byte* updates = s.updates + static_cast<intptr_t>(r) * s.rep_updates;
        if (Op::is_long && s.far)
            each_update<Op::is_long>(s, data, updates, ReduceOne<Op>());
        else
            each_update(s, data, updates, ReduceOne<Op>());
    }
}

template <class Op>
void reduce_rows(const Scatter& given) {
    const Scatter s = given;
    for (size_t r = 0; r < s.reps; ++r)
        for (size_t i = 0; i < s.count; ++i) {
            byte* to = s.data + static_cast<intptr_t>(r) * s.rep_data + s.offsets[i];
            const byte* from =
                s.updates + static_cast<intptr_t>(r) * s.rep_updates + static_cast<intptr_t>(i) * s.update_step;
            for (size_t j = 0; j < s.rows; ++j, to += s.row_data, from += s.row_updates) reduce_run<Op>(to, from, s.run);
        }
}

template <class Op>
constexpr Reducer reducer{reduce_items<Op>, reduce_rows<Op>};

// ---- none, by the places: each written once, in the order of memory

// Rows come from two arrays in turn, which the processor does not foresee.
constexpr size_t kRowsAhead = 4;
constexpr size_t kRowAhead = 1024;  // bytes of a row: the rest it foresees

template <class Copy>
inline void select_with(const Select& given, Copy copy) {
    const Select s = given;
    const auto chosen = [&](size_t k) {
        const int64_t w = s.winner[k];
        const byte* const both[2] = {s.updates + static_cast<intptr_t>(w) * s.update_step, s.source + k * s.run};
        return both[w < 0];
    };
    for (size_t k = 0; k < s.count; ++k) {
        if (k + kRowsAhead < s.count) {
            const byte* next = chosen(k + kRowsAhead);
            for (size_t b = 0; b < s.run && b < kRowAhead; b += 64) prefetch_far(next + b);
        }
        const byte* from = chosen(k);
        byte* to = s.data + k * s.run;
        if (from != to) copy(to, from);
    }
}

void select(const Select& s) {
#ifdef REMAPND_STREAM
    if (s.stream && s.run % Stream::unit == 0 && reinterpret_cast<std::uintptr_t>(s.data) % Stream::unit == 0) {
        select_with(s, Stream(s.run));
        return stream_end();
    }
#endif
    select_with(s, Any(s.run));
}

// ---- dealing out

template <size_t N>
void deal(const Deal& given) {
    const Deal d = given;
    const uint64_t mask = (uint64_t{1} << d.shift) - 1;
    const byte* update = d.updates;
    for (size_t i = 0; i < d.count; ++i, update += d.update_step) {
        const auto place = static_cast<uint64_t>(d.offsets[i] - d.low);
        const uint32_t k = d.next[place >> d.shift]++;
        d.entry_offsets[k] = static_cast<uint32_t>(place & mask);
        std::memcpy(d.entry_updates + k * N, update, N);
    }
}

// ---- by the indices themselves

// Looking at indices costs nothing beside the updates, which wait for the caches: 2 million sums of float32 in 100000 places took
// 2.9 ms with offsets made before and take 2.7 so (AMD EPYC, 2026-11).
template <class Op, class T>
size_t add_indexed(const IndexedScatter& given) {
    using Item = typename Op::Item;
    constexpr size_t indices_ahead = 512, updates_ahead = 256;
    const IndexedScatter s = given;  // a copy: what is written might alias `given`
    size_t i = 0;
    for (; i + 4 <= s.count; i += 4) {
        int64_t at[4];
        bool outside = false;
        for (size_t k = 0; k < 4; ++k) {
            T t;
            std::memcpy(&t, s.indices + (i + k) * sizeof t, sizeof t);
            at[k] = static_cast<int64_t>(t) + (t < 0 ? s.n : 0);
            outside |= static_cast<uint64_t>(at[k]) >= static_cast<uint64_t>(s.n);
        }
        if (outside) break;
        prefetch(s.indices + (i + indices_ahead) * sizeof(T));
        prefetch(s.updates + (i + updates_ahead) * sizeof(Item));
        const ReduceOne<Op> each;
        const byte* from = s.updates + i * sizeof(Item);
        const auto to = [&](size_t k) { return s.data + static_cast<size_t>(at[k]) * sizeof(Item); };
        if (at[0] == at[3] && at[0] == at[1] && at[0] == at[2])
            each.four(to(0), from, sizeof(Item));
        else
            for (size_t k = 0; k < 4; ++k) each(to(k), from + k * sizeof(Item));
    }
    return i;
}

// ---- keeping those of a range

constexpr size_t kKeptAhead = 512;  // updates whose indices, and that themselves, are asked for ahead

#include "simd/gather_eight.hpp"
#include "simd/keep_eight.hpp"

#ifdef REMAPND_EIGHT
template <class T, int components, size_t N>
size_t keep_items(const Keep& k) {
    size_t to;
    size_t i = keep_eights<T, components, N>(k, to);
    if (i == kNotKept) return i;
    for (; i < k.count; ++i) {
        int64_t place = -k.low;
        for (int c = 0; c < components; ++c) {
            T t;
            std::memcpy(&t, k.indices + (i * components + static_cast<size_t>(c)) * sizeof t, sizeof t);
            const int64_t v = static_cast<int64_t>(t) + (static_cast<int64_t>(t) < 0 ? k.n[c] : 0);
            if (v < 0 || v >= k.n[c]) return kNotKept;
            place += v * k.step[c];
        }
        if (place < 0 || place >= k.span) continue;
        k.offsets[to] = place;
        std::memcpy(k.kept + to * N, k.updates + i * N, N);
        ++to;
    }
    return to;
}

template <class T, int components>
size_t keep(const Keep& given) {
    const Keep k = given;  // a copy: what is written might alias `given`
    switch (k.size) {
        case 1:
            return keep_items<T, components, 1>(k);
        case 2:
            return keep_items<T, components, 2>(k);
        case 4:
            return keep_items<T, components, 4>(k);
        default:
            return keep_items<T, components, 8>(k);
    }
}
#define REMAPND_KEEP(components)                                                                                              \
    {nullptr, nullptr, keep<std::int32_t, components>, keep<int64_t, components>, nullptr, nullptr, nullptr, nullptr}
#else
#define REMAPND_KEEP(components) {}
#endif

}  // namespace

// Sums that wrap are the same with and without sign.
#define REMAPND_ADD_INDEXED(T)                                                                                           \
    {nullptr, nullptr, nullptr, nullptr, nullptr, add_indexed<Integer<uint32_t, Reduction::add>, T>,                     \
     add_indexed<Integer<uint32_t, Reduction::add>, T>, add_indexed<Integer<uint64_t, Reduction::add>, T>,               \
     add_indexed<Integer<uint64_t, Reduction::add>, T>, nullptr, nullptr, add_indexed<Real<float, Reduction::add>, T>,   \
     add_indexed<Real<double, Reduction::add>, T>, nullptr, nullptr}

#define REMAPND_NUMBERS(r)                                                                                               \
    reducer<Boolean<r>>, reducer<Integer<uint8_t, r>>, reducer<Integer<std::int8_t, r>>, reducer<Integer<uint16_t, r>>,  \
        reducer<Integer<std::int16_t, r>>, reducer<Integer<uint32_t, r>>, reducer<Integer<std::int32_t, r>>,             \
        reducer<Integer<uint64_t, r>>, reducer<Integer<std::int64_t, r>>, reducer<Small<Half, r>>,                       \
        reducer<Small<BFloat, r>>, reducer<Real<float, r>>, reducer<Real<double, r>>

extern const ScatterKernels scatter_table;
const ScatterKernels scatter_table{
    put,
    {
        {},
        {REMAPND_NUMBERS(Reduction::add), reducer<Complex<float, Reduction::add>>, reducer<Complex<double, Reduction::add>>},
        {REMAPND_NUMBERS(Reduction::mul), reducer<Complex<float, Reduction::mul>>, reducer<Complex<double, Reduction::mul>>},
        {REMAPND_NUMBERS(Reduction::min)},
        {REMAPND_NUMBERS(Reduction::max)},
    },
    select,
    {deal<1>, deal<2>, deal<4>, deal<8>, deal<16>},
    {REMAPND_KEEP(1), REMAPND_KEEP(2)},
    {{}, {}, REMAPND_ADD_INDEXED(std::int32_t), REMAPND_ADD_INDEXED(int64_t)},
};

}  // namespace remapnd::REMAPND_LEVEL
