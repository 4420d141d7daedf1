// What a thread keeps until it ends.
#pragma once
#include <cstddef>
#include <memory>
#include <new>

namespace remapnd {

struct FreeAligned {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;

inline AlignedBytes new_aligned_bytes(std::size_t n) { return AlignedBytes(new (std::align_val_t(64)) std::byte[n]); }

struct Kept {
    AlignedBytes rows;                   // of Arena
    std::unique_ptr<std::byte[]> strip;  // of a gather along strips
    bool prepared = false;
};

// Of the calling thread.
Kept& kept_here();

// Has the C and C++ libraries allocate now what they would otherwise allocate in this thread when an exception is first thrown
// or something is first kept, and end the process if they could not.
void prepare_thread();

// Whether there is memory for prepare_thread.
bool can_prepare_thread();

}  // namespace remapnd
