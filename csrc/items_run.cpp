#include "items_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "dispatch.hpp"
#include "kept.hpp"
#include "pool.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTask = 256 * 1024;     // bytes: as in gather_run.cpp
constexpr std::int64_t kIndexCost = 16;        // bytes moved in the time that an index takes
constexpr std::int64_t kRegisters = 64;        // items that tables in registers hold
constexpr std::int64_t kSecondCache = 1 << 20;  // bytes
constexpr std::int64_t kLine = 64;             // bytes: of a cache line
constexpr std::int64_t kStrip = 128;           // bytes: of a row of data in a strip
constexpr std::int64_t kStripData = 512 * 1024;  // bytes of data made compact for a strip, half of the second-level cache

constexpr std::int64_t kIndexSize[8] = {1, 2, 4, 8, 1, 2, 4, 8};

bool is_item_size(std::int64_t n) { return n == 1 || n == 2 || n == 4 || n == 8 || n == 16; }

// Kept by each thread that has made a strip: a new one for each would pay for new pages each time.
std::byte* strip_memory() {
    std::unique_ptr<std::byte[]>& strip = kept_here().strip;
    if (!strip) strip.reset(new (std::nothrow) std::byte[kStripData]);
    return strip.get();
}

}  // namespace

std::int64_t bytes_of(const ArrayView& a) {
    std::int64_t bytes = a.itemsize;
    for (int d = 0; d < a.rank; ++d) bytes *= a.shape[d];
    return bytes;
}

ItemsRun::ItemsRun(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType type,
                   const ArrayView& out, const Walks& loops)
    : data_(data), indices_(indices), out_(out), loops_(loops), type_(type) {
    if (g.indexed.size() != 1 || loops.count == 0 || !is_item_size(out.itemsize) ||
        !kernels().items->pick[static_cast<int>(type)])
        return;
    const Walk& inner = loops.at[loops.count - 1];
    const int axis = g.indexed[0];
    const std::int64_t n = data.shape[axis], size = out.itemsize;
    if (inner.index != kIndexSize[static_cast<int>(type)] || inner.item != size) return;
    if (n < 1 || n > INT32_MAX || bytes_of(data) == 0) return;
    bool reused = false;  // indices
    for (int k = 0; k < loops.count; ++k) reused |= loops.at[k].index == 0;
    const bool in_registers = n <= kRegisters && size <= 4 && inner.data == 0 && data.strides[axis] == size;
    if (reused && !in_registers) return;
    const std::int64_t step = data.strides[axis], reach = std::llabs(step) * (n - 1);
    if (loops.count > 1) row_ = loops.at[loops.count - 2];
    items_.slope = inner.data, items_.step = step, items_.n = n, items_.size = static_cast<std::size_t>(size);
    items_.count = static_cast<std::size_t>(inner.size);
    items_.row_data = row_.data, items_.row_indices = row_.index, items_.row_out = row_.item;
    items_.stream = bytes_of(out) >= kStreamFrom;
    cut(reach);
    items_.far = !strips_ && reach + std::llabs(inner.data) * (inner.size - 1) > kSecondCache;
    items_.many = bytes_of(indices) > kSecondCache;
    fits_ = true;
}

void ItemsRun::cut(std::int64_t reach) {
    const auto size = static_cast<std::int64_t>(items_.size), count = static_cast<std::int64_t>(items_.count);
    std::int64_t around = 1;
    for (int k = 0; k + 2 < loops_.count; ++k) around *= loops_.at[k].size;
    // Items below each other in data are read from lines that hold a row's neighbours too: made compact a strip at a
    // time, each line is read once, and no lines of a strip contend for the same place in the cache.
    if (items_.slope == size && row_.data == 0 && row_.size >= items_.n / 4 && items_.n * kStrip <= kStripData &&
        reach + count * size > kSecondCache / 4 && count * size >= 4 * kStrip) {
        strip_ = kStrip / size;
        first_strip_ = strip_;
        const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out_.data) % kLine);
        if (row_.item % kLine == 0 && past % size == 0) first_strip_ = (kStrip - past) / size;
        strips_ = 1 + pieces(count - first_strip_, strip_);
        tasks_ = around * strips_;
        return;
    }
    columns_piece_ = units_a_task(count, kTask / (size + kIndexCost));
    rows_piece_ = units_a_task(row_.size, std::max<std::int64_t>(kTask / ((size + kIndexCost) * columns_piece_), 1));
    tasks_ = around * pieces(row_.size, rows_piece_) * pieces(count, columns_piece_);
}

bool ItemsRun::task(std::int64_t t) const {
    if (strips_) return strip(t);
    const auto count = static_cast<std::int64_t>(items_.count);
    const std::int64_t columns = pieces(count, columns_piece_), rows = pieces(row_.size, rows_piece_);
    const std::int64_t column = t % columns * columns_piece_, row = t / columns % rows * rows_piece_;
    Walks around = loops_;
    around.count = std::max(loops_.count - 2, 0);
    const Walk place = around.place(t / columns / rows);
    Items m = items_;
    m.rows = static_cast<std::size_t>(std::min(rows_piece_, row_.size - row));
    m.count = static_cast<std::size_t>(std::min(columns_piece_, count - column));
    m.data = data_.data + place.data + row * row_.data + column * m.slope;
    m.indices = indices_.data + place.index + row * row_.index + column * kIndexSize[static_cast<int>(type_)];
    m.out = out_.data + place.item + row * row_.item + column * static_cast<std::int64_t>(m.size);
    return kernels().items->pick[static_cast<int>(type_)](m);
}

bool ItemsRun::strip(std::int64_t t) const {
    const auto size = static_cast<std::int64_t>(items_.size), count = static_cast<std::int64_t>(items_.count);
    const std::int64_t s = t % strips_, column = s ? first_strip_ + (s - 1) * strip_ : 0;
    Walks around = loops_;
    around.count = std::max(loops_.count - 2, 0);
    const Walk place = around.place(t / strips_);
    Items m = items_;
    m.count = static_cast<std::size_t>(std::min(s ? strip_ : first_strip_, count - column));
    m.rows = static_cast<std::size_t>(row_.size);
    m.data = data_.data + place.data + column * m.slope;
    m.indices = indices_.data + place.index + column * kIndexSize[static_cast<int>(type_)];
    m.out = out_.data + place.item + column * size;
    if (std::byte* compact = strip_memory()) {
        const std::size_t bytes = m.count * m.size;
        for (std::int64_t i = 0; i < m.n; ++i) {
            const std::byte* from = m.data + i * m.step;
            std::byte* to = compact + i * kStrip;
            if (bytes == kStrip)
                std::memcpy(to, from, kStrip);
            else
                std::memcpy(to, from, bytes);
        }
        m.data = compact, m.step = kStrip;
    }
    return kernels().items->pick[static_cast<int>(type_)](m);
}

}  // namespace remapnd
