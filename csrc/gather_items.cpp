// Gathers of single items in one pass: an index is read, counted from the end, checked and used while in registers.
//
// Compiled once per level; no standard header with code in it may come in here (ARCHITECTURE.md, Levels).
#include <cstring>

#include "kernels.hpp"
#include "simd/intrinsics.hpp"
#include "simd/prefetch.hpp"
#include "simd/stream.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

using std::byte;
using std::int64_t;
using std::intptr_t;
using std::size_t;
using std::uint64_t;

#include "simd/gather_eight.hpp"
#include "simd/gather_table.hpp"

// Results are collected in the first-level cache before they are streamed.
constexpr size_t kStage = 2048;

#ifndef REMAPND_EIGHT
struct Range {
    int64_t n;
    explicit Range(int64_t size) : n(size) {}
};
#endif

// An index in [0, n), or what is not.
template <class T>
inline uint64_t one_number(const byte* p, int64_t n) {
    T v;
    std::memcpy(&v, p, sizeof v);
    const int64_t wide = v;
    return static_cast<uint64_t>(wide) + static_cast<uint64_t>((wide >> 63) & n);
}

#ifndef REMAPND_EIGHT
struct Eight {
    uint64_t at[8];

    size_t operator[](int k) const { return static_cast<size_t>(at[k]); }
};

template <class T>
inline bool eight_numbers(const byte* p, const Range& range, Eight& numbers) {
    bool outside = false;
    for (int k = 0; k < 8; ++k) {
        numbers.at[k] = one_number<T>(p + k * sizeof(T), range.n);
        outside |= numbers.at[k] >= static_cast<uint64_t>(range.n);
    }
    return !outside;
}
#endif

// Items that are asked for ahead of the one picked, where data is far: 4 million float32 out of 64 MB at random took 44 ms
// in blocks of offsets and 38 ms so (AMD EPYC, 2026-11).
constexpr size_t kAhead = 64;

// Bytes of indices asked for ahead, as processors look ahead no farther than a page: (1024,4096) float32 by int64 took 6.4 ms
// without and takes 5.7 (AMD EPYC, 2026-11).
constexpr size_t kIndicesAhead = 2048;

// What is asked for ahead: nothing where it lies in the caches, as that takes time too (10,000 float32 of as many by int64 took
// 7.7 us with indices asked for and take 5.7; AMD EPYC, 2026-11).
enum class Ask { nothing, indices, items };

// out[i] = item at data + i * slope + index(i) * step for i < count; false when an index is out of range.  `step` and
// `slope` are constants in most calls.
template <class T, size_t N, Ask ask>
inline bool pick(const byte* data, const byte* indices, byte* out, size_t count, int64_t n, intptr_t step,
                 intptr_t slope) {
    Range range(n);
    size_t i = 0;
    for (; i + 8 <= count; i += 8, data += 8 * slope, out += 8 * N) {
        if constexpr (ask == Ask::items)
            if (i + kAhead + 8 <= count)
                for (size_t k = kAhead; k < kAhead + 8; ++k) {
                    const auto v = static_cast<intptr_t>(one_number<T>(indices + (i + k) * sizeof(T), n));
                    prefetch_far(data + static_cast<intptr_t>(k) * slope + v * step);
                }
        if constexpr (ask != Ask::nothing) prefetch(indices + i * sizeof(T) + kIndicesAhead);
        Eight at;
        if (!eight_numbers<T>(indices + i * sizeof(T), range, at)) return false;
        for (int k = 0; k < 8; ++k)
            std::memcpy(out + k * static_cast<int>(N), data + k * slope + static_cast<intptr_t>(at[k]) * step, N);
    }
    for (; i < count; ++i, data += slope, out += N) {
        const uint64_t at = one_number<T>(indices + i * sizeof(T), n);
        if (at >= static_cast<uint64_t>(n)) return false;
        std::memcpy(out, data + static_cast<intptr_t>(at) * step, N);
    }
    return true;
}

template <class T, size_t N, Ask ask>
inline bool pick_row(const Items& m, const byte* data, const byte* indices, byte* out, size_t count) {
    constexpr intptr_t size = N;
    if constexpr (ask == Ask::items) return pick<T, N, ask>(data, indices, out, count, m.n, m.step, m.slope);
    if (m.slope == 0 && m.step == size) {
#ifdef REMAPND_TABLES
        // From about this many look-ups on the table is worth making.
        if constexpr (N <= 4)
            if (m.n <= static_cast<int64_t>(kTableItems) && count >= 2 * kTableStep) {
                const size_t steps = count / kTableStep, done = steps * kTableStep;
                if (!look_up<T, N>(data, m.n, indices, out, steps)) return false;
                indices += done * sizeof(T), out += done * N, count -= done;
            }
#endif
        return pick<T, N, ask>(data, indices, out, count, m.n, size, 0);
    }
    if (m.slope == size) return pick<T, N, ask>(data, indices, out, count, m.n, m.step, size);
    return pick<T, N, ask>(data, indices, out, count, m.n, m.step, m.slope);
}

