#include "call.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "pool.hpp"
#include "simd/default_floats.hpp"

namespace remapnd {

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
