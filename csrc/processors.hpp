// How many processors the process may use.
#pragma once
#include <string>

namespace remapnd {

// Those that it may run on, or as many as its control groups give time for, if these are fewer.
int usable_processors();

// How many processors the control groups named in the file `groups` (as /proc/self/cgroup) give time for, rounded up, the least
// of them and all above them; 0 if they set no limit.  `root` has the groups of version 2, or a directory for each controller.
// Sources: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max), Documentation/scheduler/sched-bwc.rst.
int quota(const std::string& groups, const std::string& root);

}  // namespace remapnd
