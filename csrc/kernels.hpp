// The seam inside the core: every kernel, what it does and what its caller has made sure of.
//
// Kernels are compiled once per level, in namespace remapnd::<level>, and reached through that level's `table`
// (dispatch.hpp).  They take plain pointers, strides in bytes and counts >= 0; they allocate nothing and check nothing.
// [a, b) is half-open; pointers named `out` and `dst` overlap no other argument.
#pragma once
#include <cstddef>
#include <cstdint>

#include "resample_kernels.hpp"

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
    bool far;                     // data is more than the second-level cache holds: worth asking for early
    bool stream;                  // out is more than the last cache holds: better written past it
    std::size_t span;             // bytes of data that the offsets choose from and leave little of unread, or 0
    const std::uint32_t* narrow;  // the offsets again, or null: half the cache where they serve many reps
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
    // The same under raise for both components of tuples that lie one behind the other: `run` says the first, and not to add;
    // `second` the other.  Null where the level has nothing better than one after the other, or the type.
    bool (*put_pairs[8])(const IndexRun& run, const IndexRun& second, std::int64_t* offsets);
    void (*move)(const Move& m);
    // Writes the item over every out[r, i, j, :] of `m` with bad[i] != 0; m.run is a multiple of itemsize > 0.
    void (*fill)(const Move& m, const std::uint8_t* bad, const std::byte* item, std::size_t itemsize);
};

// ---- gather_items.cpp

// out[r, i] = the item at data + r * row_data + i * slope + index[r, i] * step, for r < rows, i < count.
// The indices and results of a row are side by side, indices native at any address; 0 < n < 2**31; each address made
// with an index in [0, n) lies within data.
struct Items {
    const std::byte* data;
    const std::byte* indices;
    std::byte* out;
    std::size_t rows;
    std::intptr_t row_data, row_indices, row_out;
    std::size_t count;
    std::int64_t n;
    std::intptr_t step, slope;
    std::size_t size;  // of an item: 1, 2, 4, 8 or 16
    bool stream;       // past the caches
    bool far;          // data is more than the second-level cache holds: worth asking for early,
    bool many;         // or indices are
};

// By IndexType, null but for int32 and int64, which indices mostly are, and for uint8 and uint16.  A negative index counts from the end; false when one is out of range then, and `out` has anything.
struct ItemKernels {
    bool (*pick[8])(const Items& items);
};

// ---- scatter.cpp

enum class Reduction : int { none, add, mul, min, max };
inline constexpr int kReductions = 5;

// Element types that reductions compute with, in the order of the tables below.
enum class Number : int { b8, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int kNumbers = 15;
inline constexpr int kNumberSize[kNumbers] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};

// For each i < count in this order, with all r < reps and j < rows: data[r, offsets[i], j, :] = updates[r, i, j, :], or the
// old value reduced with that, where [:] is `run` bytes.  Nothing of `updates` overlaps `data`, and every address made from
// these numbers lies within the arrays; different r, j and places in a run are different places in data.
struct Scatter {
    std::byte* data;
    const std::byte* updates;
    const std::int64_t* offsets;  // bytes
    std::size_t count;
    std::intptr_t update_step;    // bytes from one i to the next
    std::size_t reps;
    std::intptr_t rep_data, rep_updates;
    std::size_t rows;
    std::intptr_t row_data, row_updates;
    std::size_t run;
    const std::byte* soon;        // with soon_step bytes for each i: will be read after this, so worth asking for early
    std::intptr_t soon_step;
    bool far;                     // data lies farther than the first-level cache
};

// Updates of `size` bytes (1, 2, 4, 8 or 16), dealt out by the place that they go to: update i to bucket
// (offsets[i] - low) >> shift, in the order of i.  An entry of a bucket is the offset within it, and the update.
// `next` has the place of the next entry of each bucket; there is room for all.
struct Deal {
    const std::int64_t* offsets;
    std::size_t count;
    const std::byte* updates;
    std::intptr_t update_step;
    std::int64_t low;
    int shift;
    std::uint32_t* next;
    std::uint32_t* entry_offsets;
    std::byte* entry_updates;
};

// Updates of `size` bytes (1, 2, 4 or 8), side by side as their indices are, by one component or by two that lie one behind the
// other.  0 < n < 2**31; |step| * (n - 1), added up, and |low| stay below 2**31, and so does span.
struct Keep {
    const std::byte* indices;
    std::size_t count;
    std::int64_t n[2], step[2];  // of the axes of the components; bytes
    std::int64_t low, span;      // bytes
    const std::byte* updates;
    std::size_t size;
    std::int64_t* offsets;       // room for count, and of updates in `kept`
    std::byte* kept;
};
inline constexpr std::size_t kNotKept = ~std::size_t{0};

// data[k, :] = updates[winner[k], :] where winner[k] >= 0, else source[k, :], for k < count, where [:] is `run` bytes.
// `source` may be `data`: then nothing is done there.  With `stream`, past the caches.
struct Select {
    std::byte* data;
    const std::byte* source;
    const std::byte* updates;
    std::intptr_t update_step;    // bytes
    const std::int32_t* winner;
    std::size_t count;
    std::size_t run;
    bool stream;
};

// `count` single updates, one behind the other like their indices, for an axis of n items that are one behind the other.
struct IndexedScatter {
    std::byte* data;
    std::int64_t n;
    const std::byte* indices;
    const std::byte* updates;
    std::size_t count;
};

struct Reducer {
    void (*items)(const Scatter& s);  // where run is the element size, and rows is 1
    void (*rows)(const Scatter& s);   // where run is a multiple of it
};

