// What gathers and scatters share: what the axes do, the loops over them, and blocks of indices made offsets.
#pragma once
#include <array>
#include <vector>

#include "arrays.hpp"
#include "kernels.hpp"

namespace remapnd {

// What the axes do (ARCHITECTURE.md, Gather geometry); made once, used for any arrays that fit.
//
// `items` stands for the array that has something for each index: out of a gather, updates of a scatter.
struct IndexGeometry {
    std::vector<int> data_axes;   // for each axis of items: the axis of data that it walks, or -1
    std::vector<int> index_axes;  // and of indices
    std::vector<int> indexed;     // axes of data that are indexed, in the order of the components
    int component_axis;           // of indices; -1: one component
    Bounds bounds;
};

// Throws std::invalid_argument for a geometry that uses an axis twice or is otherwise impossible.
void check_geometry(const IndexGeometry& g);

// Throws std::invalid_argument when shapes, item sizes or strides do not fit the geometry.
void check_views(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& items,
                 const char* items_name);

enum class IndexResult { done, out_of_range, interrupted };

struct Walk {
    std::int64_t size;
    std::int64_t item, data, index;  // byte strides
};

// A short list of loops, outermost first.
struct Walks {
    std::array<Walk, kMaxRank> at;
    int count = 0;

    void push(const Walk& l) { at[count++] = l; }
    std::int64_t total() const {
        std::int64_t t = 1;
        for (int k = 0; k < count; ++k) t *= at[k].size;
        return t;
    }
    // The displacements of position p in the order of the loops.
    Walk place(std::int64_t p) const {
        Walk sum{p, 0, 0, 0};
        for (int k = count; k-- > 0;) {
            const Walk& l = at[k];
            const std::int64_t c = p % l.size;
            p /= l.size;
            sum.item += c * l.item, sum.data += c * l.data, sum.index += c * l.index;
        }
        return sum;
    }
};

// The loops over the axes of items, in the order of its memory, neighbours that are one merged.  With `in_order`, those that
// do not move in data stay in the order of the axes among themselves: so updates of one place keep theirs.
Walks loops_of(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, const ArrayView& items,
               bool in_order);

inline constexpr std::int64_t kBlockLimit = 2048;  // offsets in a block, at most

struct OffsetBlock {
    std::int64_t offsets[kBlockLimit];
    std::uint8_t bad[kBlockLimit];
    bool any_bad = false;
};

// Walks sorted into those that indices take part in, and those that walk what is moved for one index.
struct IndexLoops {
    const IndexGeometry& g;
    const ArrayView &data, &indices;
    const IndexType index_type;
    const GatherKernels& kernels;

    Walks outer;  // index loops around the group
    Walks group;  // index loops that are one in items: blocks run over them
    std::int64_t group_size = 1;
    Walks reuse;  // the same indices again, for other runs
    Walk reps{1, 0, 0, 0};  // the innermost of these
    Walk rows{1, 0, 0, 0};
    std::int64_t run = 0;   // bytes

    // `loops` and `in_order` as loops_of has them.
    IndexLoops(const IndexGeometry& geometry, const ArrayView& data, const ArrayView& indices, IndexType type,
               const Walks& loops, bool in_order);

    // Bytes of items from one position of the group to the next.
    std::int64_t item_step() const { return group.count ? group.at[group.count - 1].item : 0; }

    // Where the indices of a position of the group are, and how far apart they are; null where that is not one stride.
    const std::byte* indices_at(std::int64_t around, std::int64_t start) const {
        return group_is_flat_ ? indices.data + outer.place(around).index + start * index_step() : nullptr;
    }
    std::int64_t index_step() const { return group.count ? group.at[group.count - 1].index : 0; }

    // Offsets in data of the positions [start, start + count) of the group, for position `around` of the outer loops, whose own
    // displacement is not in them.  False when an index makes the call fail.
    bool normalise(OffsetBlock& b, std::int64_t around, std::int64_t start, std::int64_t count) const;

private:
    bool group_is_flat_ = true;  // one loop in indices, too

    bool are_pairs_ = false;

    bool are_pairs() const;
    bool one_ramp() const { return group.count <= 1; }
    void set_ramp(OffsetBlock& b, std::int64_t start, std::int64_t count) const;
    bool put_component(OffsetBlock& b, const std::byte* source, std::int64_t start, std::int64_t count, int axis,
                       bool add) const;
};

inline std::int64_t pieces(std::int64_t total, std::int64_t piece) { return (total + piece - 1) / piece; }

}  // namespace remapnd
