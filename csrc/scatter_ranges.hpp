// Single items by a few threads: each reads all indices and applies the updates of its own range of places.
//
// Two threads, float32 add: 2 million int64 indices to 100000 places 2.88 ms in order and 2.19 so, a million pairs of them to
// 512x512 2.02 and 1.71 (AMD EPYC, AVX2, 2026-11).  Half of the time is reading and keeping, which every thread does for all
// updates.  To hand over what another thread keeps saves that, but lines written by one processor and read by another cost
// more: 3.1 ms.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "scatter_call.hpp"

namespace remapnd {

class ScatterRanges {
public:
    // `loops` over all updates of the call; both must outlive this.
    ScatterRanges(const ScatterCall& call, const IndexLoops& loops) : c_(call), loops_(loops) {}

    // Whether this way can be gone and pays; if so, the places are shared out.
    bool pays() {
        return threads_ >= 2 && threads_ <= kMostThreads && is_of_items(loops_) && loops_.group_size >= kLeast && prepare() &&
               share_out();
    }

    IndexResult run() const {
        const std::int64_t stage = ScatterCall::kStage * threads_ / (2 * c_.data.itemsize + ScatterCall::kIndexCost);
        for (std::int64_t from = 0; from < loops_.group_size; from += stage) {
            const std::int64_t end = std::min(loops_.group_size, from + stage);
            const IndexResult result = c_.all_of(threads_, [&](std::int64_t t) { return apply(t, from, end); });
            if (result != IndexResult::done) return result;
            if (end < loops_.group_size && c_.poll()) return IndexResult::interrupted;
        }
        return IndexResult::done;
    }

private:
    // Each thread reads all.  Processor time of a float32 add of 2 million: four threads 9 ms, owners 17; six threads 15 and 13.
    static constexpr int kMostThreads = 4;
    static constexpr std::int64_t kLeast = 1 << 17;                       // updates
    static constexpr std::int64_t kBlock = 512;                           // updates looked at before those kept are applied
    static constexpr std::int64_t kSamples = 256;                         // of the places, by which they are shared out
    static constexpr std::int64_t kNarrow = (std::int64_t{1} << 31) - 1;  // places and bytes that 32 bits can tell

    // Whether the kernel can make this call; if so, `keep_` for it.
    bool prepare() {
        const std::int64_t size = c_.data.itemsize;
        const std::size_t components = c_.g.indexed.size();
        const Walk& loop = loops_.group.at[0];
        if (components < 1 || components > 2 || (size != 1 && size != 2 && size != 4 && size != 8)) return false;
        kernel_ = c_.kernels.keep[components - 1][static_cast<int>(c_.index_type)];
        const std::int64_t tuple = static_cast<std::int64_t>(components) * c_.indices.itemsize;
        if (!kernel_ || loops_.group.count != 1 || loop.data != 0 || loop.item != size || loop.index != tuple) return false;
        if (components == 2 && c_.indices.strides[c_.g.component_axis] != c_.indices.itemsize) return false;
        if (extent_.reach >= kNarrow) return false;
        for (std::size_t k = 0; k < components; ++k) {
            const int axis = c_.g.indexed[k];
            if (c_.data.shape[axis] > kNarrow) return false;
            keep_.n[k] = c_.data.shape[axis];
            keep_.step[k] = c_.data.shape[axis] > 1 ? c_.data.strides[axis] : 0;
        }
        keep_.size = static_cast<std::size_t>(size);
        return true;
    }

    // Makes `borders_` of ranges that get as many updates each, by a sample of them.  False where one would get most of them:
    // then nothing is gained, as an update takes 1.3 ns in order, and by ranges 0.5 of each thread and another 1.0 of its own.
    bool share_out() {
        const Walk& loop = loops_.group.at[0];
        Walks few;
        few.push({kSamples, 0, 0, loop.index * (loops_.group_size / kSamples)});
        const IndexLoops sampled(c_.g, c_.data, c_.indices, c_.index_type, few, true);
        OffsetBlock b;
        if (!sampled.normalise(b, 0, 0, kSamples)) return false;
        std::int64_t* const places = b.offsets;
        std::sort(places, places + kSamples);
        borders_.push_back(0);
        for (int t = 1; t < threads_; ++t)
            borders_.push_back((places[kSamples * t / threads_] - extent_.low) / ScatterCall::kLine * ScatterCall::kLine);
        borders_.push_back(extent_.reach + 1);
        for (int t = 0; t < threads_; ++t) {
            const auto from = std::lower_bound(places, places + kSamples, extent_.low + borders_[static_cast<std::size_t>(t)]);
            const auto end = std::lower_bound(from, places + kSamples, extent_.low + borders_[static_cast<std::size_t>(t) + 1]);
            if (end - from > kSamples * 2 / 3) return false;
        }
        return true;
    }

    // Applies those of the updates [from, end) that go to range t; false when an index makes the call fail.
    bool apply(std::int64_t t, std::int64_t from, std::int64_t end) const {
        std::int64_t offsets[kBlock];
        alignas(64) std::byte kept[kBlock * 8];
        Keep k = keep_;
        k.low = extent_.low + borders_[static_cast<std::size_t>(t)];
        k.span = borders_[static_cast<std::size_t>(t) + 1] - borders_[static_cast<std::size_t>(t)];
        k.offsets = offsets;
        k.kept = kept;
        Scatter s{};
        s.data = c_.data.data + k.low;
        s.offsets = offsets;
        s.updates = kept;
        s.update_step = c_.data.itemsize;
        s.reps = s.rows = 1;
        s.run = static_cast<std::size_t>(c_.data.itemsize);
        s.soon_step = 2 * loops_.index_step();
        s.far = bytes_of(c_.data) > ScatterCall::kFirstCache;
        for (std::int64_t start = from; start < end; start += kBlock) {
            const std::int64_t count = std::min(kBlock, end - start);
            k.count = static_cast<std::size_t>(count);
            k.indices = loops_.indices_at(0, start);
            k.updates = c_.updates.data + start * s.update_step;
            s.count = kernel_(k);
            if (s.count == kNotKept && !keep_good(k, start, count, s.count)) return false;
            s.soon = k.indices + count * loops_.index_step();
            c_.apply(s);
        }
        return true;
    }

    // What the kernel does, where an index is out of range; false when that makes the call fail.
    bool keep_good(const Keep& k, std::int64_t start, std::int64_t count, std::size_t& kept) const {
        OffsetBlock b;
        if (!loops_.normalise(b, 0, start, count)) return false;
        kept = 0;
        each_good_run(b, count, [&](std::int64_t i, std::int64_t run_end) {
            for (; i < run_end; ++i) {
                const std::int64_t place = b.offsets[i] - k.low;
                if (place < 0 || place >= k.span) continue;
                k.offsets[kept] = place;
                std::memcpy(k.kept + kept * k.size, k.updates + static_cast<std::size_t>(i) * k.size, k.size);
                ++kept;
            }
        });
        return true;
    }

    const ScatterCall& c_;
    const IndexLoops& loops_;
    const Extent extent_{c_.data};
    const int threads_ = get_num_threads();
    std::size_t (*kernel_)(const Keep& k) = nullptr;
    Keep keep_{};                        // what does not change
    std::vector<std::int64_t> borders_;  // of the ranges, from extent_.low on
};

}  // namespace remapnd
