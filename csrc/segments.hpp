// Rows cut into segments, with the tables of the horizontal pass for each.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"

namespace remapnd {

// Elements of a row that are worked on at once: with the rows of all passes they stay in the first-level cache.
inline constexpr std::int64_t kSegment = 4096;

// Room behind a row for vectors that begin inside it, in values.
inline constexpr std::int64_t kPad = 2 * kMaxLanes;

// Groups of outputs that read from windows of memory: a group's inputs lie within count * size values from its base.
struct Windows {
    using Taps = std::vector<std::int32_t>;

    int count = 0;                     // of windows a group; 0: some group's inputs lie farther apart than two
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
        if (groups == 0 || widest > 2 * size) return;
        count = std::max(least, widest <= size ? 1 : 2);
        const std::int64_t reach = std::int64_t{count} * size;
        reads_within = reach <= available;
        for (std::size_t e = 0; e < groups * g; ++e) {
            std::int32_t& b = base[e / g];
            b = static_cast<std::int32_t>(std::max<std::int64_t>(0, std::min<std::int64_t>(b, available - reach)));
            for (const Taps* t : taps) places.push_back(static_cast<std::uint8_t>((*t)[e] - b));
        }
    }
};

// Part of a row: outputs [x0, x1) and the columns of the input that they need.
template <class W>
struct Segment {
    std::int64_t x0, x1;
    std::int64_t column0;               // columns are column0 + k, or
    std::vector<std::int64_t> columns;  // these, where they are few of many
    std::int64_t column_count;
    std::vector<std::int32_t> first, second;
    std::vector<W> weight;
    W one;
    Windows first_lanes, second_lanes;  // of the vectors of the horizontal pass
    Windows bytes;                      // of the groups of ByteLerps
    std::vector<std::int8_t> byte_weight;

    Lerps<W> table() const {
        return {static_cast<std::int64_t>(first.size()), first.data(),
                second.data(),                           weight.data(),
                one,                                     first_lanes.count,
                first_lanes.base.data(),                 second_lanes.base.data(),
                first_lanes.places.data(),               second_lanes.places.data()};
    }
    ByteLerps byte_table() const { return {bytes.count, bytes.base.data(), bytes.places.data(), byte_weight.data()}; }
    // Whether the horizontal pass reads nothing behind the last column.
    bool reads_within() const { return first_lanes.reads_within && second_lanes.reads_within && bytes.reads_within; }
};

// What the kernels of a level want to be told by windows.
struct WindowSizes {
    int lanes;   // values of a vector
    bool bytes;  // whether rows of bytes have a horizontal pass of their own

    auto operator<=>(const WindowSizes&) const = default;
};

template <class W>
void set_columns(Segment<W>& s, const AxisTable& t) {
    std::vector<std::int64_t> needed(t.first.begin() + s.x0, t.first.begin() + s.x1);
    needed.insert(needed.end(), t.second.begin() + s.x0, t.second.begin() + s.x1);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    s.column0 = needed.front();
    s.column_count = needed.back() - needed.front() + 1;
    const auto few = static_cast<std::int64_t>(needed.size());
    if (2 * few <= s.column_count) {
        s.column0 = 0;
        s.column_count = few;
        s.columns = std::move(needed);
    }
}

// Places in the loaded columns, and windows over them.
template <class W>
void set_taps(Segment<W>& s, const AxisTable& t, std::int64_t block, WindowSizes sizes) {
    const auto local = [&](std::int64_t column) {
        if (s.columns.empty()) return column - s.column0;
        return std::lower_bound(s.columns.begin(), s.columns.end(), column) - s.columns.begin();
    };
    for (std::int64_t x = s.x0; x < s.x1; ++x)
        for (std::int64_t j = 0; j < block; ++j) {
            s.first.push_back(static_cast<std::int32_t>(local(t.first[x]) * block + j));
            s.second.push_back(static_cast<std::int32_t>(local(t.second[x]) * block + j));
            s.weight.push_back(static_cast<W>(t.weight[x]));
        }
    s.one = static_cast<W>(t.one);
    const std::int64_t available = s.column_count * block;
    s.first_lanes = Windows({&s.first}, sizes.lanes, sizes.lanes, available);
    s.second_lanes = Windows({&s.second}, sizes.lanes, sizes.lanes, available, s.first_lanes.count);
    if (s.second_lanes.count > s.first_lanes.count)
        s.first_lanes = Windows({&s.first}, sizes.lanes, sizes.lanes, available, s.second_lanes.count);
    if (s.first_lanes.count == 0 || s.second_lanes.count == 0) s.first_lanes = s.second_lanes = Windows();
    if (sizes.bytes && t.one < 128) {
        s.bytes = Windows({&s.first, &s.second}, 8, 16, available);
        for (std::size_t e = 0; e < s.bytes.places.size() / 2; ++e) {
            s.byte_weight.push_back(static_cast<std::int8_t>(t.one - static_cast<double>(s.weight[e])));
            s.byte_weight.push_back(static_cast<std::int8_t>(s.weight[e]));
        }
    }
}

// The segments of a row of xs outputs of `block` elements, through `t` or (null) through no horizontal pass.
template <class W>
std::vector<Segment<W>> segments(const AxisTable* t, std::int64_t xs, std::int64_t block, WindowSizes sizes) {
    const std::int64_t count = std::max<std::int64_t>(1, (xs * block + kSegment - 1) / kSegment);
    const std::int64_t width = (xs + count - 1) / count;
    std::vector<Segment<W>> all;
    for (std::int64_t x0 = 0; x0 < xs; x0 += width) {
        Segment<W> s{};
        s.x0 = s.column0 = x0;
        s.x1 = std::min(xs, x0 + width);
        s.column_count = s.x1 - s.x0;
        if (t) {
            set_columns(s, *t);
            set_taps(s, *t, block, sizes);
        }
        all.push_back(std::move(s));
    }
    return all;
}

}  // namespace remapnd
