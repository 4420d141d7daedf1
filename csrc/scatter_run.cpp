#include "scatter_run.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "dispatch.hpp"
#include "gather_run.hpp"
#include "pool.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTask = 256 * 1024;          // bytes: below two of these, starting a thread costs more than it gives
constexpr std::int64_t kStage = 256 * kTask;        // between two looks for Ctrl-C, each thread
constexpr std::int64_t kBlock = 1024;               // indices normalised at once
constexpr std::int64_t kIndexCost = 16;             // bytes moved in the time that an index takes
constexpr std::int64_t kLine = 64;                  // bytes: two threads do not write nearer to each other
constexpr std::int64_t kLongRow = 64;               // bytes: from here a list of updates for each place pays
constexpr std::int64_t kFirstCache = 256 << 10;     // bytes: of larger results some tenth lies in a first-level cache
constexpr std::int64_t kLastCache = 32 << 20;       // bytes: results larger than that are written past the caches
constexpr std::int64_t kFar = 8 << 20;              // bytes of places that no second-level cache holds
constexpr std::int64_t kDealt = 1 << 17;            // updates dealt out before they are applied: some MB
constexpr std::int64_t kDealsUnseen = 16;           // between two looks for Ctrl-C
constexpr std::int64_t kBlocksDealt = 8;            // by one task
constexpr std::int64_t kShortBlock = 256;           // updates: in shorter blocks than that the calls show
constexpr std::int32_t kNone = -1;

// A part of a scatter: the loops that are left of it, and where they start.
struct Part {
    Walks walks;
    std::int64_t item = 0, data = 0, index = 0;  // displacements

    // The part with positions [from, to) of loop k.
    Part cut(int k, std::int64_t from, std::int64_t to) const {
        Part p = *this;
        Walk& w = p.walks.at[k];
        p.item += from * w.item, p.data += from * w.data, p.index += from * w.index;
        w.size = to - from;
        return p;
    }
};

bool is_ordered(const Walk& w) { return w.data == 0; }  // its positions may share places, so their order counts

bool is_contiguous(const ArrayView& a) {
    std::int64_t stride = a.itemsize;
    for (int d = a.rank; d-- > 0; stride *= a.shape[d])
        if (a.shape[d] != 1 && a.strides[d] != stride) return false;
    return true;
}

std::int64_t bytes_of(const ArrayView& a) {
    std::int64_t size = a.itemsize;
    for (int d = 0; d < a.rank; ++d) size *= a.shape[d];
    return size;
}

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

struct Call {
    const IndexGeometry& g;
    const Reduction reduction;
    const ArrayView* source;
    const ArrayView& indices;
    const IndexType index_type;
    const ArrayView& updates;
    const ArrayView& data;
    const Poll& poll;
    const ScatterKernels& kernels = *remapnd::kernels().scatter;
    const Reducer reducer;
    const Walks walks = loops_of(g, data, indices, updates, true);

    Call(const IndexGeometry& geometry, Reduction r, Number number, const ArrayView* s, const ArrayView& i, IndexType type,
         const ArrayView& u, const ArrayView& d, const Poll& p)
        : g(geometry), reduction(r), source(s), indices(i), index_type(type), updates(u), data(d), poll(p),
          reducer(kernels.reduce[static_cast<int>(r)][static_cast<int>(number)]) {}

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

