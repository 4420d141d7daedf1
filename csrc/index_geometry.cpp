#include "index_geometry.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "dispatch.hpp"

namespace remapnd {
namespace {

// Sums of |stride| * (size - 1) stay below this, so that no offset, nor a stride times a size, leaves int64.
constexpr std::uint64_t kReach = std::uint64_t{1} << 61;

constexpr std::int64_t kLongRun = 4096;  // bytes: from here a call for each run costs nothing

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("indexing: " + what); }

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

}  // namespace

void check_geometry(const IndexGeometry& g) {
    if (g.data_axes.size() != g.index_axes.size()) fail("data_axes and index_axes differ in length");
    if (g.data_axes.size() > kMaxRank) fail("too many axes");
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

void check_views(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& items,
                 const char* items_name) {
    const std::string the_items = std::string("`") + items_name + "`";
    check_rank(data, "data");
    check_rank(indices, "indices");
    check_rank(items, items_name);
    if (static_cast<std::size_t>(items.rank) != g.data_axes.size()) fail(the_items + " has the wrong number of axes");
    if (data.itemsize != items.itemsize) fail(the_items + " has another item size than `data`");
    std::array<bool, kMaxRank> data_used{}, index_used{};
    for (int d = 0; d < items.rank; ++d) {
        const int a = g.data_axes[d], i = g.index_axes[d];
        if (a >= data.rank) fail("`data` has too few axes");
        if (i >= indices.rank) fail("`indices` has too few axes");
        if (a >= 0) data_used[a] = true;
        if (i >= 0) index_used[i] = true;
        if (i >= 0 && items.shape[d] != indices.shape[i]) fail(the_items + " does not fit the shape of `indices`");
        if (a >= 0 && i < 0 && items.shape[d] != data.shape[a]) fail(the_items + " does not fit the shape of `data`");
        if (a >= 0 && i >= 0 && items.shape[d] > data.shape[a]) fail("`indices` does not fit the shape of `data`");
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
    check_reach(items, items_name);
}

Walks loops_of(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& items,
               bool in_order) {
    Walks loops;
    for (int d = 0; d < items.rank; ++d) {
        if (items.shape[d] == 1) continue;
        const int a = g.data_axes[d], i = g.index_axes[d];
        loops.push({items.shape[d], items.strides[d], a < 0 ? 0 : data.strides[a],
                    i < 0 || g.indexed.empty() ? 0 : indices.strides[i]});
    }
    // The order of the memory of items, whatever its layout; equal strides keep the order of the axes.
    const auto may_swap = [&](const Walk& a, const Walk& b) {
        return std::llabs(a.item) < std::llabs(b.item) && !(in_order && a.data == 0 && b.data == 0);
    };
    for (int k = 1; k < loops.count; ++k)
        for (int j = k; j > 0 && may_swap(loops.at[j - 1], loops.at[j]); --j) std::swap(loops.at[j - 1], loops.at[j]);
    Walks merged;
    for (int k = 0; k < loops.count; ++k) {
        const Walk& l = loops.at[k];
        if (merged.count) {
            Walk& outer = merged.at[merged.count - 1];
            if (outer.item == l.item * l.size && outer.data == l.data * l.size && outer.index == l.index * l.size) {
                outer = {outer.size * l.size, l.item, l.data, l.index};
                continue;
            }
        }
        merged.push(l);
    }
    return merged;
}

IndexLoops::IndexLoops(const IndexGeometry& geometry, const ArrayView& d, const ArrayView& i, IndexType type,
                       const Walks& loops, bool in_order)
    : g(geometry), data(d), indices(i), index_type(type), kernels(*remapnd::kernels().gather) {
    const auto indexes = [&](const Walk& l) { return l.index != 0 || (in_order && l.data == 0); };
    int last = loops.count;  // behind the innermost index loop
    while (last > 0 && !indexes(loops.at[last - 1])) --last;
    int first = last;        // the outermost of the group
    while (first > 0 && indexes(loops.at[first - 1]) &&
           (first == last || loops.at[first - 1].item == loops.at[first].item * loops.at[first].size))
        --first;
    for (int k = 0; k < first; ++k) (indexes(loops.at[k]) ? outer : reuse).push(loops.at[k]);
    for (int k = first; k < last; ++k) {
        group.push(loops.at[k]);
        if (k > first && loops.at[k - 1].index != loops.at[k].index * loops.at[k].size) group_is_flat_ = false;
    }
    group_size = group.total();

    int tail = loops.count;
    run = data.itemsize;
    if (tail > last && loops.at[tail - 1].item == run && loops.at[tail - 1].data == run) run *= loops.at[--tail].size;
    if (tail > last && run < kLongRun) rows = loops.at[--tail];
    for (int k = last; k < tail; ++k) reuse.push(loops.at[k]);
    if (reuse.count) reps = reuse.at[--reuse.count];
    are_pairs_ = are_pairs();
}

// Displacements of the positions [start, start + count) of the group, without the indices.
void IndexLoops::set_ramp(OffsetBlock& b, std::int64_t start, std::int64_t count) const {
    if (group.count == 0) {
        b.offsets[0] = 0;
        return;
    }
    const Walk& inner = group.at[group.count - 1];
    const std::int64_t next_step = group.count > 1 ? group.at[group.count - 2].data : 0;
    const std::int64_t slab = inner.size * (group.count > 1 ? group.at[group.count - 2].size : 1);
    for (std::int64_t i = 0; i < count;) {
        const std::int64_t p = start + i, in_slab = p % slab, j = in_slab % inner.size;
        const std::int64_t n = std::min(count - i, slab - in_slab);
        const std::int64_t base = group.place(p - j).data;
        kernels.ramp(b.offsets + i, n, j, inner.size, base, next_step, inner.data);
        i += n;
    }
}

// One component of the indices of these positions; true when one is out of range.
bool IndexLoops::put_component(OffsetBlock& b, const std::byte* source, std::int64_t start, std::int64_t count, int axis,
                               bool add) const {
    const auto put = kernels.put_indices[static_cast<int>(index_type)];
    IndexRun r{source, 0, static_cast<std::size_t>(count), data.shape[axis], data.strides[axis], add, 0, 0};
    if (group.count == 0) return put(r, g.bounds, b.offsets, b.bad);
    const Walk& inner = group.at[group.count - 1];
    if (one_ramp()) r.base = start * inner.data, r.ramp = inner.data;
    r.stride = inner.index;
    if (group_is_flat_) {
        r.source += start * inner.index;
        return put(r, g.bounds, b.offsets, b.bad);
    }
    bool any = false;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(r.count)) {
        const std::int64_t p = start + i;
        r.source = source + group.place(p).index;
        r.count = static_cast<std::size_t>(std::min(count - i, inner.size - p % inner.size));
        any |= put(r, g.bounds, b.offsets + i, b.bad + i);
    }
    return any;
}

// Both components of pairs that lie one behind the other, where there is a way to do that.
bool IndexLoops::are_pairs() const {
    constexpr std::int64_t narrow = std::int64_t{1} << 31;
    if (g.indexed.size() != 2 || g.bounds != Bounds::raise || !one_ramp() || group.count == 0) return false;
    if (!kernels.put_pairs[static_cast<int>(index_type)] || indices.strides[g.component_axis] != indices.itemsize) return false;
    for (int a : g.indexed)
        if (data.shape[a] > narrow || data.strides[a] < -narrow || data.strides[a] >= narrow) return false;
    return group.at[0].index == 2 * indices.itemsize;
}

bool IndexLoops::normalise(OffsetBlock& b, std::int64_t around, std::int64_t start, std::int64_t count) const {
    const std::byte* source = indices.data + outer.place(around).index;
    b.any_bad = false;
    if (g.bounds == Bounds::fill) {
        std::fill_n(b.bad, count, std::uint8_t{0});
        for (int a : g.indexed)
            if (data.shape[a] == 0) {  // no place in data: none has one
                std::fill_n(b.bad, count, std::uint8_t{1});
                return b.any_bad = true;
            }
    }
    if (are_pairs_) {
        const std::byte* first = source + start * group.at[0].index;
        const int x = g.indexed[0], y = g.indexed[1];
        const std::int64_t ramp = group.at[0].data;
        const auto n = static_cast<std::size_t>(count);
        const IndexRun run_x{first, group.at[0].index, n, data.shape[x], data.strides[x], false, start * ramp, ramp};
        const IndexRun run_y{first + indices.itemsize, group.at[0].index, n, data.shape[y], data.strides[y], true, 0, 0};
        return !(b.any_bad = kernels.put_pairs[static_cast<int>(index_type)](run_x, run_y, b.offsets));
    }
    bool add = !one_ramp() || g.indexed.empty();
    if (add) set_ramp(b, start, count);
    std::intptr_t component = 0;
    for (int a : g.indexed) {
        if (put_component(b, source + component, start, count, a, add)) b.any_bad = true;
        add = true;
        if (g.component_axis >= 0) component += indices.strides[g.component_axis];
    }
    return !b.any_bad || g.bounds == Bounds::fill;
}

}  // namespace remapnd
