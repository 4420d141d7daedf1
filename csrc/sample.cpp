// Kernels of sampling at positions that are data: coordinates to positions, positions to taps, taps to values.
#include "kernels.hpp"

#include <type_traits>

#include "simd/half.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

using std::byte;
using std::int32_t;
using std::int64_t;
using std::intptr_t;
using std::uint32_t;
using std::uint8_t;

// ------------------------------------------------------------------------------------------------ positions

// Positions from here on count as the low border: where floats are no finer than halves, position means little.
constexpr double kFar = 0x1p51;
// Whole positions further out than this many samples are all outside alike.
constexpr double kOut = 4;

inline double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// The whole number next to x, the even one of two; |x| <= 2**51.
inline double nearest_even(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// The largest whole number not above x; |x| <= 2**51.
inline double floor_of(double x) {
    const double r = nearest_even(x);
    return r > x ? r - 1 : r;
}

// d modulo period, exactly; 0 <= d < 2**52, period a whole number from 1 on.
inline double remainder_of(double d, double period) {
    double r = d - static_cast<double>(static_cast<int64_t>(d / period)) * period;
    if (r < 0) r += period;
    return r >= period ? r - period : r;
}

inline double reflected(double x, double low, double high) {
    const double span = high - low;
    if (span == 0) return low;
    if (x < low) {
        const double r = remainder_of(low - x, 2 * span);
        return r <= span ? low + r : high - (r - span);
    }
    if (x > high) {
        const double r = remainder_of(x - high, 2 * span);
        return r <= span ? high - r : low + (r - span);
    }
    return x;
}

template <class T>
inline double coordinate(const byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
        return to_float(v);
    else
        return v;
}

template <class T>
void positions(const SampleAxis& axis, Sampling mode, Padding padding, const byte* grid, intptr_t stride, int64_t count,
               double* x) {
    for (int64_t i = 0; i < count; ++i) {
        const double at = (coordinate<T>(grid + i * stride) * axis.scale + axis.shift) * 0.5;
        x[i] = at > -kFar && at < kFar ? at : axis.low;
    }
    if (mode == Sampling::nearest)
        for (int64_t i = 0; i < count; ++i) x[i] = nearest_even(x[i]);
    const double last = static_cast<double>(axis.n - 1);
    if (padding == Padding::zeros) {
        for (int64_t i = 0; i < count; ++i) x[i] = clamped(x[i], -kOut, last + kOut);
        return;
    }
    if (padding == Padding::reflection)
        for (int64_t i = 0; i < count; ++i) x[i] = reflected(x[i], axis.low, axis.high);
    // Cubic needs the position as it is where one of its taps is inside, and pads taps.
    const bool padded = mode != Sampling::cubic;
    if (padded || padding == Padding::border)
        for (int64_t i = 0; i < count; ++i) x[i] = padded ? clamped(x[i], 0, last) : clamped(x[i], -2, last + 2);
}

void bin_positions(double start, double bin, int64_t bins, int64_t per_bin, int64_t n, double* x) {
    const double size = static_cast<double>(n), last = static_cast<double>(n - 1), per = static_cast<double>(per_bin);
    for (int64_t p = 0; p < bins; ++p) {
        const double left = start + static_cast<double>(p) * bin;
        for (int64_t i = 0; i < per_bin; ++i) {
            const double at = left + (static_cast<double>(i) + 0.5) * bin / per;
            *x++ = at >= -1 && at <= size ? clamped(at, 0, last) : -kOut;
        }
    }
}

void whole(const SampleAxis& axis, const double* x, int64_t count, int64_t* offsets, uint8_t* outside) {
    const auto n = static_cast<int32_t>(axis.n);
    for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<int32_t>(x[i]);
        const bool out = at < 0 || at >= n;
        offsets[i] += (out ? 0 : at) * axis.stride;
        outside[i] |= out;
    }
}

// ------------------------------------------------------------------------------------------------ taps

inline int32_t reflected_tap(int64_t at, int64_t n, bool on_samples) {
    if (n == 1) return 0;
    const int64_t period = on_samples ? 2 * (n - 1) : 2 * n;
    at %= period;
    if (at < 0) at += period;
    return static_cast<int32_t>(at < n ? at : on_samples ? period - at : period - 1 - at);
}

