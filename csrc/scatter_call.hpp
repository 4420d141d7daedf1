// One call of a scatter: what its ways share, and the way that every scatter can go, in the order of the updates.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "dispatch.hpp"
#include "gather_run.hpp"
#include "items_run.hpp"
#include "pool.hpp"
#include "scatter_run.hpp"

namespace remapnd {

// A part of a scatter: the loops that are left of it, and where they start.
struct ScatterPart {
    Walks walks;
    std::int64_t item = 0, data = 0, index = 0;  // displacements

    // The part with positions [from, to) of loop k.
    ScatterPart cut(int k, std::int64_t from, std::int64_t to) const {
        ScatterPart p = *this;
        Walk& w = p.walks.at[k];
        p.item += from * w.item, p.data += from * w.data, p.index += from * w.index;
        w.size = to - from;
        return p;
    }
};

inline bool is_ordered(const Walk& w) { return w.data == 0; }  // its positions may share places, so their order counts

// Calls with(i, end) for each run of positions of a block that are not dropped.
template <class With>
void each_good_run(const OffsetBlock& b, std::int64_t count, const With& with) {
    if (!b.any_bad) return with(std::int64_t{0}, count);
    for (std::int64_t i = 0; i < count;) {
        std::int64_t end = i;
        while (end < count && !b.bad[end]) ++end;
        if (end > i) with(i, end);
        i = end + 1;
    }
}

// Whether single items are moved, one for each index.
inline bool is_of_items(const IndexLoops& loops) {
    return loops.run == loops.data.itemsize && loops.rows.size == 1 && loops.reps.size == 1 && loops.reuse.count == 0 &&
           loops.outer.count == 0;
}

// The least offset in an array, and how far from there the others go; bytes.
struct Extent {
    std::int64_t low = 0, reach = 0;

    explicit Extent(const ArrayView& a) {
        for (int d = 0; d < a.rank; ++d) {
            const std::int64_t span = a.strides[d] * (a.shape[d] - 1);
            low += std::min<std::int64_t>(span, 0);
            reach += std::llabs(span);
        }
    }
};

struct ScatterCall {
    // Bytes: below two of these, starting a thread costs more than it gives.
    static constexpr std::int64_t kTask = 256 * 1024;
    static constexpr std::int64_t kStage = 256 * kTask;     // between two looks for Ctrl-C, each thread
    static constexpr std::int64_t kBlock = 1024;            // indices normalised at once
    static constexpr std::int64_t kIndexCost = 16;          // bytes moved in the time that an index takes
    static constexpr std::int64_t kLine = 64;               // bytes: two threads do not write nearer to each other
    static constexpr std::int64_t kFirstCache = 256 << 10;  // bytes: of larger results some tenth lies in a first-level cache
    // Bytes: places beyond that are found sooner by offsets, of which processors look ahead at more (float32 add of 4 million to
    // 10 million places: 7.7 ns each, 9.0 by the indices themselves; to a million 2.09 and 2.02).
    static constexpr std::int64_t kNear = 8 << 20;
    static constexpr std::int64_t kShortBlock = 256;        // updates: in shorter blocks than that the calls show

    const IndexGeometry& g;
    const Reduction reduction;
    const Number number;
    const ArrayView* source;
    const ArrayView& indices;
    const IndexType index_type;
    const ArrayView& updates;
    const ArrayView& data;
    const Poll& poll;
    const ScatterKernels& kernels = *remapnd::kernels().scatter;
    const Reducer reducer;
    const Walks walks = loops_of(g, data, indices, updates, true);

    ScatterCall(const IndexGeometry& geometry, Reduction r, Number n, const ArrayView* s, const ArrayView& i, IndexType type,
                const ArrayView& u, const ArrayView& d, const Poll& p)
        : g(geometry), reduction(r), number(n), source(s), indices(i), index_type(type), updates(u), data(d), poll(p),
          reducer(kernels.reduce[static_cast<int>(r)][static_cast<int>(n)]) {}

    void apply(const Scatter& s) const {
        if (reduction == Reduction::none)
            kernels.put(s);
        else if (s.rows == 1 && s.run == static_cast<std::size_t>(updates.itemsize))
            reducer.items(s);
        else
            reducer.rows(s);
    }

