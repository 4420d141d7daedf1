#include "synet_gather_elements.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "gather_run.hpp"
#include "remapnd.h"

namespace remapnd {
namespace {

constexpr std::uint64_t kMaxBytes = INT64_MAX;

[[noreturn]] void fail(const std::string& parameter, const std::string& rule, const std::string& got) {
    throw std::invalid_argument("SynetGatherElements.Init: `" + parameter + "` must " + rule + ", got " + got);
}

std::int64_t item_size(std::int32_t data_type) {
    switch (data_type) {
        case REMAPND_TENSOR_32F: return 4;
        case REMAPND_TENSOR_16B: return 2;
        case REMAPND_TENSOR_8U: return 1;
        default: fail("dataType", "be 32f 0, 8u 3 or 16b 7", std::to_string(data_type));
    }
}

IndexType index_type_of(std::int32_t index_type) {
    switch (index_type) {
        case REMAPND_TENSOR_32I: return IndexType::i32;
        case REMAPND_TENSOR_64I: return IndexType::i64;
        default: fail("indexType", "be 32i 1 or 64i 4", std::to_string(index_type));
    }
}

// The counts as a tensor whose bytes can be addressed; zeros are left out of that product, so that strides stay in range too.
void check_bytes(const char* name, const std::vector<std::uint64_t>& outer, std::uint64_t count, std::uint64_t inner, std::int64_t item) {
    std::uint64_t bytes = static_cast<std::uint64_t>(item);
    const auto times = [&](std::uint64_t n) {
        if (n == 0) return;
        if (n > kMaxBytes / bytes) fail(name, "take at most " + std::to_string(kMaxBytes) + " bytes", "more");
        bytes *= n;
    };
    for (const std::uint64_t n : outer) times(n);
    times(count);
    times(inner);
}

bool share(const std::byte* a, std::int64_t a_bytes, const std::byte* b, std::int64_t b_bytes) {
    const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
    if (a_bytes == 0 || b_bytes == 0) return false;
    return x < y ? y - x < static_cast<std::uint64_t>(a_bytes) : x - y < static_cast<std::uint64_t>(b_bytes);
}

}  // namespace

SynetGatherElements::SynetGatherElements(std::int32_t data_type, std::int32_t index_type, bool index_const,
                                         std::vector<std::uint64_t> outer, std::uint64_t src_count, std::uint64_t inner,
                                         std::uint64_t idx_count)
    : index_type_(index_type_of(index_type)), index_const_(index_const), item_(item_size(data_type)) {
    check_bytes("src", outer, src_count, inner, item_);
    check_bytes("dst", outer, idx_count, inner, item_);
    check_bytes("idx", outer, idx_count, inner, index_size());
    outer_.assign(outer.begin(), outer.end());
    rows_ = 1;
    for (const std::int64_t n : outer_) rows_ *= n;
    src_count_ = static_cast<std::int64_t>(src_count);
    inner_ = static_cast<std::int64_t>(inner);
    idx_count_ = static_cast<std::int64_t>(idx_count);
    // Axes of dst: batch, row, index, inner; src has all of them, idx all but the batch.
    geometry_ = {{0, 1, -1, 3}, {-1, 0, 1, 2}, {2}, -1, Bounds::raise};
}

std::int64_t SynetGatherElements::at(const std::byte* idx, std::int64_t i) const {
    if (index_type_ == IndexType::i64) {
        std::int64_t v;
        std::memcpy(&v, idx + 8 * i, sizeof v);
        return v;
    }
    std::int32_t v;
    std::memcpy(&v, idx + 4 * i, sizeof v);
    return v;
}

// What is wrong with the first index that is out of range.
std::string SynetGatherElements::fault(const char* function, const std::byte* idx, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t v = at(idx, i);
        if (-src_count_ <= v && v < src_count_) continue;
        std::vector<std::int64_t> shape = outer_;
        shape.insert(shape.end(), {idx_count_, inner_});
        std::string place = shape.empty() ? "" : ")";
        std::int64_t rest = i;
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) place = (d ? ", " : "(") + std::to_string(rest % shape[d]) + place;
        const std::string n = std::to_string(src_count_);
        return std::string("SynetGatherElements.") + function + ": `idx` must lie in [" + (src_count_ ? "-" : "") + n + ", " + n + "), got " +
               std::to_string(v) + " at " + place;
    }
    return {};
}

std::string SynetGatherElements::set_index(const std::byte* idx) {
    if (!index_const_) return {};
    const std::int64_t count = rows_ * idx_count_ * inner_;
    const std::string wrong = fault("SetIndex", idx, count);
    if (!wrong.empty()) return wrong;
    std::int64_t block = count * index_size(), batch = 1;
    for (const std::int64_t n : outer_) {
        if (count == 0) break;
        const auto part = static_cast<std::size_t>(block / n);
        bool repeats = true;
        for (std::int64_t k = 1; k < n && repeats; ++k)
            repeats = std::memcmp(idx, idx + k * static_cast<std::int64_t>(part), part) == 0;
        if (!repeats) break;
        block = static_cast<std::int64_t>(part);
        batch *= n;
    }
    std::vector<std::byte> copy;
    if (block) copy.assign(idx, idx + block);
    kept_ = std::move(copy);
    batch_ = batch;
    set_ = true;
    return {};
}

const char* SynetGatherElements::overlapping(const std::byte* src, const std::byte* idx, const std::byte* dst) const {
    if (share(src, rows_ * src_count_ * inner_ * item_, dst, item_bytes())) return "src";
    if (!set_ && share(idx, item_bytes() / item_ * index_size(), dst, item_bytes())) return "idx";
    return nullptr;
}

std::string SynetGatherElements::forward(const std::byte* src, const std::byte* idx, std::byte* dst) const {
    if (moves_nothing()) return {};
    const std::byte* indices = set_ ? kept_.data() : idx;
    const std::int64_t rows = rows_ / batch_, width = index_size();
    const auto view = [](const std::byte* p, int rank, const std::intptr_t* shape, const std::intptr_t* strides,
                         std::int64_t size) {
        return ArrayView{const_cast<std::byte*>(p), rank, shape, strides, size};  // only dst is written
    };
    const std::intptr_t src_shape[] = {batch_, rows, src_count_, inner_}, dst_shape[] = {batch_, rows, idx_count_, inner_};
    const std::intptr_t src_row = src_count_ * inner_ * item_, dst_row = idx_count_ * inner_ * item_, step = inner_ * item_;
    const std::intptr_t src_strides[] = {rows * src_row, src_row, step, item_}, dst_strides[] = {rows * dst_row, dst_row, step, item_};
    const std::intptr_t idx_strides[] = {idx_count_ * inner_ * width, inner_ * width, width};
    const ArrayView from = view(src, 4, src_shape, src_strides, item_), to = view(dst, 4, dst_shape, dst_strides, item_);
    const ArrayView by = view(indices, 3, dst_shape + 1, idx_strides, width);
    const IndexResult result = run_gather(geometry_, from, by, index_type_, to, nullptr, [] { return false; });
    if (result == IndexResult::done) return {};
    const std::string wrong = fault("Forward", indices, rows * idx_count_ * inner_);
    if (!wrong.empty()) return wrong;
    return "SynetGatherElements.Forward: `idx` must not change during the call, got indices that another thread writes";
}

}  // namespace remapnd