// Tap k of position i at sample `at`.
template <class W>
inline void put_tap(const SampleAxis& axis, Padding padding, int32_t at, int k, int64_t i, AxisTaps<W>* out) {
    const auto n = static_cast<int32_t>(axis.n);
    bool inside = at >= 0 && at < n;
    if (!inside && padding == Padding::reflection) at = reflected_tap(at, n, axis.low == 0);
    if (!inside && padding == Padding::border) at = at < 0 ? 0 : n - 1;
    if (!inside && padding == Padding::zeros) at = 0;
    inside |= padding != Padding::zeros;
    out->offset[k][i] = at * axis.stride;
    out->inside[k][i] = inside ? ~typename BitsOf<W>::Int{0} : 0;
}

// Positions are padded already: what is outside counts as zero, whatever the padding.  Loops without a branch become
// vectors: 11 ns a position of two axes, one channel, instead of 21 (AMD EPYC, November 2026).
template <class W>
void linear_taps(const SampleAxis& axis, const double* x, int64_t count, AxisTaps<W>* out) {
    using Int = typename BitsOf<W>::Int;
    const auto n = static_cast<uint32_t>(axis.n);
    const int64_t stride = axis.stride;
    uint32_t at[2][kSampleBlock];
    for (int64_t i = 0; i < count; ++i) {
        const double floor = floor_of(x[i]);
        const W w = static_cast<W>(x[i] - floor);
        const auto first = static_cast<int32_t>(floor);
        at[0][i] = static_cast<uint32_t>(first);
        at[1][i] = static_cast<uint32_t>(w == 0 ? first : first + 1);
        out->weight[1][i] = w == 0 ? W(-0.0) : w;
    }
    for (int k = 0; k < 2; ++k) {
        Int* inside = out->inside[k];
        int64_t* offset = out->offset[k];
        uint32_t* sample = at[k];
        for (int64_t i = 0; i < count; ++i) inside[i] = sample[i] < n ? static_cast<Int>(~Int{0}) : 0;
        for (int64_t i = 0; i < count; ++i) sample[i] = sample[i] < n ? sample[i] : 0;
        for (int64_t i = 0; i < count; ++i) offset[i] = static_cast<int64_t>(sample[i]) * stride;
    }
}

// Keys' kernel, a = -3/4, at a distance of 0 to 1 and of 1 to 2.
inline double keys_near(double d) { return (1.25 * d - 2.25) * d * d + 1; }
inline double keys_far(double d) { return ((-0.75 * d + 3.75) * d - 6) * d + 3; }

template <class W>
void cubic_taps(const SampleAxis& axis, Padding padding, const double* x, int64_t count, AxisTaps<W>* out) {
    for (int64_t i = 0; i < count; ++i) {
        const double floor = floor_of(x[i]), t = x[i] - floor;
        const auto first = static_cast<int32_t>(floor) - 1;
        for (int k = 0; k < 4; ++k) put_tap(axis, padding, first + k, k, i, out);
        out->weight[0][i] = static_cast<W>(keys_far(1 + t));
        out->weight[1][i] = static_cast<W>(keys_near(t));
        out->weight[2][i] = static_cast<W>(keys_near(1 - t));
        out->weight[3][i] = static_cast<W>(keys_far(2 - t));
    }
}

template <class W>
void taps(const SampleAxis& axis, Sampling mode, Padding padding, const double* x, int64_t count, AxisTaps<W>* out) {
    mode == Sampling::cubic ? cubic_taps(axis, padding, x, count, out) : linear_taps(axis, x, count, out);
}

// ------------------------------------------------------------------------------------------------ values

// The items of one tap of a block, as they are: what follows is then done in vectors.
template <class T>
inline void fetch(const byte* data, const int64_t* offset, int64_t count, T* out) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(out + i, data + offset[i], sizeof(T));
}

template <class W, bool masked, class T>
inline W value(T item, const typename BitsOf<W>::Int& inside) {
    W v;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
        v = to_float(item);
    else
        v = item;
    if constexpr (masked)
        return bit_cast<W>(static_cast<typename BitsOf<W>::Int>(bit_cast<typename BitsOf<W>::Int>(v) & inside));
    else
        return v;
}

template <class W>
inline bool finite(W v) {
    return v - v == 0;
}

template <bool careful, class W>
inline W lerp(W a, W b, W w) {
    const W fast = a + (b - a) * w;
    if constexpr (careful) {
        const W slow = w == 0 ? a : w == 1 ? b : (1 - w) * a + w * b;
        return finite(fast) ? fast : slow;
    } else {
        return fast;
    }
}

