// Division of 16-bit sums by a multiplication.
#pragma once
#include <bit>
#include <cstdint>

#include "resample_kernels.hpp"

namespace remapnd {

// Division of sums up to 255 * divisor, `half` added, by `divisor`, 2 to 256, towards zero (remapnd.plans.arithmetic states why it
// holds).
inline Rounding byte_division(std::uint32_t divisor, std::uint32_t half) {
    const int shift = std::bit_width(divisor - 1) - 1;
    const std::uint32_t power = std::uint32_t{1} << (16 + shift), up = (power + divisor - 1) / divisor;
    Rounding r;
    r.divisor = divisor;
    r.shift = shift;
    if (up < 1 << 16 && std::uint64_t{up * divisor - power} * (255 * divisor + half) < power) {
        r.add = half;
        r.multiplier = up;
    } else {
        r.add = half + 1;
        r.multiplier = power / divisor;
    }
    return r;
}

}  // namespace remapnd
