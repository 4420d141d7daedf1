// The form of tables.hpp.
#pragma once
#include <cstdint>

namespace remapnd::directml {

struct Level {
    std::uint32_t value;
    const char* name;
};

// DML_TENSOR_DATA_TYPE values, in the order of the reference page.
struct Types {
    int count;
    std::uint8_t at[11];

    constexpr bool has(std::uint32_t type) const {
        for (int i = 0; i < count; ++i)
            if (at[i] == type) return true;
        return false;
    }
};

// What an operator takes from a feature level on, until the next row; `indices` is empty where there are none.
struct SupportRow {
    std::uint32_t since;
    int least_dimensions, most_dimensions;
    Types data, indices;
};

// Rows ascend; the first is where the operator was introduced.
struct Operator {
    std::uint32_t type;
    const char* name;
    int row_count;
    SupportRow rows[4];
};

}  // namespace remapnd::directml
