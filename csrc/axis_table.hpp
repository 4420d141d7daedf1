// The table of one resampled axis.
#pragma once
#include <cstdint>
#include <vector>

#include "row_geometry.hpp"

namespace remapnd {

// n_in samples to first.size(); all entries of first and second lie in [0, n_in).
struct AxisTable {
    int axis;
    std::int64_t n_in;
    std::vector<std::int64_t> first, second;
    std::vector<double> weight;  // of second; -0.0 where second is first.  In the u16 working type: numerators over `one`
    double one;                  // what weights add up to

    std::int64_t n_out() const { return static_cast<std::int64_t>(first.size()); }
};

// Throws std::invalid_argument unless axes ascend, are not empty, and every table is as AxisTable says.
void check(const std::vector<AxisTable>& axes);

std::vector<ResampledAxis> lengths(const std::vector<AxisTable>& axes);

}  // namespace remapnd
