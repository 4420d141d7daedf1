#include "overlap.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace remapnd::directml {
namespace {

constexpr int kMaxSteps = 200'000;

class Search {
public:
    Search(const Sizes& sizes, const Sizes& strides) {
        for (std::size_t d = 0; d < sizes.size(); ++d)
            if (sizes[d] > 1) axes_.push_back({strides[d], sizes[d]});
        std::sort(axes_.begin(), axes_.end(), std::greater<>());
        reach_.assign(axes_.size() + 1, 0);
        divisor_.assign(axes_.size() + 1, 0);
        for (std::size_t d = axes_.size(); d-- > 0;) {
            reach_[d] = reach_[d + 1] + axes_[d].first * (axes_[d].second - 1);
            divisor_[d] = std::gcd(divisor_[d + 1], axes_[d].first);
        }
    }

    bool finds() {
        std::int64_t elements = 1;
        for (const auto& [stride, size] : axes_) {
            if (stride == 0) return true;
            if (elements > (reach_[0] + 1) / size) return true;  // more elements than addresses
            elements *= size;
        }
        // Differences of coordinates come in pairs k, -k: the first component that is not 0 may be taken as positive.
        for (std::size_t d = 0; d < axes_.size(); ++d) {
            const auto [stride, size] = axes_[d];
            for (std::int64_t k = 1; k <= std::min(size - 1, reach_[d + 1] / stride); ++k)
                if (made_by_rest(d + 1, k * stride)) return true;
        }
        return false;
    }

private:
    static std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

    // Whether axes d and later can make `target`; a search that is too long says yes.
    bool made_by_rest(std::size_t d, std::int64_t target) {
        ++steps_;
        if (target == 0 || steps_ > kMaxSteps) return true;
        if (d == axes_.size() || target % divisor_[d] != 0) return false;
        const auto [stride, size] = axes_[d];
        const std::int64_t low = std::max(1 - size, -floor_div(reach_[d + 1] - target, stride));
        const std::int64_t high = std::min(size - 1, floor_div(reach_[d + 1] + target, stride));
        for (std::int64_t k = low; k <= high; ++k)
            if (made_by_rest(d + 1, target - k * stride)) return true;
        return false;
    }

    std::vector<std::pair<std::int64_t, std::int64_t>> axes_;  // stride and size, the largest stride first
    std::vector<std::int64_t> reach_, divisor_;                // the largest sum that axes d and later make; their divisor
    int steps_ = 0;
};

}  // namespace

bool overlaps_itself(const Sizes& sizes, const Sizes& strides) { return Search(sizes, strides).finds(); }

}  // namespace remapnd::directml
