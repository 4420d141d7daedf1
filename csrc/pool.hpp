// The thread pool, one a process, started on first use, new after a fork; and the size of its tasks.
#pragma once
#include <cstdint>
#include <functional>

namespace remapnd {

// Calls body(t) once for every t in [0, tasks), in any order, on up to get_num_threads() threads, this one included.
// `poll` is called on the calling thread now and then (about every 20 ms); when it returns true no further task is
// started.  Returns false in that case, else true after all tasks are done.  body must not throw.
bool run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const std::function<bool()>& poll);

// How many of `count` units each task does where it may do `most`: tasks are equal, so that threads end together, and, where
// there are several, a multiple of four.  uint8 RGB 480x640 to 224x224, two threads: 59 us in tasks of 195 rows (and one of
// 29), 25 in equal ones (AMD EPYC, 2026-11).
std::int64_t units_a_task(std::int64_t count, std::int64_t most);

void set_num_threads(int n);         // for the process; n >= 1
void set_num_threads_here(int n);    // for the calling thread; 0 takes that back
int get_num_threads_here();          // what set_num_threads_here said last, or 0
int get_num_threads();               // what a call from this thread would use

}  // namespace remapnd
