#include "gather_run.hpp"

#include <algorithm>
#include <atomic>

#include "dispatch.hpp"
#include "items_run.hpp"
#include "pool.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTask = 256 * 1024;       // bytes: below two of these, starting a thread costs more than it gives
constexpr std::int64_t kFar = 1024 * 1024;       // bytes: data that the second-level cache does not hold
constexpr std::int64_t kLine = 64;               // bytes: of a cache line
constexpr std::int64_t kBlock = 1024;            // indices normalised at once, 8 KiB of offsets; more where they serve many times
constexpr std::int64_t kIndexCost = 16;          // bytes moved in the time that an index takes

// One call, cut into units: a block of indices, a place in the outer reuse loops, a piece of the innermost reuse loop
// (reps), and a piece of what is moved for one index.
struct Run {
    const ArrayView &data, &out;
    const std::byte* fill_item;
    const GatherKernels& kernels;
    const IndexLoops loops;

    std::int64_t block = 1, reps_piece = 1, rows_piece = 1, run_piece = 1;
    std::int64_t blocks = 1, reuses = 1, reps_pieces = 1, tail_pieces = 1;
    std::int64_t units = 1, units_per_task = 1;
    bool narrow = false;   // offsets serve many times, and fit in 32 bits
    std::size_t span = 0;  // as Move has it

    Run(const IndexGeometry& g, const ArrayView& d, const ArrayView& i, IndexType type, const ArrayView& o,
        const std::byte* item, const Walks& walks)
        : data(d), out(o), fill_item(item), kernels(*remapnd::kernels().gather), loops(g, d, i, type, walks, false) {
        cut();
    }

    void cut() {
        const auto portion = [](std::int64_t total, std::int64_t each) {
            return std::clamp<std::int64_t>(kTask / each, 1, total);
        };
        run_piece = loops.run > kTask ? std::max<std::int64_t>(kTask / data.itemsize, 1) * data.itemsize : loops.run;
        reuses = loops.reuse.total();
        // Rows are moved some for all indices of a block at a time: what they lie in is then read once for all.
        const std::int64_t first = loops.rows.size > 1 ? std::max(run_piece, kLine) : run_piece;
        const bool again = reuses * loops.reps.size * loops.rows.size > 1;
        block = portion(std::min(loops.group_size, again ? kBlockLimit : kBlock), first + kIndexCost);
        rows_piece = std::max(portion(loops.rows.size, run_piece * block), std::min(loops.rows.size, kLine / run_piece));
        const std::int64_t each = run_piece * rows_piece + kIndexCost;
        // Reuse is worth larger tasks, if there are enough of them.
        const std::int64_t reused = loops.reps.size * each * block > 64 * kTask ? 4 : 1;
        reps_piece = portion(loops.reps.size, pieces(each * block, reused));
        blocks = pieces(loops.group_size, block);
        reps_pieces = pieces(loops.reps.size, reps_piece);
        tail_pieces = pieces(loops.run, run_piece) * pieces(loops.rows.size, rows_piece);
        units = loops.outer.total() * blocks * reuses * reps_pieces * tail_pieces;
        units_per_task = units_a_task(units, portion(units, each * block * reps_piece));
        narrow = reps_piece > 2 && offsets_reach() <= UINT32_MAX;
        if (narrow) set_span();
    }

    // The bytes that one of the reps chooses from, where nothing else moves in data and most of them are read.
    void set_span() {
        if (loops.outer.count || loops.reuse.count || loops.rows.size > 1 || run_piece < loops.run) return;
        for (int k = 0; k < loops.group.count; ++k)
            if (loops.group.at[k].data) return;
        std::int64_t reach = loops.run;
        for (int a : loops.g.indexed) reach += data.strides[a] * (data.shape[a] - 1);
        if (reach <= loops.reps.data && reach <= kLine * block && bytes_of(data) > kFar)
            span = static_cast<std::size_t>(reach);
    }

    std::int64_t tasks() const { return pieces(units, units_per_task); }

    // Bytes from the first of data to the last; no less than UINT32_MAX + 1 where some come before the first.
    std::int64_t offsets_reach() const {
        std::int64_t reach = 0;
        for (int d = 0; d < data.rank; ++d) {
            if (data.strides[d] < 0) return INT64_MAX;
            reach += data.strides[d] * std::max<std::int64_t>(data.shape[d] - 1, 0);
        }
        return reach;
    }

    bool no_data() const {
        return std::any_of(data.shape, data.shape + data.rank, [](std::intptr_t n) { return n == 0; });
    }

