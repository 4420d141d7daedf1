// The tables of a horizontal pass whose terms may be added in any order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"

namespace remapnd {

// Whether an axis of so many taps an output gains by such a pass.
inline bool loose_pays(std::int64_t block, std::int64_t taps) {
    return block == 1 ? taps > 4 : (block == 3 || block == 4) && taps > 2;
}

class LooseSegment {
public:
    LooseSegment() = default;

    // Outputs [x0, x1) of the table, of blocks of 1, 3 or 4, in a row of `values`; local(column) is the place of a column in it.
    template <class Local>
    LooseSegment(const FilterTable& t, std::int64_t x0, std::int64_t x1, const Local& local, std::int64_t block, std::int64_t values) {
        const std::int64_t taps = block == 1 ? 8 : 2;   // a step
        const std::int64_t group = block == 1 ? 8 : 1;  // outputs made together
        for (std::int64_t x = x0; x < x1; ++x) {
            first_.push_back(t.count[x] ? local(t.start[x]) * block : 0);
            steps_.push_back((t.count[x] + taps - 1) / taps);
            at_.push_back(static_cast<std::int64_t>(weights_.size()));
            for (std::int64_t k = 0; k < steps_.back() * taps; ++k)
                weights_.push_back(k < t.count[x] ? static_cast<float>(t.weights_of(x)[k]) : 0.0f);
        }
        outputs_ = x1 - x0;
        for (std::int64_t x = 0; x < outputs_; ++x) {
            const std::int64_t last = std::max<std::int64_t>(0, steps_[x] - 1);
            if (first_[x] + last * taps * block + 8 > values) outputs_ = x;
        }
        outputs_ = outputs_ / group * group;
    }

    LooseTaps taps() const { return {outputs_, first_.data(), steps_.data(), at_.data(), weights_.data()}; }

private:
    std::int64_t outputs_ = 0;
    std::vector<std::int64_t> first_, steps_, at_;
    std::vector<float> weights_;
};

}  // namespace remapnd
