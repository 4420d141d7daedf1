// The seam inside the core: every kernel, what it does and what its caller has made sure of.
//
// Kernels are compiled once per level, in namespace remapnd::<level>, and reached through that level's `table`
// (dispatch.hpp).  They take plain pointers, strides in bytes and counts >= 0; they allocate nothing and check nothing.
// [a, b) is half-open; pointers named `out` and `dst` overlap no other argument.
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
    bool far;          // data is more than the second-level cache holds: worth asking for early
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

struct Reducer {
    void (*items)(const Scatter& s);  // where run is the element size, and rows is 1
    void (*rows)(const Scatter& s);   // where run is a multiple of it
};

struct ScatterKernels {
    void (*put)(const Scatter& s);
    Reducer reduce[kReductions][kNumbers];  // null for min and max of complex numbers, and for Reduction::none
    void (*select)(const Select& s);
    void (*deal[5])(const Deal& d);  // by the logarithm of the size
};

// ---- resample.cpp

// Element types that resampling computes with, in the order of the tables below.
enum class Type : int { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };
inline constexpr int kTypes = 12;
inline constexpr int kTypeSize[kTypes] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

// The working type, indexing the tables below: float32, float64, or integers that hold the exact result times the product
// of the denominators of the passes so far.  u16: 8-bit data whose product of all denominators is at most 256.  u32, modulo
// 2**32: data of at most 16 bits; that of u16 less 32768, so that all words are signed ones; denominators of an axis are at
// most 32767.
enum class Work : int { f32, f64, u16, u32 };
inline constexpr int kWorks = 4;

enum class Rule : int { half_up, half_even, truncate_by_sign, truncate_down, truncate_up };

// How a working value v becomes an integer, the nearest limit of its type when it lies outside.
//
// Floats: `half_step` is half of half the distance of neighbouring exact results (a value that near to a decision is on
// it), or 0; `base` was subtracted, modulo 2**64, from 64-bit values on loading.
// u16: the result is (v + add) * multiplier >> 16 >> shift, which is the floor of (v + divisor / 2) / divisor, or of
// v / divisor for truncation; all sums fit in 16 bits.
// u32: it is ((v + add) * multiplier >> 32 >> shift) + the lowest value of its type, `add` having as well what makes sums of
// lowest values 0; truncation by sign adds divisor - 1 to sums that stand for numbers below zero.  `multiplier` 0: sums of
// all passes may take more than 32 bits; the last is a vertical one, and made in float64, with `divisor` and half_step.
struct Rounding {
    Rule rule = Rule::half_up;
    double half_step = 0;
    std::uint64_t base = 0;
    std::uint32_t divisor = 1, add = 0, multiplier = 0;
    int shift = 0;

    bool operator==(const Rounding&) const = default;
};

// Horizontal pass of a segment, for e in [0, count): a = row[first[e]], b = row[second[e]], w = weight[e];
// out[e] = a + (b - a) * w, for integers a * (one - w) + b * w.
// For whole vectors v of `lanes` outputs the same is said again by lane numbers within windows * lanes values from
// row + first_base[v] and row + second_base[v]; windows is 1, 2 or 4, or 0 where that is not possible.  All those values
// may be read.
template <class W>
struct Lerps {
    std::int64_t count;
    const std::int32_t* first;
    const std::int32_t* second;
    const W* weight;
    W one;
    int windows;
    const std::int32_t* first_base;
    const std::int32_t* second_base;
    const std::uint8_t* first_lane;
    const std::uint8_t* second_lane;
};

// The careful twin of a kernel takes (1 - w) * a + w * b where a + (b - a) * w is not finite, and a or b where w is 0
// or 1.
// The kernels that floats alone need are null for integers.
template <class W>
struct RowKernels {
    int lanes;  // of the horizontal pass, at most kMaxLanes; 0: no lane numbers wanted

    // out[i] = a[i] + (b[i] - a[i]) * w, for integers a[i] * (one - w) + b[i] * w; out may be a
    void (*lerp)(const W* a, const W* b, W w, W one, std::int64_t count, W* out);
    void (*across)(const Lerps<W>& table, const W* row, W* out);