struct ScatterKernels {
    void (*put)(const Scatter& s);
    Reducer reduce[kReductions][kNumbers];  // null for min and max of complex numbers, and for Reduction::none
    void (*select)(const Select& s);
    void (*deal[5])(const Deal& d);  // by the logarithm of the size
    // Puts those updates whose places lie in [low, low + span) to `kept`, and their offsets from `low` to `offsets`, in their
    // order; how many they are, or kNotKept when an index is out of range, a negative one counting from the end.  By the number of
    // components less one and IndexType; null but for int32 and int64, and on levels without vectors that pay.
    std::size_t (*keep[2][8])(const Keep& k);
    // Adds the updates up to four before the first whose index is out of range, or fewer of the last; how many they were.  A negative
    // index counts from the end.  By IndexType and Number; null but for int32 and int64 and numbers of 32 and 64 bits.
    std::size_t (*add_indexed[8][kNumbers])(const IndexedScatter& s);
};

// ---- sample.cpp

enum class Sampling : int { nearest, linear, cubic };
enum class Padding : int { zeros, border, reflection };

inline constexpr int kSampleBlock = 128;                     // positions worked on at once
inline constexpr int kMaxSampleAxes = 5;
inline constexpr std::int64_t kMaxSampled = std::int64_t{1} << 30;  // samples of an axis: all indices fit in 32 bits

// An axis of n samples, 1 to kMaxSampled, `stride` bytes apart.  Coordinate g stands for position (g * scale + shift) / 2;
// `low` and `high` are the borders at which positions are reflected, -0.5 and n - 0.5 or 0 and n - 1.
struct SampleAxis {
    std::int64_t n;
    double scale, shift, low, high;
    std::intptr_t stride;
};

template <class W>
struct BitsOf;
template <>
struct BitsOf<float> {
    using Int = std::uint32_t;
};
template <>
struct BitsOf<double> {
    using Int = std::uint64_t;
};

// Taps of a block of positions along an axis, two for linear and four for cubic: where they lie, in bytes, and whether they
// lie inside (all ones) or count as zero (0; `offset` is one inside all the same).  Linear has the weight of its second tap
// alone, weight[1]; where that is zero it is -0.0 and the second tap is the first.
template <class W>
struct AxisTaps {
    std::int64_t offset[4][kSampleBlock];
    typename BitsOf<W>::Int inside[4][kSampleBlock];
    W weight[4][kSampleBlock];
};

// A block of `count` positions among `axes` axes, the last of them innermost.  `taps` has one entry for each axis; rows of
// `offset` and `inside`, kSampleBlock apart, join them: row (t0 * k + t1) * k and so on for taps t0, t1 ... of k each.
// `values` has a row for each k of them, for intermediates.  Unless `masked`, all are inside and `inside` says nothing.  With
// `paired` besides, the second linear tap along the last axis is the item of memory behind the first one everywhere.
template <class W>
struct Samples {
    int axes;
    std::int64_t count;
    bool masked, paired;
    const AxisTaps<W>* taps;
    const std::int64_t* offset;
    const typename BitsOf<W>::Int* inside;
    W* values;
};

template <class W>
struct SampleWork {
    void (*taps)(const SampleAxis& axis, Sampling mode, Padding padding, const double* x, std::int64_t count,
                 AxisTaps<W>* out);
    // out[i] = position i of the data at `data`, by Type; null for those of other working types.  The careful twin takes
    // (1 - w) * a + w * b where a + (b - a) * w is not finite, without the term of weight zero.
    void (*linear[kTypes])(const Samples<W>& samples, const std::byte* data, W* out);
    void (*linear_careful[kTypes])(const Samples<W>& samples, const std::byte* data, W* out);
    void (*cubic[kTypes])(const Samples<W>& samples, const std::byte* data, W* out);
    // out[i] = the largest of the four taps by their weights, two axes; a term of weight zero is 0
    void (*largest_term[kTypes])(const Samples<W>& samples, const std::byte* data, W* out);
    // Joins samples v of bins of per_bin each, in order: their mean, or the largest (NaN wins).  The first bin has in_bin
    // samples already, joined in *so_far, where the last one is left if it is not full.  Full bins to done; returns how many.
    std::int64_t (*average)(const W* v, std::int64_t count, std::int64_t in_bin, std::int64_t per_bin, W* so_far, W* done);
    std::int64_t (*largest)(const W* v, std::int64_t count, std::int64_t in_bin, std::int64_t per_bin, W* so_far, W* done);
};

struct SampleKernels {
    // x[i] = the position that the coordinate at grid + i * stride stands for, padded: what is outside of the samples then
    // matters to no tap but those that count as zero and, for cubic, to taps next to the position.  By Type of the grid, null
    // for integers.
    void (*positions[kTypes])(const SampleAxis& axis, Sampling mode, Padding padding, const std::byte* grid,
                              std::intptr_t stride, std::int64_t count, double* x);
    // x[p * per_bin + i] = start + p * bin + (i + 0.5) * bin / per_bin, for p < bins; what lies more than 1 before the first or
    // behind the last of n samples is put where all taps are zero, what lies less out to the edge.
    void (*bin_positions)(double start, double bin, std::int64_t bins, std::int64_t per_bin, std::int64_t n, double* x);
    // Adds the bytes of the sample at each whole position x[i] to offsets[i]; outside[i] becomes 1 where there is none.
    void (*whole)(const SampleAxis& axis, const double* x, std::int64_t count, std::int64_t* offsets,
                  std::uint8_t* outside);
    SampleWork<float> f32;
    SampleWork<double> f64;
};

// ---- the table of a level

struct Kernels {
    const char* level;
    const GatherKernels* gather;
    const ItemKernels* items;
    const ScatterKernels* scatter;
    const ResampleKernels* resample;
    const AllFilterKernels* filter;
    const SampleKernels* sample;
};

}  // namespace remapnd
