// A descriptor read out of the caller's memory, as far as it can be read.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support.hpp"
#include "violations.hpp"

struct DML_OPERATOR_DESC;

namespace remapnd::directml {

inline constexpr int kMaxDimensions = 8;

enum class TensorKind { input, indices, output };

struct Tensor {
    std::string name;
    TensorKind kind;
    std::uint32_t data_type = 0;
    bool owned = false;
    Sizes sizes, strides;           // strides in elements, packed ones where none were given
    std::uint64_t total = 0, alignment = 0;
    bool sizes_known = false;       // none is 0
    bool extent_known = false;      // sizes and strides stay within 2**32 elements

    int dimension_count() const { return static_cast<int>(sizes.size()); }
    // Of a tensor whose extent is known: elements from the first to the last address.
    std::uint64_t extent() const;
};

// The fields that an operator does not have are 0 or empty.
struct Descriptor {
    const Operator* op = nullptr;
    std::vector<Tensor> tensors;  // in the order of the struct, which is that of binding; the output is the last
    std::uint32_t axis = 0, index_dimensions = 0, input_dimensions = 0, indices_dimensions = 0, batch_dimensions = 0;
    bool has_batch = false;
    bool linear = false, antialiased = false;
    std::uint32_t scale_height = 0, scale_width = 0;
    bool has_direction = false, decreasing = false;
    const char* count_name = nullptr;  // of the field that counts the floats
    std::uint32_t count = 0;
    std::vector<float> scales, into, onto;

    const Tensor* find(const char* name) const;
};

// Bits of an element: 0 for UNKNOWN and for what is no DML_TENSOR_DATA_TYPE.
int bits_of(std::uint32_t data_type);

// The smallest TotalTensorSizeInBytes in decimal; strides may be null.
std::string least_total(std::uint32_t data_type, const std::uint32_t* sizes, const std::uint32_t* strides, int count);

enum class Read {
    done,     // all that the operator's rules look at is there
    invalid,  // `violations` say what cannot be read
    foreign   // the type is not one of this library; `violations` say so
};

// Follows the pointers of `desc`, which is not null.  What they point at is copied, so that it may lie at any address.
Read read_descriptor(const DML_OPERATOR_DESC* desc, Descriptor& result, Violations& violations);

// Reports what is wrong with each tensor by itself, and finds out what is known of it.
void inspect_tensors(Descriptor& desc, Violations& violations);

}  // namespace remapnd::directml