    // Applies the updates of a part; false when an index makes the call fail.
    bool run(const Part& part) const {
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
        for (std::int64_t o = 0; o < around; ++o) {
            const Walk outside = loops.outer.place(o);
            for (std::int64_t start = 0; start < loops.group_size; start += block) {
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

    std::int64_t cost_of(const Part& part) const { return part.walks.total() * (2 * updates.itemsize + kIndexCost); }

    // Cuts a part along loops whose positions have places of their own; `wanted` pieces or fewer.
    std::vector<Part> pieces_of(const Part& whole, std::int64_t wanted) const {
        std::vector<int> free;  // loops, those first whose pieces lie furthest apart
        for (int k = 0; k < whole.walks.count; ++k)
            if (!is_ordered(whole.walks.at[k])) free.push_back(k);
        std::stable_sort(free.begin(), free.end(), [&](int a, int b) {
            return std::llabs(whole.walks.at[a].data) > std::llabs(whole.walks.at[b].data);
        });
        std::vector<Part> parts{whole};
        for (int k : free) {
            const Walk& w = whole.walks.at[k];
            const std::int64_t left = pieces(wanted, static_cast<std::int64_t>(parts.size()));
            const bool in_blocks = w.index && k == whole.walks.count - 1;
            const std::int64_t least = std::max(pieces(kLine, std::llabs(w.data)), in_blocks ? kShortBlock : 1);
            const std::int64_t size = std::max(pieces(w.size, left), least);
            if (size >= w.size) continue;
            std::vector<Part> smaller;
            for (const Part& p : parts)
                for (std::int64_t from = 0; from < w.size; from += size)
                    smaller.push_back(p.cut(k, from, std::min(from + size, w.size)));
            parts.swap(smaller);
        }
        return parts;
    }

    // Whether pieces along such loops are enough for all threads.
    bool splits() const {
        const int threads = get_num_threads();
        return static_cast<int>(pieces_of(Part{walks}, threads).size()) >= threads;
    }

    // All updates, in stages along the outermost ordered loop, so that a long call can be stopped.
    IndexResult in_order() const {
        const Part whole{walks};
        if (cost_of(whole) <= kTask) return all_of(1, [&](std::int64_t) { return run(whole); });
        const int threads = get_num_threads();
        int outermost = 0;
        while (outermost < walks.count && !is_ordered(walks.at[outermost])) ++outermost;
        const std::int64_t stages = std::max<std::int64_t>(cost_of(whole) / (kStage * threads), 1);
        const std::int64_t size = outermost < walks.count ? walks.at[outermost].size : 1, each = pieces(size, stages);
        for (std::int64_t from = 0; from < size; from += each) {
            const Part stage = each < size ? whole.cut(outermost, from, std::min(from + each, size)) : whole;
            const std::int64_t wanted = threads == 1 ? 1 : std::clamp<std::int64_t>(cost_of(stage) / kTask, 1, 4 * threads);
            const std::vector<Part> parts = pieces_of(stage, wanted);
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

// ---- by the places: rows of bytes, each written once with the help of a list of its updates

struct Places {
    const Call& c;
    std::vector<std::intptr_t> strides;  // of data counted in places: only indexed axes move
    std::int64_t count = 1;              // of places
    const ArrayView numbers;             // data as those strides see it
    const IndexLoops loops;              // over the updates
    const std::int64_t row;              // bytes

    explicit Places(const Call& call)
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

// ---- by owners: single items, dealt out to owners of ranges of places

struct Owners {
    const Call& c;
    const IndexLoops loops;
    std::int64_t low = 0, reach = 0;  // the least offset in data, and how far from there the others go
    int shift = 0;         // an owner has 2**shift bytes
    std::int64_t owners = 1;

    explicit Owners(const Call& call)
        : c(call), loops(call.g, call.data, call.indices, call.index_type, call.walks, true) {
        for (int a = 0; a < c.data.rank; ++a) {
            const std::int64_t span = c.data.strides[a] * (c.data.shape[a] - 1);
            low += std::min<std::int64_t>(span, 0);
            reach += std::llabs(span);
        }
        // Some for each thread: not all get the same number of updates.
        const auto each = static_cast<std::uint64_t>(reach / (4 * get_num_threads()));
        shift = std::clamp(static_cast<int>(std::bit_width(each)), 6, 32);
        owners = (reach >> shift) + 1;
    }

    // Dealing takes twice the time of applying to places in the cache (float32 add of 2 million, AMD EPYC, 2026-11: 10.5 ms of
    // processor time for 3.5), and half of that to places that are not (27 ms for 18).
    bool pays() const {
        const auto size = static_cast<std::uint64_t>(c.data.itemsize);
        return get_num_threads() > (reach > kFar ? 1 : 3) && std::has_single_bit(size) && size <= 16 && loops.run == c.data.itemsize &&
               loops.rows.size == 1 && loops.reps.size == 1 && loops.reuse.count == 0 && loops.outer.count == 0 &&
               owners > 1 && loops.group_size >= 32 * kBlockLimit;
    }

    // Updates dealt out and not yet applied: a piece for each block of updates, and in it a list for each owner.
    struct Hand {
        std::vector<std::uint32_t> starts;  // of the lists, owners + 1 a piece
        std::unique_ptr<std::uint32_t[]> offsets;
        std::unique_ptr<std::byte[]> updates;
    };

    IndexResult run() const {
        const std::int64_t most = std::min(loops.group_size, kDealt);
        Hand hand{std::vector<std::uint32_t>(static_cast<std::size_t>(pieces(most, kBlockLimit) * (owners + 1))),
                        std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(most)),
                        std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most * c.data.itemsize))};
        for (std::int64_t from = 0; from < loops.group_size; from += kDealt) {
            const std::int64_t dealt = std::min(kDealt, loops.group_size - from), blocks = pieces(dealt, kBlockLimit);
            IndexResult result = c.all_of(pieces(blocks, kBlocksDealt), [&](std::int64_t t) {
                for (std::int64_t k = t * kBlocksDealt; k < std::min(blocks, (t + 1) * kBlocksDealt); ++k)
                    if (!deal(hand, k, from, std::min(kBlockLimit, dealt - k * kBlockLimit))) return false;
                return true;
            });
            if (result == IndexResult::done)
                result = c.all_of(owners, [&](std::int64_t owner) {
                    for (std::int64_t k = 0; k < blocks; ++k) apply(hand, k, owner);
                    return true;
                });
            if (result != IndexResult::done) return result;
            if (from % (kDealsUnseen * kDealt) == 0 && c.poll()) return IndexResult::interrupted;
        }
        return IndexResult::done;
    }

    // Deals out block k of the updates from `from` on, of `count`.
    bool deal(Hand& hand, std::int64_t k, std::int64_t from, std::int64_t count) const {
        OffsetBlock b;
        const std::int64_t first = k * kBlockLimit;
        if (!loops.normalise(b, 0, from + first, count)) return false;
        std::uint32_t* starts = hand.starts.data() + k * (owners + 1);
        std::fill_n(starts, owners + 1, 0u);
        each_good_run(b, count, [&](std::int64_t i, std::int64_t end) {
            for (; i < end; ++i) ++starts[((b.offsets[i] - low) >> shift) + 1];
        });
        std::vector<std::uint32_t> next(static_cast<std::size_t>(owners));
        starts[0] = static_cast<std::uint32_t>(first);
        for (std::int64_t owner = 0; owner < owners; ++owner) {
            next[static_cast<std::size_t>(owner)] = starts[owner];
            starts[owner + 1] += starts[owner];
        }
        Deal d{};
        d.update_step = loops.item_step();
        d.low = low;
        d.shift = shift;
        d.next = next.data();
        d.entry_offsets = hand.offsets.get();
        d.entry_updates = hand.updates.get();
        each_good_run(b, count, [&](std::int64_t i, std::int64_t end) {
            d.offsets = b.offsets + i;
            d.updates = c.updates.data + (from + first + i) * d.update_step;
            d.count = static_cast<std::size_t>(end - i);
            c.kernels.deal[std::countr_zero(static_cast<std::uint64_t>(c.data.itemsize))](d);
        });
        return true;
    }

    // Applies what was dealt from block k to an owner.
    void apply(const Hand& hand, std::int64_t k, std::int64_t owner) const {
        const std::uint32_t* starts = hand.starts.data() + k * (owners + 1) + owner;
        std::int64_t offsets[kBlockLimit];
        const std::int64_t count = starts[1] - starts[0];
        for (std::int64_t i = 0; i < count; ++i) offsets[i] = hand.offsets[starts[0] + i];
        Scatter s{};
        s.data = c.data.data + low + (owner << shift);
        s.offsets = offsets;
        s.updates = hand.updates.get() + starts[0] * c.data.itemsize;
        s.update_step = c.data.itemsize;
        s.count = static_cast<std::size_t>(count);
        s.reps = s.rows = 1;
        s.run = static_cast<std::size_t>(c.data.itemsize);
        c.apply(s);
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
    const Call call(g, reduction, number, source, indices, index_type, updates, data, poll);
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
    const Owners owners(call);
    return owners.pays() && !call.splits() ? owners.run() : call.in_order();
}

}  // namespace remapnd
