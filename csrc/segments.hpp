// Rows cut into segments, with the tables of the horizontal pass for each.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "axis_table.hpp"
#include "beside.hpp"
#include "byte_segment.hpp"
#include "filter_segment.hpp"
#include "kernels.hpp"
#include "loose_segment.hpp"
#include "ramp_segment.hpp"
#include "whole_segment.hpp"
#include "windows.hpp"

namespace remapnd {

// Elements of a row that are worked on at once: with the rows of all passes they stay in the first-level cache.
inline constexpr std::int64_t kSegment = 4096;

// Room behind a row for vectors that begin inside it, in values.
inline constexpr std::int64_t kPad = 4 * kMaxLanes;

// Part of a row: outputs [x0, x1) and the columns of the input that they need.
template <class W>
struct Segment {
    using PixelWeight = std::conditional_t<std::is_integral_v<W>, std::uint64_t, W>;
    using PairWeight = std::conditional_t<std::is_same_v<W, std::uint32_t>, std::int16_t, std::int8_t>;

    std::int64_t x0, x1;
    std::int64_t column0;               // columns are column0 + k, or
    std::vector<std::int64_t> columns;  // these, where they are few of many
    std::int64_t column_count;
    std::vector<std::int32_t> first, second;
    std::vector<W> weight;
    W one;
    Windows first_lanes, second_lanes;  // of the vectors of the horizontal pass
    Beside beside;                      // of these
    Windows pairs;                      // of the groups of PairLerps or RowLerps
    std::vector<PairWeight> pair_weight;
    bool pairs_in_line = false;
    Windows pixel_pairs;                // of the groups of PixelPairs, if the outputs are such as it wants; else its count is 0
    std::vector<PairWeight> pixel_pair_weight;
    std::int64_t pixel_pairs_alike = 0;
    std::vector<std::int32_t> first_pixel, second_pixel;  // of PixelLerps, if the outputs are such as it wants
    bool neighbours = false;                              // of PixelLerps
    std::vector<PixelWeight> pixel_weights;               // of kernels of pixels; of floats four times
    FilterSegment<W> filter;            // instead of all that, for a filter axis,
    WholeSegment whole;                 // and that if the pass is made in integers,
    ByteSegment bytes;                  // of bytes as they are,
    LooseSegment loose;                 // or that if its terms may be added in any order,
    RampSegment ramps;                  // or that if they are ramps as well

    Lerps<W> table() const {
        return {static_cast<std::int64_t>(first.size()), first.data(),
                second.data(),                           weight.data(),
                one,                                     first_lanes.count,
                first_lanes.base.data(),                 second_lanes.base.data(),
                first_lanes.places.data(),               second_lanes.places.data(),
                beside};
    }
    PairLerps<PairWeight> pair_table(NextRows next = {}) const {
        return {pairs.count, pairs.base.data(), pairs.places.data(), pair_weight.data(), pairs_in_line, next};
    }
    RowLerps row_table(NextRows next) const
        requires std::is_same_v<W, float>
    { return {pairs.count, pairs.base.data(), pairs.places.data(), weight.data(), next}; }
    PixelPairs pixel_pair_table(NextRows next) const
        requires std::is_same_v<PairWeight, std::int8_t>
    {
        return {static_cast<std::int64_t>(pixel_pairs.base.size()), pixel_pairs_alike, pixel_pairs.base.data(), pixel_pairs.places.data(),
                pixel_pair_weight.data(), next};
    }
    // Whether the horizontal pass reads nothing behind the last column.
    bool reads_within() const {
        return first_lanes.reads_within && second_lanes.reads_within && pairs.reads_within && pixel_pairs.reads_within;
    }
};

// What the kernels of a level want to be told by windows.
struct WindowSizes {
    int lanes;   // values of a vector
    int filter;  // values of a vector of a filter pass
    int pairs;   // bytes of the integers that have a horizontal pass of their own, 1 or 2; or 0
    const WholeWeights* whole;  // of a horizontal pass in integers, or null
    bool bytes;                 // that may be made of bytes
    bool loose;                 // the terms of a filter pass may be added in any order
    const Ramps* ramps;         // and its weights are these, or null

    auto operator<=>(const WindowSizes&) const = default;
};

// The columns that outputs [x0, x1) need, ascending.
inline std::vector<std::int64_t> needed_columns(const AxisTable& t, std::int64_t x0, std::int64_t x1) {
    std::vector<std::int64_t> needed(t.first.begin() + x0, t.first.begin() + x1);
    needed.insert(needed.end(), t.second.begin() + x0, t.second.begin() + x1);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    return needed;
}

inline std::vector<std::int64_t> needed_columns(const FilterTable& t, std::int64_t x0, std::int64_t x1) {
    std::vector<std::int64_t> order;
    for (std::int64_t x = x0; x < x1; ++x) order.push_back(x);
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return t.start[a] < t.start[b]; });
    std::vector<std::int64_t> needed;
    for (const std::int64_t x : order) {
        const std::int64_t end = t.start[x] + t.count[x];
        for (std::int64_t c = std::max(t.start[x], needed.empty() ? 0 : needed.back() + 1); c < end; ++c)
            needed.push_back(c);
    }
    if (needed.empty()) needed.push_back(0);  // no output has a tap
    return needed;
}

