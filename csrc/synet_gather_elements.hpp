// SynetGatherElements of the Simd library on memory, as remapnd.simd has it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "index_geometry.hpp"

namespace remapnd {

class SynetGatherElements {
public:
    // Throws std::invalid_argument, with a sentence, for types that Simd does not take and counts that cannot be addressed.
    SynetGatherElements(std::int32_t data_type, std::int32_t index_type, bool index_const, std::vector<std::uint64_t> outer,
                        std::uint64_t src_count, std::uint64_t inner, std::uint64_t idx_count);

    bool index_const() const { return index_const_; }
    bool has_indices() const { return set_; }
    std::size_t internal_buffer_size() const { return kept_.size(); }
    bool moves_nothing() const { return rows_ * idx_count_ * inner_ == 0; }

    // The results: empty, or what is wrong with an index.
    std::string set_index(const std::byte* idx);
    // `idx` is not read where constant indices are set.  dst must not overlap what is read.
    std::string forward(const std::byte* src, const std::byte* idx, std::byte* dst) const;
    // Whether dst shares memory with src, or with idx where that is read.
    const char* overlapping(const std::byte* src, const std::byte* idx, const std::byte* dst) const;

private:
    std::string fault(const char* function, const std::byte* idx, std::int64_t count) const;
    std::int64_t at(const std::byte* idx, std::int64_t i) const;
    std::int64_t index_size() const { return index_type_ == IndexType::i32 ? 4 : 8; }
    std::int64_t item_bytes() const { return rows_ * idx_count_ * inner_ * item_; }

    IndexType index_type_;
    bool index_const_, set_ = false;
    std::vector<std::int64_t> outer_;
    std::int64_t item_, rows_, src_count_, inner_, idx_count_;
    std::int64_t batch_ = 1;         // how often the indices that are set repeat
    std::vector<std::byte> kept_;    // one block of them
    IndexGeometry geometry_;
};

}  // namespace remapnd