template <class W>
constexpr typename BitsOf<W>::Int quiet_nan = 0x7fc00000u;
template <>
constexpr std::uint64_t quiet_nan<double> = 0x7ff8000000000000u;

inline int64_t rows_of(int taps, int axes) {
    int64_t rows = 1;
    for (int a = 0; a < axes; ++a) rows *= taps;
    return rows;
}

// Two items that are neighbours in memory, fetched as one: half the loads and stores; 32 channels take two thirds of the time.
template <class T>
struct Pair {
    T first, second;
};

enum class Taps { masked, inside, paired };

// out[i] = the mix of the two taps along the last axis, of the row of taps that `offset` and `inside` begin.
template <class T, class W, bool careful, Taps taps>
inline void linear_row(const byte* data, const int64_t* offset, const typename BitsOf<W>::Int* inside, const W* weight,
                       int64_t count, W* out) {
    if constexpr (taps == Taps::paired) {
        Pair<T> items[kSampleBlock];
        fetch(data, offset, count, items);
        for (int64_t i = 0; i < count; ++i)
            out[i] = lerp<careful>(value<W, false>(items[i].first, {}), value<W, false>(items[i].second, {}), weight[i]);
    } else {
        constexpr bool masked = taps == Taps::masked;
        T first[kSampleBlock], second[kSampleBlock];
        fetch(data, offset, count, first);
        fetch(data, offset + kSampleBlock, count, second);
        for (int64_t i = 0; i < count; ++i)
            out[i] = lerp<careful>(value<W, masked>(first[i], inside[i]),
                                   value<W, masked>(second[i], inside[kSampleBlock + i]), weight[i]);
    }
}

template <class T, class W, bool careful, Taps taps>
void linear_by(const Samples<W>& s, const byte* data, W* out) {
    int64_t rows = rows_of(2, s.axes - 1);
    const W* weight = s.taps[s.axes - 1].weight[1];
    for (int64_t r = 0; r < rows; ++r) {
        W* to = rows == 1 ? out : s.values + r * kSampleBlock;
        linear_row<T, W, careful, taps>(data, s.offset + 2 * r * kSampleBlock, s.inside + 2 * r * kSampleBlock, weight,
                                        s.count, to);
    }
    for (int a = s.axes - 2; a >= 0; --a) {
        rows /= 2;
        for (int64_t r = 0; r < rows; ++r) {
            const W* v = s.values + 2 * r * kSampleBlock;
            W* to = rows == 1 ? out : s.values + r * kSampleBlock;
            for (int64_t i = 0; i < s.count; ++i) to[i] = lerp<careful>(v[i], v[kSampleBlock + i], s.taps[a].weight[1][i]);
        }
    }
}

template <class T, class W, bool careful>
void linear(const Samples<W>& s, const byte* data, W* out) {
    if (s.masked)
        linear_by<T, W, careful, Taps::masked>(s, data, out);
    else if (s.paired && !careful)
        linear_by<T, W, careful, Taps::paired>(s, data, out);
    else
        linear_by<T, W, careful, Taps::inside>(s, data, out);
}

// Added to anything, -0.0 leaves it as it is.
template <class W>
inline W term(W w, W v) {
    return w == 0 ? W(-0.0) : w * v;
}

template <class T, class W, bool masked>
void cubic_by(const Samples<W>& s, const byte* data, W* out) {
    const AxisTaps<W>& last = s.taps[s.axes - 1];
    int64_t rows = rows_of(4, s.axes - 1);
    T items[4][kSampleBlock];
    for (int64_t r = 0; r < rows; ++r) {
        const auto* inside = s.inside + 4 * r * kSampleBlock;
        W* to = rows == 1 ? out : s.values + r * kSampleBlock;
        for (int k = 0; k < 4; ++k) fetch(data, s.offset + (4 * r + k) * kSampleBlock, s.count, items[k]);
        for (int64_t i = 0; i < s.count; ++i) {
            W sum = W(-0.0);
            for (int k = 0; k < 4; ++k)
                sum += term(last.weight[k][i], value<W, masked>(items[k][i], inside[k * kSampleBlock + i]));
            to[i] = sum;
        }
    }
    for (int a = s.axes - 2; a >= 0; --a) {
        rows /= 4;
        for (int64_t r = 0; r < rows; ++r) {
            const W* v = s.values + 4 * r * kSampleBlock;
            W* to = rows == 1 ? out : s.values + r * kSampleBlock;
            for (int64_t i = 0; i < s.count; ++i) {
                W sum = W(-0.0);
                for (int k = 0; k < 4; ++k) sum += term(s.taps[a].weight[k][i], v[k * kSampleBlock + i]);
                to[i] = sum;
            }
        }
    }
}

