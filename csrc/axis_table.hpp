// The table of one resampled axis: two taps an output, or any number of them.
#pragma once
#include <cstdint>
#include <variant>
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
    std::int64_t widest() const { return first == second ? 1 : 2; }
};

// n_in samples to start.size(): output x has the taps start[x] + k, k in [0, count[x]), all in [0, n_in), of weight
// weights[x * width + k].
struct FilterTable {
    int axis;
    std::int64_t n_in;
    std::int64_t width;  // count[x] is at most that
    std::vector<std::int64_t> start, count;
    std::vector<double> weights;      // values of the working type
    std::vector<std::int64_t> base;   // the tap, in [0, count[x]), that differences are taken from; empty: the sum form
    std::vector<double> fine;         // as weights, rounded to float64; or empty

    std::int64_t n_out() const { return static_cast<std::int64_t>(start.size()); }
    std::int64_t widest() const;
    bool sums() const { return base.empty(); }
    // The tap that differences are taken from, -1 in the sum form.
    std::int64_t base_of(std::int64_t x) const { return sums() ? -1 : base[static_cast<std::size_t>(x)]; }
    const double* weights_of(std::int64_t x) const { return weights.data() + x * width; }
    const double* fine_of(std::int64_t x) const { return fine.data() + x * width; }
};

using ResampleTable = std::variant<AxisTable, FilterTable>;

// Throw std::invalid_argument unless axes ascend, are not empty, and every table is as above.
void check(const std::vector<AxisTable>& axes);
void check(const std::vector<ResampleTable>& axes);

std::vector<ResampledAxis> lengths(const std::vector<AxisTable>& axes);
std::vector<ResampledAxis> lengths(const std::vector<ResampleTable>& axes);

}  // namespace remapnd
