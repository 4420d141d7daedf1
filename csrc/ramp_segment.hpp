// The tables of a horizontal pass by ramps (ramps.hpp).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"
#include "ramps.hpp"

namespace remapnd {

class RampSegment {
public:
    RampSegment() = default;

    // Outputs [x0, x1), of blocks of 3 or 4, in a row of the columns [column0, column0 + columns).
    RampSegment(const Ramps& r, std::int64_t x0, std::int64_t x1, std::int64_t column0, std::int64_t columns,
                std::int64_t block) {
        const double middle = r.middle();
        const std::int64_t end = column0 + columns;
        steps_ = (r.longest() + 1) / 2;
        std::int64_t behind = 0;  // values read, with the whole vector at the end of each interval
        for (std::int64_t i = x0; i <= x1; ++i) {
            const std::int64_t from = std::clamp(r.begin(i), column0, end), count = std::clamp(r.end(i), from, end) - from;
            first_.push_back((from - column0) * block);
            count_.push_back(static_cast<std::int32_t>(count));
            const std::int64_t steps = count >= 2 * steps_ - 2 ? steps_ : (count + 1) / 2;
            const std::int64_t reach = first_.back() + (steps ? 2 * block * (steps - 1) + 8 : 0);
            behind = std::max(behind, reach);
            if (i > x0 && behind <= columns * block) outputs_ = i - x0;
        }
        for (std::int64_t k = 0; k < steps_; ++k)
            for (std::int64_t l = 0; l < 8; ++l)
                places_.push_back(static_cast<float>(static_cast<double>(2 * k + l / block) - middle));
        for (std::int64_t x = x0; x < x1; ++x) {
            const auto all = static_cast<double>(r.denominator(x));
            const auto add = [&](const Ramp& ramp, std::int64_t i) {
                const std::int64_t skipped = first_[static_cast<std::size_t>(i - x0)] / block + column0 - r.begin(i);
                const double at = static_cast<double>(ramp.at + ramp.slope * skipped);
                weights_.push_back(static_cast<float>((at + middle * static_cast<double>(ramp.slope)) / all));
                weights_.push_back(static_cast<float>(static_cast<double>(ramp.slope) / all));
            };
            add(r.rising(x), x);
            add(r.falling(x), x + 1);
        }
    }

    bool empty() const { return first_.empty(); }
    RampTaps taps() const { return {outputs_, steps_, first_.data(), count_.data(), places_.data(), weights_.data()}; }

private:
    std::int64_t outputs_ = 0, steps_ = 0;
    std::vector<std::int64_t> first_;
    std::vector<std::int32_t> count_;
    std::vector<float> places_, weights_;
};

}  // namespace remapnd
