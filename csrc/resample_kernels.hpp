// The kernels of resampling, as kernels.hpp has those of the other operators.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace remapnd {

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

// Vectors [begin, end) of a horizontal pass: the second taps are the values `step` behind the first, lane by lane.  If period is
// not 0, vector v + period is as v, its taps `advance` values farther on, for all v where both are among them.
struct Beside {
    std::int64_t begin = 0, end = 0, step = 0, advance = 0;
    int period = 0;  // 0, 1 or 3
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
    Beside beside;
};

// The end of a row that is stored past the caches, as far as it does not fill a cache line: one that is stored in two parts costs
// many times a whole one.
struct OpenLine {
    alignas(64) std::byte held[64] = {};  // the end of the row
    std::byte* at = nullptr;              // where the last `bytes` of it belong
    std::size_t bytes = 0;

    void close() {
        if (bytes) std::memcpy(at, held + 64 - bytes, bytes);
        bytes = 0;
    }
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
    // The last step of a finished row: lerp, or out[i] = row[i]; true when a value in out is not finite.  With `open` past the
    // caches, where the level can (end_stream makes such rows visible to other threads); what follows the last whole line is
    // then held there, and goes out with the beginning of the next row, if that is the one behind it in memory.
    bool (*lerp_last)(const W* a, const W* b, W w, std::int64_t count, W* out, OpenLine* open);
    bool (*copy_last)(const W* row, std::int64_t count, W* out, OpenLine* open);
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

// The two rows that the next output row is made of, or null.  Kernels that take two
// rows ask for them meanwhile.
struct NextRows {
    const std::byte* a = nullptr;
    const std::byte* b = nullptr;
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
    NextRows next;
};
using ByteLerps = PairLerps<std::int8_t>;   // u16 the working type; weights below 128
using WordLerps = PairLerps<std::int16_t>;  // u32

// The same of pixels of three values, two a group, the last of these three times: windows is 1, and the groups of every four stand in
// the order 0, 2, 1, 3; `groups` is a multiple of four.  The first `alike` ones, by fours, have the numbers and weights of the first.
struct PixelPairs {
    std::int64_t groups, alike;
    const std::int32_t* base;
    const std::uint8_t* pick;
    const std::int8_t* weight;
    NextRows next;
};

// The same of rows of any type whose working type is float: whole groups of 8 outputs, whose a and b lie at pick[2 * e] and
// pick[2 * e + 1] within windows * 8 values from row + base[e / 8].
struct RowLerps {
    int windows;
    const std::int32_t* base;
    const std::uint8_t* pick;
    const float* weight;
    NextRows next;
};

// Outputs of `block` values each, 3 or 4, made of the pixels whose values begin at first[x] and second[x] in two rows of
// `values`.  The second is the first or the one behind it (`neighbours`: always that), none is before that of the output before.
struct PixelLerps {
    std::int64_t count, block, values;
    const std::int32_t* first;
    const std::int32_t* second;
    bool neighbours;
    NextRows next;
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
    void (*across_two_pixel_pairs)(const PixelPairs& table, const Lerps<std::uint16_t>& rest, const std::uint8_t* a,
                                   const std::uint8_t* b, std::uint16_t w, std::uint16_t one, const Rounding& rounding,
                                   std::uint8_t* out);
    // The same pixel by pixel, for those that lie too far apart to be picked out of vectors: weights[x] is the weight of
    // the first tap, and in the next byte that of the second, four times.
    void (*blend_byte_pixels)(const PixelLerps& table, const std::uint64_t* weights, const std::uint8_t* a,
                              const std::uint8_t* b, std::uint16_t w, std::uint16_t one, const Rounding& rounding,
                              std::uint8_t* out);
    // The lerp of RowKernels<u16>, divided; not by half_even.  Null likewise.
    void (*lerp_bytes)(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t w, std::uint16_t one, std::int64_t count,
                       const Rounding& rounding, std::uint8_t* out);
    // By Type: the lerps of rows a and b by w, and then of their pixels by weight[4 * x] to weight[4 * x + 3], all the same; true
    // when a value is not finite, and `out` to be made again with care.  Null for types, and where, the level has no instructions for it.
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

// ---- filter.cpp

// A filter pass blends taps: y = x[c] + (w[0] * (x[0] - x[c]) + w[1] * (x[1] - x[c]) + ...) in ascending order, without the
// term of c itself; in the sum form (c is -1) y = w[0] * x[0] + w[1] * x[1] + ..., and 0 where there is no tap.
// The careful twin of a kernel takes the sum over the taps of non-zero weight where that is not finite.

// Rows that the next output takes and the one at hand does not; kernels may ask for them meanwhile.
struct RowsAhead {
    const std::byte* first = nullptr;
    std::int64_t count = 0;
    std::intptr_t stride = 0;
};

// A vertical pass: taps k < `taps` have rows[k], of whatever type, and weights[k], of the working type; c has the row `base`
// and is not among them, it stands before tap base_at and has the weight base_weight.  base is null in the sum form.
struct RowTaps {
    const void* const* rows;
    const void* weights;
    std::int64_t taps;
    const void* base;
    std::int64_t base_at;
    double base_weight;
    RowsAhead ahead;
};

// Taps of a vertical pass, beside c, that stay in registers: those of cubic enlarging.
inline constexpr std::int64_t kHeldTaps = 3;

// How the vectors of a horizontal pass come by their taps.
enum class Way : int {
    each,   // not at all: outputs are made one by one
    pick,   // a vector of elements out of a window: lane l of tap k is row[window[v] + k * block + lane[v * lanes + l]], c
            // is row[base_window[v] + base_lane[v * lanes + l]]
    turn,   // a vector of elements of blocks of 1 (2 for pairs of float) from as many outputs, turned by transposition
    pairs,  // two outputs of blocks of 3 or 4, four values each
    phases, // every second output of blocks of 1: output x + 2 is as x, its taps one value farther on
    wide,   // one output, its block in vectors
};

// Horizontal pass of a segment of outputs of `block` elements: element j of output x has the taps row[first[x] + k * block + j]
// for k < count[x], of weight weights[x * width + k]; c is base[x], -1 in the sum form.
//
// For the first `vectors` vectors v, packed[(v * width + k) * lanes + l] has the weight of lane l, -0.0 for c itself and
// behind the count, where what is read counts for nothing; the counts in a vector are full[v] to most[v].  At most
// reach[v] values of the row are read up to v.  By phases are made the outputs from phases_begin on, twice phases_pairs of them,
// all of which have 4 or all 6 taps; there are 8 or more pairs.
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
    std::int64_t phases_begin, phases_pairs;
};

template <class W>
struct FilterKernels {
    int lanes;  // of the horizontal pass; 0: no vectors wanted