    void (*lerp_careful)(const W* a, const W* b, W w, std::int64_t count, W* out);
    void (*across_careful)(const Lerps<W>& table, const W* row, W* out);
    bool (*any_nonfinite)(const W* row, std::int64_t count);
    // The last step of a finished row: lerp, or out[i] = row[i]; true when a value in out is not finite.  With `stream`
    // past the caches, where the level can (end_stream makes such rows visible to other threads).
    bool (*lerp_last)(const W* a, const W* b, W w, std::int64_t count, W* out, bool stream);
    bool (*copy_last)(const W* row, std::int64_t count, W* out, bool stream);
    void (*canonical_nans)(W* row, std::int64_t count);
    // Positions i whose row[i] is within `bound` of where `rule` decides, to out; returns how many.
    std::int64_t (*doubtful)(const W* row, std::int64_t count, Rule rule, W bound, std::int32_t* out);
};

// For each type and each working type W that it may have (null otherwise); rows of the type are contiguous and aligned
// to it.
struct TypeKernels {
    // dst[i] = src[i] - base, as W
    void (*convert)(const std::byte* src, std::int64_t count, std::uint64_t base, void* dst);
    // The lerp of RowKernels on two rows of the type; base 0.
    void (*lerp)(const std::byte* a, const std::byte* b, double w, double one, std::int64_t count, void* out);
    // the element at dst + k * stride_x + j * stride_c = row[k * block + j], rounded, plus base
    void (*store)(const void* row, std::int64_t count, std::int64_t block, const Rounding& rounding, std::byte* dst,
                  std::intptr_t stride_x, std::intptr_t stride_c);
};

// The horizontal pass on a row of the type, for whole groups of as many outputs as have 16 bytes of taps: pick[k] are the
// places of the bytes of a and b of all outputs within windows * 16 bytes from element base[group] of the row, weight[2 * e]
// and weight[2 * e + 1] the weights of a and b of output e.  windows is 1, 2 or 4; all those bytes may be read.
template <class Weight>
struct PairLerps {
    int windows;
    const std::int32_t* base;
    const std::uint8_t* pick;
    const Weight* weight;
    bool in_line;  // the taps of all outputs are one behind the other from base[0] on, and have the weights of the first
};
using ByteLerps = PairLerps<std::int8_t>;   // u16 the working type; weights below 128
using WordLerps = PairLerps<std::int16_t>;  // u32

// The same of rows of any type whose working type is float: whole groups of 8 outputs, whose a and b lie at pick[2 * e] and
// pick[2 * e + 1] within windows * 8 values from row + base[e / 8].
struct RowLerps {
    int windows;
    const std::int32_t* base;
    const std::uint8_t* pick;
    const float* weight;
};

// Outputs of `block` values each, 3 or 4, made of the pixels whose values begin at first[x] and second[x] in two rows of
// `values`.  The second is the first or the one behind it (`neighbours`: always that), none is before that of the output before.
struct PixelLerps {
    std::int64_t count, block, values;
    const std::int32_t* first;
    const std::int32_t* second;
    bool neighbours;
};

// Bytes of a row for whole groups of 16: out[16 * g + i] = row[base[g] + place[16 * g + i]], places below windows * 16.
// windows is 1, 2 or 4; all those bytes may be read.
struct BytePicks {
    std::int64_t groups;
    int windows;
    const std::int32_t* base;
    const std::uint8_t* place;
};

inline constexpr int kMaxLanes = 32;

