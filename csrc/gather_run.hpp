// Gather: geometry and strides to loops, split over the pool.
#pragma once
#include <functional>
#include <vector>

#include "arrays.hpp"
#include "kernels.hpp"

namespace remapnd {

// What the axes do (ARCHITECTURE.md, Gather geometry); made once, used for any arrays that fit.
struct GatherGeometry {
    std::vector<int> data_axes;   // for each axis of out: the axis of data that it walks, or -1
    std::vector<int> index_axes;  // and of indices
    std::vector<int> indexed;     // axes of data that are indexed, in the order of the components
    int component_axis;           // of indices; -1: one component
    Bounds bounds;
};

enum class GatherResult { done, out_of_range, interrupted };

// Throws std::invalid_argument for a geometry that uses an axis twice or is otherwise impossible.
void check_geometry(const GatherGeometry& g);

// out = data gathered by indices.  Throws std::invalid_argument, before anything is written, when shapes, item sizes or
// strides do not fit the geometry; on any result but `done`, out may be partly written.  `fill` is one item (under
// Bounds::fill).  `poll` as in run_tasks.
GatherResult run_gather(const GatherGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType index_type,
                        const ArrayView& out, const std::byte* fill, const std::function<bool()>& poll);

// Whether the call moves so little that nobody waits for it: then the interpreter lock may be kept.
bool is_small(const ArrayView& out);

}  // namespace remapnd
