#include "gather_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "dispatch.hpp"
#include "pool.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTask = 256 * 1024;       // bytes: below two of these, starting a thread costs more than it gives
constexpr std::int64_t kBlock = 1024;            // indices normalised at once: 8 KiB of offsets
constexpr std::int64_t kBlockReused = 2048;      // more where the same offsets serve many times
constexpr std::int64_t kIndexCost = 16;          // bytes moved in the time that an index takes
constexpr std::int64_t kLongRun = 4096;          // bytes: from here a call for each run costs nothing

// Sums of |stride| * (size - 1) stay below this, so that no offset, nor a stride times a size, leaves int64.
constexpr std::uint64_t kReach = std::uint64_t{1} << 61;

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("gather: " + what); }

struct Loop {
    std::int64_t size;
    std::int64_t out, data, index;  // byte strides
};

// A short list of loops, outermost first.
struct Loops {
    std::array<Loop, kMaxRank> at;
    int count = 0;

    void push(const Loop& l) { at[count++] = l; }
    std::int64_t total() const {
        std::int64_t t = 1;
        for (int k = 0; k < count; ++k) t *= at[k].size;
        return t;
    }
    // The displacements of position p in the order of the loops.
    Loop place(std::int64_t p) const {
        Loop sum{p, 0, 0, 0};
        for (int k = count; k-- > 0;) {
            const Loop& l = at[k];
            const std::int64_t c = p % l.size;
            p /= l.size;
            sum.out += c * l.out, sum.data += c * l.data, sum.index += c * l.index;
        }
        return sum;
    }
};

void check_reach(const ArrayView& a, const char* name) {
    std::uint64_t reach = 0;
    for (int d = 0; d < a.rank; ++d) {
        if (a.shape[d] <= 1 || a.strides[d] == 0) continue;
        const std::uint64_t stride = a.strides[d] < 0 ? 0 - static_cast<std::uint64_t>(a.strides[d])
                                                      : static_cast<std::uint64_t>(a.strides[d]);
        const auto steps = static_cast<std::uint64_t>(a.shape[d] - 1);
        if (stride > (kReach - reach) / steps) fail(std::string("`") + name + "` reaches too far");
        reach += stride * steps;
    }
}

void check_rank(const ArrayView& a, const char* name) {
    if (a.rank < 0 || a.rank > kMaxRank) fail(std::string("`") + name + "` has too many axes");
}

void check_views(const GatherGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& out) {
    check_rank(data, "data");
    check_rank(indices, "indices");
    check_rank(out, "out");
    if (static_cast<std::size_t>(out.rank) != g.data_axes.size()) fail("`out` has the wrong number of axes");
    if (data.itemsize != out.itemsize) fail("`out` has another item size than `data`");
    std::array<bool, kMaxRank> data_used{}, index_used{};
    for (int d = 0; d < out.rank; ++d) {
        const int a = g.data_axes[d], i = g.index_axes[d];
        if (a >= data.rank) fail("`data` has too few axes");
        if (i >= indices.rank) fail("`indices` has too few axes");
        if (a >= 0) data_used[a] = true;
        if (i >= 0) index_used[i] = true;
        if (i >= 0 && out.shape[d] != indices.shape[i]) fail("`out` does not fit the shape of `indices`");
        if (a >= 0 && i < 0 && out.shape[d] != data.shape[a]) fail("`out` does not fit the shape of `data`");
        if (a >= 0 && i >= 0 && out.shape[d] > data.shape[a]) fail("`indices` does not fit the shape of `data`");
    }
    for (int a : g.indexed) {
        if (a >= data.rank) fail("`data` has too few axes");
        data_used[a] = true;
    }
    if (g.component_axis >= 0) {
        if (g.component_axis >= indices.rank) fail("`indices` has too few axes");
        if (static_cast<std::size_t>(indices.shape[g.component_axis]) != g.indexed.size())
            fail("`indices` has the wrong number of components");
        index_used[g.component_axis] = true;
    }
    for (int a = 0; a < data.rank; ++a)
        if (!data_used[a] && data.shape[a] != 1) fail("an axis of `data` is not used");
    for (int i = 0; i < indices.rank; ++i)
        if (!index_used[i] && indices.shape[i] != 1) fail("an axis of `indices` is not used");
    check_reach(data, "data");
    check_reach(indices, "indices");
    check_reach(out, "out");
}

