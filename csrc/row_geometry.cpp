#include "row_geometry.hpp"

#include <algorithm>
#include <stdexcept>

namespace remapnd {

RowGeometry row_geometry(const ArrayView& data, const ArrayView& out, const std::vector<ResampledAxis>& axes,
                         std::int64_t wide) {
    if (data.rank != out.rank) throw std::invalid_argument("data and out must have the same rank");
    const int rank = data.rank;
    std::vector<int> table(static_cast<std::size_t>(rank), -1);
    for (std::size_t t = 0; t < axes.size(); ++t) {
        if (axes[t].axis < 0 || axes[t].axis >= rank) throw std::invalid_argument("axis out of range");
        table[axes[t].axis] = static_cast<int>(t);
    }
    std::vector<std::int64_t> place(static_cast<std::size_t>(rank));
    std::int64_t elements = 1;
    for (int d = rank - 1; d >= 0; --d) {
        const bool resampled = table[d] >= 0;
        const std::int64_t n_in = resampled ? axes[table[d]].n_in : out.shape[d];
        const std::int64_t n_out = resampled ? axes[table[d]].n_out : out.shape[d];
        if (data.shape[d] != n_in || out.shape[d] != n_out) throw std::invalid_argument("shapes do not fit the tables");
        place[d] = elements;
        elements *= out.shape[d];
    }

    RowGeometry g{};
    const int x = axes.back().axis;
    g.block = 1;
    g.src_c = data.itemsize;
    g.dst_c = out.itemsize;
    int d = rank - 1;
    for (; d > x; --d) {
        if (out.shape[d] == 1) continue;
        if (g.block == 1) {
            g.block = out.shape[d];
            g.src_c = data.strides[d];
            g.dst_c = out.strides[d];
        } else if (data.strides[d] == g.block * g.src_c && out.strides[d] == g.block * g.dst_c) {
            g.block *= out.shape[d];
        } else {
            break;
        }
    }
    g.horizontal = g.block < wide;
    if (g.horizontal) {
        g.xs = out.shape[x];
        g.src_x = data.strides[x];
        g.dst_x = out.strides[x];
        g.place_x = place[x];
    } else {
        g.xs = g.block;
        g.block = 1;
        g.src_x = g.src_c;
        g.dst_x = g.dst_c;
        g.place_x = 1;
    }
    g.rows = 1;
    for (int l = 0; l <= d; ++l) {
        if (l == x && g.horizontal) continue;
        if (table[l] < 0 && out.shape[l] == 1) continue;
        const Loop loop{out.shape[l], data.strides[l], out.strides[l], place[l], table[l]};
        g.rows *= loop.size;
        if (loop.table < 0 && !g.loops.empty()) {
            Loop& before = g.loops.back();
            if (before.table < 0 && before.src_stride == loop.size * loop.src_stride &&
                before.dst_stride == loop.size * loop.dst_stride && before.place == loop.size * loop.place) {
                before = {before.size * loop.size, loop.src_stride, loop.dst_stride, loop.place, -1};
                continue;
            }
        }
        g.loops.push_back(loop);
    }
    return g;
}

RowWalk::RowWalk(const std::vector<Loop>& loops, std::int64_t row) : loops_(loops), at_(loops.size()) {
    for (std::size_t l = loops.size(); l-- > 0;) {
        at_[l] = row % loops[l].size;
        row /= loops[l].size;
    }
}

void RowWalk::next() {
    for (std::size_t l = loops_.size(); l-- > 0;) {
        if (++at_[l] < loops_[l].size) return;
        at_[l] = 0;
    }
}

}  // namespace remapnd
