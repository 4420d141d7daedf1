// Values as the Python front end writes them in messages.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace remapnd::directml {

using Sizes = std::vector<std::uint32_t>;

std::string text_of(std::int64_t value);
std::string text_of(std::uint64_t value);
std::string text_of(std::uint32_t value);
std::string text_of(int value);
std::string text_of(float value);           // the shortest decimal of the same float64
std::string text_of(const Sizes& values);   // as a tuple
std::string text_of(const std::vector<std::uint64_t>& values);
std::string text_of_address(std::uint64_t address);
std::string joined(const char* const* names, int count);

// One line of at most 80 characters.
std::string shortened(const std::string& text);

}  // namespace remapnd::directml