Loops loops_of(const GatherGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& out) {
    Loops loops;
    for (int d = 0; d < out.rank; ++d) {
        if (out.shape[d] == 1) continue;
        const int a = g.data_axes[d], i = g.index_axes[d];
        loops.push({out.shape[d], out.strides[d], a < 0 ? 0 : data.strides[a],
                    i < 0 || g.indexed.empty() ? 0 : indices.strides[i]});
    }
    // The order of out's memory, whatever its layout; equal strides keep the order of the axes.
    for (int k = 1; k < loops.count; ++k)
        for (int j = k; j > 0 && std::llabs(loops.at[j - 1].out) < std::llabs(loops.at[j].out); --j)
            std::swap(loops.at[j - 1], loops.at[j]);
    Loops merged;
    for (int k = 0; k < loops.count; ++k) {
        const Loop& l = loops.at[k];
        if (merged.count) {
            Loop& outer = merged.at[merged.count - 1];
            if (outer.out == l.out * l.size && outer.data == l.data * l.size && outer.index == l.index * l.size) {
                outer = {outer.size * l.size, l.out, l.data, l.index};
                continue;
            }
        }
        merged.push(l);
    }
    return merged;
}

std::int64_t pieces(std::int64_t total, std::int64_t piece) { return (total + piece - 1) / piece; }

// One call, cut into units: a block of indices, a place in the outer reuse loops, a piece of the innermost reuse loop
// (reps), and a piece of what is moved for one index.
struct Run {
    const GatherGeometry& g;
    const ArrayView &data, &indices, &out;
    const IndexType index_type;
    const std::byte* fill_item;
    const GatherKernels& kernels;

    Loops outer_index;       // index loops around the group
    Loops group;             // index loops that are one in out: blocks run over them
    bool group_is_flat = true;  // one loop in indices, too
    std::int64_t group_size = 1;
    Loops reuse;
    Loop reps{1, 0, 0, 0};
    Loop rows{1, 0, 0, 0};
    std::int64_t run = 0;    // bytes

    std::int64_t block = 1, reps_piece = 1, rows_piece = 1, run_piece = 1;
    std::int64_t blocks = 1, reuses = 1, reps_pieces = 1, tail_pieces = 1;
    std::int64_t units = 1, units_per_task = 1;

    Run(const GatherGeometry& geometry, const ArrayView& d, const ArrayView& i, IndexType type, const ArrayView& o,
        const std::byte* item)
        : g(geometry), data(d), indices(i), out(o), index_type(type), fill_item(item), kernels(*remapnd::kernels().gather) {
        sort_loops(loops_of(g, data, indices, out));
        cut();
    }

    void sort_loops(const Loops& loops) {
        int last = loops.count;  // the innermost index loop
        while (last > 0 && loops.at[last - 1].index == 0) --last;
        int first = last;        // the outermost of the group
        while (first > 0 && loops.at[first - 1].index != 0 &&
               (first == last || loops.at[first - 1].out == loops.at[first].out * loops.at[first].size))
            --first;
        for (int k = 0; k < first; ++k) (loops.at[k].index ? outer_index : reuse).push(loops.at[k]);
        for (int k = first; k < last; ++k) {
            group.push(loops.at[k]);
            if (k > first && loops.at[k - 1].index != loops.at[k].index * loops.at[k].size) group_is_flat = false;
        }
        group_size = group.total();

        int tail = loops.count;
        run = data.itemsize;
        if (tail > last && loops.at[tail - 1].out == run && loops.at[tail - 1].data == run)
            run *= loops.at[--tail].size;
        if (tail > last && run < kLongRun) rows = loops.at[--tail];
        for (int k = last; k < tail; ++k) reuse.push(loops.at[k]);
        if (reuse.count) reps = reuse.at[--reuse.count];
    }

