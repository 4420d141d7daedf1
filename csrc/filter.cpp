// Passes of resampling with any number of taps.
#include "elements.hpp"
#include "simd/pick.hpp"
#include "simd/prefetch.hpp"
#include "simd/vectors.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

// Values of a row that are worked on at once: the sums stay in the first-level cache.
constexpr int64_t kChunk = 512;

// -0.0: added to any number it leaves that number, so a sum that begins with it begins with its first term.
template <class W>
constexpr W kNothing = W(-0.0);

#include "simd/down.hpp"

// ------------------------------------------------------------------------------------------------ bytes

#include "simd/byte_sums.hpp"

#ifndef REMAPND_VECTORS
constexpr decltype(AllFilterKernels::down_bytes) down_bytes = nullptr;
constexpr decltype(AllFilterKernels::down_parts) down_parts = nullptr;
#endif

#include "simd/whole_rows.hpp"

#ifndef REMAPND_WHOLE_ROWS
constexpr decltype(AllFilterKernels::down_short) down_short = nullptr;
constexpr decltype(AllFilterKernels::across_short) across_short = nullptr;
#endif

#include "simd/byte_filters.hpp"

#ifndef REMAPND_BYTE_FILTERS
constexpr decltype(AllFilterKernels::across_bytes) across_bytes = nullptr;
constexpr decltype(AllFilterKernels::down_divided) down_divided = nullptr;
#endif

// ------------------------------------------------------------------------------------------------ one output

// x(k) is the value of tap k.
template <class W, class Value>
W filtered(const Value& x, const W* weights, int64_t taps, int64_t base) {
    W sum = kNothing<W>;
    if (base < 0) {
        for (int64_t k = 0; k < taps; ++k) sum = sum + weights[k] * x(k);
        return taps ? sum : W(0);
    }
    // Two loops: of one with a condition GCC 12 makes additions of +0.0 for the term left out (v3).
    const W c = x(base);
    for (int64_t k = 0; k < base; ++k) sum = sum + weights[k] * (x(k) - c);
    for (int64_t k = base + 1; k < taps; ++k) sum = sum + weights[k] * (x(k) - c);
    return c + sum;
}

template <class W, class Value>
W filtered_careful(const Value& x, const W* weights, int64_t taps, int64_t base) {
    const W fast = filtered<W>(x, weights, taps, base);
    if (!nonfinite(fast) || (taps == 1 && base == 0)) return fast;
    W sum = kNothing<W>;
    bool any = false;
    for (int64_t k = 0; k < taps; ++k) {
        sum = sum + (weights[k] != 0 ? weights[k] * x(k) : kNothing<W>);
        any |= weights[k] != 0;
    }
    return any ? sum : W(0);
}

// ------------------------------------------------------------------------------------------------ horizontal

// Elements [begin, end), one after another.
template <class W>
void across_each(const FilterTaps<W>& t, int64_t block, const W* row, int64_t begin, int64_t end, W* out) {
    for (int64_t e = begin; e < end; ++e) {
        const int64_t x = e / block;
        const W* at = row + t.first[x] + e % block;
        out[e] = filtered<W>([&](int64_t k) { return at[k * block]; }, t.weights + x * t.width, t.count[x], t.base[x]);
    }
}

template <class W>
void across_careful(const FilterTaps<W>& t, int64_t block, const W* row, W* out) {
    for (int64_t e = 0; e < t.outputs * block; ++e) {
        const int64_t x = e / block;
        const W* at = row + t.first[x] + e % block;
        out[e] = filtered_careful<W>([&](int64_t k) { return at[k * block]; }, t.weights + x * t.width, t.count[x], t.base[x]);
    }
}

#include "simd/loose.hpp"

#include "simd/ramps.hpp"

