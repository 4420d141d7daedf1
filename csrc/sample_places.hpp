// The places of a grid, walked in blocks.
#pragma once
#include <cstdint>
#include <vector>

#include "arrays.hpp"

namespace remapnd {

// The places of the grid as rows: its axes from outermost, neighbours that grid and out walk as one merged, the last of
// them the row.
struct Places {
    struct Axis {
        std::int64_t size;
        std::intptr_t grid, out;
    };
    std::vector<Axis> axes;
    std::int64_t rows = 1;

    Places(const ArrayView& grid, const ArrayView& out) {
        for (int d = 1; d + 1 < grid.rank; ++d) {
            const Axis a{grid.shape[d], grid.strides[d], out.strides[d + 1]};
            if (a.size == 1 && !axes.empty()) continue;
            const auto goes_on = [&](const Axis& b) {
                return b.size == 1 || (b.grid == a.size * a.grid && b.out == a.size * a.out);
            };
            if (!axes.empty() && goes_on(axes.back()))
                axes.back() = {axes.back().size * a.size, a.grid, a.out};
            else
                axes.push_back(a);
        }
        for (std::size_t d = 0; d + 1 < axes.size(); ++d) rows *= axes[d].size;
    }

    // Where a row begins, in bytes.
    void begin(std::int64_t row, std::intptr_t& grid, std::intptr_t& out) const {
        grid = out = 0;
        for (std::size_t d = axes.size() - 1; d-- > 0; row /= axes[d].size) {
            grid += row % axes[d].size * axes[d].grid;
            out += row % axes[d].size * axes[d].out;
        }
    }
};

}  // namespace remapnd
