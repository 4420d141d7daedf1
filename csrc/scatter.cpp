// Scatter kernels: updates put or reduced into the places that offsets say, in their order.
//
// Compiled once per level; no standard header with code in it may come in here (ARCHITECTURE.md, Levels).
#include <cstring>

#include "kernels.hpp"
#include "simd/half.hpp"
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

template <class Copy>
void put_runs(const Scatter& s) {
    const Copy copy(s.run);
    for (size_t r = 0; r < s.reps; ++r) {
        byte* data = s.data + static_cast<intptr_t>(r) * s.rep_data;
        const byte* updates = s.updates + static_cast<intptr_t>(r) * s.rep_updates;
        if (s.rows == 1) {
            for (size_t i = 0; i < s.count; ++i, updates += s.update_step) copy(data + s.offsets[i], updates);
            continue;
        }
        for (size_t i = 0; i < s.count; ++i) {
            byte* to = data + s.offsets[i];
            const byte* from = updates + static_cast<intptr_t>(i) * s.update_step;
            for (size_t j = 0; j < s.rows; ++j, to += s.row_data, from += s.row_updates) copy(to, from);
        }
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
    static constexpr Bits quiet_nan = 0x7fc00000u;
};
template <>
struct Float<double> {
    using Bits = uint64_t;
    static constexpr Bits quiet_nan = 0x7ff8000000000000u;
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
    static uint8_t of(uint8_t a, uint8_t b) {
        if constexpr (reduction == Reduction::mul || reduction == Reduction::min)
            return static_cast<uint8_t>((a != 0) & (b != 0));
        return static_cast<uint8_t>((a | b) != 0);
    }
};

// min and max are minimum and maximum of IEEE 754-2019: NaN wins, and -0 is less than +0.
template <class F, Reduction reduction>
struct Real {
    using Item = F;
    static F of(F a, F b) {
        if constexpr (reduction == Reduction::add) return canonical(a + b);
        if constexpr (reduction == Reduction::mul) return canonical(a * b);
        using Bits = typename Float<F>::Bits;
        // Equal values have equal bits, but for the zeros.
        constexpr bool is_min = reduction == Reduction::min;
        const Bits x = bit_cast<Bits>(a), y = bit_cast<Bits>(b);
        const F equal = bit_cast<F>(is_min ? x | y : x & y);
        const F ordered = (is_min ? a < b : a > b) ? a : (is_min ? b < a : b > a) ? b : equal;
        return a == a && b == b ? ordered : bit_cast<F>(Float<F>::quiet_nan);
    }
};

inline float widened(Half h) { return to_float(h); }
inline float widened(BFloat b) { return to_float(b); }
inline void narrow(float f, Half& h) { h = to_half(f); }
inline void narrow(float f, BFloat& b) { b = to_bfloat(f); }

// Each step is computed in float32 and rounded.
template <class T, Reduction reduction>
struct Small {
    using Item = T;
    static T of(T a, T b) {
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
    static Pair<F> of(Pair<F> a, Pair<F> b) {
        if constexpr (reduction == Reduction::add) return {canonical(a.re + b.re), canonical(a.im + b.im)};
        return {canonical(a.re * b.re - a.im * b.im), canonical(a.re * b.im + a.im * b.re)};
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
inline void reduce_run(byte* __restrict to, const byte* __restrict from, size_t run) {
    constexpr size_t size = sizeof(typename Op::Item);
    for (size_t k = 0; k < run; k += size) reduce_one<Op>(to + k, from + k);
}

// `step` is a constant in the call for contiguous updates.
template <class Op>
inline void reduce_items(byte* data, const byte* updates, intptr_t step, const int64_t* offsets, size_t count) {
    for (size_t i = 0; i < count; ++i, updates += step) reduce_one<Op>(data + offsets[i], updates);
}

template <class Op>
void reduce(const Scatter& s) {
    constexpr size_t size = sizeof(typename Op::Item);
    for (size_t r = 0; r < s.reps; ++r) {
        byte* data = s.data + static_cast<intptr_t>(r) * s.rep_data;
        const byte* updates = s.updates + static_cast<intptr_t>(r) * s.rep_updates;
        if (s.run == size && s.rows == 1) {
            if (s.update_step == static_cast<intptr_t>(size))
                reduce_items<Op>(data, updates, size, s.offsets, s.count);
            else
                reduce_items<Op>(data, updates, s.update_step, s.offsets, s.count);
            continue;
        }
        for (size_t i = 0; i < s.count; ++i) {
            byte* to = data + s.offsets[i];
            const byte* from = updates + static_cast<intptr_t>(i) * s.update_step;
            for (size_t j = 0; j < s.rows; ++j, to += s.row_data, from += s.row_updates) reduce_run<Op>(to, from, s.run);
        }
    }
}

// ---- none, by the places: each written once, in the order of memory

template <class Copy>
inline void select_with(const Select& s, Copy copy) {
    for (size_t k = 0; k < s.count; ++k) {
        const int64_t w = s.winner[k];
        const size_t at = k * s.run;
        if (w >= 0)
            copy(s.data + at, s.updates + static_cast<intptr_t>(w) * s.update_step);
        else if (s.source != s.data)
            copy(s.data + at, s.source + at);
    }
}

void select(const Select& s) {
#ifdef REMAPND_STREAM
    if (s.stream && s.run % Stream::unit == 0 && reinterpret_cast<std::uintptr_t>(s.data) % Stream::unit == 0) {
        select_with(s, Stream(s.run));
        return Stream::finish();
    }
#endif
    select_with(s, Any(s.run));
}

// ---- dealing out

template <size_t N>
void deal(const Deal& d) {
    const uint64_t mask = (uint64_t{1} << d.shift) - 1;
    const byte* update = d.updates;
    for (size_t i = 0; i < d.count; ++i, update += d.update_step) {
        const auto place = static_cast<uint64_t>(d.offsets[i] - d.low);
        const uint32_t k = d.next[place >> d.shift]++;
        d.entry_offsets[k] = static_cast<uint32_t>(place & mask);
        std::memcpy(d.entry_updates + k * N, update, N);
    }
}

}  // namespace

#define REMAPND_NUMBERS(r)                                                                                             \
    reduce<Boolean<r>>, reduce<Integer<uint8_t, r>>, reduce<Integer<std::int8_t, r>>, reduce<Integer<uint16_t, r>>,    \
        reduce<Integer<std::int16_t, r>>, reduce<Integer<uint32_t, r>>, reduce<Integer<std::int32_t, r>>,              \
        reduce<Integer<uint64_t, r>>, reduce<Integer<std::int64_t, r>>, reduce<Small<Half, r>>,                        \
        reduce<Small<BFloat, r>>, reduce<Real<float, r>>, reduce<Real<double, r>>

extern const ScatterKernels scatter_table;
const ScatterKernels scatter_table{
    put,
    {
        {},
        {REMAPND_NUMBERS(Reduction::add), reduce<Complex<float, Reduction::add>>, reduce<Complex<double, Reduction::add>>},
        {REMAPND_NUMBERS(Reduction::mul), reduce<Complex<float, Reduction::mul>>, reduce<Complex<double, Reduction::mul>>},
        {REMAPND_NUMBERS(Reduction::min)},
        {REMAPND_NUMBERS(Reduction::max)},
    },
    select,
    {deal<1>, deal<2>, deal<4>, deal<8>, deal<16>},
};

}  // namespace remapnd::REMAPND_LEVEL
