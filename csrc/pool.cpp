#include "pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#ifndef _WIN32
#include <pthread.h>
#endif

#include "helper_processors.hpp"
#include "kept.hpp"
#include "processors.hpp"
#include "simd/pause.hpp"

namespace remapnd {
namespace {

constexpr int kMaxThreads = 1024;

// How long a thread looks for what it waits for before it sleeps: calls that follow one another need not wake the helpers each
// time.  uint16 2048x2048 to 1024x1024, two threads: 0.19 ms without, 0.13 with it (AMD EPYC, 2026-11).  It does not yield: Linux
// lets one that yields to a busy processor wait a whole slice, into the next call.
constexpr std::chrono::microseconds kAwake{50};
// So many helpers do that at a time, at most: more would cost a limited share of processors more than they save.
constexpr int kMostAwake = 15;

template <class Condition>
bool look_for(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + kAwake;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        for (int i = 0; i < 8; ++i) pause();
    }
    return true;
}

// The tasks of a job, in shares of tasks that follow one another.  Each thread begins with a share that is its own from one job to
// the next, so that jobs on the same arrays find them in the caches that the thread had them in; then it helps with the others.
class Shares {
public:
    Shares(std::int64_t tasks, std::int64_t threads) : count_(static_cast<int>(threads < kMost ? threads : kMost)) {
        const auto begin = [&](int i) { return tasks / count_ * i + std::min<std::int64_t>(tasks % count_, i); };
        for (int i = 0; i < count_; ++i) {
            shares_[i].next.store(begin(i), std::memory_order_relaxed);
            shares_[i].end = begin(i + 1);
        }
    }

    // A task for the thread that begins with share `first`; negative when none is left.
    std::int64_t take(int first) {
        for (int i = 0; i < count_; ++i) {
            Share& s = shares_[(first + i) % count_];
            if (s.next.load(std::memory_order_relaxed) >= s.end) continue;
            const std::int64_t t = s.next.fetch_add(1, std::memory_order_relaxed);
            if (t < s.end) return t;
        }
        return -1;
    }

private:
    static constexpr int kMost = 16;

    struct alignas(64) Share {
        std::atomic<std::int64_t> next;
        std::int64_t end;
    };

    int count_;
    Share shares_[kMost];
};

struct Job {
    Shares tasks;
    const std::function<void(std::int64_t)>* body;
    int helpers_wanted;                  // guarded by Pool::mutex
    std::atomic<int> helpers_inside{0};  // written under Pool::mutex
    std::atomic<bool> stopped{false};

    // Does one task, of share `first` where there is one; false when none is left.
    bool step(int first) {
        if (stopped.load(std::memory_order_relaxed)) return false;
        const std::int64_t t = tasks.take(first);
        if (t < 0) return false;
        (*body)(t);
        return true;
    }
};

// Never destroyed: its threads sleep in it until the process ends.
struct Pool {
    std::mutex mutex;
    std::condition_variable work, done;
    std::deque<Job*> jobs;               // those that want more helpers
    std::atomic<bool> any_jobs{false};   // whether there are some
    HelperProcessors processors;
    bool crowded = false;                // the call before waited for its helpers: they sleep at once, for its thread to wake
    int threads = 0, awake = 0;          // helpers; those that look for work
    int numbered = 0;                    // helpers that have served; the caller's share is 0, theirs follow

    void jobs_changed() { any_jobs.store(!jobs.empty(), std::memory_order_relaxed); }

    // One helper, from start to end; it ends where there is too little memory to catch what a task throws.
    void help() {
        const bool ready = can_prepare_thread();
        if (ready) prepare_thread();
        std::unique_lock lock(mutex);
        if (ready && processors.add_this_thread())
            serve(lock, ++numbered);
        else
            --threads;
    }

