#include "processors.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace remapnd {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Processors' worth of time that a group gives, or kNone.
double limit_of(const std::string& directory) {
    std::string quota;
    double period = 0;
    if (std::ifstream both(directory + "/cpu.max"); both >> quota >> period) {
        // "max" is no limit, and no number
    } else {
        std::ifstream first(directory + "/cpu.cfs_quota_us"), second(directory + "/cpu.cfs_period_us");
        if (!(first >> quota && second >> period)) return kNone;
    }
    double time = 0;
    return std::istringstream(quota) >> time && time > 0 && period > 0 ? time / period : kNone;
}

// The least limit of a group and those above it.
double least_limit(const std::string& root, std::string path) {
    double least = kNone;
    for (;;) {
        least = std::min(least, limit_of(root + path));
        if (path.empty()) return least;
        path.erase(path.find_last_of('/'));
    }
}

bool has_cpu(std::string controllers) {
    std::replace(controllers.begin(), controllers.end(), ',', ' ');
    std::istringstream names(controllers);
    for (std::string name; names >> name;)
        if (name == "cpu") return true;
    return false;
}

int allowed_processors() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    const unsigned n = std::thread::hardware_concurrency();
    return n ? static_cast<int>(n) : 1;
}

}  // namespace

int quota(const std::string& groups, const std::string& root) {
    double least = kNone;
    std::ifstream lines(groups);
    for (std::string line; std::getline(lines, line);) {  // hierarchy:controllers:path
        const std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string path = line.substr(second + 1);
        if (path == "/") path.clear();
        if (controllers.empty())
            least = std::min(least, least_limit(root, path));
        else if (has_cpu(controllers))
            // a container sees its own group as the root, whatever the path says
            least = std::min({least, least_limit(root + "/" + controllers, path), least_limit(root + "/cpu", path)});
    }
    return std::isfinite(least) ? static_cast<int>(std::clamp(std::ceil(least), 1.0, 1e6)) : 0;
}

int usable_processors() {
    const int allowed = allowed_processors();
    try {
        const int limit = quota("/proc/self/cgroup", "/sys/fs/cgroup");
        return limit ? std::min(allowed, limit) : allowed;
    } catch (...) {
        return allowed;
    }
}

}  // namespace remapnd
