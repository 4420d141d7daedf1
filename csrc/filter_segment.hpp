// The tables of the horizontal pass of a filter axis, for a segment of outputs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"

namespace remapnd {

template <class W>
class FilterSegment {
public:
    FilterSegment() = default;

    // Outputs [x0, x1) of the table; local(column) is the place of a column in the row.
    template <class Local>
    FilterSegment(const FilterTable& t, std::int64_t x0, std::int64_t x1, const Local& local, std::int64_t block, int lanes)
        : sums_(t.sums()), outputs_(x1 - x0) {
        for (std::int64_t x = x0; x < x1; ++x) width_ = std::max(width_, t.count[x]);
        for (std::int64_t x = x0; x < x1; ++x) {
            const std::int64_t count = t.count[x];
            first_.push_back(count ? local(t.start[x]) * block : 0);
            count_.push_back(count);
            base_.push_back(t.base_of(x));
            for (std::int64_t k = 0; k < width_; ++k)
                weights_.push_back(k < count ? static_cast<W>(t.weights_of(x)[k]) : W(0));
        }
        if (lanes > 0) pack(block, lanes);
    }

    FilterTaps<W> taps() const {
        return {outputs_,      width_,         first_.data(), count_.data(),  base_.data(), weights_.data(),
                way_,          vectors_,       packed_.data(), full_.data(),  most_.data(), reach_.data(),
                window_.data(), base_window_.data(), lane_.data(), base_lane_.data(), sums_,
                phases_begin_, phases_pairs_};
    }

private:
    // Chooses the way that costs least, and packs what it reads.
    void pack(std::int64_t block, int lanes) {
        if (lanes == 8 && block == 1 && find_phases()) {
            way_ = Way::phases;
        } else if (lanes == 8 && pick_windows(block, lanes)) {
            way_ = Way::pick;
            pack_vectors(block, lanes, lanes);
        } else if (block == 1 || (lanes == 8 && block == 2)) {
            way_ = Way::turn;
            pack_vectors(block, lanes, lanes);
        } else if (lanes == 8 && (block == 3 || block == 4)) {
            way_ = Way::pairs;
            pack_vectors(block, static_cast<int>(2 * block), lanes);
        } else if (block > 2) {
            way_ = Way::wide;
        }
    }

    // Finds the longest run of outputs made by phases; false if they are not most of all.
    bool find_phases() {
        const auto same = [&](std::int64_t x) {
            const W* w = weights_.data() + x * width_;
            return first_[x + 2] == first_[x] + 1 && count_[x + 2] == count_[x] && base_[x + 2] == base_[x] &&
                   std::memcmp(w, w + 2 * width_, static_cast<std::size_t>(width_) * sizeof(W)) == 0;
        };
        std::int64_t end = 0;
        for (std::int64_t x = 0; x + 2 < outputs_; ++x) {
            const std::int64_t begin = x;
            while (x + 2 < outputs_ && same(x)) ++x;
            if (x + 2 - begin > end - phases_begin_) phases_begin_ = begin, end = x + 2;
        }
        phases_pairs_ = (end - phases_begin_) / 2;
        if (phases_pairs_ < 8 || 4 * phases_pairs_ < outputs_) return false;
        const std::int64_t taps = count_[phases_begin_];
        return (taps == 4 || taps == 6) && count_[phases_begin_ + 1] == taps;
    }

    // Sets the windows if those of every whole vector hold `lanes` values at most.
    bool pick_windows(std::int64_t block, int lanes) {
        const std::int64_t elements = outputs_ * block;
        for (std::int64_t v = 0; (v + 1) * lanes <= elements; ++v)
            if (!add_window(block, v * lanes, lanes, false, window_, lane_) ||
                !add_window(block, v * lanes, lanes, true, base_window_, base_lane_)) {
                window_.clear(), base_window_.clear(), lane_.clear(), base_lane_.clear();
                return false;
            }
        return !window_.empty();
    }

    bool add_window(std::int64_t block, std::int64_t e0, int lanes, bool of_base, std::vector<std::int64_t>& window,
                    std::vector<std::uint8_t>& lane) const {
        const auto at = [&](std::int64_t e) {
            const std::int64_t x = e / block;
            return first_[x] + e % block + (of_base && base_[x] > 0 ? base_[x] * block : 0);
        };
        std::int64_t low = INT64_MAX, high = 0;
        for (std::int64_t e = e0; e < e0 + lanes; ++e) low = std::min(low, at(e)), high = std::max(high, at(e));
        if (high - low >= lanes) return false;
        window.push_back(low);
        for (std::int64_t e = e0; e < e0 + lanes; ++e) lane.push_back(static_cast<std::uint8_t>(at(e) - low));
        return true;
    }

    // Vectors of `elements` elements in `per` lanes, four of which have the same output where these are not as many.
    void pack_vectors(std::int64_t block, int elements, int per) {
        vectors_ = outputs_ * block / elements;
        std::int64_t reach = 0;
        for (std::int64_t v = 0; v < vectors_; ++v) {
            const std::int64_t x0 = v * elements / block, x1 = ((v + 1) * elements - 1) / block;
            const auto [full, most] = std::minmax_element(count_.begin() + x0, count_.begin() + x1 + 1);
            full_.push_back(*full);
            most_.push_back(*most);
            for (std::int64_t k = 0; k < width_; ++k)
                for (int l = 0; l < per; ++l) {
                    const std::int64_t x = way_ == Way::pairs ? x0 + l / 4 : (v * elements + l) / block;
                    packed_.push_back(k < count_[x] && k != base_[x] ? weights_[x * width_ + k] : W(-0.0));
                }
            reach = std::max(reach, end_of(v, block, x0, x1, *most, per));
            reach_.push_back(reach);
        }
    }

    // The end of what vector v, of outputs x0 to x1, reads.
    std::int64_t end_of(std::int64_t v, std::int64_t block, std::int64_t x0, std::int64_t x1, std::int64_t most, int per) const {
        if (way_ == Way::pick) return std::max(window_[v] + std::max<std::int64_t>(0, most - 1) * block, base_window_[v]) + per;
        const std::int64_t first = *std::max_element(first_.begin() + x0, first_.begin() + x1 + 1);
        if (way_ == Way::turn) return first + (most + 3) / 4 * 4 * block;
        return first + std::max<std::int64_t>(0, most - 1) * block + 4;
    }

    bool sums_ = false;
    std::int64_t outputs_ = 0, width_ = 0, vectors_ = 0;
    std::int64_t phases_begin_ = 0, phases_pairs_ = 0;
    std::vector<std::int64_t> first_, count_, base_;
    std::vector<W> weights_, packed_;
    Way way_ = Way::each;
    std::vector<std::int64_t> full_, most_, reach_, window_, base_window_;
    std::vector<std::uint8_t> lane_, base_lane_;
};

}  // namespace remapnd
