// Passes of resampling with any number of taps.
#include "elements.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

// Values of a row that are worked on at once: the sums stay in the first-level cache.
constexpr int64_t kChunk = 512;

// -0.0: added to any number it leaves that number, so a sum that begins with it begins with its first term.
template <class W>
constexpr W kNothing = W(-0.0);

// ------------------------------------------------------------------------------------------------ vertical

template <class T, class W>
void down_chunk(const RowTaps& t, int64_t begin, int64_t count, W* out) {
    const auto row = [&](int64_t k) { return static_cast<const T*>(t.rows[k]) + begin; };
    for (int64_t i = 0; i < count; ++i) out[i] = t.taps ? kNothing<W> : W(0);
    if (t.base < 0) {
        for (int64_t k = 0; k < t.taps; ++k) {
            const T* x = row(k);
            const W w = static_cast<W>(t.weights[k]);
            for (int64_t i = 0; i < count; ++i) out[i] = out[i] + w * Element<T, W>::load(x[i], 0);
        }
        return;
    }
    const T* c = row(t.base);
    for (int64_t k = 0; k < t.taps; ++k) {
        if (k == t.base) continue;
        const T* x = row(k);
        const W w = static_cast<W>(t.weights[k]);
        for (int64_t i = 0; i < count; ++i)
            out[i] = out[i] + w * (Element<T, W>::load(x[i], 0) - Element<T, W>::load(c[i], 0));
    }
    for (int64_t i = 0; i < count; ++i) out[i] = Element<T, W>::load(c[i], 0) + out[i];
}

template <class T, class W>
void down(const RowTaps& t, int64_t count, W* out) {
    for (int64_t i = 0; i < count; i += kChunk)
        down_chunk<T, W>(t, i, i + kChunk < count ? kChunk : count - i, out + i);
}

template <class T, class W>
void down_typed(const RowTaps& t, int64_t count, void* out) {
    down<T, W>(t, count, static_cast<W*>(out));
}

// ------------------------------------------------------------------------------------------------ one output

// x(k) is the value of tap k.
template <class W, class Value>
W filtered(const Value& x, const W* weights, int64_t taps, int64_t base) {
    W sum = kNothing<W>;
    if (base < 0) {
        for (int64_t k = 0; k < taps; ++k) sum = sum + weights[k] * x(k);
        return taps ? sum : W(0);
    }
    const W c = x(base);
    for (int64_t k = 0; k < taps; ++k)
        if (k != base) sum = sum + weights[k] * (x(k) - c);
    return c + sum;
}

template <class W, class Value, class Weight>
W filtered_careful(const Value& x, const Weight* weights, int64_t taps, int64_t base, W fast) {
    if (!nonfinite(fast) || (taps == 1 && base == 0)) return fast;
    W sum = kNothing<W>;
    bool any = false;
    for (int64_t k = 0; k < taps; ++k)
        if (weights[k] != 0) {
            sum = sum + static_cast<W>(weights[k]) * x(k);
            any = true;
        }
    return any ? sum : W(0);
}

template <class W>
void down_careful(const RowTaps& t, int64_t count, W* out) {
    down<W, W>(t, count, out);
    for (int64_t i = 0; i < count; ++i) {
        const auto x = [&](int64_t k) { return static_cast<const W*>(t.rows[k])[i]; };
        out[i] = filtered_careful<W>(x, t.weights, t.taps, t.base, out[i]);
    }
}

// ------------------------------------------------------------------------------------------------ horizontal

// Outputs [begin, end), one after another.
template <class W>
void across_each(const FilterTaps<W>& t, int64_t block, const W* row, int64_t begin, int64_t end, W* out) {
    for (int64_t x = begin; x < end; ++x)
        for (int64_t j = 0; j < block; ++j) {
            const W* at = row + t.first[x] + j;
            out[x * block + j] =
                filtered<W>([&](int64_t k) { return at[k * block]; }, t.weights + x * t.width, t.count[x], t.base[x]);
        }
}

template <class W>
void across(const FilterTaps<W>& t, int64_t block, const W* row, int64_t, W* out) {
    across_each(t, block, row, 0, t.outputs, out);
}

template <class W>
void across_careful(const FilterTaps<W>& t, int64_t block, const W* row, W* out) {
    for (int64_t x = 0; x < t.outputs; ++x)
        for (int64_t j = 0; j < block; ++j) {
            const W* at = row + t.first[x] + j;
            const W* weights = t.weights + x * t.width;
            const auto tap = [&](int64_t k) { return at[k * block]; };
            const W fast = filtered<W>(tap, weights, t.count[x], t.base[x]);
            out[x * block + j] = filtered_careful<W>(tap, weights, t.count[x], t.base[x], fast);
        }
}

template <class W>
constexpr FilterKernels<W> filter_kernels() {
    return {&down<W, W>, &down_careful<W>, &across<W>, &across_careful<W>};
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
     {nullptr, &down_typed<double, double>, nullptr}}};

}  // namespace remapnd::REMAPND_LEVEL