    void cut() {
        const auto portion = [](std::int64_t total, std::int64_t each) {
            return std::clamp<std::int64_t>(kTask / each, 1, total);
        };
        run_piece = run > kTask ? std::max<std::int64_t>(kTask / data.itemsize, 1) * data.itemsize : run;
        rows_piece = portion(rows.size, run_piece);
        const std::int64_t each = run_piece * rows_piece + kIndexCost;
        reuses = reuse.total();
        block = portion(std::min(group_size, reuses * reps.size > 1 ? kBlockReused : kBlock), each);
        reps_piece = portion(reps.size, each * block);
        blocks = pieces(group_size, block);
        reps_pieces = pieces(reps.size, reps_piece);
        tail_pieces = pieces(run, run_piece) * pieces(rows.size, rows_piece);
        units = outer_index.total() * blocks * reuses * reps_pieces * tail_pieces;
        units_per_task = portion(units, each * block * reps_piece);
    }

    std::int64_t tasks() const { return pieces(units, units_per_task); }

    struct Scratch {
        std::int64_t offsets[kBlockReused];
        std::uint8_t bad[kBlockReused];
        bool any_bad = false;
    };

    // Whether the displacements of the group's positions are one ramp.
    bool one_ramp() const { return group.count <= 1; }

    // Displacements of the positions [start, start + count) of the group, without the indices.
    void set_ramp(Scratch& s, std::int64_t start, std::int64_t count) const {
        if (group.count == 0) {
            s.offsets[0] = 0;
            return;
        }
        const Loop &inner = group.at[group.count - 1], &next = group.at[group.count - 2];
        const std::int64_t slab = inner.size * next.size;
        for (std::int64_t i = 0; i < count;) {
            const std::int64_t p = start + i, in_slab = p % slab, j = in_slab % inner.size;
            const std::int64_t n = std::min(count - i, slab - in_slab);
            const std::int64_t base = group.place(p - j).data;
            kernels.ramp(s.offsets + i, n, j, inner.size, base, next.data, inner.data);
            i += n;
        }
    }

    // One component of the indices of these positions; true when one is out of range.
    bool put_component(Scratch& s, const std::byte* source, std::int64_t start, std::int64_t count, int axis,
                       bool add) const {
        const auto put = kernels.put_indices[static_cast<int>(index_type)];
        IndexRun r{source, 0, static_cast<std::size_t>(count), data.shape[axis], data.strides[axis], add, 0, 0};
        if (group.count == 0) return put(r, g.bounds, s.offsets, s.bad);
        const Loop& inner = group.at[group.count - 1];
        if (one_ramp()) r.base = start * inner.data, r.ramp = inner.data;
        r.stride = inner.index;
        if (group_is_flat) {
            r.source += start * inner.index;
            return put(r, g.bounds, s.offsets, s.bad);
        }
        bool any = false;
        for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(r.count)) {
            const std::int64_t p = start + i;
            r.source = source + group.place(p).index;
            r.count = static_cast<std::size_t>(std::min(count - i, inner.size - p % inner.size));
            any |= put(r, g.bounds, s.offsets + i, s.bad + i);
        }
        return any;
    }

    // False when an index makes the call fail.
    bool normalise(Scratch& s, std::int64_t outer, std::int64_t start, std::int64_t count) const {
        const std::byte* source = indices.data + outer_index.place(outer).index;
        s.any_bad = false;
        if (g.bounds == Bounds::fill) {
            std::fill_n(s.bad, count, std::uint8_t{0});
            for (int a : g.indexed)
                if (data.shape[a] == 0) {  // nothing to read: all of it is filled
                    std::fill_n(s.bad, count, std::uint8_t{1});
                    return s.any_bad = true;
                }
        }
        bool add = !one_ramp() || g.indexed.empty();
        if (add) set_ramp(s, start, count);
        std::intptr_t component = 0;
        for (int a : g.indexed) {
            if (put_component(s, source + component, start, count, a, add)) s.any_bad = true;
            add = true;
            if (g.component_axis >= 0) component += indices.strides[g.component_axis];
        }
        return !s.any_bad || g.bounds == Bounds::fill;
    }

    bool no_data() const {
        return std::any_of(data.shape, data.shape + data.rank, [](std::intptr_t n) { return n == 0; });
    }

    // The units of one task; false when an index makes the call fail.
    bool task(std::int64_t t) const {
        Scratch s;
        std::int64_t normalised = -1, count = 0, start = 0, outer = 0;
        Move m{};
        m.offsets = s.offsets;
        m.out_step = group.count ? group.at[group.count - 1].out : 0;
        m.rep_data = reps.data, m.rep_out = reps.out;
        m.row_data = rows.data, m.row_out = rows.out;
        const bool nothing_to_read = no_data();
        const std::int64_t end = std::min(units, (t + 1) * units_per_task), run_pieces = pieces(run, run_piece);
        for (std::int64_t u = t * units_per_task; u < end; ++u) {
            std::int64_t rest = u;
            const auto digit = [&rest](std::int64_t base) {
                const std::int64_t d = rest % base;
                rest /= base;
                return d;
            };
            const std::int64_t from_byte = digit(run_pieces) * run_piece;
            const std::int64_t from_row = digit(tail_pieces / run_pieces) * rows_piece;
            const std::int64_t from_rep = digit(reps_pieces) * reps_piece;
            const Loop reused = reuse.place(digit(reuses));
            if (rest != normalised) {
                normalised = rest;
                start = digit(blocks) * block;
                outer = rest;
                count = std::min(block, group_size - start);
                if (!normalise(s, outer, start, count)) return false;
            }
            const Loop outside = outer_index.place(outer);
            m.count = static_cast<std::size_t>(count);
            m.reps = static_cast<std::size_t>(std::min(reps_piece, reps.size - from_rep));
            m.rows = static_cast<std::size_t>(std::min(rows_piece, rows.size - from_row));
            m.run = static_cast<std::size_t>(std::min(run_piece, run - from_byte));
            m.data = data.data + reused.data + outside.data + from_rep * reps.data + from_row * rows.data + from_byte;
            m.out = out.data + reused.out + outside.out + start * m.out_step + from_rep * reps.out +
                    from_row * rows.out + from_byte;
            if (!nothing_to_read) kernels.move(m);
            if (s.any_bad) kernels.fill(m, s.bad, fill_item, static_cast<std::size_t>(data.itemsize));
        }
        return true;
    }
};

}  // namespace

