// Runs resampling by linear and filter passes: tables and strides to rows, rows through the passes, the work split over
// the pool.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "axis_table.hpp"
#include "call.hpp"
#include "kernels.hpp"
#include "resample_call.hpp"

namespace remapnd {

class ResampleRun {
public:
    // Throws std::invalid_argument when the tables are not as axis_table.hpp says or order is no permutation.
    ResampleRun(Resampling resampling, bool pairs);
    ~ResampleRun();

    // Resamples data to out: same rank, sizes as the tables say on their axes and equal on the others (std::invalid_argument
    // otherwise), both of the type (with `pairs`: of two of them), aligned to it; they do not overlap.
    // Positions (row-major, in out) of results in doubt are added to doubtful, those whose taps are all the same excepted.
    Outcome operator()(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                       std::vector<std::int64_t>& doubtful, const Poll& poll) const;

private:
    Outcome run(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                std::vector<std::int64_t>& doubtful, const Poll& poll) const;
    template <class W>
    Outcome run_as(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                   std::vector<std::int64_t>& doubtful, const Poll& poll) const;

    Resampling r_;
    bool pairs_;
    struct Cache;
    std::unique_ptr<Cache> cache_;
};

}  // namespace remapnd
