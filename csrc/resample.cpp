// Kernels of resampling: rows to the working type and back, vertical and horizontal passes, picking of items.
#include "kernels.hpp"

#include <type_traits>

#include "simd/half.hpp"
#include "simd/pick.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

using std::byte;
using std::int32_t;
using std::int64_t;
using std::intptr_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

// ------------------------------------------------------------------------------------------------ one value

template <class W>
struct Bits;
template <>
struct Bits<float> {
    using Int = std::uint32_t;
    static constexpr Int exponent = 0x7f800000u, quiet_nan = 0x7fc00000u;
};
template <>
struct Bits<double> {
    using Int = std::uint64_t;
    static constexpr Int exponent = 0x7ff0000000000000u, quiet_nan = 0x7ff8000000000000u;
};

template <class W>
inline bool nonfinite(W v) {
    return (bit_cast<typename Bits<W>::Int>(v) & Bits<W>::exponent) == Bits<W>::exponent;
}

template <class W>
inline W lerp_one(W a, W b, W w, W one) {
    if constexpr (std::is_integral_v<W>)
        return static_cast<W>(a * (one - w) + b * w);
    else
        return a + (b - a) * w;
}

template <class W>
inline W lerp_one_careful(W a, W b, W w) {
    const W fast = lerp_one(a, b, w, W(1));
    const W slow = w == 0 ? a : w == 1 ? b : (1 - w) * a + w * b;
    return nonfinite(fast) ? slow : fast;
}

// The largest integer not above v, for |v| within Int.
template <class Int, class W>
inline W floor_of(W v) {
    const W t = static_cast<W>(static_cast<Int>(v));
    return t > v ? t - 1 : t;
}

template <class Int, Rule rule, class W>
inline W rounded(W v, W half_step) {
    if constexpr (rule == Rule::half_up) {
        return floor_of<Int>(v + (W(0.5) + half_step));
    } else if constexpr (rule == Rule::half_even) {
        const W t = v + (W(0.5) + half_step);
        const W r = floor_of<Int>(t);
        const bool odd = r - 2 * floor_of<Int>(r * W(0.5)) != 0;
        return odd & (t - r < 2 * half_step) ? r - 1 : r;
    } else {
        const W down = floor_of<Int>(v + half_step), up = -floor_of<Int>(half_step - v);
        if constexpr (rule == Rule::truncate_down) return down;
        if constexpr (rule == Rule::truncate_up) return up;
        return v < 0 ? up : down;
    }
}

// A u16 working value divided; see Rounding.
template <Rule rule>
inline uint16_t divided(uint16_t v, const Rounding& r) {
    const uint16_t sum = static_cast<uint16_t>(v + r.add);
    const uint16_t high = static_cast<uint16_t>(static_cast<uint32_t>(sum) * r.multiplier >> 16);
    const uint16_t q = static_cast<uint16_t>(high >> r.shift);
    if constexpr (rule == Rule::half_even) {
        const uint16_t rest = static_cast<uint16_t>(v + r.divisor / 2 - q * r.divisor);
        return static_cast<uint16_t>(q - ((rest == 0) & (r.divisor % 2 == 0) & (q % 2)));
    }
    return q;
}

// ------------------------------------------------------------------------------------------------ rows

template <class W>
void lerp(const W* a, const W* b, W w, W one, int64_t count, W* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = lerp_one(a[i], b[i], w, one);
}

template <class W>
void lerp_careful(const W* a, const W* b, W w, int64_t count, W* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = lerp_one_careful(a[i], b[i], w);
}

template <class W, int windows>
int64_t across_vectors(const Lerps<W>& t, const W* row, W* out) {
    using P = Picker<W>;
    int64_t e = 0;
    if constexpr (P::lanes > 0) {
        const auto one = P::all(t.one);
        for (int64_t v = 0; e + P::lanes <= t.count; ++v, e += P::lanes) {
            const W* at = row + t.first_base[v];
            const W* bt = row + t.second_base[v];
            const auto n = P::load_lanes(t.first_lane + e), m = P::load_lanes(t.second_lane + e);
            const auto w = P::load(t.weight + e);
            if constexpr (windows == 1)
                P::store(out + e, P::lerp(P::pick(P::load(at), n), P::pick(P::load(bt), m), w, one));
            else
                P::store(out + e, P::lerp(P::pick(P::load(at), P::load(at + P::lanes), n),
                                          P::pick(P::load(bt), P::load(bt + P::lanes), m), w, one));
        }
    }
    return e;
}

template <class W>
void across(const Lerps<W>& t, const W* row, W* out) {
    int64_t e = t.windows == 1 ? across_vectors<W, 1>(t, row, out) : t.windows == 2 ? across_vectors<W, 2>(t, row, out) : 0;
    for (; e < t.count; ++e) out[e] = lerp_one(row[t.first[e]], row[t.second[e]], t.weight[e], t.one);
}