#ifdef REMAPND_VECTORS
// The sum of a vector: term(k) and the weights of tap k, which tell the lanes that it counts for.  `taps` is the number of
// terms that count in all lanes, where it is small and known.
template <int taps = 0, class V, class Term, class Weight>
REMAPND_INLINE V add_terms(V sum, int64_t begin, int64_t end, int64_t full, const Term& term, const Weight& weight) {
    int64_t k = begin;
    if constexpr (taps > 0) {
        if (full == taps && end == taps) {
            sum = term(0);
            for (int i = 1; i < taps; ++i) sum = sum + term(i);
            return sum;
        }
    }
    for (const int64_t whole = full < end ? full : end; k < whole; ++k) sum = sum + term(k);
    for (; k < end; ++k) sum = sum.unless(sum + term(k), weight(k));
    return sum;
}

// `taps` as in add_terms.
template <bool sums, int taps>
void pick_vectors(const FilterTaps<float>& table, int64_t block, const float* row, int64_t vectors, float* out) {
    using V = Vec<float>;
    const FilterTaps<float> t = table;  // a copy: `out` might alias it
    for (int64_t v = 0; v < vectors; ++v) {
        const float* weights = t.packed + v * t.width * V::lanes;
        const float* window = row + t.window[v];
        const V::Lanes lanes = V::load_lanes(t.lane + v * V::lanes);
        V c = V::all(0);
        if constexpr (!sums) c = V::load(row + t.base_window[v]).pick(V::load_lanes(t.base_lane + v * V::lanes));
        const auto weight = [&](int64_t k) { return V::load(weights + k * V::lanes); };
        const auto term = [&](int64_t k) {
            const V x = V::load(window + k * block).pick(lanes);
            if constexpr (sums)
                return weight(k) * x;
            else
                return weight(k) * (x - c);
        };
        V sum = add_terms<taps>(V::all(kNothing<float>), 0, t.most[v], t.full[v], term, weight);
        if constexpr (!sums) sum = c + sum;
        sum.store(out + v * V::lanes);
    }
}

// Vectors of one output a lane, or of one a pair of lanes.
template <bool sums, class W, int64_t block>
void turn_vectors(const FilterTaps<W>& table, const W* row, int64_t vectors, W* out) {
    using V = Vec<W>;
    const FilterTaps<W> t = table;  // a copy: `out` might alias it
    using Unit = std::conditional_t<sizeof(W) * block == 8, double, float>;
    constexpr int64_t outputs = V::lanes / block;
    for (int64_t v = 0; v < vectors; ++v) {
        const W* weights = t.packed + v * t.width * V::lanes;
        const int64_t* first = t.first + v * outputs;
        const Unit* rows[outputs];
        alignas(32) W base[V::lanes] = {};
        for (int64_t e = 0; e < outputs; ++e) {
            rows[e] = reinterpret_cast<const Unit*>(row + first[e]);
            if constexpr (!sums)
                std::memcpy(base + e * block, row + first[e] + t.base[v * outputs + e] * block, sizeof(Unit));
        }
        const V c = V::load(base);
        V sum = V::all(kNothing<W>);
        const int64_t most = t.most[v], full = t.full[v];
        for (int64_t k = 0; k < most; k += 4) {
            V x[4];
            if constexpr (sizeof(Unit) == 8)
                turn_pairs(rows, k, x);
            else
                turn(rows, k, x);
            const auto weight = [&](int64_t i) { return V::load(weights + i * V::lanes); };
            const auto term = [&](int64_t i) {
                if constexpr (sums)
                    return weight(i) * x[i - k];
                else
                    return weight(i) * (x[i - k] - c);
            };
            if (k + 4 <= full)
                for (int64_t i = k; i < k + 4; ++i) sum = sum + term(i);
            else
                sum = add_terms(sum, k, k + 4 < most ? k + 4 : most, full, term, weight);
        }
        if constexpr (!sums) sum = c + sum;
        sum.store(out + v * V::lanes);
    }
}

