#include "descriptor.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "../wide.hpp"
#include "remapnd_directml.h"
#include "tables.hpp"

namespace remapnd::directml {
namespace {

constexpr std::uint64_t kUintMax = 0xFFFFFFFF;

// No system gives a process memory outside of these addresses: what lies there was never set, or is no pointer at all.
constexpr std::uint64_t kFirstAddress = 0x10000, kEndAddress = sizeof(void*) == 8 ? std::uint64_t{1} << 56 : std::uint64_t{1} << 32;

// An enumerator as the number that it is, which need not be one of its enumeration.
template <class Enum>
std::uint32_t number(const Enum& value) {
    static_assert(sizeof value == sizeof(std::uint32_t));
    std::uint32_t n;
    std::memcpy(&n, &value, sizeof n);
    return n;
}

class Reader {
public:
    Reader(Descriptor& result, Violations& violations) : d_(result), violations_(violations) {}

    Read read(const DML_OPERATOR_DESC* desc) {
        DML_OPERATOR_DESC outer;
        std::memcpy(&outer, desc, sizeof outer);
        const std::uint32_t type = number(outer.Type);
        const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators), [&](const Operator& o) { return o.type == type; });
        if (found == std::end(kOperators)) {
            std::string known;
            for (const Operator& o : kOperators) known += (known.empty() ? "" : ", ") + std::string(o.name) + " " + text_of(o.type);
            violations_.report("Type", "must be one of " + known + ", which this library runs", type);
            return Read::foreign;
        }
        d_.op = found;
        violations_.set_operator(found->name);
        fields(type, outer.Desc);
        return violations_.empty() ? Read::done : Read::invalid;
    }

private:
    void fields(std::uint32_t type, const void* desc) {
        switch (type) {
            case DML_OPERATOR_GATHER: {
                DML_GATHER_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                gathered(s);
                d_.axis = s.Axis, d_.index_dimensions = s.IndexDimensions;
                return;
            }
            case DML_OPERATOR_GATHER_ELEMENTS: {
                DML_GATHER_ELEMENTS_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                gathered(s);
                d_.axis = s.Axis;
                return;
            }
            case DML_OPERATOR_GATHER_ND: {
                DML_GATHER_ND_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                gathered(s);
                tuples(s);
                return;
            }
            case DML_OPERATOR_GATHER_ND1: {
                DML_GATHER_ND1_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                gathered(s);
                tuples(s);
                d_.batch_dimensions = s.BatchDimensionCount, d_.has_batch = true;
                return;
            }
            case DML_OPERATOR_SCATTER_ELEMENTS: {
                DML_SCATTER_ELEMENTS_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                scattered(s);
                d_.axis = s.Axis;
                return;
            }
            case DML_OPERATOR_SCATTER_ND: {
                DML_SCATTER_ND_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                scattered(s);
                tuples(s);
                return;
            }
            case DML_OPERATOR_RESAMPLE: {
                DML_RESAMPLE_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                count("ScaleCount", s.ScaleCount);
                resampled(s);
                floats("Scales", s.Scales, d_.scales);
                if (counted_) d_.into.assign(d_.count, 0.5f), d_.onto.assign(d_.count, -0.5f);
                return;
            }
            case DML_OPERATOR_UPSAMPLE_2D: {
                DML_UPSAMPLE_2D_OPERATOR_DESC s;
                if (!follow(desc, "Desc", s)) return;
                resampled(s);
                d_.scale_height = s.ScaleSize.Height, d_.scale_width = s.ScaleSize.Width;
                return;
            }
            case DML_OPERATOR_RESAMPLE1: return mapped<DML_RESAMPLE1_OPERATOR_DESC>(desc);
            case DML_OPERATOR_RESAMPLE2: return mapped<DML_RESAMPLE2_OPERATOR_DESC>(desc);
            case DML_OPERATOR_RESAMPLE3: return mapped<DML_RESAMPLE3_OPERATOR_DESC>(desc);
            case DML_OPERATOR_RESAMPLE_GRAD: return mapped<DML_RESAMPLE_GRAD_OPERATOR_DESC>(desc);
            default: mapped<DML_RESAMPLE_GRAD1_OPERATOR_DESC>(desc);
        }
    }

