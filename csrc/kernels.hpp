// The seam inside the core: every kernel, what it does and what its caller has made sure of.
//
// Kernels are compiled once per level, in namespace remapnd::<level>, and reached through that level's `table`
// (dispatch.hpp).  They take plain pointers, element or byte strides, and counts >= 0; they allocate nothing.
#pragma once
#include <cstddef>
#include <cstdint>

namespace remapnd {

// ---- gather.cpp

enum class Bounds : int { raise, clip, wrap, fill };

// The place of an index type in GatherKernels::add_indices.
enum class IndexType : int { i8, i16, i32, i64, u8, u16, u32, u64 };

// `count` indices, one every `stride` bytes from `source` (any alignment), into an axis of `n` items that are `step` bytes
// apart.
struct IndexRun {
    const std::byte* source;
    std::intptr_t stride;
    std::size_t count;
    std::int64_t n;
    std::int64_t step;
    bool add;                // to offsets[i] as it is; else to base + i * ramp
    std::int64_t base, ramp;
};

// out[r, i, j, :] = data[r, offsets[i], j, :] for r < reps, i < count, j < rows, where [:] is `run` bytes.
// Nothing of `out` overlaps `data`, and every address made from these numbers lies within the arrays.
struct Move {
    const std::byte* data;
    std::byte* out;
    const std::int64_t* offsets;  // bytes
    std::size_t count;
    std::intptr_t out_step;       // bytes from one i to the next
    std::size_t reps;
    std::intptr_t rep_data, rep_out;
    std::size_t rows;
    std::intptr_t row_data, row_out;
    std::size_t run;
    bool far;                     // indices choose over more than the second-level cache: worth asking for early
};

struct GatherKernels {
    // offsets[i] = base + q * row_step + j * item_step for i < count, where q and j are the quotient and remainder of
    // (first + i) by `row`.  0 <= first < row.
    void (*ramp)(std::int64_t* offsets, std::size_t count, std::size_t first, std::size_t row, std::int64_t base,
                 std::int64_t row_step, std::int64_t item_step);
    // Puts the byte offset of each index into offsets[i], as `run` says; true when an index is out of range.  Then, under
    // fill, that index counts as 0 and bad[i] becomes 1 (it is left alone elsewhere); under raise, and for n == 0 under
    // clip and wrap, the offsets must not be used.  For fill, n > 0.
    bool (*put_indices[8])(const IndexRun& run, Bounds bounds, std::int64_t* offsets, std::uint8_t* bad);
    void (*move)(const Move& m);
    // Writes the item over every out[r, i, j, :] of `m` with bad[i] != 0; m.run is a multiple of itemsize > 0.
    void (*fill)(const Move& m, const std::uint8_t* bad, const std::byte* item, std::size_t itemsize);
};

// ---- resample.cpp

struct ResampleKernels;

// ---- the table of a level

struct Kernels {
    const char* level;
    const GatherKernels* gather;
    const ResampleKernels* resample;
};

}  // namespace remapnd
