// The seam inside the core: every kernel, what it does and what its caller has made sure of.
//
// Kernels are compiled once per level, in namespace remapnd::<level>, and reached through that level's `table`
// (dispatch.hpp).  They take plain pointers, element or byte strides, and counts >= 0; they allocate nothing.
#pragma once
#include <cstddef>
#include <cstdint>

namespace remapnd {

struct Kernels {
    const char* level;
    // gather.cpp
    // resample.cpp
};

}  // namespace remapnd