template <class T, class W>
void cubic(const Samples<W>& s, const byte* data, W* out) {
    s.masked ? cubic_by<T, W, true>(s, data, out) : cubic_by<T, W, false>(s, data, out);
}

template <class T, class W, bool masked>
void largest_term_by(const Samples<W>& s, const byte* data, W* out) {
    T items[4][kSampleBlock];
    for (int k = 0; k < 4; ++k) fetch(data, s.offset + k * kSampleBlock, s.count, items[k]);
    const W *down = s.taps[0].weight[1], *right = s.taps[1].weight[1];
    for (int64_t i = 0; i < s.count; ++i) {
        const W y = down[i], x = right[i];
        const W w[4] = {(1 - y) * (1 - x), (1 - y) * x, y * (1 - x), y * x};
        W best = 0, nans = 0;
        for (int k = 0; k < 4; ++k) {
            const W v = value<W, masked>(items[k][i], s.inside[k * kSampleBlock + i]);
            const W one = w[k] == 0 ? W(0) : w[k] * v;
            nans += one != one ? W(1) : W(0);
            best = k == 0 || best < one ? one : best;
        }
        out[i] = nans > 0 ? bit_cast<W>(quiet_nan<W>) : best;
    }
}

template <class T, class W>
void largest_term(const Samples<W>& s, const byte* data, W* out) {
    s.masked ? largest_term_by<T, W, true>(s, data, out) : largest_term_by<T, W, false>(s, data, out);
}

template <class W, bool average>
int64_t pool(const W* v, int64_t count, int64_t in_bin, int64_t per_bin, W* so_far, W* done) {
    const W divisor = static_cast<W>(per_bin);
    W joined = *so_far;
    bool nan = joined != joined;
    int64_t bins = 0;
    for (int64_t i = 0; i < count;) {
        if (in_bin == 0) {
            joined = average ? W(0) : v[i];
            nan = false;
        }
        const int64_t end = i + (count - i < per_bin - in_bin ? count - i : per_bin - in_bin);
        in_bin += end - i;
        for (; i < end; ++i) {
            if constexpr (average) {
                joined += v[i];
            } else {
                nan |= v[i] != v[i];
                joined = joined < v[i] ? v[i] : joined;
            }
        }
        if (nan) joined = bit_cast<W>(quiet_nan<W>);
        if (in_bin < per_bin) break;
        done[bins++] = average && per_bin > 1 ? joined / divisor : joined;
        in_bin = 0;
    }
    *so_far = joined;
    return bins;
}

// ------------------------------------------------------------------------------------------------ the table

constexpr int kHalf = static_cast<int>(Type::f16), kBFloat = static_cast<int>(Type::bf16),
              kFloat = static_cast<int>(Type::f32), kDouble = static_cast<int>(Type::f64);

template <class T, class W>
constexpr void put_type(SampleWork<W>& work, int type) {
    work.linear[type] = &linear<T, W, false>;
    work.linear_careful[type] = &linear<T, W, true>;
    work.cubic[type] = &cubic<T, W>;
    work.largest_term[type] = &largest_term<T, W>;
}

template <class W>
constexpr SampleWork<W> work_of() {
    SampleWork<W> work{};
    work.taps = &taps<W>;
    work.average = &pool<W, true>;
    work.largest = &pool<W, false>;
    return work;
}

constexpr SampleKernels kernels_of() {
    SampleKernels k{};
    k.positions[kHalf] = &positions<Half>;
    k.positions[kBFloat] = &positions<BFloat>;
    k.positions[kFloat] = &positions<float>;
    k.positions[kDouble] = &positions<double>;
    k.bin_positions = &bin_positions;
    k.whole = &whole;
    k.f32 = work_of<float>();
    put_type<Half>(k.f32, kHalf);
    put_type<BFloat>(k.f32, kBFloat);
    put_type<float>(k.f32, kFloat);
    k.f64 = work_of<double>();
    put_type<double>(k.f64, kDouble);
    return k;
}

}  // namespace

extern const SampleKernels sample_table;
const SampleKernels sample_table = kernels_of();

}  // namespace remapnd::REMAPND_LEVEL
