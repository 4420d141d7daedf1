// Runs pooling of regions of interest: samples of bins, taken as linear sampling takes them, and joined in order.
#pragma once
#include <cstdint>

#include "arrays.hpp"
#include "call.hpp"
#include "kernels.hpp"

namespace remapnd {

inline constexpr std::int64_t kMaxBinSamples = 1 << 16;  // of a bin, along an axis

enum class Pooling : int { average, largest };

// One region: the image it is of, and along each axis, vertical first, where it starts, the size of its bins, and how many
// samples are taken of each.
struct Region {
    std::int64_t batch;
    double start[2], bin[2];
    std::int64_t per_bin[2];
};

// data (n, c, h, w), out (regions, c, bins, bins) of the type `type`; std::invalid_argument where these or the numbers of
// samples do not fit, std::out_of_range where a batch is none.  Out overlaps no other array.
Outcome run_roi_align(Pooling pooling, Type type, const ArrayView& data, const Region* regions, std::int64_t count,
                      const ArrayView& out, const Poll& poll);

}  // namespace remapnd