template <class W, class Table>
void set_columns(Segment<W>& s, const Table& t) {
    std::vector<std::int64_t> needed = needed_columns(t, s.x0, s.x1);
    s.column0 = needed.front();
    s.column_count = needed.back() - needed.front() + 1;
    const auto few = static_cast<std::int64_t>(needed.size());
    if (2 * few <= s.column_count) {
        s.column0 = 0;
        s.column_count = few;
        s.columns = std::move(needed);
    }
}

// The place of a column among the loaded ones.
template <class W>
std::int64_t local(const Segment<W>& s, std::int64_t column) {
    if (s.columns.empty()) return column - s.column0;
    return std::lower_bound(s.columns.begin(), s.columns.end(), column) - s.columns.begin();
}

inline bool are_pixels(const AxisTable& t, std::int64_t x0, std::int64_t x1, std::int64_t block) {
    bool are = (block == 3 || block == 4) && t.n_in <= INT32_MAX / block;
    for (std::int64_t x = x0; are && x < x1; ++x)
        are = (t.second[x] == t.first[x] || t.second[x] == t.first[x] + 1) &&
              (x == x0 || (t.first[x] >= t.first[x - 1] && t.second[x] >= t.second[x - 1]));
    return are;
}

// Whether the taps of all outputs are side by side, as if halved in the middle, with the same weights.
template <class W>
bool are_in_line(const Segment<W>& s) {
    bool are = true;
    for (std::size_t e = 0; e < s.first.size(); ++e) {
        const std::int32_t at = s.first[0] + 2 * static_cast<std::int32_t>(e);
        are &= s.first[e] == at && s.second[e] == at + 1 && s.weight[e] == s.weight[0];
    }
    return are;
}

// The places of the bytes of words at these places.
inline std::vector<std::uint8_t> both_bytes(const std::vector<std::uint8_t>& words) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint8_t place : words) {
        bytes.push_back(static_cast<std::uint8_t>(2 * place));
        bytes.push_back(static_cast<std::uint8_t>(2 * place + 1));
    }
    return bytes;
}

// The groups of PixelPairs, of pixels of three values.
template <class W>
void set_pixel_pairs(Segment<W>& s, std::int64_t available) {
    std::vector<std::int32_t> first, second;
    for (std::size_t four = 0; 24 * (four + 1) <= s.first.size(); ++four)
        for (const std::size_t group : {0, 2, 1, 3})
            for (std::size_t e = 0; e < 8; ++e) {
                const std::size_t at = 24 * four + 6 * group + std::min<std::size_t>(e, 5);
                first.push_back(s.first[at]);
                second.push_back(s.second[at]);
                s.pixel_pair_weight.push_back(s.pair_weight[2 * at]);
                s.pixel_pair_weight.push_back(s.pair_weight[2 * at + 1]);
            }
    s.pixel_pairs = Windows({&first, &second}, 8, 16, available);
    if (s.pixel_pairs.count != 1) s.pixel_pairs = Windows();
    const auto alike = [](const auto& table, std::size_t at) { return std::equal(table.begin(), table.begin() + 64, table.begin() + at); };
    for (std::size_t at = 0; at < s.pixel_pairs.places.size(); at += 64, s.pixel_pairs_alike += 4)
        if (!alike(s.pixel_pairs.places, at) || !alike(s.pixel_pair_weight, at)) break;
}

