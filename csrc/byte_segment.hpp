// The tables of a horizontal pass on bytes in 16-bit sums.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"
#include "whole_weights.hpp"
#include "windows.hpp"

namespace remapnd {

class ByteSegment {
public:
    // An output whose sum is another multiple of its result than `divisor`.
    struct Other {
        std::int64_t x, divisor;
    };

    ByteSegment() = default;

    // Outputs [x0, x1) in a row of the columns [column0, column0 + columns).  Empty where numerators are negative or do not fit in
    // bytes, where outputs or columns are few or copies, and where many outputs have other divisors.
    ByteSegment(const FilterTable& t, const WholeWeights& whole, std::int64_t x0, std::int64_t x1, std::int64_t column0,
                std::int64_t columns, std::int64_t block)
        : divisor_(whole.most()), block_(block) {
        const std::int64_t outputs = x1 - x0, per_group = group() / block;
        const std::int64_t most = *std::max_element(t.count.begin() + x0, t.count.begin() + x1);
        steps_ = (most + 1) / 2;
        const std::int64_t taps = 2 * steps_;
        if (columns < taps || outputs < 2 * per_group || divisor_ < 2 || divisor_ > INT8_MAX || !whole.positive()) return;
        for (std::int64_t x = x0; x < x1; ++x)
            if (whole.total(x) != divisor_) others_.push_back({x - x0, whole.total(x)});
        if (static_cast<std::int64_t>(others_.size()) > 2 + outputs / 16) return;
        // All outputs take as many taps, some of them times 0.
        const auto first_tap = [&](std::int64_t x) { return std::min(t.start[x] - column0, columns - taps); };
        std::vector<std::int32_t> first, second;
        for (std::int64_t from = x0; from < x1; from += 2 * per_group) {
            const std::int64_t begin = std::min(from, x1 - 2 * per_group);
            place_.push_back(static_cast<std::int32_t>((begin - x0) * block));
            const auto value = [&](std::int64_t lane) {
                return begin * block + lane / 8 * group() + std::min(lane % 8, group() - 1);
            };
            for (std::int64_t lane = 0; lane < 16; ++lane) {
                const std::int64_t x = value(lane) / block;
                first.push_back(static_cast<std::int32_t>(first_tap(x) * block + value(lane) % block));
                second.push_back(static_cast<std::int32_t>(first.back() + block));
            }
            for (std::int64_t tap = 0; tap < taps; tap += 2)
                for (std::int64_t l = 0; l < 32; ++l) {
                    const std::int64_t x = value(l / 2) / block, k = tap + l % 2 - (t.start[x] - column0 - first_tap(x));
                    weight_.push_back(static_cast<std::int8_t>(k >= 0 && k < t.count[x] ? whole.numerator(x, k) : 0));
                }
        }
        windows_ = Windows({&first, &second}, 8, 16, (columns - taps + 2) * block);
        if (!windows_.reads_within || windows_.count > 2) windows_ = Windows();
        if (!empty()) find_same();
    }

    bool empty() const { return windows_.count == 0; }
    std::int64_t divisor() const { return divisor_; }
    const std::vector<Other>& others() const { return others_; }
    ByteTaps taps() const {
        return {pairs(),       steps_,        2 * block_,
                group(),       windows_.count, windows_.base.data(),
                place_.data(), windows_.places.data(), weight_.data(),
                same_begin_,   same_end_};
    }

private:
    std::int64_t group() const { return block_ == 1 ? 8 : 2 * block_; }
    std::int64_t pairs() const { return static_cast<std::int64_t>(place_.size()); }

    // The longest run of pairs with the same tables, one as far from the next as the first from the second.
    void find_same() {
        const auto same = [&](const auto& table, std::int64_t size, std::int64_t v, std::int64_t w) {
            return std::memcmp(table.data() + v * size, table.data() + w * size, static_cast<std::size_t>(size)) == 0;
        };
        for (std::int64_t v = 0; v < pairs();) {
            const std::int64_t begin = v++;
            const std::int32_t* base = windows_.base.data();
            const auto goes_on = [&] {
                return same(windows_.places, 32, begin, v) && same(weight_, 32 * steps_, begin, v) &&
                       base[2 * v + 1] - base[2 * v] == base[2 * begin + 1] - base[2 * begin] &&
                       base[2 * v] - base[2 * v - 2] == base[2 * begin + 2] - base[2 * begin] &&
                       place_[v] - place_[v - 1] == 2 * group();
            };
            while (v < pairs() && goes_on()) ++v;
            if (v - begin > same_end_ - same_begin_) same_begin_ = begin, same_end_ = v;
        }
    }

    std::int64_t divisor_ = 0, block_ = 0, steps_ = 0, same_begin_ = 0, same_end_ = 0;
    std::vector<std::int32_t> place_;
    std::vector<std::int8_t> weight_;
    Windows windows_;
    std::vector<Other> others_;
};

}  // namespace remapnd
