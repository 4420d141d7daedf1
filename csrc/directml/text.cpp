#include "text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace remapnd::directml {

std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }
std::string text_of(std::uint32_t value) { return std::to_string(value); }
std::string text_of(int value) { return std::to_string(value); }

std::string text_of(float value) {
    if (std::isnan(value)) return "nan";
    const std::string sign = std::signbit(value) ? "-" : "";
    if (std::isinf(value)) return sign + "inf";
    const double magnitude = std::fabs(static_cast<double>(value));
    char digits[40];
    *std::to_chars(digits, digits + sizeof digits - 1, magnitude, std::chars_format::scientific).ptr = 0;
    std::string all;
    const char* c = digits;
    for (; *c != 'e'; ++c)
        if (*c != '.') all += *c;
    const int exponent = std::atoi(c + 1), count = static_cast<int>(all.size());
    if (exponent < -4 || exponent >= 16) {
        char power[16];
        std::snprintf(power, sizeof power, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
        return sign + all.substr(0, 1) + (count > 1 ? "." + all.substr(1) : "") + power;
    }
    if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + all;
    const int whole = exponent + 1;
    if (count <= whole) return sign + all + std::string(static_cast<std::size_t>(whole - count), '0') + ".0";
    return sign + all.substr(0, static_cast<std::size_t>(whole)) + "." + all.substr(static_cast<std::size_t>(whole));
}

namespace {

template <class Number>
std::string tuple_of(const std::vector<Number>& values) {
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
    return text + (values.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string text_of(const Sizes& values) { return tuple_of(values); }
std::string text_of(const std::vector<std::uint64_t>& values) { return tuple_of(values); }

std::string text_of_address(std::uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

std::string joined(const char* const* names, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::string(names[i]);
    return text;
}

std::string shortened(const std::string& text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; }

}  // namespace remapnd::directml
