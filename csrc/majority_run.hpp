// Runs resampling of labels: for each output the label whose corners have the largest weight together.
#pragma once
#include <cstdint>
#include <vector>

#include "axis_table.hpp"
#include "call.hpp"
#include "kernels.hpp"

namespace remapnd {

class MajorityRun {
public:
    // Throws std::invalid_argument unless the type is an integer, the tables are as axis_table.hpp says, the second tap is the
    // first or the one behind it, and there are at most 16 axes.  Weights are numerators over `one`.
    MajorityRun(Type type, std::vector<AxisTable> axes);

    // Same rank, sizes as the tables say on their axes and equal on the others, items of the type (std::invalid_argument
    // otherwise), aligned; data and out do not overlap.  Sums of weights that differ by at most `bound` leave a result in
    // doubt, and its position (row-major, in out) is added to doubtful; with a bound of 0 they are exact, and of equal ones
    // the lowest label is taken.
    Outcome operator()(const ArrayView& data, const ArrayView& out, double bound, std::vector<std::int64_t>& doubtful,
                       const Poll& poll) const;

private:
    template <class T>
    Outcome run(const ArrayView& data, const ArrayView& out, double bound, std::vector<std::int64_t>& doubtful,
                const Poll& poll) const;

    Type type_;
    std::vector<AxisTable> axes_;
};

}  // namespace remapnd
