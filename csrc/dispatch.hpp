// Levels built and the level in use.
#pragma once
#include <string>
#include <vector>

#include "kernels.hpp"

namespace remapnd {

std::vector<std::string> levels_built();      // oldest first
std::vector<std::string> levels_usable();     // those of them that this processor runs
const Kernels& kernels();                     // of the level in use
bool use_level(const std::string& name);      // false when this build or processor has no such level

}  // namespace remapnd