    template <class Struct>
    void gathered(const Struct& s) {
        tensor("InputTensor", TensorKind::input, s.InputTensor);
        tensor("IndicesTensor", TensorKind::indices, s.IndicesTensor);
        tensor("OutputTensor", TensorKind::output, s.OutputTensor);
    }
    template <class Struct>
    void scattered(const Struct& s) {
        tensor("InputTensor", TensorKind::input, s.InputTensor);
        tensor("IndicesTensor", TensorKind::indices, s.IndicesTensor);
        tensor("UpdatesTensor", TensorKind::input, s.UpdatesTensor);
        tensor("OutputTensor", TensorKind::output, s.OutputTensor);
    }
    template <class Struct>
    void tuples(const Struct& s) {
        d_.input_dimensions = s.InputDimensionCount, d_.indices_dimensions = s.IndicesDimensionCount;
    }
    template <class Struct>
    void resampled(const Struct& s) {
        if constexpr (requires { s.InputGradientTensor; }) {
            tensor("InputGradientTensor", TensorKind::input, s.InputGradientTensor);
            tensor("OutputGradientTensor", TensorKind::output, s.OutputGradientTensor);
        } else {
            tensor("InputTensor", TensorKind::input, s.InputTensor);
            tensor("OutputTensor", TensorKind::output, s.OutputTensor);
        }
        d_.linear = enumerated("InterpolationMode", number(s.InterpolationMode), kInterpolationModes) == DML_INTERPOLATION_MODE_LINEAR;
    }
    // Reads a struct that has DimensionCount and the offsets.
    template <class Struct>
    void mapped(const void* desc) {
        Struct s;
        if (!follow(desc, "Desc", s)) return;
        count("DimensionCount", s.DimensionCount);
        resampled(s);
        if constexpr (requires { s.RoundingDirection; }) {
            d_.has_direction = true;
            d_.decreasing = enumerated("RoundingDirection", number(s.RoundingDirection), kAxisDirections) == DML_AXIS_DIRECTION_DECREASING;
        }
        floats("Scales", s.Scales, d_.scales);
        floats("InputPixelOffsets", s.InputPixelOffsets, d_.into);
        floats("OutputPixelOffsets", s.OutputPixelOffsets, d_.onto);
        if constexpr (requires { s.Antialiased; }) d_.antialiased = s.Antialiased != 0;
    }

    void count(const char* name, std::uint32_t value) {
        d_.count_name = name, d_.count = value;
        counted_ = in_limits(name, value);
    }
    bool in_limits(const std::string& name, std::uint32_t value) {
        if (1 <= value && value <= kMaxDimensions) return true;
        violations_.report(name, "must lie in [1, " + text_of(kMaxDimensions) + "]", value);
        return false;
    }
    void floats(const char* name, const float* values, std::vector<float>& result) {
        if (!counted_) return;
        result.resize(d_.count);
        copy(values, name, result.data(), sizeof(float) * d_.count);
    }

    template <std::size_t N>
    std::uint32_t enumerated(const std::string& name, std::uint32_t value, const char* const (&names)[N]) {
        if (value >= N) violations_.report(name, "must be one of " + joined(names, N), value);
        return value;
    }

    void tensor(const char* name, TensorKind kind, const DML_TENSOR_DESC* desc) {
        Tensor& t = d_.tensors.emplace_back();
        t.name = name, t.kind = kind;
        const std::string path = t.name + ".";
        DML_TENSOR_DESC outer;
        if (!follow(desc, t.name, outer)) return;
        if (number(outer.Type) != DML_TENSOR_TYPE_BUFFER) {
            violations_.report(path + "Type", "must be BUFFER 1", number(outer.Type));
            return;
        }
        DML_BUFFER_TENSOR_DESC s;
        if (!follow(outer.Desc, path + "Desc", s)) return;
        const std::size_t before = violations_.count();
        const bool counted = in_limits(path + "DimensionCount", s.DimensionCount);
        t.data_type = enumerated(path + "DataType", number(s.DataType), kDataTypes);
        t.owned = enumerated(path + "Flags", number(s.Flags), kFlags) == DML_TENSOR_FLAG_OWNED_BY_DML;
        t.total = s.TotalTensorSizeInBytes, t.alignment = s.GuaranteedBaseOffsetAlignment;
        if (!counted) return;
        t.sizes.resize(s.DimensionCount);
        copy(s.Sizes, path + "Sizes", t.sizes.data(), sizeof(std::uint32_t) * s.DimensionCount);
        if (s.Strides) {
            t.strides.resize(s.DimensionCount);
            copy(s.Strides, path + "Strides", t.strides.data(), sizeof(std::uint32_t) * s.DimensionCount);
        }
        if (violations_.count() != before || t.total || std::count(t.sizes.begin(), t.sizes.end(), 0u)) return;
        const std::string least = least_total(t.data_type, t.sizes.data(), s.Strides ? t.strides.data() : nullptr, t.dimension_count());
        if (least != "0") violations_.report(path + "TotalTensorSizeInBytes", "must be at least " + least, 0);
    }

    template <class Struct>
    bool follow(const void* pointer, const std::string& path, Struct& result) {
        return copy(pointer, path, &result, sizeof result);
    }
    bool copy(const void* pointer, const std::string& path, void* result, std::size_t size) {
        const std::uint64_t address = reinterpret_cast<std::uintptr_t>(pointer), last = kEndAddress - size;
        if (kFirstAddress <= address && address <= last) {
            std::memcpy(result, pointer, size);
            return true;
        }
        const std::string inside = "must lie in [" + text_of_address(kFirstAddress) + ", " + text_of_address(last) + "]";
        violations_.add(path, address ? inside : "must not be null", text_of_address(address));
        return false;
    }