// Of types that have the u32 working type.  `out` is contiguous elements of the type.
struct WordKernels {
    // The horizontal pass on a row; the outputs that do not fill a group are made by `rest`.  Null where the level has no
    // instructions for it.
    void (*across)(const WordLerps& table, const Lerps<std::uint32_t>& rest, const std::byte* row, std::uint32_t* out);
    // That of two rows a and b, blended, a * (one - w) + b * w, and divided as `rounding` says.  Null as `across`.
    void (*across_two)(const WordLerps& table, const Lerps<std::uint32_t>& rest, const std::byte* a, const std::byte* b,
                       std::uint32_t w, std::uint32_t one, const Rounding& rounding, std::byte* out);
    // The same of pixels; weights: per pixel those of a and b, 16 bits each, twice.
    void (*across_two_pixels)(const PixelLerps& pixels, const std::uint64_t* weights, const std::byte* a, const std::byte* b,
                              std::uint32_t w, std::uint32_t one, const Rounding& rounding, std::byte* out);
    // The lerp of RowKernels, divided; and that of TypeKernels.
    void (*lerp_last)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t w, std::uint32_t one, std::int64_t count,
                      const Rounding& rounding, std::byte* out);
    void (*lerp_rows_last)(const std::byte* a, const std::byte* b, std::uint32_t w, std::uint32_t one, std::int64_t count,
                           const Rounding& rounding, std::byte* out);
};

struct ResampleKernels {
    RowKernels<float> f32;
    RowKernels<double> f64;
    RowKernels<std::uint16_t> u16;
    RowKernels<std::uint32_t> u32;
    TypeKernels type[kTypes][kWorks];  // by Type and Work
    WordKernels words[kTypes];         // by Type, null for those that have no such working type
    // The outputs that do not fill a group are made by `rest`.  Null where the level has no instructions for it.
    void (*across_bytes)(const ByteLerps& table, const Lerps<std::uint16_t>& rest, const std::uint8_t* row,
                         std::uint16_t* out);
    // That of two rows a and b, blended, a * (one - w) + b * w, and divided as `rounding` says, which is not to half_even.
    // Null where the level has no instructions for it.
    void (*across_two_bytes)(const ByteLerps& table, const Lerps<std::uint16_t>& rest, const std::uint8_t* a,
                             const std::uint8_t* b, std::uint16_t w, std::uint16_t one, const Rounding& rounding,
                             std::uint8_t* out);
    // The same pixel by pixel, for those that lie too far apart to be picked out of vectors: weights[x] is the weight of
    // the first tap, and in the next byte that of the second, four times.
    void (*blend_byte_pixels)(const PixelLerps& table, const std::uint64_t* weights, const std::uint8_t* a,
                              const std::uint8_t* b, std::uint16_t w, std::uint16_t one, const Rounding& rounding,
                              std::uint8_t* out);
    // By Type: the lerps of rows a and b by w, and then of their pixels by weight[x * block]; true when a value is not
    // finite, and `out` to be made again with care.  Null for types, and where, the level has no instructions for it.
    bool (*blend_pixels[kTypes])(const PixelLerps& table, const float* weight, const std::byte* a, const std::byte* b,
                                 float w, float* out);
    // The same of groups, and of the single values behind them.
    bool (*blend_groups[kTypes])(const RowLerps& table, const Lerps<float>& all, const std::byte* a, const std::byte* b,
                                 float w, float* out);
    void (*end_stream)();
    // Brings these bytes nearer.
    void (*ask_for)(const std::byte* row, std::int64_t bytes);
    // Null where the level has no instructions for it.
    void (*pick_bytes)(const BytePicks& table, const std::uint8_t* row, std::uint8_t* out);
    // Moves items of `size` bytes: dst + k * dst_stride = src + column(k) * src_stride, k in [0, count);
    // column(k) is columns[k], or k when columns is null.
    void (*pick)(const std::byte* src, std::intptr_t src_stride, const std::int64_t* columns, std::int64_t count,
                 std::int64_t size, std::byte* dst, std::intptr_t dst_stride);
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

// ---- filter.cpp

// A filter pass blends taps: y = x[c] + (w[0] * (x[0] - x[c]) + w[1] * (x[1] - x[c]) + ...) in ascending order, without the
// term of c itself; in the sum form (c is -1) y = w[0] * x[0] + w[1] * x[1] + ..., and 0 where there is no tap.
// The careful twin of a kernel takes the sum over the taps of non-zero weight where that is not finite.

// A vertical pass: taps k < `taps` have rows[k], of whatever type, and weights[k], of the working type; c has the row `base`
// and is not among them, it stands before tap base_at and has the weight base_weight.  base is null in the sum form.
struct RowTaps {
    const void* const* rows;
    const void* weights;
    std::int64_t taps;
    const void* base;
    std::int64_t base_at;
    double base_weight;
};

// How the vectors of a horizontal pass come by their taps.
enum class Way : int {
    each,   // not at all: outputs are made one by one
    pick,   // a vector of elements out of a window: lane l of tap k is row[window[v] + k * block + lane[v * lanes + l]], c
            // is row[base_window[v] + base_lane[v * lanes + l]]
    turn,   // a vector of elements of blocks of 1 (2 for pairs of float) from as many outputs, turned by transposition
    pairs,  // two outputs of blocks of 3 or 4, four values each
    wide,   // one output, its block in vectors
};

// Horizontal pass of a segment of outputs of `block` elements: element j of output x has the taps row[first[x] + k * block + j]
// for k < count[x], of weight weights[x * width + k]; c is base[x], -1 in the sum form.
//
// For the first `vectors` vectors v, packed[(v * width + k) * lanes + l] has the weight of lane l, -0.0 for c itself and
// behind the count, where what is read counts for nothing; the counts in a vector are full[v] to most[v].  At most
// reach[v] values of the row are read up to v.
template <class W>
struct FilterTaps {
    std::int64_t outputs, width;
    const std::int64_t* first;
    const std::int64_t* count;
    const std::int64_t* base;
    const W* weights;

