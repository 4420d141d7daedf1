// Resampling seen as rows: which axes are walked by loops, and what lies in a row.
#pragma once
#include <cstdint>
#include <vector>

#include "arrays.hpp"

namespace remapnd {

// One axis outside the rows.  `table` is the number of the resampled axis that it is, or -1: then data and out are walked
// alike.  Strides are in bytes; `place` is the distance in row-major elements of out.
struct Loop {
    std::int64_t size;  // in out
    std::intptr_t src_stride, dst_stride;
    std::int64_t place;
    int table;
};

// Element (x, j) of a row of data is at src + x * src_x + j * src_c, likewise in out.
struct RowGeometry {
    std::vector<Loop> loops;  // outermost first
    std::int64_t rows;        // the product of their sizes
    bool horizontal;          // x is the innermost resampled axis (else all of them are loops)
    std::int64_t xs, block;   // of out
    std::intptr_t src_x, src_c, dst_x, dst_c;
    std::int64_t place_x;     // as Loop::place; that of j is 1
};

struct ResampledAxis {
    int axis;
    std::int64_t n_in, n_out;
};

// Axes ascend and are not empty.  Blocks of at least `wide` elements become rows of their own, with no horizontal axis.
// Throws std::invalid_argument when shapes do not fit.
RowGeometry row_geometry(const ArrayView& data, const ArrayView& out, const std::vector<ResampledAxis>& axes,
                         std::int64_t wide);

// The flat number of a row, taken apart into loop coordinates, and moved on.
class RowWalk {
public:
    RowWalk(const std::vector<Loop>& loops, std::int64_t row);
    void next();
    // By n rows of the innermost loop, to its end at most.
    void skip(std::int64_t n) {
        at_.back() += n - 1;
        next();
    }
    const std::vector<std::int64_t>& at() const { return at_; }

private:
    const std::vector<Loop>& loops_;
    std::vector<std::int64_t> at_;
};

}  // namespace remapnd
