// Single items by several threads: updates dealt out to owners of ranges of places.
#pragma once
#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "scatter_call.hpp"

namespace remapnd {

struct ScatterOwners {
    static constexpr std::int64_t kFar = 8 << 20;    // bytes of places that no second-level cache holds
    static constexpr std::int64_t kDealt = 1 << 17;  // updates dealt out before they are applied: some MB
    static constexpr std::int64_t kDealsUnseen = 16;  // between two looks for Ctrl-C
    static constexpr std::int64_t kBlocksDealt = 8;   // by one task

    const ScatterCall& c;
    const IndexLoops& loops;
    const Extent extent{c.data};
    int shift = 0;         // an owner has 2**shift bytes
    std::int64_t owners = 1;

    // `loops_` over all updates of the call; both must outlive this.
    ScatterOwners(const ScatterCall& call, const IndexLoops& loops_) : c(call), loops(loops_) {
        // Some for each thread: not all get the same number of updates.
        const auto each = static_cast<std::uint64_t>(extent.reach / (4 * get_num_threads()));
        shift = std::clamp(static_cast<int>(std::bit_width(each)), 6, 32);
        owners = (extent.reach >> shift) + 1;
    }

    // Dealing takes twice the time of applying to places in the cache (float32 add of 2 million, AMD EPYC, 2026-11: 10.5 ms of
    // processor time for 3.5), and half of that to places that are not (27 ms for 18).
    bool pays() const {
        const auto size = static_cast<std::uint64_t>(c.data.itemsize);
        return get_num_threads() > (extent.reach > kFar ? 1 : 3) && std::has_single_bit(size) && size <= 16 &&
               is_of_items(loops) && owners > 1 && loops.group_size >= 32 * kBlockLimit;
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
            for (; i < end; ++i) ++starts[((b.offsets[i] - extent.low) >> shift) + 1];
        });
        std::vector<std::uint32_t> next(static_cast<std::size_t>(owners));
        starts[0] = static_cast<std::uint32_t>(first);
        for (std::int64_t owner = 0; owner < owners; ++owner) {
            next[static_cast<std::size_t>(owner)] = starts[owner];
            starts[owner + 1] += starts[owner];
        }
        Deal d{};
        d.update_step = loops.item_step();
        d.low = extent.low;
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
        s.data = c.data.data + extent.low + (owner << shift);
        s.offsets = offsets;
        s.updates = hand.updates.get() + starts[0] * c.data.itemsize;
        s.update_step = c.data.itemsize;
        s.count = static_cast<std::size_t>(count);
        s.reps = s.rows = 1;
        s.run = static_cast<std::size_t>(c.data.itemsize);
        c.apply(s);
    }
};

}  // namespace remapnd
