// Scatter: geometry and strides to loops and owners of places, split over the pool.
#pragma once
#include "arrays.hpp"
#include "call.hpp"
#include "index_geometry.hpp"

namespace remapnd {

// data = source, then each place of it that an index names is replaced by, or reduced with, its updates, in the row-major
// order of the updates.  `source` is null where data has the values already; an index out of range then leaves data as it was.
// Under Bounds::fill updates whose index is out of range are dropped.
//
// Throws std::invalid_argument, before anything is written, when shapes, item sizes or strides do not fit the geometry, or
// the item size is not that of `number` (for any reduction but none).  data must not overlap itself or another argument: what is
// in it would depend on the threads.
IndexResult run_scatter(const IndexGeometry& g, Reduction reduction, Number number, const ArrayView* source,
                          const ArrayView& indices, IndexType index_type, const ArrayView& updates, const ArrayView& data,
                          const Poll& poll);

}  // namespace remapnd