    // The units of one task; false when an index makes the call fail.
    bool task(std::int64_t t) const {
        OffsetBlock s;
        std::int64_t normalised = -1, count = 0, start = 0, outer = 0;
        Move m{};
        m.offsets = s.offsets;
        m.out_step = loops.item_step();
        m.rep_data = loops.reps.data, m.rep_out = loops.reps.item;
        m.row_data = loops.rows.data, m.row_out = loops.rows.item;
        m.far = bytes_of(data) > kFar;
        m.stream = bytes_of(out) >= kStreamFrom;
        m.span = span;
        std::uint32_t narrow_offsets[kBlockLimit];
        if (narrow) m.narrow = narrow_offsets;
        const bool nothing_to_read = no_data();
        const std::int64_t end = std::min(units, (t + 1) * units_per_task), run_pieces = pieces(loops.run, run_piece);
        for (std::int64_t u = t * units_per_task; u < end; ++u) {
            std::int64_t rest = u;
            const auto digit = [&rest](std::int64_t base) {
                const std::int64_t d = rest % base;
                rest /= base;
                return d;
            };
            const std::int64_t from_byte = digit(run_pieces) * run_piece;
            const std::int64_t from_row = digit(tail_pieces / run_pieces) * rows_piece;
            // Blocks follow each other before reps do: what they read is then still in the cache.
            const std::int64_t this_block = digit(blocks), from_rep = digit(reps_pieces) * reps_piece;
            const Walk reused = loops.reuse.place(digit(reuses));
            outer = rest;
            if (outer * blocks + this_block != normalised) {
                normalised = outer * blocks + this_block;
                start = this_block * block;
                count = std::min(block, loops.group_size - start);
                if (!loops.normalise(s, outer, start, count)) return false;
                if (narrow) std::copy_n(s.offsets, count, narrow_offsets);
            }
            const Walk outside = loops.outer.place(outer);
            m.count = static_cast<std::size_t>(count);
            m.reps = static_cast<std::size_t>(std::min(reps_piece, loops.reps.size - from_rep));
            m.rows = static_cast<std::size_t>(std::min(rows_piece, loops.rows.size - from_row));
            m.run = static_cast<std::size_t>(std::min(run_piece, loops.run - from_byte));
            m.data = data.data + reused.data + outside.data + from_rep * loops.reps.data + from_row * loops.rows.data + from_byte;
            m.out = out.data + reused.item + outside.item + start * m.out_step + from_rep * loops.reps.item +
                    from_row * loops.rows.item + from_byte;
            if (!nothing_to_read) kernels.move(m);
            if (s.any_bad) kernels.fill(m, s.bad, fill_item, static_cast<std::size_t>(data.itemsize));
        }
        return true;
    }
};

// Runs all tasks of `run`, until one of them fails.
template <class AnyRun>
IndexResult run_all(const AnyRun& run, const std::function<bool()>& poll) {
    const std::int64_t tasks = run.tasks();
    if (tasks == 1) return run.task(0) ? IndexResult::done : IndexResult::out_of_range;
    std::atomic<bool> failed{false};
    const bool finished = run_tasks(
        tasks,
        [&](std::int64_t t) {
            if (!failed.load(std::memory_order_relaxed) && !run.task(t)) failed = true;
        },
        poll);
    if (!finished) return IndexResult::interrupted;
    return failed ? IndexResult::out_of_range : IndexResult::done;
}

}  // namespace

bool is_small(const ArrayView& out) {
    std::int64_t bytes = out.itemsize + kIndexCost;
    for (int d = 0; d < out.rank; ++d) {
        if (out.shape[d] == 0) return true;
        if (bytes > kTask / out.shape[d]) return false;
        bytes *= out.shape[d];
    }
    return true;
}

IndexResult run_gather(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType index_type,
                        const ArrayView& out, const std::byte* fill, const std::function<bool()>& poll) {
    check_views(g, data, indices, out, "out");
    if (out.itemsize == 0 || std::any_of(out.shape, out.shape + out.rank, [](std::intptr_t n) { return n == 0; }))
        return IndexResult::done;
    const Walks walks = loops_of(g, data, indices, out, false);
    const ItemsRun items(g, data, indices, index_type, out, walks);
    if (items.fits()) {
        const IndexResult result = run_all(items, poll);
        // The other kernels know what to do with an index out of range.
        if (result != IndexResult::out_of_range || g.bounds == Bounds::raise) return result;
    }
    return run_all(Run(g, data, indices, index_type, out, fill, walks), poll);
}

}  // namespace remapnd