    // out[i] of taps rows[k][i], rows of W
    void (*down)(const RowTaps& taps, std::int64_t count, W* out);
    // The same; true when a result is not finite.  `open` as in RowKernels, for kHeldTaps taps.  Null where the level has no
    // instructions for it.
    bool (*down_last)(const RowTaps& taps, std::int64_t count, W* out, OpenLine* open);
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

// The same on rows of bytes, in pairs of groups of `group` values, 8 or, of blocks of three, 6 of 8 lanes, two taps a step: those of
// lane l of group g in step k are the bytes pick[16 * g + 2 * l] and the next number, of windows * 16 bytes from base[g] + k * step of
// the row on, times the weights at the same place behind 32 * steps * pair + 32 * k.  The sums of pair v lie from place[v] on, and two
// more values may be written behind them.  Pairs [same_begin, same_end), one at least, have the same tables and lie
// equally far apart, results side by side.
struct ByteTaps {
    std::int64_t pairs, steps, step, group;
    int windows;  // 1 or 2; all those bytes may be read
    const std::int32_t* base;
    const std::int32_t* place;
    const std::uint8_t* pick;
    const std::int8_t* weight;
    std::int64_t same_begin, same_end;
};

// Rows and what each is multiplied by.
struct WeightedRows {
    const void* const* rows;
    const std::int16_t* numerators;
    std::int64_t count;
};

// A horizontal pass whose terms are added in any order, for results that are exact in the end.  A step is two taps of an output of
// 3 or 4 values, or eight of one of 1 value; output x has steps[x] of them from row[first[x]] on, whose weights lie from
// weights + at[x] on, 0 behind the last.  All that is read of the first `outputs` ones lies in the row.
struct LooseTaps {
    std::int64_t outputs;
    const std::int64_t* first;
    const std::int64_t* steps;
    const std::int64_t* at;
    const float* weights;
};

// An interval of rows of bytes in a vertical pass by ramps (ramps.hpp), at most kMostRamp: a row with k rows behind it counts
// ends[0] + k * ends[1] times for the output that falls there and begins[0] + k * begins[1] times for the next one, which rises.
struct ByteRamps {
    const void* const* rows;
    std::int64_t count;
    std::int16_t ends[2], begins[2];
    float scale;  // of the output
};

// That many bytes, times their places or not, add up to less than 2**15.
inline constexpr std::int64_t kMostRamp = 16;

// A horizontal pass by ramps: interval i, of outputs + 1, has count[i] blocks from row[first[i]] on, the longest of all 2 * steps or
// one less.  With the sums S of these and P of these times places[k * 8] for block 2 k and places[k * 8 + block] for block 2 k + 1,
// output x is w[0] S + w[1] P of interval x and w[2] S + w[3] P of the next one, w being weights + 4 x.  All that is read of the
// first `outputs` lies in the row.
struct RampTaps {
    std::int64_t outputs, steps;
    const std::int64_t* first;
    const std::int32_t* count;
    const float* places;
    const float* weights;
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
    // The same and 2**-29 times the sum of lows[k] * rows[k][i], where the first sum is below 2**24.  Null likewise.
    void (*down_parts)(const void* const* rows, const std::int16_t* numerators, const std::int16_t* lows, std::int64_t taps,
                       float scale, std::int64_t count, float* out);
    // The sums of down_bytes as they are, of numerators below 128 whose magnitudes add up to 128 at most; and sums of such rows, times
    // scale: `out` has room for 8 values behind the last.  Null likewise.
    void (*down_short)(const void* const* rows, const std::int16_t* numerators, std::int64_t taps, std::int64_t count,
                       std::int16_t* out);
    void (*across_short)(const WholeTaps& table, std::int64_t block, const std::int16_t* row, float scale, float* out);
    // Sums of bytes across, and rows of such sums down, which add up to 16 bits, divided.  Null likewise.
    void (*across_bytes)(const ByteTaps& table, const std::uint8_t* row, std::uint16_t* out);
    void (*down_divided)(const WeightedRows& rows, std::int64_t columns, const Rounding& rounding, std::uint8_t* out);
    // The outputs of `loose`, and those behind them as `across` of f32 makes them one by one; `out` has room for 8 values behind
    // the last.  Null likewise.
    void (*across_loose)(const LooseTaps& loose, const FilterTaps<float>& all, std::int64_t block, const float* row, float* out);
    // out[i] = scale * (carry[i] + what ends at column i), and carry[i] = what begins there.  No `out`: that alone.  The carry is left
    // in an order of its own, the same for equally many columns.  Null likewise.
    void (*down_ramps)(const ByteRamps& ramps, std::int64_t columns, std::int32_t* carry, float* out);
    // As across_loose, for blocks of 3 and 4.
    void (*across_ramps)(const RampTaps& ramps, const FilterTaps<float>& all, std::int64_t block, const float* row, float* out);
};

}  // namespace remapnd
