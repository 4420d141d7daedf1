// The weights of sums of bytes as integers: ratios of small ones, told from the float64 values, which makes the sums exact, or
// else two parts of multiples of 2**-29.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <vector>

#include "axis_table.hpp"

namespace remapnd {

// Output x is the sum of numerators[x * width + k] * x[k] times scale[x]; width is even, numerators behind the count are 0.
// Where parts() holds, that of lows[x * width + k] * x[k] times 2**-29 is added, and scale is 2**-14; such a sum differs from that
// of the weights by less than 255 * 2**-30 a tap, and numerators add up to less than 2**15 in magnitude.
// Empty where neither can be.
struct WholeWeights {
    std::int64_t width = 0;
    std::vector<std::int16_t> numerators, lows;
    std::vector<float> scale;

    WholeWeights() = default;
    explicit WholeWeights(const FilterTable& t) : width((t.width + 1) / 2 * 2) {
        if (t.fine.empty() || t.sums() || set_ratios(t)) return;
        clear();
        if (!set_parts(t)) clear();
    }
    bool empty() const { return scale.empty(); }
    bool parts() const { return !lows.empty(); }
    // The largest sum of the magnitudes of an output's numerators.
    std::int64_t most() const { return most_; }
    std::int64_t numerator(std::int64_t x, std::int64_t k) const { return numerators[static_cast<std::size_t>(x * width + k)]; }
    // The sum of an output's numerators.
    std::int64_t total(std::int64_t x) const {
        const auto begin = numerators.begin() + x * width;
        return std::accumulate(begin, begin + width, std::int64_t{0});
    }
    bool positive() const {
        return std::all_of(numerators.begin(), numerators.end(), [](std::int16_t n) { return n >= 0; });
    }

private:
    // Looking at more would take longer than some tens of milliseconds.
    static constexpr std::int64_t kMostWeights = 1 << 18;
    static constexpr double kMostNumerator = 32767;
    // A product of weight and denominator that near to an integer is one.  If it is not, the error of a sum of bytes, 255
    // times this over the denominator for each tap, is far below the unit of float32.
    static constexpr double kNear = 0x1p-30;

    // The errors of so many rounded weights are within the bound of a float pass, and sums of low parts, 2**14 times 255 at most
    // each, in 32 bits.
    static constexpr std::int64_t kMostTaps = 256;

    static bool whole(double v) { return std::fabs(v - std::nearbyint(v)) <= kNear; }

    // The smallest q with v * q whole, by the continued fraction of v; 0 if it is too large.
    static double denominator(double v) {
        double before = 0, q = 1, rest = v - std::floor(v);
        while (!whole(v * q)) {
            if (rest < kNear || q > 8 * kMostNumerator) return 0;
            rest = 1 / rest;
            const double digit = std::floor(rest);
            rest -= digit;
            const double next = digit * q + before;
            before = q;
            q = next;
        }
        return q;
    }

    void clear() {
        numerators.clear(), lows.clear(), scale.clear();
        most_ = 0;
    }

    // False where the weights of an output are no such ratios.
    bool set_ratios(const FilterTable& t) {
        if (t.n_out() > kMostWeights / std::max<std::int64_t>(1, t.width)) return false;
        std::map<std::vector<double>, std::int64_t> known;  // weights repeat with the fraction of the position
        for (std::int64_t x = 0; x < t.n_out(); ++x) {
            const double* weights = t.fine_of(x);
            const auto [same, is_new] = known.try_emplace(std::vector<double>(weights, weights + t.count[x]), x);
            if (!is_new)
                repeat(same->second);
            else if (!add(weights, t.count[x]))
                return false;
        }
        return true;
    }

    // False where there are too many taps, or an output's weights have magnitudes that add up to almost 2, or more.
    bool set_parts(const FilterTable& t) {
        if (t.width > kMostTaps) return false;
        for (std::int64_t x = 0; x < t.n_out(); ++x) {
            std::int64_t magnitude = 0;
            for (std::int64_t k = 0; k < width; ++k) {
                const double weight = k < t.count[x] ? t.fine_of(x)[k] : 0;
                if (!(std::fabs(weight) <= 1)) return false;
                const std::int64_t units = std::llrint(weight * 0x1p29);
                const std::int64_t high = (units + (1 << 14)) >> 15;
                numerators.push_back(static_cast<std::int16_t>(high));
                lows.push_back(static_cast<std::int16_t>(units - high * (1 << 15)));
                magnitude += std::llabs(high);
            }
            if (magnitude >= 1 << 15) return false;
            most_ = std::max(most_, magnitude);
            scale.push_back(0x1p-14f);
        }
        return true;
    }

    void repeat(std::int64_t x) {
        for (std::int64_t k = x * width; k < (x + 1) * width; ++k) {
            const std::int16_t n = numerators[static_cast<std::size_t>(k)];
            numerators.push_back(n);
        }
        scale.push_back(scale[static_cast<std::size_t>(x)]);
    }

    bool add(const double* weights, std::int64_t count) {
        double common = 1;
        for (std::int64_t k = 0; k < count; ++k) {
            const double q = denominator(weights[k] * common);
            common *= q;
            if (common == 0 || common > 256 * kMostNumerator) return false;
        }
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < width; ++k) {
            const double n = k < count ? std::nearbyint(weights[k] * common) : 0;
            if (std::fabs(n) > kMostNumerator || (k < count && !whole(weights[k] * common))) return false;
            numerators.push_back(static_cast<std::int16_t>(n));
            sum += n;
            magnitude += std::fabs(n);
        }
        scale.push_back(static_cast<float>(1 / common));
        most_ = std::max(most_, static_cast<std::int64_t>(magnitude));
        return sum == common && magnitude * 255 < 0x1p31;
    }

    std::int64_t most_ = 0;
};

}  // namespace remapnd
