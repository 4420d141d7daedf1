// Valid descriptors to prepared calls on memory.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../gradient_plan.hpp"
#include "../index_geometry.hpp"
#include "../resample_plan.hpp"
#include "descriptor.hpp"

namespace remapnd::directml {

// Memory as the caller names it.
struct Buffer {
    std::byte* data;
    std::uint64_t size;
};

// Where the elements of a tensor lie in a buffer, seen with the axes that the kernels want.
class Layout {
public:
    // Of the last `rank` dimensions, those before being 1; where there are fewer, ones are put in front.
    Layout(const Tensor& tensor, int rank);

    ArrayView view(const Buffer& buffer) const { return {buffer.data, rank_, shape_.data(), strides_.data(), itemsize_}; }
    const std::string& name() const { return name_; }
    std::uint64_t bytes() const { return bytes_; }    // that a buffer must have
    std::uint64_t extent() const { return extent_; }  // from the first to behind the last element
    std::uint64_t itemsize() const { return static_cast<std::uint64_t>(itemsize_); }

private:
    std::string name_;
    std::array<std::intptr_t, 2 * kMaxDimensions> shape_, strides_;
    int rank_;
    std::intptr_t itemsize_;
    std::uint64_t bytes_, extent_;
};

// A checked descriptor that runs on buffers any number of times, also from several threads at once.
class CompiledOperator {
public:
    // `desc` has no violations.  Throws TooManyWeights.
    explicit CompiledOperator(const Descriptor& desc);

    std::size_t input_count() const { return layouts_.size() - 1; }
    const Layout& input(std::size_t i) const { return layouts_[i]; }
    const Layout& output() const { return layouts_.back(); }

    // What is wrong with the buffers, which are input_count() and one; empty where nothing is.
    std::string fault(const Buffer* inputs, const Buffer& output) const;
    // Reads the inputs and writes the output; the buffers have no fault.
    Outcome run(const Buffer* inputs, const Buffer& output) const;

private:
    void prepare(const Descriptor& desc);
    void prepare_indexed(const Descriptor& desc);
    void prepare_resampling(const Descriptor& desc);
    void prepare_gradient(const Descriptor& desc);
    void add_layouts(const Descriptor& desc, std::initializer_list<int> ranks);

    const char* name_;
    std::vector<Layout> layouts_;              // of the tensors, in the order of the struct
    std::optional<IndexGeometry> geometry_;
    bool scatters_ = false;
    IndexType index_type_ = IndexType::i64;
    std::optional<ResamplePlan> plan_;
    std::optional<GradientPlan> gradient_;
};

}  // namespace remapnd::directml
