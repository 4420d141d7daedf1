// Places of inputs within windows of memory, for kernels that pick in registers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace remapnd {

// Groups of outputs that read from windows of memory: a group's inputs lie within count * size values from its base.
struct Windows {
    using Taps = std::vector<std::int32_t>;

    int count = 0;                     // of windows a group, 1, 2 or 4; 0: some group's inputs lie farther apart
    std::vector<std::int32_t> base;    // of each whole group
    std::vector<std::uint8_t> places;  // of the inputs behind the base: for each output, of all its taps
    bool reads_within = true;          // no window ends behind the `available` values

    Windows() = default;
    Windows(std::initializer_list<const Taps*> taps, int group, int size, std::int64_t available, int least = 1) {
        const std::size_t g = static_cast<std::size_t>(group);
        const std::size_t groups = group ? (*taps.begin())->size() / g : 0;
        std::int32_t widest = 0;
        for (std::size_t i = 0; i < groups; ++i) {
            std::int32_t lo = INT32_MAX, hi = 0;
            for (const Taps* t : taps)
                for (std::size_t e = i * g; e < (i + 1) * g; ++e) {
                    lo = std::min(lo, (*t)[e]);
                    hi = std::max(hi, (*t)[e]);
                }
            base.push_back(lo);
            widest = std::max(widest, hi - lo + 1);
        }
        if (groups == 0 || widest > 4 * size) return;
        count = std::max(least, widest <= size ? 1 : widest <= 2 * size ? 2 : 4);
        const std::int64_t reach = std::int64_t{count} * size;
        reads_within = reach <= available;
        for (std::size_t e = 0; e < groups * g; ++e) {
            std::int32_t& b = base[e / g];
            b = static_cast<std::int32_t>(std::max<std::int64_t>(0, std::min<std::int64_t>(b, available - reach)));
            for (const Taps* t : taps) places.push_back(static_cast<std::uint8_t>((*t)[e] - b));
        }
    }
};

}  // namespace remapnd