    void serve(std::unique_lock<std::mutex>& lock, int share) {
        for (;;) {
            if (jobs.empty() && !crowded && awake < kMostAwake) {
                ++awake;
                lock.unlock();
                look_for([&] { return any_jobs.load(std::memory_order_relaxed); });
                lock.lock();
                --awake;
            }
            work.wait(lock, [&] { return !jobs.empty(); });
            Job* job = jobs.front();
            if (--job->helpers_wanted == 0) jobs.pop_front();
            jobs_changed();
            ++job->helpers_inside;
            lock.unlock();
            while (job->step(share)) {
            }
            lock.lock();
            if (--job->helpers_inside == 0) done.notify_all();
        }
    }

    // Offers `job` to the pool, with as many threads as it wants where the system gives them.
    void offer(Job& job) {
        std::lock_guard lock(mutex);
        while (threads < job.helpers_wanted) {
            try {
                std::thread([this] { help(); }).detach();
                ++threads;
            } catch (const std::system_error&) {
                break;  // fewer helpers; the caller does the rest
            } catch (const std::bad_alloc&) {
                break;
            }
        }
        if (threads == 0) return;
        processors.leave_this_one();
        crowded = false;
        jobs.push_back(&job);
        jobs_changed();
        for (int i = 0; i < job.helpers_wanted; ++i) work.notify_one();
    }

    // Takes `job` back and waits for those inside it.
    void finish(Job& job) {
        std::unique_lock lock(mutex);
        for (auto it = jobs.begin(); it != jobs.end(); ++it)
            if (*it == &job) {
                jobs.erase(it);
                jobs_changed();
                break;
            }
        if (job.helpers_inside != 0) {
            lock.unlock();
            const bool over = look_for([&] { return job.helpers_inside == 0; });
            lock.lock();
            if (!over) {
                processors.take_this_one();
                crowded = true;
            }
        }
        done.wait(lock, [&] { return job.helpers_inside == 0; });
    }
};

std::atomic<Pool*> pool{nullptr};
std::atomic<int> process_threads{0};
thread_local int threads_here = 0;

Pool& the_pool() {
    Pool* p = pool.load(std::memory_order_acquire);
    if (p) return *p;
#ifndef _WIN32
    // The child of a fork has none of the threads, and perhaps a locked mutex: it forgets this pool.
    static const int registered = pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_release); });
    (void)registered;
#endif
    auto* fresh = new Pool;
    if (pool.compare_exchange_strong(p, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *p;
}

int default_threads() {
    if (const char* text = std::getenv("REMAPND_NUM_THREADS")) {
        const long n = std::strtol(text, nullptr, 10);
        if (n >= 1) return static_cast<int>(n < kMaxThreads ? n : kMaxThreads);
    }
    return usable_processors();
}

}  // namespace

void set_num_threads(int n) { process_threads = n < kMaxThreads ? n : kMaxThreads; }
void set_num_threads_here(int n) { threads_here = n < kMaxThreads ? n : kMaxThreads; }
int get_num_threads_here() { return threads_here; }

int get_num_threads() {
    if (threads_here) return threads_here;
    int n = process_threads.load(std::memory_order_relaxed);
    if (n == 0) {
        n = default_threads();
        int none = 0;
        if (!process_threads.compare_exchange_strong(none, n)) n = none;
    }
    return n;
}

bool run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const std::function<bool()>& poll) {
    if (tasks <= 0) return true;
    prepare_thread();
    if (tasks == 1) {
        body(0);
        return true;
    }
    const std::int64_t others = get_num_threads() - 1 < tasks - 1 ? get_num_threads() - 1 : tasks - 1;
    Job job{Shares(tasks, others + 1), &body, static_cast<int>(others)};
    Pool* p = others > 0 ? &the_pool() : nullptr;
    if (p) p->offer(job);

    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    while (job.step(0)) {
        const auto now = clock::now();
        if (now - last > std::chrono::milliseconds(20)) {
            last = now;
            if (poll()) job.stopped = true;
        }
    }
    if (p) p->finish(job);
    return !job.stopped;
}

std::int64_t units_a_task(std::int64_t count, std::int64_t most) {
    if (count <= most) return count;
    const std::int64_t tasks = ((count - 1) / most / 4 + 1) * 4;
    return (count - 1) / tasks + 1;
}

}  // namespace remapnd
