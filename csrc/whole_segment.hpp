// The tables of a horizontal pass on sums of bytes, in integers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"
#include "whole_weights.hpp"

namespace remapnd {

class WholeSegment {
public:
    WholeSegment() = default;

    // Outputs [x0, x1) of the table; local(column) is the place of a column in the row.
    template <class Local>
    WholeSegment(const FilterTable& t, const WholeWeights& whole, std::int64_t x0, std::int64_t x1, const Local& local,
                 std::int64_t block)
        : outputs_(x1 - x0) {
        const std::int64_t group = WholeTaps::outputs_of(block), taps = WholeTaps::taps_of(block);
        for (std::int64_t v0 = x0; v0 < x1; v0 += group) {
            // behind the last output it is done once more
            const auto output = [&](std::int64_t i) { return std::min(v0 + i, x1 - 1); };
            std::int64_t most = 1;
            for (std::int64_t i = 0; i < group; ++i) most = std::max(most, t.count[output(i)]);
            steps_.push_back((most + taps - 1) / taps);
            begin_.push_back(static_cast<std::int64_t>(packed_.size()));
            for (std::int64_t i = 0; i < group; ++i) {
                const std::int64_t x = output(i);
                first_.push_back(t.count[x] ? local(t.start[x]) * block : 0);
                for (std::int64_t l = 0; l < 8 / group; ++l) scale_.push_back(whole.scale[static_cast<std::size_t>(x)]);
            }
            const auto numerator = [&](std::int64_t x, std::int64_t k) {
                return k < t.count[x] ? whole.numerators[static_cast<std::size_t>(x * whole.width + k)] : std::int16_t{0};
            };
            for (std::int64_t step = 0; step < steps_.back(); ++step)
                for (std::int64_t i = 0; i < group; ++i)
                    for (std::int64_t l = 0; l < 8; ++l)
                        packed_.push_back(numerator(output(i), step * taps + l % taps));
        }
    }

    bool empty() const { return outputs_ == 0; }
    WholeTaps taps() const {
        return {outputs_, first_.data(), steps_.data(), begin_.data(), packed_.data(), scale_.data()};
    }

private:
    std::int64_t outputs_ = 0;
    std::vector<std::int64_t> first_, steps_, begin_;
    std::vector<std::int16_t> packed_;
    std::vector<float> scale_;
};

}  // namespace remapnd
