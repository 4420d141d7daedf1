// Asking for a line of memory before it is needed; nothing where the compiler has no word for it.
#pragma once
#include <cstddef>

namespace remapnd::REMAPND_LEVEL {

inline void prefetch([[maybe_unused]] const std::byte* p) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p);
#endif
}

inline void prefetch_to_write([[maybe_unused]] std::byte* p) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(p, 1);
#endif
}

}  // namespace remapnd::REMAPND_LEVEL
