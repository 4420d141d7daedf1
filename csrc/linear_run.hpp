// Runs linear resampling: tables and strides to rows, rows through the passes, the work split over the pool.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "axis_table.hpp"
#include "call.hpp"
#include "kernels.hpp"

namespace remapnd {

// Axes ascend; `order` lists their positions in the order in which they are applied.
class LinearRun {
public:
    // Throws std::invalid_argument when the tables are not as AxisTable says or order is no permutation.
    LinearRun(Type type, Work work, bool pairs, std::vector<AxisTable> axes, std::vector<int> order);
    ~LinearRun();

    // Resamples data to out: same rank, sizes as the tables say on their axes and equal on the others (std::invalid_argument
    // otherwise), both of the type (with `pairs`: of two of them), aligned to it; they do not overlap.
    // When bound is not 0, positions (row-major, in out) of results within it of a decision are added to doubtful, those
    // whose taps are all the same excepted.
    Outcome operator()(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                       std::vector<std::int64_t>& doubtful, const Poll& poll) const;

private:
    Outcome run(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                std::vector<std::int64_t>& doubtful, const Poll& poll) const;

    Type type_;
    Work work_;
    bool pairs_;
    std::vector<AxisTable> axes_;
    std::vector<int> order_;
    struct Cache;
    std::unique_ptr<Cache> cache_;

    template <class W>
    friend class LinearCall;
};

}  // namespace remapnd