    static std::int64_t block_of(const IndexLoops& loops) { return std::min(loops.group_size, kBlock); }

    // ---- in the order of the updates

    // The kernel that adds by the indices themselves, where they and the updates lie as it wants; else null.
    auto add_indexed(const IndexLoops& loops) const -> std::size_t (*)(const IndexedScatter&) {
        const std::int64_t size = data.itemsize;
        if (bytes_of(data) > kNear) return nullptr;
        if (reduction != Reduction::add || !is_of_items(loops) || g.indexed.size() != 1 || loops.group.count != 1) return nullptr;
        const Walk& loop = loops.group.at[0];
        if (loop.data != 0 || loop.item != size || loop.index != indices.itemsize || data.strides[g.indexed[0]] != size) return nullptr;
        return kernels.add_indexed[static_cast<int>(index_type)][static_cast<int>(number)];
    }

    // Applies the updates of a part; false when an index makes the call fail.
    bool run(const ScatterPart& part) const {
        ArrayView from = indices;
        from.data += part.index;
        const IndexLoops loops(g, data, from, index_type, part.walks, true);
        OffsetBlock b;
        Scatter s{};
        s.update_step = loops.item_step();
        s.reps = static_cast<std::size_t>(loops.reps.size);
        s.rep_data = loops.reps.data, s.rep_updates = loops.reps.item;
        s.rows = static_cast<std::size_t>(loops.rows.size);
        s.row_data = loops.rows.data, s.row_updates = loops.rows.item;
        s.run = static_cast<std::size_t>(loops.run);
        s.soon_step = loops.index_step();
        s.far = bytes_of(data) > kFirstCache;
        const std::int64_t around = loops.outer.total(), reuses = loops.reuse.total(), block = block_of(loops);
        const auto add = add_indexed(loops);
        for (std::int64_t o = 0; o < around; ++o) {
            const Walk outside = loops.outer.place(o);
            for (std::int64_t start = 0; start < loops.group_size; start += block) {
                if (add) {
                    const auto left = static_cast<std::size_t>(loops.group_size - start);
                    start += static_cast<std::int64_t>(add({data.data + part.data, data.shape[g.indexed[0]], loops.indices_at(0, start),
                                                            updates.data + part.item + start * s.update_step, left}));
                    if (start == loops.group_size) break;
                }
                const std::int64_t count = std::min(block, loops.group_size - start);
                if (!loops.normalise(b, o, start, count)) return false;
                s.soon = loops.indices_at(o, start + count);
                for (std::int64_t u = 0; u < reuses; ++u) {
                    const Walk reused = loops.reuse.place(u);
                    s.data = data.data + part.data + outside.data + reused.data;
                    const std::byte* first = updates.data + part.item + outside.item + reused.item + start * s.update_step;
                    each_good_run(b, count, [&](std::int64_t i, std::int64_t end) {
                        s.offsets = b.offsets + i;
                        s.updates = first + i * s.update_step;
                        s.count = static_cast<std::size_t>(end - i);
                        apply(s);
                    });
                }
            }
        }
        return true;
    }

    std::int64_t cost_of(const ScatterPart& part) const { return part.walks.total() * (2 * updates.itemsize + kIndexCost); }

    // Cuts a part along loops whose positions have places of their own; `wanted` pieces or fewer.
    std::vector<ScatterPart> pieces_of(const ScatterPart& whole, std::int64_t wanted) const {
        std::vector<int> free;  // loops, those first whose pieces lie furthest apart
        for (int k = 0; k < whole.walks.count; ++k)
            if (!is_ordered(whole.walks.at[k])) free.push_back(k);
        std::stable_sort(free.begin(), free.end(), [&](int a, int b) {
            return std::llabs(whole.walks.at[a].data) > std::llabs(whole.walks.at[b].data);
        });
        std::vector<ScatterPart> parts{whole};
        for (int k : free) {
            const Walk& w = whole.walks.at[k];
            const std::int64_t left = pieces(wanted, static_cast<std::int64_t>(parts.size()));
            const bool in_blocks = w.index && k == whole.walks.count - 1;
            const std::int64_t least = std::max(pieces(kLine, std::llabs(w.data)), in_blocks ? kShortBlock : 1);
            const std::int64_t size = std::max(pieces(w.size, left), least);
            if (size >= w.size) continue;
            std::vector<ScatterPart> smaller;
            for (const ScatterPart& p : parts)
                for (std::int64_t from = 0; from < w.size; from += size)
                    smaller.push_back(p.cut(k, from, std::min(from + size, w.size)));
            parts.swap(smaller);
        }
        return parts;
    }

