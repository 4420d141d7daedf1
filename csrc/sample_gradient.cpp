#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "sample_block.hpp"
#include "sample_places.hpp"
#include "sample_run.hpp"

namespace remapnd {
namespace {

// Channels that share the taps of a block; each task has images of its own, so none writes where another does.
constexpr std::int64_t kTaskChannels = 8;

bool is_contiguous(const ArrayView& a) {
    std::intptr_t expected = a.itemsize;
    for (int d = a.rank - 1; d >= 0; expected *= a.shape[d--])
        if (a.shape[d] != 1 && a.strides[d] != expected) return false;
    return true;
}

template <class W>
struct Gradient {
    Sampling mode;
    Padding padding;
    int grid_type;
    const std::vector<SampleAxis>& axes;  // strides in bytes
    const ArrayView &gradient, &grid, &out;
    const Places places;
    const std::int64_t channel_tasks;
    const SampleKernels& kernel = *kernels().sample;

    void positions(const std::byte* at, std::int64_t count, std::size_t axis, double* x) const {
        const std::intptr_t component = grid.strides[grid.rank - 1] * static_cast<std::intptr_t>(axes.size() - 1 - axis);
        kernel.positions[grid_type](axes[axis], mode, padding, at + component, places.axes.back().grid, count, x);
    }

    // Adds weight * gradient of each place of a block to the samples of its taps: place by place, tap by tap.
    void add(const std::int64_t* offset, const W* weight, std::int64_t rows, std::int64_t count, const std::byte* from,
             std::byte* to) const {
        for (std::int64_t i = 0; i < count; ++i) {
            W g;
            std::memcpy(&g, from + i * places.axes.back().out, sizeof g);
            for (std::int64_t r = 0; r < rows; ++r) {
                const W w = weight[r * kSampleBlock + i];
                if (w == 0) continue;
                std::byte* p = to + offset[r * kSampleBlock + i];
                W sum;
                std::memcpy(&sum, p, sizeof sum);
                sum += w * g;
                std::memcpy(p, &sum, sizeof sum);
            }
        }
    }

    // The product of the weights along the axes, the innermost first; 0 for taps that count as zero.
    void weigh(SampleBlock<W>& block, std::int64_t count, std::vector<W>& weight) const {
        const int k = taps_of(mode), last = static_cast<int>(axes.size()) - 1;
        if (mode == Sampling::linear)
            for (std::size_t a = 0; a < axes.size(); ++a) {
                AxisTaps<W>& taps = block.taps(static_cast<int>(a));
                for (std::int64_t i = 0; i < count; ++i) taps.weight[0][i] = 1 - taps.weight[1][i];
            }
        const Samples<W> samples = block.samples();
        const std::int64_t rows = static_cast<std::int64_t>(weight.size()) / kSampleBlock;
        for (std::int64_t r = 0; r < rows; ++r) {
            W* w = weight.data() + r * kSampleBlock;
            std::int64_t rest = r / k;
            std::copy_n(samples.taps[last].weight[r % k], count, w);
            for (int a = last - 1; a >= 0; --a, rest /= k)
                for (std::int64_t i = 0; i < count; ++i) w[i] *= samples.taps[a].weight[rest % k][i];
            if (!samples.masked) continue;
            for (std::int64_t i = 0; i < count; ++i) w[i] = samples.inside[r * kSampleBlock + i] ? w[i] : 0;
        }
    }

    void operator()(std::int64_t t) const {
        const std::int64_t k = t / channel_tasks, first = t % channel_tasks * kTaskChannels;
        const std::int64_t end = std::min(first + kTaskChannels, out.shape[1]), width = places.axes.back().size;
        std::int64_t rows = 1;
        for (std::size_t a = 0; a < axes.size(); ++a) rows *= taps_of(mode);
        SampleBlock<W> block(mode, static_cast<int>(axes.size()));
        std::vector<W> weight(static_cast<std::size_t>(rows * kSampleBlock), W(1));
        double x[kSampleBlock];
        std::int64_t picked[kSampleBlock];
        std::uint8_t outside[kSampleBlock];
        for (std::int64_t row = 0; row < places.rows; ++row) {
            std::intptr_t grid_row, gradient_row;
            places.begin(row, grid_row, gradient_row);
            for (std::int64_t begin = 0; begin < width; begin += kSampleBlock) {
                const std::int64_t count = std::min<std::int64_t>(kSampleBlock, width - begin);
                const std::byte* at = grid.data + k * grid.strides[0] + grid_row + begin * places.axes.back().grid;
                std::fill_n(picked, count, 0);
                std::fill_n(outside, count, std::uint8_t{0});
                for (std::size_t a = 0; a < axes.size(); ++a) {
                    positions(at, count, a, x);
                    if (mode == Sampling::nearest)
                        kernel.whole(axes[a], x, count, picked, outside);
                    else
                        sample_work<W>().taps(axes[a], mode, padding, x, count, &block.taps(static_cast<int>(a)));
                }
                const std::int64_t* offset = picked;
                if (mode == Sampling::nearest) {
                    for (std::int64_t i = 0; i < count; ++i) weight[static_cast<std::size_t>(i)] = outside[i] ? W(0) : W(1);
                } else {
                    block.join(count, sizeof(W));
                    weigh(block, count, weight);
                    offset = block.samples().offset;
                }
                for (std::int64_t c = first; c < end; ++c)
                    add(offset, weight.data(), rows, count,
                        gradient.data + k * gradient.strides[0] + c * gradient.strides[1] + gradient_row +
                            begin * places.axes.back().out,
                        out.data + k * out.strides[0] + c * out.strides[1]);
            }
        }
    }
};

}  // namespace

Outcome SampleRun::gradient(const ArrayView& gradient, const ArrayView& grid, const ArrayView& out,
                            const Poll& poll) const {
    const int r = static_cast<int>(axes_.size());
    if (type_ != Type::f32 && type_ != Type::f64) throw std::invalid_argument("gradients must be float32 or float64");
    std::vector<SampleAxis> axes = axes_;
    bool fits = gradient.rank == r + 2 && out.rank == r + 2 && grid.rank == r + 2 && grid.shape[r + 1] == r &&
                gradient.itemsize == kTypeSize[static_cast<int>(type_)] && out.itemsize == gradient.itemsize &&
                grid.itemsize == kTypeSize[static_cast<int>(grid_type_)] && is_contiguous(out) &&
                out.shape[0] == grid.shape[0] && gradient.shape[0] == grid.shape[0] && out.shape[1] == gradient.shape[1];
    for (int d = 0; fits && d < r; ++d) {
        fits = out.shape[d + 2] == axes[d].n && gradient.shape[d + 2] == grid.shape[d + 1];
        axes[d].stride = out.strides[d + 2];
    }
    if (!fits) throw std::invalid_argument("shapes, item sizes or strides do not fit");
    if (is_empty(out) || is_empty(gradient)) return Outcome::done;
    const std::int64_t channel_tasks = (out.shape[1] + kTaskChannels - 1) / kTaskChannels;
    const auto run = [&](const auto& task) {
        return run_all(grid.shape[0] * channel_tasks, std::cref(task), poll);
    };
    const int grid_type = static_cast<int>(grid_type_);
    if (type_ == Type::f64)
        return run(Gradient<double>{mode_, padding_, grid_type, axes, gradient, grid, out, Places(grid, gradient), channel_tasks});
    return run(Gradient<float>{mode_, padding_, grid_type, axes, gradient, grid, out, Places(grid, gradient), channel_tasks});
}

}  // namespace remapnd
