// For loops that look for what another thread writes.
#pragma once
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace remapnd {

// Leaves the units of the processor to the thread that shares them.
inline void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    asm volatile("yield");
#endif
}

}  // namespace remapnd