// The high half of the last pair is stored behind the element that it ends with.
template <bool sums, int taps>
void pair_vectors(const FilterTaps<float>& table, int64_t block, const float* row, int64_t vectors, float* out) {
    using V = Vec<float>;
    const FilterTaps<float> t = table;  // a copy: `out` might alias it
    for (int64_t v = 0; v < vectors; ++v) {
        const float* weights = t.packed + v * t.width * V::lanes;
        const int64_t x = 2 * v;
        const float *low = row + t.first[x], *high = row + t.first[x + 1];
        V c = V::all(0);
        if constexpr (!sums) c = V::load(low + t.base[x] * block, high + t.base[x + 1] * block);
        const auto weight = [&](int64_t k) { return V::load(weights + k * V::lanes); };
        const auto term = [&](int64_t k) {
            const V tap = V::load(low + k * block, high + k * block);
            if constexpr (sums)
                return weight(k) * tap;
            else
                return weight(k) * (tap - c);
        };
        V sum = add_terms<taps>(V::all(kNothing<float>), 0, t.most[v], t.full[v], term, weight);
        if constexpr (!sums) sum = c + sum;
        sum.store(out + x * block, out + (x + 1) * block);
    }
}

#include "simd/phases.hpp"

// Element j of output x and those behind it in n vectors.
template <bool sums, class W, int n>
REMAPND_INLINE void wide_vectors(const FilterTaps<W>& t, int64_t block, const W* row, int64_t x, int64_t j, W* out) {
    using V = Vec<W>;
    const W* weights = t.weights + x * t.width;
    const W* taps = row + t.first[x] + j;
    const int64_t count = t.count[x], base = t.base[x];
    V c[n], sum[n];
    for (int i = 0; i < n; ++i) {
        if constexpr (!sums) c[i] = V::load(taps + base * block + i * V::lanes);
        sum[i] = V::all(kNothing<W>);
    }
    const auto add = [&](int64_t k) {
        const V w = V::all(weights[k]);
        for (int i = 0; i < n; ++i) {
            const V tap = V::load(taps + k * block + i * V::lanes);
            if constexpr (sums)
                sum[i] = sum[i] + w * tap;
            else
                sum[i] = sum[i] + w * (tap - c[i]);
        }
    };
    for (int64_t k = 0; k < (sums ? count : base); ++k) add(k);
    if constexpr (!sums)
        for (int64_t k = base + 1; k < count; ++k) add(k);
    for (int i = 0; i < n; ++i) {
        if constexpr (!sums) sum[i] = c[i] + sum[i];
        sum[i].store(out + x * block + j + i * V::lanes);
    }
}

// Output by output, each written over what the last vector of the one before has left behind it.
template <bool sums, class W>
void across_wide(const FilterTaps<W>& t, int64_t block, const W* row, int64_t readable, W* out) {
    constexpr int64_t lanes = Vec<W>::lanes;
    const int64_t whole = (block + lanes - 1) / lanes * lanes;
    for (int64_t x = 0; x < t.outputs; ++x) {
        const int64_t last = t.first[x] + (t.count[x] - 1) * block;
        if (t.count[x] == 0 || last + whole > readable || x * block + whole > t.outputs * block) {
            across_each(t, block, row, x * block, (x + 1) * block, out);
            continue;
        }
        int64_t j = 0;
        for (; j + 4 * lanes <= whole; j += 4 * lanes) wide_vectors<sums, W, 4>(t, block, row, x, j, out);
        switch ((whole - j) / lanes) {
            case 3: wide_vectors<sums, W, 3>(t, block, row, x, j, out); break;
            case 2: wide_vectors<sums, W, 2>(t, block, row, x, j, out); break;
            case 1: wide_vectors<sums, W, 1>(t, block, row, x, j, out); break;
            default: break;
        }
    }
}

