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
        const std::int64_t most = *std::max_element(t.count.begin() + x0, t.count.begin() + x1);
        steps_ = std::max<std::int64_t>(1, (most + taps - 1) / taps);
        for (std::int64_t v0 = x0; v0 < x1; v0 += group) {
            const auto output = [&](std::int64_t i) { return std::min(v0 + i, x1 - 1); };
            for (std::int64_t i = 0; i < group; ++i) {
                const std::int64_t x = output(i);
                first_.push_back(static_cast<std::int32_t>(t.count[x] ? local(t.start[x]) * block : 0));
                for (std::int64_t l = 0; l < 8 / group; ++l) scale_.push_back(whole.scale[static_cast<std::size_t>(x)]);
            }
            const auto numerator = [&](std::int64_t x, std::int64_t k) {
                return k < t.count[x] ? whole.numerators[static_cast<std::size_t>(x * whole.width + k)] : std::int16_t{0};
            };
            for (std::int64_t step = 0; step < steps_; ++step)
                for (std::int64_t i = 0; i < group; ++i)
                    for (std::int64_t l = 0; l < 8; ++l)
                        packed_.push_back(numerator(output(i), step * taps + l % taps));
        }
    }

    bool empty() const { return outputs_ == 0; }
    WholeTaps taps() const {
        return {outputs_, steps_, first_.data(), packed_.data(), scale_.data()};
    }

private:
    std::int64_t outputs_ = 0, steps_ = 0;
    std::vector<std::int32_t> first_;
    std::vector<std::int16_t> packed_;
    std::vector<float> scale_;
};

}  // namespace remapnd
