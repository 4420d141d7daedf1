// One value: from its type to the working type and back.
//
// Included by the kernels of resampling, in the namespace of a level.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels.hpp"
#include "simd/half.hpp"

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
bool any_nonfinite(const W* row, int64_t count) {
    typename Bits<W>::Int any = 0;  // as wide as W, or GCC 12 leaves the loop scalar (8 instructions a value)
    for (int64_t i = 0; i < count; ++i) any |= nonfinite(row[i]) ? 1 : 0;
    return any != 0;
}

// The largest integer not above v, for |v| within Int.
template <class Int, class W>
inline W floor_of(W v) {
    const W t = static_cast<W>(static_cast<Int>(v));
    return t > v ? t - 1 : t;
}

// v is not negative where `natural`: its floor is then the conversion itself.
template <class Int, Rule rule, bool natural, class W>
inline W rounded(W v, W half_step) {
    const auto floor = [](W x) {
        if constexpr (natural)
            return static_cast<W>(static_cast<Int>(x));
        else
            return floor_of<Int>(x);
    };
    if constexpr (rule == Rule::half_up) {
        return floor(v + (W(0.5) + half_step));
    } else if constexpr (rule == Rule::half_even) {
        const W t = v + (W(0.5) + half_step);
        const W r = floor(t);
        const bool odd = r - 2 * floor(r * W(0.5)) != 0;
        return odd & (t - r < 2 * half_step) ? r - 1 : r;
    } else {
        if constexpr (rule == Rule::truncate_down || (natural && rule == Rule::truncate_by_sign)) return floor(v + half_step);
        const W up = -floor_of<Int>(half_step - v);
        if constexpr (rule == Rule::truncate_up) return up;
        return v < 0 ? up : floor(v + half_step);
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

// The sum of a u32 division that stands for the number zero.
template <class T>
inline uint32_t sum_of_zero(const Rounding& r) {
    return std::is_signed_v<T> ? r.divisor << (8 * sizeof(T) - 1) : 0;
}

// A u32 working value divided; see Rounding.
template <class T>
inline T divided(uint32_t v, const Rounding& r) {
    uint32_t sum = v + r.add;
    if (r.rule == Rule::truncate_by_sign && sum < sum_of_zero<T>(r)) sum += r.divisor - 1;
    uint32_t q = static_cast<uint32_t>(uint64_t{sum} * r.multiplier >> 32 >> r.shift);
    if (r.rule == Rule::half_even && r.divisor % 2 == 0 && sum == q * r.divisor) q -= q & 1;
    return static_cast<T>(static_cast<int32_t>(q) - (std::is_signed_v<T> ? int32_t{1} << (8 * sizeof(T) - 1) : 0));
}

// What working values are clamped to before they are rounded: the limits of T (less the base), which rounding keeps.
// Those of 64 bits are only clamped where they leave the range of T by less than 2**53, or that of int64.
template <class T, class W>
struct Limits {
    W low, high;

    explicit Limits([[maybe_unused]] const Rounding& r) {
        constexpr bool is_signed = T(-1) < T(0);
        constexpr uint64_t top = uint64_t(1) << (8 * sizeof(T) - 1);
        if constexpr (sizeof(T) < 8) {
            low = is_signed ? -static_cast<W>(top) : W(0);
            high = static_cast<W>(is_signed ? top - 1 : 2 * top - 1);
        } else {
            constexpr W most = static_cast<W>(uint64_t(1) << 62);
            const W below = static_cast<W>(is_signed ? r.base + top : r.base);
            const W above = static_cast<W>((is_signed ? top - 1 : ~uint64_t(0)) - r.base);
            low = -(below < most ? below : most);
            high = above < most ? above : most;
        }
    }
    // Low for NaN.
    W clamped(W v) const {
        const W least = v > low ? v : low;
        return least < high ? least : high;
    }
};

// T as it lies in memory, with the working type that it is computed in.
template <class T, class W>
struct Element {
    static W load(T v, uint64_t base) {
        if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
            return static_cast<W>(static_cast<int64_t>(static_cast<uint64_t>(v) - base));
        else if constexpr (std::is_same_v<W, uint32_t>)
            return static_cast<W>(int32_t{v} - (std::is_same_v<T, uint16_t> ? 32768 : 0));
        else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
            return to_float(v);
        else
            return static_cast<W>(v);
    }
    // v within the limits
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
        else if constexpr (std::is_same_v<W, uint32_t>)
            return divided<T>(v, r);
        else if constexpr (sizeof(T) <= 2)
            return static_cast<T>(static_cast<int32_t>(rounded<int32_t, rule, (T(-1) > T(0))>(v, static_cast<W>(r.half_step))));
        else
            return static_cast<T>(
                static_cast<uint64_t>(static_cast<int64_t>(rounded<int64_t, rule, false>(v, r.half_step))) + r.base);
    }
};

}  // namespace
}  // namespace remapnd::REMAPND_LEVEL
