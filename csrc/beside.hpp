// Vectors of a horizontal pass whose two taps lie beside each other, and how they repeat.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels.hpp"
#include "windows.hpp"

namespace remapnd {

// Whether vector w is as v, its taps somewhere else.
template <class W>
bool alike(const Windows& lanes, const std::vector<W>& weight, std::int64_t size, std::int64_t v, std::int64_t w) {
    const auto same = [&](const auto& values) {
        const auto n = static_cast<std::size_t>(size);
        return std::memcmp(values.data() + v * size, values.data() + w * size, n * sizeof(values[0])) == 0;
    };
    return same(lanes.places) && same(weight);
}

// Sets the period of vectors [b.begin, b.end), where they have one.
template <class W>
void set_period(Beside& b, const Windows& lanes, const std::vector<W>& weight, std::int64_t size) {
    for (const int period : {1, 3}) {
        if (b.end - b.begin < 2 * period) return;
        const auto moved = [&](std::int64_t v) { return std::int64_t{lanes.base[v + period]} - lanes.base[v]; };
        const std::int64_t advance = moved(b.begin);
        bool repeats = true;
        for (std::int64_t v = b.begin; repeats && v + period < b.end; ++v)
            repeats = moved(v) == advance && alike(lanes, weight, size, v, v + period);
        if (repeats) {
            b.period = period;
            b.advance = advance;
            return;
        }
    }
}

// The longest run of such vectors: taps `step` values apart.
template <class W>
Beside beside(const Windows& first, const Windows& second, const std::vector<W>& weight, std::int64_t step) {
    const auto vectors = static_cast<std::int64_t>(first.base.size());
    if (!first.count || !vectors) return {};
    const std::int64_t size = static_cast<std::int64_t>(first.places.size()) / vectors;
    const auto are_beside = [&](std::int64_t v) {
        return second.base[v] == first.base[v] + step &&
               std::equal(first.places.begin() + v * size, first.places.begin() + (v + 1) * size, second.places.begin() + v * size);
    };
    Beside longest;
    longest.step = step;
    for (std::int64_t v = 0; v < vectors; ++v) {
        const std::int64_t begin = v;
        while (v < vectors && are_beside(v)) ++v;
        if (v - begin > longest.end - longest.begin) longest.begin = begin, longest.end = v;
    }
    set_period(longest, first, weight, size);
    return longest;
}

}  // namespace remapnd
