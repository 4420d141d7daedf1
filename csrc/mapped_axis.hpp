// An axis along an exact map: exact weights of its outputs, and the tables that resampling and its gradient take from them.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "axis_map.hpp"
#include "axis_table.hpp"
#include "nearest_run.hpp"

namespace remapnd {

// n_in samples to n_out along `map`; both in [1, 2**32).
struct MappedAxis {
    AxisMap map;
    std::int64_t n_in, n_out;
};

// A table would have more weights along an axis than kMostWeights.
struct TooManyWeights : std::runtime_error {
    using std::runtime_error::runtime_error;
};
inline constexpr std::int64_t kMostWeights = std::int64_t{1} << 28;

// The exact weights of an output: numerators[k] / denominator of sample first + k, none of them 0; they add up to 1.
struct ExactRow {
    std::int64_t first = 0;
    std::vector<AxisMap::Integer> numerators{AxisMap::Integer(1)};
    AxisMap::Integer denominator{1};
};

// Of plain linear interpolation, or of the triangle that is stretched to the distance of outputs, for axes that shrink.
class ExactWeights {
public:
    ExactWeights(const MappedAxis& axis, bool stretched) : axis_(axis), stretched_(stretched) {}

    ExactRow row(std::int64_t output) const;
    // Bound of the taps of an output.
    std::int64_t widest() const;

private:
    ExactRow stretched_row(AxisMap::Integer place) const;

    MappedAxis axis_;
    bool stretched_;
};

// Whether antialiasing stretches the triangle along an axis: one that shrinks to less than half.
bool is_stretched(const MappedAxis& axis);

inline constexpr std::uint64_t kUnknownDenominator = std::numeric_limits<std::uint64_t>::max();

// The table of a filter, its weights rounded once to a type.
struct Filtered {
    FilterTable table;
    std::uint64_t denominator;  // the largest of the exact weights of an output; kUnknownDenominator if it is large
};

// Throws TooManyWeights.  `fine`: with the weights rounded to float64, too.
Filtered filtered(int axis, const MappedAxis& mapped, bool stretched, WeightType type, bool fine);

AxisTable blending(int axis, std::int64_t n_in, LinearTaps taps);
AxisTable picking(int axis, std::int64_t n_in, std::vector<std::int64_t> index);
bool is_identity(const AxisTable& table);
bool is_identity(const FilterTable& table);

// What copies arrays whose axis `axis`, the innermost, has n items: a resampling that picks every one.
std::unique_ptr<NearestRun> copying(int axis, std::int64_t n);

// The order of the passes along axes of these lengths, as positions in the list: outermost first, but the innermost before
// the last of the others when that one enlarges.
std::vector<int> pass_order(const std::vector<ResampledAxis>& lengths);

}  // namespace remapnd
