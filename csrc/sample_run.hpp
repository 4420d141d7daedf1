// Runs sampling at positions given as data: positions in blocks, all channels of a block together, the work split over the
// pool.
#pragma once
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "kernels.hpp"

namespace remapnd {

class SampleRun {
public:
    // `type` is that of the data; nearest moves items of any size and does not read it.  Strides of the axes are set by each
    // call.  Throws std::invalid_argument for axes or types that there are no kernels for.
    SampleRun(Sampling mode, Padding padding, Type type, Type grid_type, std::vector<SampleAxis> axes);

    // data (n, c, *axes), grid (k, *places, number of axes) with the coordinate of the last axis first, out (k, c, *places);
    // grid k samples data batches[k], or data k where `batches` is null (std::invalid_argument where shapes do not fit,
    // std::out_of_range where a batch is none).  Out is of the type of data and overlaps no other array.
    Outcome operator()(const ArrayView& data, const ArrayView& grid, const std::int64_t* batches, const ArrayView& out,
                       const Poll& poll) const;

    // Adds to `out` (n, c, *axes), contiguous, what the transpose of sampling makes of gradient (n, c, *places): each place,
    // in row-major order, adds weight * gradient to the samples of its taps.  All but the grid are of `type`, f32 or f64
    // (std::invalid_argument otherwise).
    Outcome gradient(const ArrayView& gradient, const ArrayView& grid, const ArrayView& out, const Poll& poll) const;

private:
    Sampling mode_;
    Padding padding_;
    Type type_, grid_type_;
    std::vector<SampleAxis> axes_;
};

}  // namespace remapnd