    // Whether pieces along such loops are enough for all threads.
    bool splits() const {
        const int threads = get_num_threads();
        return static_cast<int>(pieces_of(ScatterPart{walks}, threads).size()) >= threads;
    }

    // All updates, in stages along the outermost ordered loop, so that a long call can be stopped.
    IndexResult in_order() const {
        const ScatterPart whole{walks};
        if (cost_of(whole) <= kTask) return all_of(1, [&](std::int64_t) { return run(whole); });
        const int threads = get_num_threads();
        int outermost = 0;
        while (outermost < walks.count && !is_ordered(walks.at[outermost])) ++outermost;
        const std::int64_t stages = std::max<std::int64_t>(cost_of(whole) / (kStage * threads), 1);
        const std::int64_t size = outermost < walks.count ? walks.at[outermost].size : 1, each = pieces(size, stages);
        for (std::int64_t from = 0; from < size; from += each) {
            const ScatterPart stage = each < size ? whole.cut(outermost, from, std::min(from + each, size)) : whole;
            const std::int64_t wanted = threads == 1 ? 1 : std::clamp<std::int64_t>(cost_of(stage) / kTask, 1, 4 * threads);
            const std::vector<ScatterPart> parts = pieces_of(stage, wanted);
            const IndexResult result = all_of(static_cast<std::int64_t>(parts.size()),
                                                [&](std::int64_t t) { return run(parts[static_cast<std::size_t>(t)]); });
            if (result != IndexResult::done) return result;
            if (from + each < size && poll()) return IndexResult::interrupted;  // a stage is too short for run_tasks to look
        }
        return IndexResult::done;
    }

    // Runs body(t) for t in [0, tasks); a false one makes the rest be left out.
    template <class Body>
    IndexResult all_of(std::int64_t tasks, const Body& body) const {
        std::atomic<bool> failed{false};
        const Outcome outcome = run_all(
            tasks,
            [&](std::int64_t t) {
                if (!failed.load(std::memory_order_relaxed) && !body(t)) failed = true;
            },
            poll);
        if (outcome == Outcome::interrupted) return IndexResult::interrupted;
        if (outcome == Outcome::out_of_memory) throw std::bad_alloc();
        return failed ? IndexResult::out_of_range : IndexResult::done;
    }

    // ---- before

    // data = source.
    IndexResult copy_source() const {
        IndexGeometry each{{}, {}, {}, 0, Bounds::raise};
        for (int d = 0; d < data.rank; ++d) each.data_axes.push_back(d), each.index_axes.push_back(-1);
        const std::intptr_t none = 0;
        const ArrayView no_indices{nullptr, 1, &none, &none, 1};
        return run_gather(each, *source, no_indices, IndexType::u8, data, nullptr, poll);
    }

    // Whether all indices are in range, as far as they are now.
    IndexResult look_at_indices() const {
        Walks moving;  // the loops over different indices
        for (int k = 0; k < walks.count; ++k)
            if (walks.at[k].index) moving.push(walks.at[k]);
        const IndexLoops loops(g, data, indices, index_type, moving, true);
        const std::int64_t block = block_of(loops), blocks = pieces(loops.group_size, block);
        const std::int64_t units = loops.outer.total() * blocks, each = std::max<std::int64_t>(kTask / kIndexCost / block, 1);
        return all_of(pieces(units, each), [&](std::int64_t t) {
            OffsetBlock b;
            for (std::int64_t u = t * each; u < std::min(units, (t + 1) * each); ++u) {
                const std::int64_t start = u % blocks * block;
                if (!loops.normalise(b, u / blocks, start, std::min(block, loops.group_size - start))) return false;
            }
            return true;
        });
    }
};

}  // namespace remapnd
