// Runs nearest resampling: rows of items picked by the tables, the work split over the pool.
#pragma once
#include <vector>

#include "axis_table.hpp"
#include "call.hpp"
#include "met.hpp"
#include "windows.hpp"

namespace remapnd {

// Moves items of any size.  Only `first` of the tables is read.
class NearestRun {
public:
    explicit NearestRun(std::vector<AxisTable> axes);
    // Same rank, sizes as the tables say on their axes and equal on the others, items of one size (std::invalid_argument
    // otherwise); data and out do not overlap.
    Outcome operator()(const ArrayView& data, const ArrayView& out, const Poll& poll) const;

private:
    std::vector<AxisTable> axes_;
    Met<std::int64_t, Windows> windows_;  // over the bytes of rows of items of a size
};

}  // namespace remapnd
