#include "nearest_run.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "dispatch.hpp"
#include "pool.hpp"

namespace remapnd {

// Of a task: some tens of microseconds.
constexpr std::int64_t kTaskBytes = 131072;
// Items up to this many bytes are picked in registers.
constexpr std::int64_t kSmallItem = 16;

namespace {

// Windows over the bytes of rows of items of `size` bytes, side by side, for groups of 16 bytes of the result.
Windows byte_windows(const AxisTable& t, std::int64_t size) {
    Windows::Taps taps;
    for (const std::int64_t x : t.first)
        for (std::int64_t b = 0; b < size; ++b) taps.push_back(static_cast<std::int32_t>(x * size + b));
    return Windows({&taps}, 16, 16, t.n_in * size);
}

// Rows [begin, end), one after the other: each(src, dst).
template <class Each>
void for_rows(const RowGeometry& g, const std::vector<AxisTable>& axes, std::int64_t begin, std::int64_t end, const std::byte* data,
              std::byte* out, const Each& each) {
    const std::size_t loops = g.loops.size();
    const auto from = [&](const Loop& loop, std::int64_t at) {
        return (loop.table >= 0 ? axes[loop.table].first[at] : at) * loop.src_stride;
    };
    if (!loops) return each(data, out);
    RowWalk walk(g.loops, begin);
    for (std::int64_t r = begin; r < end;) {
        const std::byte* src = data;
        std::byte* dst = out;
        for (std::size_t l = 0; l + 1 < loops; ++l) {
            src += from(g.loops[l], walk.at()[l]);
            dst += walk.at()[l] * g.loops[l].dst_stride;
        }
        const Loop inner = g.loops.back();
        const std::int64_t at = walk.at().back(), count = std::min(end - r, inner.size - at);
        for (std::int64_t k = at; k < at + count; ++k) each(src + from(inner, k), dst + k * inner.dst_stride);
        walk.skip(count);
        r += count;
    }
}

}  // namespace

NearestRun::NearestRun(std::vector<AxisTable> axes) : axes_(std::move(axes)) { check(axes_); }

Outcome NearestRun::operator()(const ArrayView& data, const ArrayView& out, const Poll& poll) const {
    if (data.itemsize != out.itemsize || data.itemsize <= 0) throw std::invalid_argument("item sizes must be equal");
    const RowGeometry g = row_geometry(data, out, lengths(axes_), INT64_MAX);
    if (is_empty(out)) return Outcome::done;
    const ResampleKernels& kernel = *kernels().resample;
    // Where the elements of a block lie side by side on both sides they are one item.
    const bool whole = g.block == 1 || (g.src_c == data.itemsize && g.dst_c == data.itemsize);
    const std::int64_t size = whole ? g.block * data.itemsize : data.itemsize, moves = whole ? 1 : g.block;
    const std::int64_t width = std::min(g.xs, std::max<std::int64_t>(1, kTaskBytes / (g.block * data.itemsize)));
    const std::int64_t pieces = (g.xs + width - 1) / width;
    const std::int64_t most_rows = std::max<std::int64_t>(1, kTaskBytes / (width * g.block * data.itemsize));
    const std::int64_t rows_per_task = units_a_task(g.rows, most_rows);
    const std::int64_t row_tasks = (g.rows + rows_per_task - 1) / rows_per_task;
    const AxisTable& across = axes_.back();
    const std::int64_t* columns = across.first.data();
    std::shared_ptr<const Windows> windows;
    if (kernel.pick_bytes && whole && size <= kSmallItem && pieces == 1 && g.src_x == size && g.dst_x == size &&
        across.n_in < INT32_MAX / kSmallItem) {
        windows = windows_.get(size, [&] { return byte_windows(across, size); });
        if (windows->count == 0 || !windows->reads_within) windows = nullptr;
    }

    const BytePicks picks = windows ? BytePicks{static_cast<std::int64_t>(windows->base.size()), windows->count,
                                                windows->base.data(), windows->places.data()}
                                    : BytePicks{};
    const std::int64_t in_groups = 16 * picks.groups / size;  // items; those behind the last whole group are moved one by one

    const auto task = [&](std::int64_t t) {
        const std::int64_t x0 = t / row_tasks * width, count = std::min(width, g.xs - x0);
        const std::int64_t begin = t % row_tasks * rows_per_task, end = std::min(begin + rows_per_task, g.rows);
        const bool repeatable = whole && g.dst_x == size;
        const std::byte* previous = nullptr;
        std::byte* previous_dst = nullptr;
        for_rows(g, axes_, begin, end, data.data, out.data + x0 * g.dst_x, [&](const std::byte* src, std::byte* dst) {
            if (repeatable && src == previous) {
                std::memcpy(dst, previous_dst, static_cast<std::size_t>(count * size));
            } else if (windows) {
                kernel.pick_bytes(picks, reinterpret_cast<const std::uint8_t*>(src), reinterpret_cast<std::uint8_t*>(dst));
                if (in_groups < count)
                    kernel.pick(src, size, columns + in_groups, count - in_groups, size, dst + in_groups * size, size);
            } else {
                for (std::int64_t j = 0; j < moves; ++j)
                    kernel.pick(src + j * g.src_c, g.src_x, columns + x0, count, size, dst + j * g.dst_c, g.dst_x);
            }
            previous = src;
            previous_dst = dst;
        });
    };
    return run_all(pieces * row_tasks, task, poll);
}

}  // namespace remapnd
