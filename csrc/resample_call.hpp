// One call of resampling: what all its tasks share.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "axis_table.hpp"
#include "kernels.hpp"
#include "pool.hpp"
#include "ramps.hpp"
#include "row_geometry.hpp"
#include "segments.hpp"
#include "sheets.hpp"
#include "whole_weights.hpp"

namespace remapnd {

// From this many elements behind the innermost resampled axis on, they are rows of their own.
inline constexpr std::int64_t kWide = 32;
// Elements of a task: some tens of microseconds, so that starting one costs little and Ctrl-C is seen soon.
inline constexpr std::int64_t kTask = 131072;
// The same of filter passes, counted for each tap: rows in the window at the border of two tasks are made twice.
inline constexpr std::int64_t kFilterTask = 1048576;
// Results of this many bytes are stored past the caches: 24.9 MB of float32, 540p to 1080p, one thread, 4.8 ms without
// and 2.4 with (2026-11-30, AVX2); no loss down to half of this.
inline constexpr std::int64_t kLarge = std::int64_t{8} << 20;
// Elements that the rows in the window of a vertical filter pass have together, unless they need more.
inline constexpr std::int64_t kWindow = 65536;
// Rows of the type are converted in a vertical filter pass, not once and for all before it, if on average no more outputs
// than this read one, or if the window has more rows than that.
inline constexpr std::int64_t kReads = 3, kManyRows = 64;

// Sums of bytes by numerators of this magnitude together fit in 16 bits.
inline constexpr std::int64_t kMostShort = 128;

// The divisor of sums of both passes in 16 bits, at most.
inline constexpr std::int64_t kMostByteDivisor = 256;

// A pass: a vertical one along a loop, or the horizontal one.
struct Pass {
    int vertical = -1;  // the number among the vertical axes; -1: horizontal
    bool across() const { return vertical < 0; }
};

// A resampled axis among the loops, either a linear or a filter axis.
struct VerticalAxis {
    const ResampleTable* table;
    const AxisTable* linear;
    const FilterTable* filter;
    const WholeWeights* whole;
    const Ramps* ramps;
    std::intptr_t src_stride;
    std::int64_t widest;   // taps of an output
    std::int64_t longest;  // of the lengths before and after

    VerticalAxis(const ResampleTable& t, const WholeWeights& w, const Ramps& r, std::intptr_t stride)
        : table(&t), linear(std::get_if<AxisTable>(&t)), filter(std::get_if<FilterTable>(&t)), whole(&w), ramps(&r),
          src_stride(stride), widest(linear ? linear->widest() : filter->widest()),
          longest(linear ? std::max(linear->n_in, linear->n_out()) : std::max(filter->n_in, filter->n_out())) {}
};

// Rows of data of this many bytes are asked for one ahead.
inline constexpr std::int64_t kFarRows = std::int64_t{4} << 20, kMostAsked = 16384;

// What the caller wants to hear of.
struct Doubt {
    double bound = 0;       // results within it of a decision are in doubt; 0: none
    double fine_bound = 0;  // those that are computed again in float64 stay in doubt within this,
    bool ties = false;      // or are exactly what the decision is at

