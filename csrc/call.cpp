#include "call.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <new>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "pool.hpp"

namespace remapnd {
namespace {

// The default floating-point environment for a while: libraries that flush subnormals to zero or round otherwise in
// this thread change no bit of ours.
class DefaultFloats {
#ifdef __SSE2__
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

}  // namespace

Outcome run_all(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const Poll& poll) {
    std::atomic<bool> out_of_memory{false};
    const bool finished = run_tasks(
        tasks,
        [&](std::int64_t t) {
            if (out_of_memory) return;
            const DefaultFloats floats;
            try {
                body(t);
            } catch (const std::bad_alloc&) {
                out_of_memory = true;
            }
        },
        poll);
    return out_of_memory ? Outcome::out_of_memory : finished ? Outcome::done : Outcome::interrupted;
}

bool is_empty(const ArrayView& a) {
    return std::any_of(a.shape, a.shape + a.rank, [](std::intptr_t n) { return n == 0; });
}

}  // namespace remapnd
