// What all runners share: how a call ends, and running its tasks.
#pragma once
#include <cstdint>
#include <functional>

#include "arrays.hpp"

namespace remapnd {

using Poll = std::function<bool()>;

enum class Outcome { done, interrupted, out_of_memory };

// Runs body(t) for t in [0, tasks) over the pool; body throws std::bad_alloc only.
Outcome run_all(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const Poll& poll);

bool is_empty(const ArrayView& a);

}  // namespace remapnd
