// Memory for the rows of a task.
#pragma once
#include <cstddef>
#include <functional>

#include "kept.hpp"

namespace remapnd {

// Memory that a thread keeps between tasks.
inline constexpr std::size_t kKept = std::size_t(1) << 20;

// Aligned to 64 bytes.
class Arena {
public:
    explicit Arena(std::size_t bytes) : size_(bytes) {
        if (bytes > kKept) {
            own_ = new_aligned_bytes(bytes);
            data_ = own_.get();
            return;
        }
        AlignedBytes& kept = kept_here().rows;
        if (!kept) kept = new_aligned_bytes(kKept);
        data_ = kept.get();
    }
    std::byte* data() const { return data_; }
    bool holds(const void* p) const {
        return !std::less<>()(p, static_cast<const void*>(data_)) && std::less<>()(p, static_cast<const void*>(data_ + size_));
    }

private:
    AlignedBytes own_;
    std::byte* data_;
    std::size_t size_;
};

}  // namespace remapnd
