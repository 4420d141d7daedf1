// Gather: geometry and strides to loops, split over the pool.
#pragma once
#include <functional>

#include "arrays.hpp"
#include "index_geometry.hpp"

namespace remapnd {

// out = data gathered by indices.  Throws std::invalid_argument, before anything is written, when shapes, item sizes or
// strides do not fit the geometry; on any result but `done`, out may be partly written.  `fill` is one item (under
// Bounds::fill).  `poll` as in run_tasks.
IndexResult run_gather(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType index_type,
                        const ArrayView& out, const std::byte* fill, const std::function<bool()>& poll);

// Whether the call moves so little that nobody waits for it: then the interpreter lock may be kept.
bool is_small(const ArrayView& out);

}  // namespace remapnd
