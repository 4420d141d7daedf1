// The last vertical pass made within sheets: rows that lie one behind the other in the input, and go through all passes but
// that one together.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "axis_table.hpp"

namespace remapnd {

// Values of a sheet after the horizontal pass, unless one row of the result needs more: it stays in the second-level cache.  float32
// (8,3,224,224) by 2 takes 1.44 ms without sheets, 1.13 with 4096 and 1.07 with 16384 values (AMD EPYC, 2026-11-30).
inline constexpr std::int64_t kSheet = 16384;
// Rows of more values cost so much more than what surrounds them that sheets do not pay.
inline constexpr std::int64_t kLongRow = 512;

// Rows [y0, y1) of the result, made of the rows [row0, row0 + rows) of the input.
struct Sheet {
    std::int64_t y0, y1, row0, rows;
};

inline std::vector<Sheet> sheets(const AxisTable& t, std::int64_t row_values) {
    const std::int64_t rows = std::max<std::int64_t>(2, kSheet / row_values);
    const std::int64_t count = (t.n_in + rows - 1) / rows, height = (t.n_out() + count - 1) / count;
    std::vector<Sheet> all;
    for (std::int64_t y0 = 0; y0 < t.n_out(); y0 += height) {
        const std::int64_t y1 = std::min(t.n_out(), y0 + height);
        std::int64_t lo = t.n_in, hi = 0;
        for (std::int64_t y = y0; y < y1; ++y) {
            lo = std::min({lo, t.first[y], t.second[y]});
            hi = std::max({hi, t.first[y], t.second[y]});
        }
        all.push_back({y0, y1, lo, hi - lo + 1});
    }
    return all;
}

}  // namespace remapnd
