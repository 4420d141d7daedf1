// Filters whose weights rise to an output along one straight line and fall behind it along another, as those of antialiased linear
// resampling do: the samples between two neighbouring outputs are on the falling side of one and on the rising side of the other,
// and their sum and their sum times their places serve both.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "axis_table.hpp"
#include "whole_weights.hpp"

namespace remapnd {

// at + j * slope, for the samples j of an interval, in numerators of WholeWeights.
struct Ramp {
    std::int64_t at = 0, slope = 0;
};

class Ramps {
public:
    Ramps() = default;

    // Empty where the weights are others.
    Ramps(const FilterTable& t, const WholeWeights& w) {
        if (w.empty() || w.parts() || !set(t, w)) cuts_.clear();
    }

    bool empty() const { return cuts_.empty(); }
    // Interval i, in [0, n_out], has the samples [begin(i), end(i)): output x rises in interval x and falls in interval x + 1.
    std::int64_t begin(std::int64_t i) const { return cuts_[static_cast<std::size_t>(i)]; }
    std::int64_t end(std::int64_t i) const { return cuts_[static_cast<std::size_t>(i) + 1]; }
    std::int64_t count(std::int64_t i) const { return end(i) - begin(i); }
    std::int64_t longest() const { return longest_; }
    const Ramp& rising(std::int64_t x) const { return rising_[static_cast<std::size_t>(x)]; }
    const Ramp& falling(std::int64_t x) const { return falling_[static_cast<std::size_t>(x)]; }
    // What the numerators of output x add up to.
    std::int64_t denominator(std::int64_t x) const { return denominators_[static_cast<std::size_t>(x)]; }
    // The place in an interval that those of samples are counted from, in floats: so sums by places are small.
    double middle() const { return (static_cast<double>(longest_) - 1) / 2; }
    // Whether sums in floats are within the bound of those with a base tap: plans/arithmetic.py derives it.
    bool fit_floats() const { return fit_floats_; }

private:
    bool set(const FilterTable& t, const WholeWeights& w) {
        const std::int64_t n = t.n_out(), most = t.widest();  // rows are kept in as many slots as there are taps
        const auto begin = [&](std::int64_t x) { return t.start[static_cast<std::size_t>(x)]; };
        const auto end = [&](std::int64_t x) { return begin(x) + t.count[static_cast<std::size_t>(x)]; };
        const auto weight = [&](std::int64_t x, std::int64_t k) -> std::int64_t {
            if (k < begin(x) || k >= end(x)) return 0;
            return w.numerators[static_cast<std::size_t>(x * w.width + k - begin(x))];
        };
        const auto fits = [&](std::int64_t x, std::int64_t from, std::int64_t to, Ramp& ramp) {
            ramp = {};
            if (to <= from) return to == from;
            if (to - from > most) return false;
            ramp.at = weight(x, from);
            if (to > from + 1) ramp.slope = weight(x, from + 1) - ramp.at;
            if (std::llabs(ramp.slope) > INT16_MAX) return false;
            for (std::int64_t k = from; k < to; ++k)
                if (weight(x, k) != ramp.at + (k - from) * ramp.slope) return false;
            return true;
        };
        cuts_.push_back(begin(0));
        for (std::int64_t x = 0; x < n; ++x) {
            std::int64_t top = begin(x);
            for (std::int64_t k = top; k < end(x); ++k)
                if (weight(x, k) > weight(x, top)) top = k;
            Ramp up, down, before;
            const auto falls_to = [&](std::int64_t cut) {
                return x == 0 || (end(x - 1) <= cut && fits(x - 1, cuts_.back(), cut, before));
            };
            const auto is_cut = [&](std::int64_t cut) {
                return begin(x) >= cuts_.back() && fits(x, cuts_.back(), cut, up) && fits(x, cut, end(x), down) && falls_to(cut);
            };
            const std::int64_t cut = is_cut(top) ? top : top + 1;
            if (cut != top && !is_cut(cut)) return false;
            rising_.push_back(up);
            if (x > 0) falling_.push_back(before);
            cuts_.push_back(cut);
            if (x + 1 == n) falling_.push_back(down), cuts_.push_back(std::max(cut, end(x)));
        }
        for (std::int64_t i = 0; i <= n; ++i) longest_ = std::max(longest_, count(i));
        double gain = 0, spread = 0;
        for (std::int64_t x = 0; x < n; ++x) {
            denominators_.push_back(0);
            for (std::int64_t k = begin(x); k < end(x); ++k) denominators_.back() += weight(x, k);
            const auto part = [&](double numerator) { return std::fabs(numerator) / static_cast<double>(denominators_.back()); };
            double all = 0;
            for (const auto& [ramp, i] : {std::pair{rising(x), x}, std::pair{falling(x), x + 1}})
                for (std::int64_t k = 0; k < count(i); ++k)
                    all += part(static_cast<double>(ramp.at) + middle() * static_cast<double>(ramp.slope)) +
                           part((static_cast<double>(k) - middle()) * static_cast<double>(ramp.slope));
            gain = std::max(gain, all);
            spread = std::max(spread, 1 - part(static_cast<double>(weight(x, begin(x) + t.base_of(x)))));
        }
        const double steps = static_cast<double>((longest_ + 1) / 2);
        fit_floats_ = (steps + 5) * gain <= static_cast<double>(t.widest() + 1) * spread + 1;
        return true;
    }

    std::vector<std::int64_t> cuts_;
    std::vector<Ramp> rising_, falling_;
    std::vector<std::int64_t> denominators_;
    std::int64_t longest_ = 0;
    bool fit_floats_ = false;
};

}  // namespace remapnd
