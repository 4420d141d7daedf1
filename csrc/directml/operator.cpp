#include "operator.hpp"

#include <algorithm>
#include <stdexcept>

#include "../gather_run.hpp"
#include "../scatter_run.hpp"
#include "remapnd_directml.h"

namespace remapnd::directml {
namespace {

const Poll kNoPoll = [] { return false; };

IndexType index_type(std::uint32_t data_type) {
    switch (data_type) {
        case DML_TENSOR_DATA_TYPE_INT64: return IndexType::i64;
        case DML_TENSOR_DATA_TYPE_INT32: return IndexType::i32;
        case DML_TENSOR_DATA_TYPE_UINT64: return IndexType::u64;
        default: return IndexType::u32;
    }
}

Type number_type(std::uint32_t data_type) {
    switch (data_type) {
        case DML_TENSOR_DATA_TYPE_FLOAT32: return Type::f32;
        case DML_TENSOR_DATA_TYPE_FLOAT16: return Type::f16;
        case DML_TENSOR_DATA_TYPE_INT8: return Type::i8;
        default: return Type::u8;
    }
}

// The geometries of ARCHITECTURE.md; `g` has its bounds.

void walk(IndexGeometry& g, int data_axis, int index_axis) {
    g.data_axes.push_back(data_axis);
    g.index_axes.push_back(index_axis);
}

void walk_slices(IndexGeometry& g, int rank, int axis, int index_rank) {
    for (int d = 0; d < axis; ++d) walk(g, d, -1);
    for (int i = 0; i < index_rank; ++i) walk(g, -1, i);
    for (int d = axis + 1; d < rank; ++d) walk(g, d, -1);
    g.indexed = {axis};
}

void walk_elements(IndexGeometry& g, int rank, int axis) {
    for (int d = 0; d < rank; ++d) walk(g, d == axis ? -1 : d, d);
    g.indexed = {axis};
}

void walk_tuples(IndexGeometry& g, int rank, int index_rank, int batch, int length) {
    for (int d = 0; d < batch; ++d) walk(g, d, d);
    for (int i = batch; i < index_rank - 1; ++i) walk(g, -1, i);
    for (int d = batch + length; d < rank; ++d) walk(g, d, -1);
    for (int d = batch; d < batch + length; ++d) g.indexed.push_back(d);
    g.component_axis = index_rank - 1;
}

bool share(const Buffer& a, std::uint64_t a_bytes, const Buffer& b, std::uint64_t b_bytes) {
    const auto a_low = reinterpret_cast<std::uintptr_t>(a.data), b_low = reinterpret_cast<std::uintptr_t>(b.data);
    return a_low < b_low ? b_low - a_low < a_bytes : a_low - b_low < b_bytes;
}

NearestRule nearest_rule(const Descriptor& desc) {
    if (!desc.has_direction) return NearestRule::half_up;
    return desc.decreasing ? NearestRule::floor : NearestRule::ceil;
}

std::vector<MappedAxis> mapped_axes(const Descriptor& desc, const Tensor& data, const Tensor& out) {
    std::vector<MappedAxis> axes;
    for (std::size_t d = 0; d < desc.scales.size(); ++d)
        axes.push_back({AxisMap(desc.scales[d], desc.into[d], desc.onto[d]), data.sizes[d], out.sizes[d]});
    return axes;
}

// Of UPSAMPLE_2D: the last two axes by whole numbers.
std::vector<MappedAxis> enlarged_axes(const Descriptor& desc) {
    const Tensor &data = desc.tensors[0], &out = desc.tensors[1];
    std::vector<std::uint32_t> scales(data.sizes.size(), 1);
    scales.end()[-2] = desc.scale_height, scales.end()[-1] = desc.scale_width;
    std::vector<MappedAxis> axes;
    for (std::size_t d = 0; d < scales.size(); ++d) axes.push_back({AxisMap::enlarging(scales[d], 0.5f, -0.5f), data.sizes[d], out.sizes[d]});
    return axes;
}

}  // namespace

Layout::Layout(const Tensor& tensor, int rank) : name_(tensor.name), rank_(rank), itemsize_(bits_of(tensor.data_type) / 8) {
    const int n = tensor.dimension_count();
    for (int d = 0; d < rank; ++d) {
        const int from = n - rank + d;
        shape_[d] = from < 0 ? 1 : static_cast<std::intptr_t>(tensor.sizes[from]);
        strides_[d] = shape_[d] == 1 ? 0 : static_cast<std::intptr_t>(tensor.strides[from]) * itemsize_;
    }
    extent_ = tensor.extent() * itemsize();
    // A total that is no more than the calculated one may lack the bytes that rounding to a multiple of 4 added.
    bytes_ = tensor.total > (extent_ + 3) / 4 * 4 ? tensor.total : extent_;
}

CompiledOperator::CompiledOperator(const Descriptor& desc) : name_(desc.op->name) {
    try {
        prepare(desc);
    } catch (const TooManyWeights& e) {
        throw TooManyWeights(std::string(name_) + ": " + e.what());
    }
}

void CompiledOperator::prepare(const Descriptor& desc) {
    switch (desc.op->type) {
        case DML_OPERATOR_UPSAMPLE_2D:
        case DML_OPERATOR_RESAMPLE:
        case DML_OPERATOR_RESAMPLE1:
        case DML_OPERATOR_RESAMPLE2:
        case DML_OPERATOR_RESAMPLE3: return prepare_resampling(desc);
        case DML_OPERATOR_RESAMPLE_GRAD:
        case DML_OPERATOR_RESAMPLE_GRAD1: return prepare_gradient(desc);
        default: prepare_indexed(desc);
    }
}

void CompiledOperator::prepare_indexed(const Descriptor& desc) {
    const Tensor& indices = *desc.find("IndicesTensor");
    const int dimensions = indices.dimension_count(), axis = static_cast<int>(desc.axis);
    scatters_ = desc.find("UpdatesTensor") != nullptr;
    index_type_ = index_type(indices.data_type);
    // What is out of range: a gather takes the nearest index, a scatter leaves the update out (`fill` in a scatter).
    geometry_ = IndexGeometry{{}, {}, {}, -1, scatters_ ? Bounds::fill : Bounds::clip};
    int rank = dimensions, index_rank = dimensions;
    switch (desc.op->type) {
        case DML_OPERATOR_GATHER:
            index_rank = static_cast<int>(desc.index_dimensions);
            walk_slices(*geometry_, rank, axis, index_rank);
            break;
        case DML_OPERATOR_GATHER_ELEMENTS:
        case DML_OPERATOR_SCATTER_ELEMENTS: walk_elements(*geometry_, rank, axis); break;
        default:
            rank = static_cast<int>(desc.input_dimensions), index_rank = static_cast<int>(desc.indices_dimensions);
            walk_tuples(*geometry_, rank, index_rank, static_cast<int>(desc.batch_dimensions), static_cast<int>(indices.sizes.back()));
    }
    check_geometry(*geometry_);
    const int items_rank = static_cast<int>(geometry_->data_axes.size());
    if (scatters_)
        add_layouts(desc, {rank, index_rank, items_rank, rank});
    else
        add_layouts(desc, {rank, index_rank, items_rank});
}

void CompiledOperator::prepare_resampling(const Descriptor& desc) {
    const Tensor &data = desc.tensors[0], &out = desc.tensors[1];
    const int rank = data.dimension_count();
    const std::vector<MappedAxis> axes = desc.op->type == DML_OPERATOR_UPSAMPLE_2D ? enlarged_axes(desc) : mapped_axes(desc, data, out);
    if (desc.linear)
        plan_ = ResamplePlan::linear(axes, number_type(data.data_type), desc.antialiased);
    else
        plan_ = ResamplePlan::nearest(axes, nearest_rule(desc));
    add_layouts(desc, {rank, rank});
}

void CompiledOperator::prepare_gradient(const Descriptor& desc) {
    const Tensor &gradient = desc.tensors[0], &out = desc.tensors[1];
    const int rank = gradient.dimension_count();
    const std::vector<MappedAxis> axes = mapped_axes(desc, out, gradient);
    const Type type = number_type(gradient.data_type);
    gradient_ = desc.linear ? GradientPlan::linear(axes, type) : GradientPlan::nearest(axes, nearest_rule(desc), type);
    add_layouts(desc, {rank, rank});
}

void CompiledOperator::add_layouts(const Descriptor& desc, std::initializer_list<int> ranks) {
    layouts_.reserve(ranks.size());
    for (const int rank : ranks) layouts_.emplace_back(desc.tensors[layouts_.size()], rank);
}

std::string CompiledOperator::fault(const Buffer* inputs, const Buffer& output) const {
    const auto of = [&](std::size_t i) -> const Buffer& { return i < input_count() ? inputs[i] : output; };
    const auto must = [&](const Layout& layout, const std::string& rule) {
        return std::string(name_) + ": `" + layout.name() + "` must " + rule;
    };
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
        const Layout& layout = layouts_[i];
        const Buffer& buffer = of(i);
        if (!buffer.data) return must(layout, "not be a null pointer");
        if (buffer.size < layout.bytes())
            return must(layout, "be at least " + text_of(layout.bytes()) + " bytes long, got " + text_of(buffer.size));
        const auto address = reinterpret_cast<std::uintptr_t>(buffer.data);
        if (address % layout.itemsize())
            return must(layout, "begin at a multiple of " + text_of(layout.itemsize()) + " bytes, the size of an element, got address " +
                                    text_of_address(address));
    }
    for (std::size_t i = 0; i < input_count(); ++i)
        if (share(inputs[i], input(i).extent(), output, this->output().extent()))
            return must(this->output(), "share no memory with `" + input(i).name() + "`, got overlapping buffers");
    return {};
}

Outcome CompiledOperator::run(const Buffer* inputs, const Buffer& output) const {
    const ArrayView data = input(0).view(inputs[0]), out = this->output().view(output);
    if (plan_) return (*plan_)(data, out);
    if (gradient_) return (*gradient_)(data, out);
    const ArrayView indices = input(1).view(inputs[1]);
    IndexResult result;
    if (scatters_)
        result = run_scatter(*geometry_, Reduction::none, Number::b8, &data, indices, index_type_, input(2).view(inputs[2]), out, kNoPoll);
    else
        result = run_gather(*geometry_, data, indices, index_type_, out, nullptr, kNoPoll);
    if (result != IndexResult::done) throw std::logic_error("no index fails a call under these bounds");
    return Outcome::done;
}

}  // namespace remapnd::directml
