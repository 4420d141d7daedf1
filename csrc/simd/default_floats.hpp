// The floating-point environment that results rest on.
#pragma once
#include <cfenv>
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace remapnd {

// The default floating-point environment for a while: libraries that flush subnormals to zero or round otherwise in
// this thread change no bit of ours.
class DefaultFloats {
#ifdef __x86_64__
    // Of x87 there is no instruction in the core, and its environment takes 0.1 us to save and restore.
    static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, nearest even, no flushing

public:
    DefaultFloats() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
    ~DefaultFloats() { _mm_setcsr(before_); }

private:
    unsigned before_;
#else
public:
    DefaultFloats() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloats() { std::fesetenv(&before_); }

private:
    std::fenv_t before_;
#endif
};

}  // namespace remapnd
