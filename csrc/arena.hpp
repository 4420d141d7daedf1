// Memory for the rows of a task.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <new>

namespace remapnd {

// Memory that a thread keeps between tasks.
inline constexpr std::size_t kKept = std::size_t(1) << 20;

// Aligned to 64 bytes.
class Arena {
public:
    explicit Arena(std::size_t bytes) : size_(bytes) {
        if (bytes > kKept) {
            own_.reset(new_bytes(bytes));
        } else if (!kept().bytes) {
            kept().bytes.reset(new_bytes(kKept));
        }
        data_ = own_ ? own_.get() : kept().bytes.get();
    }
    std::byte* data() const { return data_; }
    bool holds(const void* p) const {
        return !std::less<>()(p, static_cast<const void*>(data_)) && std::less<>()(p, static_cast<const void*>(data_ + size_));
    }

private:
    struct Free {
        void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };
    using Bytes = std::unique_ptr<std::byte[], Free>;
    struct Kept {
        Bytes bytes;
    };
    static std::byte* new_bytes(std::size_t n) { return new (std::align_val_t(64)) std::byte[n]; }
    static Kept& kept() {
        static thread_local Kept k;
        return k;
    }

    Bytes own_;
    std::byte* data_;
    std::size_t size_;
};

}  // namespace remapnd