template <class T, size_t N, Ask ask>
bool pick_rows_asking(const Items& m) {
    // Where rows are short and far apart the processor does not see what comes next: strips of 32 columns of (4096, 1024)
    // float32 by int64 took 14.9 ms without and 10.3 ms with this (AMD EPYC, 2026-11).
    constexpr size_t ahead = 8;
    const auto is_short = [&m](size_t size, intptr_t step) {
        return m.count * size <= 256 && step != static_cast<intptr_t>(m.count * size);
    };
    const bool ask_indices = is_short(sizeof(T), m.row_indices), ask_out = is_short(N, m.row_out);
    const int64_t span = (m.n - 1) * m.step + static_cast<int64_t>(N);
    const bool touches = m.slope == 0 && span >= 4096 && span <= m.row_data && span <= 64 * static_cast<int64_t>(m.count);
    const byte *data = m.data, *indices = m.indices;
    byte* out = m.out;
    for (size_t r = 0; r < m.rows; ++r, data += m.row_data, indices += m.row_indices, out += m.row_out) {
        if (r + ahead < m.rows) {
            const auto rows = static_cast<intptr_t>(ahead);
            if (ask_indices)
                for (size_t k = 0; k < m.count * sizeof(T); k += 64) prefetch(indices + rows * m.row_indices + k);
            if (ask_out)
                for (size_t k = 0; k < m.count * N; k += 64) prefetch_to_write(out + rows * m.row_out + k);
        }
        if (touches && r + 1 < m.rows) touch(data + m.row_data, static_cast<size_t>(span));
        if (!pick_row<T, N, ask>(m, data, indices, out, m.count)) return false;
    }
    return true;
}

template <class T, size_t N>
bool pick_rows(const Items& m) {
    return m.far    ? pick_rows_asking<T, N, Ask::items>(m)
           : m.many ? pick_rows_asking<T, N, Ask::indices>(m)
                    : pick_rows_asking<T, N, Ask::nothing>(m);
}

template <class T, size_t N>
bool pick_streamed(const Items& m) {
    alignas(64) byte stage[kStage];
    constexpr size_t limit = kStage / N;
    const size_t piece = m.count < limit ? m.count : limit;   // of a row
    const size_t rows = piece < m.count ? 1 : limit / piece;  // at once
    for (size_t r = 0; r < m.rows; r += rows) {
        Items some = m;
        some.rows = m.rows - r < rows ? m.rows - r : rows;
        some.row_out = static_cast<intptr_t>(piece * N);
        const byte* data = m.data + static_cast<intptr_t>(r) * m.row_data;
        const byte* indices = m.indices + static_cast<intptr_t>(r) * m.row_indices;
        byte* out = m.out + static_cast<intptr_t>(r) * m.row_out;
        for (size_t i = 0; i < m.count; i += piece) {
            some.count = m.count - i < piece ? m.count - i : piece;
            some.data = data + static_cast<intptr_t>(i) * m.slope;
            some.indices = indices + i * sizeof(T);
            some.out = stage;
            if (!pick_rows<T, N>(some)) return false;
            for (size_t k = 0; k < some.rows; ++k)
                stream_copy(out + static_cast<intptr_t>(k) * m.row_out + i * N, stage + k * piece * N, some.count * N);
        }
    }
    stream_end();
    return true;
}

template <class T, size_t N>
bool items_of(const Items& m) {
    return m.stream ? pick_streamed<T, N>(m) : pick_rows<T, N>(m);
}

template <class T>
bool items(const Items& m) {
    switch (m.size) {
        case 1:
            return items_of<T, 1>(m);
        case 2:
            return items_of<T, 2>(m);
        case 4:
            return items_of<T, 4>(m);
        case 8:
            return items_of<T, 8>(m);
        default:
            return items_of<T, 16>(m);
    }
}

}  // namespace

extern const ItemKernels item_table;
const ItemKernels item_table{
    {nullptr, nullptr, items<std::int32_t>, items<std::int64_t>, items<std::uint8_t>, items<std::uint16_t>,
     nullptr, nullptr},
};

}  // namespace remapnd::REMAPND_LEVEL