    Way way;
    std::int64_t vectors;
    const W* packed;
    const std::int64_t* full;
    const std::int64_t* most;
    const std::int64_t* reach;
    const std::int64_t* window;
    const std::int64_t* base_window;
    const std::uint8_t* lane;
    const std::uint8_t* base_lane;
    bool sums;
};

template <class W>
struct FilterKernels {
    int lanes;  // of the horizontal pass; 0: no vectors wanted

    // out[i] of taps rows[k][i], rows of W
    void (*down)(const RowTaps& taps, std::int64_t count, W* out);
    // The same; true when a result is not finite.  Null where the level has no instructions for it.
    bool (*down_last)(const RowTaps& taps, std::int64_t count, W* out);
    void (*down_careful)(const RowTaps& taps, std::int64_t count, W* out);
    // `readable` values may be read from row on
    void (*across)(const FilterTaps<W>& table, std::int64_t block, const W* row, std::int64_t readable, W* out);
    void (*across_careful)(const FilterTaps<W>& table, std::int64_t block, const W* row, W* out);
};

// The horizontal pass in integers, blocks of 1, 3 or 4: group v is outputs_of(block) outputs, the last one repeated behind the
// end; output i of it has the taps row[first[v * group + i] + k * block + j], taps_of(block) a step.  packed has eight
// numerators for each output of each step of each group: those of one tap after the other, repeated where a step has fewer
// taps.  scale has eight values a group.  What numerators of 0 stand for is read, too.
struct WholeTaps {
    std::int64_t outputs, steps;
    const std::int32_t* first;
    const std::int16_t* packed;
    const float* scale;

    static constexpr std::int64_t outputs_of(std::int64_t block) { return block == 1 ? 8 : 2; }
    static constexpr std::int64_t taps_of(std::int64_t block) { return block == 1 ? 8 : 2; }
};

struct AllFilterKernels {
    FilterKernels<float> f32;
    FilterKernels<double> f64;
    // The `down` of FilterKernels on rows of the type, base 0; null as in ResampleKernels and for integers.
    void (*down[kTypes][kWorks])(const RowTaps& taps, std::int64_t count, void* out);
    // out[i] = scale * sum of numerators[k] * rows[k][i] for k < taps, an even number; the sum is exact, below 2**31.
    // Null where the level has no instructions for it.
    void (*down_bytes)(const void* const* rows, const std::int16_t* numerators, std::int64_t taps, float scale,
                       std::int64_t count, float* out);
    // The same sums as they are, of numerators below 128 whose magnitudes add up to 128 at most; and sums of such rows, times
    // scale: `out` has room for 8 values behind the last.  Null likewise.
    void (*down_short)(const void* const* rows, const std::int16_t* numerators, std::int64_t taps, std::int64_t count,
                       std::int16_t* out);
    void (*across_short)(const WholeTaps& table, std::int64_t block, const std::int16_t* row, float scale, float* out);
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
