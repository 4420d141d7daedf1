// Where the pool's helpers may run: not where the thread that calls runs.  When every processor is busy, as it is while the pool
// of another library looks for work, Linux wakes a thread on the processor of the one that woke it, where it can only take time
// from the caller (half of the wakes beside OpenCV's and PyTorch's pools, two processors, Linux 6.18).  float32 8x3x224x224 to
// 448x448, two threads beside PyTorch's pool: 1.65 ms without, 0.89 with it; one thread takes 1.64.  Beside a busy process: 1.43
// without, 1.35 with it, in the mean (AMD EPYC, 2026-11).
#pragma once

#ifdef __linux__

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <new>
#include <vector>

namespace remapnd {

// Every method is called under the pool's mutex.
class HelperProcessors {
public:
    // False where memory has run out.
    bool add_this_thread() {
        try {
            helpers_.push_back({pthread_self(), {}, {}});
        } catch (const std::bad_alloc&) {
            return false;
        }
        kept_free_ = -1;
        return true;
    }

    // Keeps the helpers off the processor that the calling thread runs on.
    void leave_this_one() {
        if (helpers_.size() > kFew) return;
        const int here = sched_getcpu();
        if (here < 0 || here == kept_free_) return;
        kept_free_ = here;
        const cpu_set_t limit = limit_of_process();
        for (Helper& h : helpers_) {
            cpu_set_t now;
            if (pthread_getaffinity_np(h.thread, sizeof now, &now) != 0) continue;
            if (!has_what_it_was_given(h, now, limit)) h.own = now;
            h.given = h.own;
            CPU_CLR(here, &h.given);
            if (CPU_COUNT(&h.given) == 0) h.given = h.own;
            if (!CPU_EQUAL(&now, &h.given)) pthread_setaffinity_np(h.thread, sizeof h.given, &h.given);
        }
    }

    // The calling thread is about to sleep: helpers may have its processor.
    void take_this_one() {
        if (kept_free_ < 0) return;
        kept_free_ = -1;
        const cpu_set_t limit = limit_of_process();
        for (Helper& h : helpers_) {
            cpu_set_t now;
            if (pthread_getaffinity_np(h.thread, sizeof now, &now) != 0 || !has_what_it_was_given(h, now, limit)) continue;
            if (!CPU_EQUAL(&now, &h.own)) pthread_setaffinity_np(h.thread, sizeof h.own, &h.own);
            h.given = h.own;
        }
    }

private:
    // With more, an idle processor is likely, and the calls would take longer than they save.
    static constexpr std::size_t kFew = 7;

    struct Helper {
        pthread_t thread;
        cpu_set_t own;    // what it was started with, or was given by others since, where that differs from what it had here
        cpu_set_t given;  // what it was given here
    };

    // Of the first thread, which whoever limits the process limits; none where it is not known.
    static cpu_set_t limit_of_process() {
        cpu_set_t limit;
        if (sched_getaffinity(getpid(), sizeof limit, &limit) != 0) CPU_ZERO(&limit);
        return limit;
    }

    // False where others have given it `now` since, be it, with all of the process, just what it had here.
    static bool has_what_it_was_given(const Helper& h, const cpu_set_t& now, const cpu_set_t& limit) {
        return CPU_EQUAL(&now, &h.given) && !CPU_EQUAL(&now, &limit);
    }

    std::vector<Helper> helpers_;
    int kept_free_ = -1;
};

}  // namespace remapnd

#else

namespace remapnd {

class HelperProcessors {
public:
    bool add_this_thread() { return true; }
    void leave_this_one() {}
    void take_this_one() {}
};

}  // namespace remapnd

#endif
