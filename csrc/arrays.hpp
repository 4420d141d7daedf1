// A view of memory as the runners see it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace remapnd {

inline constexpr int kMaxRank = 64;

// Element (c0, c1, ...) is at data + sum(c[d] * strides[d]); strides are in bytes and may be zero or negative.
// shape and strides have rank entries and outlive the view.
struct ArrayView {
    std::byte* data;
    int rank;
    const std::intptr_t* shape;
    const std::intptr_t* strides;
    std::intptr_t itemsize;
};

}  // namespace remapnd