    bool operator==(const Doubt&) const = default;
};

// What is resampled, and how.  Axes ascend; `order` lists their positions in the order in which they are applied.
struct Resampling {
    Type type;
    Work work;
    std::vector<ResampleTable> axes;
    std::vector<int> order;
    std::vector<WholeWeights> whole;  // of each axis; empty ones unless they are filter axes of bytes,
    std::vector<Ramps> ramps;         // or of other weights
};

// All that does not depend on where data and out lie.
template <class W>
struct ResampleCall {
    // segmented(table, block, length, sizes) makes or finds the segments of a horizontal pass.
    template <class Segmented>
    ResampleCall(const Resampling& r, const Kernels& level, const ArrayView& data, const ArrayView& out,
                 const Rounding& rounding_, const Doubt& doubt_, const Segmented& segmented)
        : axes(r.axes), rounding(rounding_), doubt(doubt_), bound(static_cast<W>(doubt_.bound)),
          geometry(row_geometry(data, out, lengths(r.axes), kWide)), type(r.type), size(kTypeSize[static_cast<int>(type)]),
          kernels(*level.resample), rows(of(kernels, W())), filters(*level.filter),
          types(kernels.type[static_cast<int>(type)][static_cast<int>(r.work)]), words(kernels.words[static_cast<int>(type)]),
          down(filters.down[static_cast<int>(type)][static_cast<int>(r.work)]), integer(type < Type::f16),
          same(type == Type::f32 || type == Type::f64) {
        std::int64_t elements = 1;
        for (int d = 0; d < out.rank; ++d) elements *= out.shape[d];
        large = elements >= kLarge / size;
        std::int64_t inputs = 1;
        for (int d = 0; d < data.rank; ++d) inputs *= data.shape[d];
        far = inputs >= kFarRows / size;
        if constexpr (!std::is_integral_v<W>)
            if (static_cast<double>(bound) < doubt.bound) bound = std::nextafter(bound, static_cast<W>(INFINITY));
        walk_last_innermost(r);
        const RowGeometry& g = geometry;
        for (const Loop& loop : g.loops)
            if (loop.table >= 0) vertical.emplace_back(axes[loop.table], r.whole[loop.table], r.ramps[loop.table], loop.src_stride);
        std::int64_t places = 1;
        for (const VerticalAxis& v : vertical) {
            places_are_numbers &= places <= INT64_MAX / v.longest;
            if (places_are_numbers) places *= v.longest;
        }
        for (const int a : r.order) {
            Pass pass;
            for (std::size_t v = 0; v < vertical.size(); ++v)
                if (vertical[v].table == &axes[a]) pass.vertical = static_cast<int>(v);
            passes.push_back(pass);
        }
        across_at = static_cast<std::size_t>(
            std::find_if(passes.begin(), passes.end(), [](Pass p) { return p.across(); }) - passes.begin());
        if (const Pass first = passes[0]; !first.across() && vertical[first.vertical].filter && rounding.base == 0 && !same) {
            const VerticalAxis& v = vertical[first.vertical];
            std::int64_t reads = 0;
            for (const std::int64_t n : v.filter->count) reads += n;
            down_whole = filters.down_bytes && !v.whole->empty() && to_nearest();
            down_ramps = down_whole && vertical.size() == 1 && !v.ramps->empty() && v.ramps->longest() <= kMostRamp;
            down_raw = down_whole || v.widest > kManyRows || reads <= kReads * v.filter->n_in;
        }
        filter_across = g.horizontal && std::holds_alternative<FilterTable>(axes.back());
        std::int64_t window = filter_across ? 8 : 0;
        for (const VerticalAxis& v : vertical)
            if (v.filter) window = std::max(window, v.widest);
        const std::int64_t length = window ? std::clamp<std::int64_t>(kWindow / window, 512, 2 * kSegment) : kSegment;
        shorts = whole_rows(r);
        in_bytes = shorts && filters.across_bytes && bound == 0 && vertical[0].whole->positive() &&
                   vertical[0].whole->most() * r.whole.back().most() <= kMostByteDivisor;
        down_ramps &= !shorts;
        loose = !shorts && loose_rows();
        ramps = loose && geometry.block > 1 && !r.ramps.back().empty() && r.ramps.back().fit_floats();
        const WindowSizes sizes{rows.lanes, std::is_same_v<W, float> ? filters.f32.lanes : filters.f64.lanes,
                                pairs_of(), shorts ? &r.whole.back() : nullptr, in_bytes, loose, ramps ? &r.ramps.back() : nullptr};
        segments = g.horizontal ? segmented(&axes.back(), g.block, length, sizes)
                                : std::make_shared<const std::vector<Segment<W>>>(
                                      remapnd::segments<W>(nullptr, g.xs, g.block, length, sizes));
        const std::int64_t task = window ? kFilterTask : kTask;
        std::int64_t work = work_of_row((*segments)[0]);
        if (has_sheets()) work *= make_sheets(work);
        rows_per_task = units_a_task(g.rows, std::max<std::int64_t>(1, task / work));
        tasks_per_segment = (g.rows + rows_per_task - 1) / rows_per_task;
    }

    std::int64_t tasks() const { return tasks_per_segment * static_cast<std::int64_t>(segments->size()); }

    // The rows of the input that a sheet has, at most; 1 without sheets.
    std::int64_t most_rows() const {
        std::int64_t most = 1;
        for (const Sheet& s : sheets) most = std::max(most, s.rows);
        return most;
    }

    static const auto& of(const ResampleKernels& k, float) { return k.f32; }
    static const auto& of(const ResampleKernels& k, double) { return k.f64; }
    static const auto& of(const ResampleKernels& k, std::uint16_t) { return k.u16; }
    static const auto& of(const ResampleKernels& k, std::uint32_t) { return k.u32; }

    // WindowSizes::pairs
    int pairs_of() const {
        const bool own = std::is_same_v<W, std::uint16_t> ? kernels.across_bytes != nullptr : words.across != nullptr;
        return std::is_integral_v<W> && own ? static_cast<int>(size) : 0;
    }

    // Sums that are divided, or added in another order, lose what truncation of constants rests on, that a blend of these is exact.
    bool to_nearest() const { return rounding.rule == Rule::half_up || rounding.rule == Rule::half_even; }

    // Whether the terms of the horizontal pass may be added in any order, and gain by it.
    bool loose_rows() const {
        return std::is_same_v<W, float> && integer && filters.across_loose && filter_across && to_nearest() &&
               loose_pays(geometry.block, std::get<FilterTable>(axes.back()).widest());
    }

    // Whether both passes are made in integers.
    bool whole_rows(const Resampling& r) const {
        if (!down_whole || !filters.across_short || passes.size() != 2 || !passes[1].across() || !filter_across) return false;
        if (vertical[0].whole->parts() || r.whole.back().parts()) return false;
        const std::int64_t down_most = vertical[0].whole->most(), across_most = r.whole.back().most();
        const std::int64_t block = geometry.block;
        return (block == 1 || block == 3 || block == 4) && !r.whole.back().empty() && down_most <= kMostShort &&
               across_most < INT32_MAX / (255 * kMostShort);
    }

