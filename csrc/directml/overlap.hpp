// Whether a strided tensor puts two of its elements at one address.
#pragma once
#include "text.hpp"

namespace remapnd::directml {

// Exact, except that a layout whose search takes more than 200,000 steps counts as overlapping, as in Python
// (remapnd.directml.overlap says how it goes).  Sizes are at least 1; all elements lie within 2**32 of the first.
bool overlaps_itself(const Sizes& sizes, const Sizes& strides);

}  // namespace remapnd::directml