void check_geometry(const GatherGeometry& g) {
    if (g.data_axes.size() != g.index_axes.size()) fail("data_axes and index_axes differ in length");
    if (g.data_axes.size() > kMaxRank) fail("`out` has too many axes");
    if (g.component_axis < 0 && g.indexed.size() != 1) fail("one component without a component axis");
    std::array<bool, kMaxRank> data_used{}, index_used{};
    const auto use = [](std::array<bool, kMaxRank>& used, int axis) {
        if (axis < 0 || axis >= kMaxRank || used[axis]) fail("an axis is impossible or used twice");
        used[axis] = true;
    };
    for (int a : g.data_axes)
        if (a != -1) use(data_used, a);
    for (int a : g.indexed) use(data_used, a);
    for (int i : g.index_axes)
        if (i != -1) use(index_used, i);
    if (g.component_axis != -1) use(index_used, g.component_axis);
    if (g.bounds < Bounds::raise || g.bounds > Bounds::fill) fail("unknown bounds");
}

bool is_small(const ArrayView& out) {
    std::int64_t bytes = out.itemsize + kIndexCost;
    for (int d = 0; d < out.rank; ++d) {
        if (out.shape[d] == 0) return true;
        if (bytes > kTask / out.shape[d]) return false;
        bytes *= out.shape[d];
    }
    return true;
}

GatherResult run_gather(const GatherGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType index_type,
                        const ArrayView& out, const std::byte* fill, const std::function<bool()>& poll) {
    check_views(g, data, indices, out);
    if (out.itemsize == 0 || std::any_of(out.shape, out.shape + out.rank, [](std::intptr_t n) { return n == 0; }))
        return GatherResult::done;
    const Run run(g, data, indices, index_type, out, fill);
    const std::int64_t tasks = run.tasks();
    if (tasks == 1) return run.task(0) ? GatherResult::done : GatherResult::out_of_range;
    std::atomic<bool> failed{false};
    const bool finished = run_tasks(
        tasks,
        [&](std::int64_t t) {
            if (!failed.load(std::memory_order_relaxed) && !run.task(t)) failed = true;
        },
        poll);
    if (!finished) return GatherResult::interrupted;
    return failed ? GatherResult::out_of_range : GatherResult::done;
}

}  // namespace remapnd