    // Whether the last pass is made within sheets: that of the innermost loop, if rows are short and sheets lie in one piece.
    bool has_sheets() const {
        const RowGeometry& g = geometry;
        const Pass last = passes.back();
        if (std::is_integral_v<W> || integer || last.across() || across_at + 2 != passes.size() || segments->size() != 1)
            return false;
        for (const VerticalAxis& v : vertical)
            if (!v.linear) return false;
        const Segment<W>& s = (*segments)[0];
        const AxisTable* x = std::get_if<AxisTable>(&axes.back());
        const VerticalAxis& y = vertical.back();
        return x && s.columns.empty() && s.column_count == x->n_in && (s.x1 - s.x0) * g.block <= kLongRow &&
               &vertical[last.vertical] == &y && g.loops.back().table >= 0 && y.linear->n_in <= y.linear->n_out() &&
               (g.block == 1 || g.src_c == size) && g.src_x == g.block * size && y.src_stride == x->n_in * g.src_x;
    }

    // A loop over sheets takes the place of the innermost one: outermost where there are other passes, so that rows that these
    // have made serve again, else innermost.  Returns how many rows of the result a sheet has.
    std::int64_t make_sheets(std::int64_t row_values) {
        std::vector<Loop>& loops = geometry.loops;
        const Loop rows_of_out = loops.back();
        sheet_stride = rows_of_out.dst_stride;
        sheets = remapnd::sheets(*vertical.back().linear, row_values);
        const Loop loop{static_cast<std::int64_t>(sheets.size()), 0, 0, 0, -1};
        loops.pop_back();
        sheet_loop = vertical.size() > 1 ? 0 : loops.size();
        loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(sheet_loop), loop);
        geometry.rows = geometry.rows / rows_of_out.size * loop.size;
        return sheets[0].y1 - sheets[0].y0;
    }

    // Rows that the last pass takes, if that is a vertical filter pass, serve the next output along its axis: that comes next.
    void walk_last_innermost(const Resampling& r) {
        const int last = r.order.back();
        std::vector<Loop>& loops = geometry.loops;
        const auto at = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.table == last; });
        if (at != loops.end() && std::holds_alternative<FilterTable>(axes[last])) std::rotate(at, at + 1, loops.end());
    }

    // Elements touched for a row of the segment, those of linear axes counted once.
    std::int64_t work_of_row(const Segment<W>& s) const {
        const std::int64_t outputs = (s.x1 - s.x0) * geometry.block, inputs = s.column_count * geometry.block;
        std::int64_t sum = outputs;
        for (std::size_t k = 0; k < passes.size(); ++k) {
            const FilterTable* t = passes[k].across() ? (filter_across ? &std::get<FilterTable>(axes.back()) : nullptr)
                                                      : vertical[passes[k].vertical].filter;
            const bool by_ramps = passes[k].across() ? ramps : down_ramps;  // each sample once, not for two outputs
            if (t) sum += (k < across_at ? inputs : outputs) * (by_ramps ? (t->widest() + 1) / 2 : t->widest());
        }
        return std::max<std::int64_t>(1, sum);
    }

    const std::vector<ResampleTable>& axes;
    Rounding rounding;
    Doubt doubt;
    W bound;
    RowGeometry geometry;
    Type type;
    std::intptr_t size;
    const ResampleKernels& kernels;
    const RowKernels<W>& rows;
    const AllFilterKernels& filters;
    const TypeKernels& types;
    const WordKernels& words;
    void (*down)(const RowTaps& taps, std::int64_t count, void* out);  // of the type
    bool integer;                                                       // the type is one
    bool same;                                                          // the type is W itself
    bool places_are_numbers = true;  // all places along the vertical axes can be told by one int64
    bool large;          // out is larger than what is kept in the caches,
    bool far;            // data than what is kept in the nearer ones
    bool filter_across;  // the horizontal pass is that of a filter axis
    bool down_raw = false;    // the first pass is a vertical filter pass that takes rows of the type,
    bool down_whole = false;  // and in integers,
    bool shorts = false;      // like the horizontal one behind it,
    bool in_bytes = false;    // which may come first, of bytes, as 16 bits hold the sums of both,
    bool down_ramps = false;  // by ramps,
    bool loose = false;       // the terms of the horizontal pass are added in any order,
    bool ramps = false;       // by ramps
    std::shared_ptr<const std::vector<Segment<W>>> segments;
    std::vector<VerticalAxis> vertical;  // the resampled axes among the loops
    std::vector<Pass> passes;            // in order
    std::size_t across_at;               // the place of the horizontal one, or their number
    std::vector<Sheet> sheets;           // empty: the last pass is made like the others
    std::intptr_t sheet_stride = 0;      // from one row of out to the next in a sheet
    std::size_t sheet_loop = 0;
    std::int64_t rows_per_task, tasks_per_segment;
};

}  // namespace remapnd