template <class W>
void across_careful(const Lerps<W>& t, const W* row, W* out) {
    for (int64_t e = 0; e < t.count; ++e) out[e] = lerp_one_careful(row[t.first[e]], row[t.second[e]], t.weight[e]);
}

template <class W>
bool any_nonfinite(const W* row, int64_t count) {
    typename Bits<W>::Int any = 0;  // as wide as W, or GCC 12 leaves the loop scalar (8 instructions a value)
    for (int64_t i = 0; i < count; ++i) any |= nonfinite(row[i]) ? 1 : 0;
    return any != 0;
}

template <class W>
void canonical_nans(W* row, int64_t count) {
    const W nan = bit_cast<W>(Bits<W>::quiet_nan);
    for (int64_t i = 0; i < count; ++i) row[i] = row[i] != row[i] ? nan : row[i];
}

template <class W>
int64_t doubtful(const W* row, int64_t count, Rule rule, W bound, int32_t* out) {
    const W shift = rule == Rule::half_up || rule == Rule::half_even ? W(0.5) : W(0);
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
        const W t = row[i] + shift;
        const W gap = t - floor_of<int64_t>(t + W(0.5));
        out[found] = static_cast<int32_t>(i);
        found += (gap < 0 ? -gap : gap) <= bound;
    }
    return found;
}

// ------------------------------------------------------------------------------------------------ types

// T as it lies in memory, with the working type that it is computed in.
template <class T, class W>
struct Element {
    static W load(T v, uint64_t base) {
        if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
            return static_cast<W>(static_cast<int64_t>(static_cast<uint64_t>(v) - base));
        else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
            return to_float(v);
        else
            return static_cast<W>(v);
    }
    template <Rule rule>
    static T store(W v, const Rounding& r) {
        if constexpr (std::is_same_v<T, Half>)
            return to_half(v);
        else if constexpr (std::is_same_v<T, BFloat>)
            return to_bfloat(v);
        else if constexpr (!std::is_integral_v<T>)
            return v;
        else if constexpr (std::is_same_v<W, uint16_t>)
            return static_cast<T>(divided<rule>(v, r));
        else if constexpr (sizeof(T) <= 2)
            return static_cast<T>(static_cast<int32_t>(rounded<int32_t, rule>(v, static_cast<W>(r.half_step))));
        else
            return static_cast<T>(
                static_cast<uint64_t>(static_cast<int64_t>(rounded<int64_t, rule>(v, r.half_step))) + r.base);
    }
};

template <class T, class W>
void convert(const byte* src_, int64_t count, uint64_t base, void* dst_) {
    const T* src = reinterpret_cast<const T*>(src_);
    W* dst = static_cast<W*>(dst_);
    if constexpr (std::is_same_v<T, Half>)
        halves_to_floats(src, count, dst);
    else
        for (int64_t i = 0; i < count; ++i) dst[i] = Element<T, W>::load(src[i], base);
}

template <class T, class W>
void lerp_typed(const byte* a_, const byte* b_, double w_, double one_, int64_t count, void* out_) {
    const T* a = reinterpret_cast<const T*>(a_);
    const T* b = reinterpret_cast<const T*>(b_);
    const W w = static_cast<W>(w_), one = static_cast<W>(one_);
    W* out = static_cast<W*>(out_);
    int64_t i = 0;
    if constexpr (std::is_same_v<T, Half>) i = lerp_halves(a, b, w, count, out);
    for (; i < count; ++i)
        out[i] = lerp_one(Element<T, W>::load(a[i], 0), Element<T, W>::load(b[i], 0), w, one);
}

template <class T, class W, Rule rule>
void store_by(const W* row, int64_t count, int64_t block, const Rounding& rounding, byte* dst, intptr_t stride_x,
              intptr_t stride_c) {
    const Rounding r = rounding;
    if (stride_c == intptr_t(sizeof(T)) && stride_x == block * stride_c) {
        T* to = reinterpret_cast<T*>(dst);
        if constexpr (std::is_same_v<T, Half>)
            floats_to_halves(row, count * block, to);
        else
            for (int64_t i = 0; i < count * block; ++i) to[i] = Element<T, W>::template store<rule>(row[i], r);
        return;
    }
    for (int64_t k = 0; k < count; ++k, dst += stride_x)
        for (int64_t j = 0; j < block; ++j)
            *reinterpret_cast<T*>(dst + j * stride_c) = Element<T, W>::template store<rule>(*row++, r);
}

template <class T, class W>
void store(const void* row_, int64_t count, int64_t block, const Rounding& r, byte* dst, intptr_t stride_x,
           intptr_t stride_c) {
    const W* row = static_cast<const W*>(row_);
    if constexpr (std::is_integral_v<T>) {
        switch (r.rule) {
            case Rule::half_up: return store_by<T, W, Rule::half_up>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::half_even: return store_by<T, W, Rule::half_even>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_by_sign:
                return store_by<T, W, Rule::truncate_by_sign>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_down:
                return store_by<T, W, Rule::truncate_down>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_up: return store_by<T, W, Rule::truncate_up>(row, count, block, r, dst, stride_x, stride_c);
        }
    } else {
        store_by<T, W, Rule::half_up>(row, count, block, r, dst, stride_x, stride_c);
    }
}

