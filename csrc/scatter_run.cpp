#include "scatter_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "scatter_call.hpp"
#include "scatter_owners.hpp"
#include "scatter_ranges.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTask = ScatterCall::kTask, kBlock = ScatterCall::kBlock;
constexpr std::int64_t kLongRow = 64;           // bytes: from here a list of updates for each place pays
constexpr std::int64_t kLastCache = 32 << 20;   // bytes: results larger than that are written past the caches
constexpr std::int32_t kNone = -1;

bool is_contiguous(const ArrayView& a) {
    std::int64_t stride = a.itemsize;
    for (int d = a.rank; d-- > 0; stride *= a.shape[d])
        if (a.shape[d] != 1 && a.strides[d] != stride) return false;
    return true;
}

// ---- by the places: rows of bytes, each written once with the help of a list of its updates

struct Places {
    const ScatterCall& c;
    std::vector<std::intptr_t> strides;  // of data counted in places: only indexed axes move
    std::int64_t count = 1;              // of places
    const ArrayView numbers;             // data as those strides see it
    const IndexLoops loops;              // over the updates
    const std::int64_t row;              // bytes

    explicit Places(const ScatterCall& call)
        : c(call), strides(static_cast<std::size_t>(call.data.rank), 0), numbers(numbered()),
          loops(call.g, numbers, call.indices, call.index_type, only(true), true),
          row(call.data.itemsize * only(false).total()) {}

    ArrayView numbered() {
        for (std::size_t k = c.g.indexed.size(); k-- > 0;) {
            const auto a = static_cast<std::size_t>(c.g.indexed[k]);
            strides[a] = count;
            count *= c.data.shape[a];
        }
        return {c.data.data, c.data.rank, c.data.shape, strides.data(), c.data.itemsize};
    }

    Walks only(bool ordered) const {
        Walks w;
        for (int k = 0; k < c.walks.count; ++k)
            if (is_ordered(c.walks.at[k]) == ordered) w.push(c.walks.at[k]);
        return w;
    }

    // Whether this way can be gone and pays: places are rows in the order of memory, and so are updates.
    bool pays() const {
        if (row < kLongRow || loops.outer.count || loops.group.count > 1 || loops.group_size >= INT32_MAX) return false;
        const Walks free = only(false);
        if (free.count > 1) return false;
        const std::int64_t size = c.data.itemsize;
        if (free.count && (free.at[0].index || free.at[0].item != size || free.at[0].data != size)) return false;
        if (!is_contiguous(c.data) || row * count != bytes_of(c.data)) return false;
        for (int a : c.g.indexed)
            if (c.data.shape[a] > 1 && c.data.strides[a] != strides[static_cast<std::size_t>(a)] * row) return false;
        if (c.source) return is_contiguous(*c.source);
        return get_num_threads() > 1 && loops.group_size >= count / 8;
    }

    // Calls with(update, place) for every update that is not dropped, in their order, or backwards.
    template <class With>
    bool each_update(bool backwards, const With& with) const {
        OffsetBlock b;
        const std::int64_t blocks = pieces(loops.group_size, kBlock);
        for (std::int64_t k = 0; k < blocks; ++k) {
            const std::int64_t start = (backwards ? blocks - 1 - k : k) * kBlock;
            const std::int64_t n = std::min(kBlock, loops.group_size - start);
            if (!loops.normalise(b, 0, start, n)) return false;
            for (std::int64_t j = 0; j < n; ++j) {
                const std::int64_t i = backwards ? n - 1 - j : j;
                if (!b.any_bad || !b.bad[i])
                    with(static_cast<std::int32_t>(start + i), static_cast<std::size_t>(b.offsets[i]));
            }
        }
        return true;
    }

    // Runs body(first, end) over pieces of the places.
    template <class Body>
    IndexResult over_places(const Body& body) const {
        const std::int64_t each = std::max<std::int64_t>(kTask / row, 1);
        return c.all_of(pieces(count, each), [&](std::int64_t t) {
            body(t * each, std::min(count, (t + 1) * each));
            return true;
        });
    }

    IndexResult run() const { return c.reduction == Reduction::none ? put() : reduce(); }

    IndexResult put() const {
        std::vector<std::int32_t> winner(static_cast<std::size_t>(count), kNone);
        if (!each_update(false, [&](std::int32_t i, std::size_t place) { winner[place] = i; })) return IndexResult::out_of_range;
        return over_places([&](std::int64_t first, std::int64_t end) {
            const std::byte* source = c.source ? c.source->data : c.data.data;
            c.kernels.select({c.data.data + first * row, source + first * row, c.updates.data, loops.item_step(),
                              winner.data() + first, static_cast<std::size_t>(end - first), static_cast<std::size_t>(row),
                              c.source && count * row > kLastCache});
        });
    }

    IndexResult reduce() const {
        std::vector<std::int32_t> head(static_cast<std::size_t>(count), kNone);
        std::vector<std::int32_t> next(static_cast<std::size_t>(loops.group_size));
        const auto link = [&](std::int32_t i, std::size_t place) {
            next[static_cast<std::size_t>(i)] = head[place];
            head[place] = i;
        };
        if (!each_update(true, link)) return IndexResult::out_of_range;
        return over_places([&](std::int64_t first, std::int64_t end) {
            const std::int64_t here = 0;
            Scatter s{};
            s.offsets = &here;
            s.count = s.reps = s.rows = 1;
            s.run = static_cast<std::size_t>(row);
            for (std::int64_t place = first; place < end; ++place) {
                s.data = c.data.data + place * row;
                if (c.source) std::copy_n(c.source->data + place * row, row, s.data);
                for (std::int32_t i = head[static_cast<std::size_t>(place)]; i != kNone; i = next[static_cast<std::size_t>(i)]) {
                    s.updates = c.updates.data + i * loops.item_step();
                    c.apply(s);
                }
            }
        });
    }
};

}  // namespace

IndexResult run_scatter(const IndexGeometry& g, Reduction reduction, Number number, const ArrayView* source,
                        const ArrayView& indices, IndexType index_type, const ArrayView& updates, const ArrayView& data,
                        const Poll& poll) {
    check_views(g, data, indices, updates, "updates");
    if (source && (source->rank != data.rank || !std::equal(data.shape, data.shape + data.rank, source->shape) ||
                   source->itemsize != data.itemsize))
        throw std::invalid_argument("scatter: `source` does not fit the shape of `data`");
    if (reduction != Reduction::none && kNumberSize[static_cast<int>(number)] != data.itemsize)
        throw std::invalid_argument("scatter: `data` has another item size than its numbers");
    if (is_empty(data) || data.itemsize == 0) return IndexResult::done;
    const ScatterCall call(g, reduction, number, source, indices, index_type, updates, data, poll);
    if (!is_empty(updates)) {
        const Places places(call);
        if (places.pays()) return places.run();
    }
    IndexResult result = IndexResult::done;
    if (source)
        result = call.copy_source();
    else if (g.bounds == Bounds::raise && !is_empty(updates))
        result = call.look_at_indices();
    if (result != IndexResult::done || is_empty(updates)) return result;
    const IndexLoops loops(g, data, indices, index_type, call.walks, true);
    ScatterRanges ranges(call, loops);
    if (ranges.pays()) return ranges.run();
    const ScatterOwners owners(call, loops);
    return owners.pays() && !call.splits() ? owners.run() : call.in_order();
}

}  // namespace remapnd
