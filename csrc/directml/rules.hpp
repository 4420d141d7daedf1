// The rules of CreateOperator, those of remapnd.directml.rules.
#pragma once
#include "descriptor.hpp"

namespace remapnd::directml {

// The level of that number, or null.
const Level* find_level(std::uint32_t number);
std::string level_names();

// Reports every rule that a descriptor breaks, which could be read as a whole; the first ones are what is wrong with its
// tensors by themselves.
void check(Descriptor& desc, const Level& level, Violations& violations);

}  // namespace remapnd::directml