template <class T, class W>
constexpr TypeKernels type_kernels() {
    return {&convert<T, W>, &lerp_typed<T, W>, &store<T, W>};
}

template <class W>
constexpr RowKernels<W> row_kernels() {
    if constexpr (std::is_integral_v<W>)
        return {Picker<W>::lanes, &lerp<W>, &across<W>, nullptr, nullptr, nullptr, nullptr, nullptr};
    else
        return {Picker<W>::lanes,   &lerp<W>,          &across<W>,         &lerp_careful<W>,
                &across_careful<W>, &any_nonfinite<W>, &canonical_nans<W>, &doubtful<W>};
}

// ------------------------------------------------------------------------------------------------ rows of bytes

#ifdef REMAPND_HAS_BYTE_LERPS
template <int windows>
void across_byte_groups(const ByteLerps& t, int64_t groups, const uint8_t* row, uint16_t* out) {
    for (int64_t g = 0; g < groups; ++g)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8 * g),
                         lerp_bytes<windows>(row + t.base[g], t.pick + 16 * g, t.weight + 16 * g));
}

void across_bytes(const ByteLerps& t, const Lerps<uint16_t>& rest, const uint8_t* row, uint16_t* out) {
    const int64_t groups = rest.count / 8;
    t.windows == 1 ? across_byte_groups<1>(t, groups, row, out) : across_byte_groups<2>(t, groups, row, out);
    for (int64_t e = 8 * groups; e < rest.count; ++e)
        out[e] = lerp_one<uint16_t>(row[rest.first[e]], row[rest.second[e]], rest.weight[e], rest.one);
}
#else
constexpr decltype(ResampleKernels::across_bytes) across_bytes = nullptr;
#endif

// ------------------------------------------------------------------------------------------------ nearest

template <int size>
void pick_sized(const byte* src, intptr_t src_stride, const int64_t* columns, int64_t count, byte* dst,
                intptr_t dst_stride) {
    if (!columns)
        for (int64_t k = 0; k < count; ++k, dst += dst_stride, src += src_stride) std::memcpy(dst, src, size);
    else
        for (int64_t k = 0; k < count; ++k, dst += dst_stride) std::memcpy(dst, src + columns[k] * src_stride, size);
}

void pick(const byte* src, intptr_t src_stride, const int64_t* columns, int64_t count, int64_t size, byte* dst,
          intptr_t dst_stride) {
    switch (size) {
        case 1: return pick_sized<1>(src, src_stride, columns, count, dst, dst_stride);
        case 2: return pick_sized<2>(src, src_stride, columns, count, dst, dst_stride);
        case 3: return pick_sized<3>(src, src_stride, columns, count, dst, dst_stride);
        case 4: return pick_sized<4>(src, src_stride, columns, count, dst, dst_stride);
        case 6: return pick_sized<6>(src, src_stride, columns, count, dst, dst_stride);
        case 8: return pick_sized<8>(src, src_stride, columns, count, dst, dst_stride);
        case 12: return pick_sized<12>(src, src_stride, columns, count, dst, dst_stride);
        case 16: return pick_sized<16>(src, src_stride, columns, count, dst, dst_stride);
        default:
            for (int64_t k = 0; k < count; ++k, dst += dst_stride)
                std::memcpy(dst, src + (columns ? columns[k] : k) * src_stride, static_cast<std::size_t>(size));
    }
}

}  // namespace

extern const ResampleKernels resample_table;
const ResampleKernels resample_table{
    row_kernels<float>(),
    row_kernels<double>(),
    row_kernels<uint16_t>(),
    {{type_kernels<uint8_t, float>(), type_kernels<uint8_t, double>(), type_kernels<uint8_t, uint16_t>()},
     {type_kernels<std::int8_t, float>(), type_kernels<std::int8_t, double>(), {}},
     {type_kernels<uint16_t, float>(), type_kernels<uint16_t, double>(), {}},
     {type_kernels<std::int16_t, float>(), type_kernels<std::int16_t, double>(), {}},
     {{}, type_kernels<uint32_t, double>(), {}},
     {{}, type_kernels<int32_t, double>(), {}},
     {{}, type_kernels<uint64_t, double>(), {}},
     {{}, type_kernels<int64_t, double>(), {}},
     {type_kernels<Half, float>(), {}, {}},
     {type_kernels<BFloat, float>(), {}, {}},
     {type_kernels<float, float>(), {}, {}},
     {{}, type_kernels<double, double>(), {}}},
    across_bytes,
    &pick};

}  // namespace remapnd::REMAPND_LEVEL