    Descriptor& d_;
    Violations& violations_;
    bool counted_ = false;  // the number of floats is one
};

// Of a tensor without a size of 0: how far it reaches, and whether the total holds that.
void inspect_extent(Tensor& t, const std::string& path, Violations& violations) {
    const int n = t.dimension_count();
    const bool packed = t.strides.empty();
    std::uint64_t elements = 1, extent = 1;
    for (const std::uint32_t size : t.sizes) elements = elements > kUintMax / size ? kUintMax + 1 : elements * size;
    if (elements > kUintMax) {
        violations.report(path + "Sizes", "must have a product of at most " + text_of(kUintMax), t.sizes);
        return;
    }
    for (int d = 0; d < n && !packed; ++d) extent = std::min(kUintMax + 1, extent + std::uint64_t{t.sizes[d] - 1} * t.strides[d]);
    t.extent_known = extent <= kUintMax;
    if (!t.extent_known)
        violations.report(path + "Strides", "must keep all elements within " + text_of(kUintMax) + " elements of the first",
                          t.strides);
    if (t.total) {
        const std::string least = least_total(t.data_type, t.sizes.data(), packed ? nullptr : t.strides.data(), n);
        const std::string total = text_of(t.total);
        if (total.size() < least.size() || (total.size() == least.size() && total < least))
            violations.add(path + "TotalTensorSizeInBytes", "must be at least " + least + ", or 0", total);
    }
    if (packed) {
        t.strides.assign(static_cast<std::size_t>(n), 1);
        for (int d = n - 1; d-- > 0;) t.strides[d] = t.strides[d + 1] * t.sizes[d + 1];
    }
}

void inspect(Tensor& t, Violations& violations) {
    const std::string path = t.name + ".";
    const int n = t.dimension_count();
    for (int d = 0; d < n; ++d)
        if (t.sizes[d] == 0)
            violations.report(path + "Sizes[" + text_of(d) + "]", "must be an integer in [1, " + text_of(kUintMax) + "]", 0);
    t.sizes_known = std::count(t.sizes.begin(), t.sizes.end(), 0u) == 0;
    if (t.sizes_known) inspect_extent(t, path, violations);
    const auto bytes = static_cast<std::uint64_t>(std::max((bits_of(t.data_type) + 7) / 8, 1));
    if ((t.alignment & (t.alignment - 1)) || (t.alignment && t.alignment < bytes))
        violations.report(path + "GuaranteedBaseOffsetAlignment", "must be 0 or a power of two, at least " + text_of(bytes), t.alignment);
}

}  // namespace

std::uint64_t Tensor::extent() const {
    std::uint64_t extent = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) extent += std::uint64_t{sizes[d] - 1} * strides[d];
    return extent;
}

const Tensor* Descriptor::find(const char* name) const {
    for (const Tensor& t : tensors)
        if (t.name == name) return &t;
    return nullptr;
}

int bits_of(std::uint32_t data_type) {
    switch (data_type) {
        case DML_TENSOR_DATA_TYPE_UINT4:
        case DML_TENSOR_DATA_TYPE_INT4: return 4;
        case DML_TENSOR_DATA_TYPE_UINT8:
        case DML_TENSOR_DATA_TYPE_INT8: return 8;
        case DML_TENSOR_DATA_TYPE_FLOAT16:
        case DML_TENSOR_DATA_TYPE_UINT16:
        case DML_TENSOR_DATA_TYPE_INT16: return 16;
        case DML_TENSOR_DATA_TYPE_FLOAT32:
        case DML_TENSOR_DATA_TYPE_UINT32:
        case DML_TENSOR_DATA_TYPE_INT32: return 32;
        case DML_TENSOR_DATA_TYPE_FLOAT64:
        case DML_TENSOR_DATA_TYPE_UINT64:
        case DML_TENSOR_DATA_TYPE_INT64: return 64;
        default: return 0;
    }
}

std::string least_total(std::uint32_t data_type, const std::uint32_t* sizes, const std::uint32_t* strides, int count) {
    // Eight sizes below 2**32 by 64 bits.
    Wide<5> elements(1);
    for (int d = 0; d < count; ++d) {
        if (strides)
            elements += Wide<5>(strides[d]) * (sizes[d] - 1);
        else
            elements = elements * sizes[d];
    }
    const Wide<5> words = (elements * static_cast<std::uint32_t>(bits_of(data_type)) + Wide<5>(31)) >> 5;
    return (words << 2).text();
}

Read read_descriptor(const DML_OPERATOR_DESC* desc, Descriptor& result, Violations& violations) {
    return Reader(result, violations).read(desc);
}

void inspect_tensors(Descriptor& desc, Violations& violations) {
    for (Tensor& t : desc.tensors) inspect(t, violations);
}

}  // namespace remapnd::directml
