#include "kept.hpp"

#include <cstdlib>

namespace remapnd {

Kept& kept_here() {
    static thread_local Kept k;
    return k;
}

void prepare_thread() {
    Kept& kept = kept_here();
    if (kept.prepared) return;
    try {
        throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
        kept.prepared = true;
    }
}

bool can_prepare_thread() {
    void* p = std::malloc(64 * 1024);  // some hundred bytes are needed, perhaps by many threads at once
    std::free(p);
    return p != nullptr;
}

}  // namespace remapnd