// How many of the vectors can be made that way.
template <class W>
int64_t usable_vectors(const FilterTaps<W>& t, int64_t block, int64_t readable) {
    int64_t n = t.vectors;
    while (n > 0 && t.reach[n - 1] > readable) --n;
    if (t.way == Way::pairs)
        while (n > 0 && (2 * n - 1) * block + 4 > t.outputs * block) --n;
    return n;
}

template <bool sums, class W>
void across_form(const FilterTaps<W>& t, int64_t block, const W* row, int64_t readable, W* out) {
    if (t.way == Way::wide) return across_wide<sums>(t, block, row, readable, out);
    if constexpr (sizeof(W) == 4)
        if (t.way == Way::phases) return across_phases<sums>(t, row, out);
    const int64_t n = usable_vectors(t, block, readable);
    int64_t done = n * Vec<W>::lanes;
    if (t.way == Way::turn) {
        if (block == 1)
            turn_vectors<sums, W, 1>(t, row, n, out);
        else if constexpr (sizeof(W) == 4)
            turn_vectors<sums, W, 2>(t, row, n, out);
    }
    if constexpr (sizeof(W) == 4) {
        if (t.way == Way::pick) {
            const auto run = t.width == 4 ? pick_vectors<sums, 4> : pick_vectors<sums, 0>;
            run(t, block, row, n, out);
        }
        if (t.way == Way::pairs) {
            const auto run = t.width == 3 ? pair_vectors<sums, 3> : t.width == 4 ? pair_vectors<sums, 4> : pair_vectors<sums, 0>;
            run(t, block, row, n, out);
            done = 2 * n * block;
        }
    }
    if constexpr (sums)  // of lanes without a tap the sum above is -0.0
        for (int64_t e = 0; e < done; ++e)
            if (t.count[e / block] == 0) out[e] = W(0);
    across_each(t, block, row, done, t.outputs * block, out);
}

template <class W>
void across(const FilterTaps<W>& t, int64_t block, const W* row, int64_t readable, W* out) {
    t.sums ? across_form<true>(t, block, row, readable, out) : across_form<false>(t, block, row, readable, out);
}
#else
template <class W>
void across(const FilterTaps<W>& t, int64_t block, const W* row, int64_t, W* out) {
    across_each(t, block, row, 0, t.outputs * block, out);
}
#endif

template <class W>
constexpr FilterKernels<W> filter_kernels() {
    FilterKernels<W> kernels{Vec<W>::lanes, &down<W, W>, nullptr, &down_careful<W>, &across<W>, &across_careful<W>};
#ifdef REMAPND_VECTORS
    if constexpr (std::is_same_v<W, float>) kernels.down_last = &down_last;
#endif
    return kernels;
}

}  // namespace

extern const AllFilterKernels filter_table;
const AllFilterKernels filter_table{
    filter_kernels<float>(),
    filter_kernels<double>(),
    {{&down_typed<uint8_t, float>, &down_typed<uint8_t, double>, nullptr},
     {&down_typed<std::int8_t, float>, &down_typed<std::int8_t, double>, nullptr},
     {&down_typed<uint16_t, float>, &down_typed<uint16_t, double>, nullptr},
     {&down_typed<std::int16_t, float>, &down_typed<std::int16_t, double>, nullptr},
     {nullptr, &down_typed<uint32_t, double>, nullptr},
     {nullptr, &down_typed<int32_t, double>, nullptr},
     {nullptr, &down_typed<uint64_t, double>, nullptr},
     {nullptr, &down_typed<int64_t, double>, nullptr},
     {&down_typed<Half, float>, nullptr, nullptr},
     {&down_typed<BFloat, float>, nullptr, nullptr},
     {&down_typed<float, float>, nullptr, nullptr},
     {nullptr, &down_typed<double, double>, nullptr}},
    down_bytes,
    down_parts,
    down_short,
    across_short,
    across_bytes,
    down_divided,
    across_loose,
    down_ramps,
    across_ramps};

}  // namespace remapnd::REMAPND_LEVEL
