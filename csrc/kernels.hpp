// The seam inside the core: every kernel, what it does and what its caller has made sure of.
//
// Kernels are compiled once per level, in namespace remapnd::<level>, and reached through that level's `table`
// (dispatch.hpp).  They take plain pointers, strides in bytes and counts >= 0; they allocate nothing and check nothing.
// [a, b) is half-open; pointers named `out` and `dst` overlap no other argument.
#pragma once
#include <cstddef>
#include <cstdint>

namespace remapnd {

// ------------------------------------------------------------------------------------------------ resample.cpp

// Element types that resampling computes with, in the order of the tables below.
enum class Type : int { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };
inline constexpr int kTypes = 12;
inline constexpr int kTypeSize[kTypes] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

// The working type: float32 or float64, indexing the tables below.
enum class Work : int { f32, f64 };

enum class Rule : int { half_up, half_even, truncate_by_sign, truncate_down, truncate_up };

// How a working value becomes an integer.  `half_step` is half the distance of neighbouring exact results divided by two
// (a value that near to a decision is on it), or 0; `base` was subtracted, modulo 2**64, from 64-bit values on loading.
struct Rounding {
    Rule rule = Rule::half_up;
    double half_step = 0;
    std::uint64_t base = 0;
};

// Horizontal pass of a segment: out[e] = a + (b - a) * weight[e], a = row[first[e]], b = row[second[e]], e in [0, count).
// For whole vectors v of `lanes` outputs the same is said again by lane numbers within windows * lanes values from
// row + base[v]; windows is 0 where that is not possible.  All those values may be read.
template <class W>
struct Lerps {
    std::int64_t count;
    const std::int32_t* first;
    const std::int32_t* second;
    const W* weight;
    int windows;
    const std::int32_t* base;
    const std::uint8_t* first_lane;
    const std::uint8_t* second_lane;
};

// The careful twin of a kernel takes (1 - w) * a + w * b where a + (b - a) * w is not finite, and a where w is 0.
template <class W>
struct RowKernels {
    int lanes;  // of the horizontal pass, at most kMaxLanes; 0: no lane numbers wanted

    // out[i] = a[i] + (b[i] - a[i]) * w
    void (*lerp)(const W* a, const W* b, W w, std::int64_t count, W* out);
    void (*lerp_careful)(const W* a, const W* b, W w, std::int64_t count, W* out);
    void (*across)(const Lerps<W>& table, const W* row, W* out);
    void (*across_careful)(const Lerps<W>& table, const W* row, W* out);
    bool (*any_nonfinite)(const W* row, std::int64_t count);
    void (*canonical_nans)(W* row, std::int64_t count);
    // Positions i whose row[i] is within `bound` of where `rule` decides, to out; returns how many.
    std::int64_t (*doubtful)(const W* row, std::int64_t count, Rule rule, W bound, std::int32_t* out);
};

// For each type and each working type W that it may have (null otherwise); src and dst are aligned to the type.
struct TypeKernels {
    // dst[k * block + j] = the element at src + column(k) * stride_x + j * stride_c, minus base, as W;
    // column(k) is columns[k], or k when columns is null
    void (*load)(const std::byte* src, std::intptr_t stride_x, std::intptr_t stride_c, const std::int64_t* columns,
                 std::int64_t count, std::int64_t block, std::uint64_t base, void* dst);
    // the element at dst + k * stride_x + j * stride_c = row[k * block + j], rounded, plus base
    void (*store)(const void* row, std::int64_t count, std::int64_t block, const Rounding& rounding, std::byte* dst,
                  std::intptr_t stride_x, std::intptr_t stride_c);
    // lerp of two contiguous rows of the type itself, `count` elements, base 0
    void (*lerp)(const std::byte* a, const std::byte* b, double w, std::int64_t count, void* out);
};

inline constexpr int kMaxLanes = 16;

struct ResampleKernels {
    RowKernels<float> f32;
    RowKernels<double> f64;
    TypeKernels type[kTypes][2];  // by Type and Work
    // Moves items of `size` bytes: dst + k * dst_stride = src + columns[k] * src_stride, k in [0, count)
    void (*pick)(const std::byte* src, std::intptr_t src_stride, const std::int64_t* columns, std::int64_t count,
                 std::int64_t size, std::byte* dst, std::intptr_t dst_stride);
};

// ------------------------------------------------------------------------------------------------ the table

struct Kernels {
    const char* level;
    const ResampleKernels* resample;
};

}  // namespace remapnd