// Places in the loaded columns, and windows over them.
template <class W>
void set_taps(Segment<W>& s, const AxisTable& t, std::int64_t block, WindowSizes sizes) {
    for (std::int64_t x = s.x0; x < s.x1; ++x)
        for (std::int64_t j = 0; j < block; ++j) {
            s.first.push_back(static_cast<std::int32_t>(local(s, t.first[x]) * block + j));
            s.second.push_back(static_cast<std::int32_t>(local(s, t.second[x]) * block + j));
            s.weight.push_back(static_cast<W>(t.weight[x]));
        }
    s.one = static_cast<W>(t.one);
    const std::int64_t available = s.column_count * block;
    s.first_lanes = Windows({&s.first}, sizes.lanes, sizes.lanes, available);
    s.second_lanes = Windows({&s.second}, sizes.lanes, sizes.lanes, available, s.first_lanes.count);
    if (s.second_lanes.count > s.first_lanes.count)
        s.first_lanes = Windows({&s.first}, sizes.lanes, sizes.lanes, available, s.second_lanes.count);
    if (s.first_lanes.count == 0 || s.second_lanes.count == 0) s.first_lanes = s.second_lanes = Windows();
    s.beside = beside(s.first_lanes, s.second_lanes, s.weight, block);
    using PairWeight = typename Segment<W>::PairWeight;
    const bool integers = std::is_integral_v<W> && sizes.pairs && t.one <= std::numeric_limits<PairWeight>::max();
    if (integers) {
        s.pairs = Windows({&s.first, &s.second}, 8 / sizes.pairs, 16 / sizes.pairs, available);
        for (std::size_t e = 0; e < s.first.size(); ++e) {
            s.pair_weight.push_back(static_cast<PairWeight>(t.one - static_cast<double>(s.weight[e])));
            s.pair_weight.push_back(static_cast<PairWeight>(s.weight[e]));
        }
        s.pairs_in_line = are_in_line(s);
        if (sizes.pairs == 2) s.pairs.places = both_bytes(s.pairs.places);
        if (std::is_same_v<W, std::uint16_t> && block == 3 && s.pairs.count > 1) set_pixel_pairs(s, available);
    }
    if constexpr (std::is_same_v<W, float>) s.pairs = Windows({&s.first, &s.second}, 8, 8, available);
    if (!are_pixels(t, s.x0, s.x1, block)) return;
    s.neighbours = true;
    for (std::int64_t x = s.x0; x < s.x1; ++x) {
        s.first_pixel.push_back(static_cast<std::int32_t>(t.first[x] * block));
        s.second_pixel.push_back(static_cast<std::int32_t>(t.second[x] * block));
        s.neighbours &= t.second[x] != t.first[x];
    }
    for (std::int64_t x = s.x0; x < s.x1; ++x) {
        if constexpr (!std::is_integral_v<W>) {
            s.pixel_weights.insert(s.pixel_weights.end(), 4, static_cast<W>(t.weight[x]));
        } else if (integers) {
            const auto second = t.second[x] == t.first[x] ? 0 : static_cast<std::uint64_t>(t.weight[x]);
            const auto first = static_cast<std::uint64_t>(t.one) - second;
            constexpr bool words = std::is_same_v<W, std::uint32_t>;
            s.pixel_weights.push_back(words ? (first | second << 16) * 0x0000000100000001 : (first | second << 8) * 0x0001000100010001);
        }
    }
}

template <class W>
void set_taps(Segment<W>& s, const FilterTable& t, std::int64_t block, WindowSizes sizes) {
    const auto of_row = [&](std::int64_t column) { return local(s, column); };
    if (sizes.whole) s.whole = WholeSegment(t, *sizes.whole, s.x0, s.x1, of_row, block);
    if (sizes.bytes && s.columns.empty())
        s.bytes = ByteSegment(t, *sizes.whole, s.x0, s.x1, s.column0, s.column_count, block);
    if (sizes.ramps && s.columns.empty())
        s.ramps = RampSegment(*sizes.ramps, s.x0, s.x1, s.column0, s.column_count, block);
    else if (sizes.loose)
        s.loose = LooseSegment(t, s.x0, s.x1, of_row, block, s.column_count * block);
    if constexpr (!std::is_integral_v<W>) s.filter = FilterSegment<W>(t, s.x0, s.x1, of_row, block, sizes.loose ? 0 : sizes.filter);
}

// How many outputs a segment has, if its rows are to have some `size` elements.
inline std::int64_t segment_width(const AxisTable&, std::int64_t xs, std::int64_t block, std::int64_t size) {
    const std::int64_t count = std::max<std::int64_t>(1, (xs * block + size - 1) / size);
    return (xs + count - 1) / count;
}

inline std::int64_t segment_width(const FilterTable& t, std::int64_t xs, std::int64_t block, std::int64_t size) {
    std::int64_t columns = 0;
    for (const std::int64_t n : t.count) columns = std::max(columns, n);
    const std::int64_t per_output = std::max<std::int64_t>(1, t.n_in / t.n_out()) * block;
    // With few outputs beside the taps at its borders a segment would load most columns twice.
    const std::int64_t beside = std::min(4 * columns * block, 8 * size);
    const std::int64_t width = std::max({std::int64_t{1}, size / per_output, beside / per_output});
    const std::int64_t count = (xs + width - 1) / width;
    return (xs + count - 1) / count;
}

// The segments of a row of xs outputs of `block` elements, some `size` elements each, through `t` or (null) through no
// horizontal pass.
template <class W>
std::vector<Segment<W>> segments(const ResampleTable* t, std::int64_t xs, std::int64_t block, std::int64_t size,
                                 WindowSizes sizes) {
    const auto of_table = [&](const auto& table) { return segment_width(table, xs, block, size); };
    const std::int64_t width = t ? std::visit(of_table, *t) : segment_width(AxisTable{}, xs, block, size);
    std::vector<Segment<W>> all;
    for (std::int64_t x0 = 0; x0 < xs; x0 += width) {
        Segment<W> s{};
        s.x0 = s.column0 = x0;
        s.x1 = std::min(xs, x0 + width);
        s.column_count = s.x1 - s.x0;
        if (t)
            std::visit(
                [&](const auto& table) {
                    set_columns(s, table);
                    set_taps(s, table, block, sizes);
                },
                *t);
        all.push_back(std::move(s));
    }
    return all;
}

}  // namespace remapnd
