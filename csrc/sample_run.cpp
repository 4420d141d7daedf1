#include "sample_run.hpp"

#include <algorithm>
#include <stdexcept>

#include "sample_block.hpp"
#include "sample_places.hpp"

namespace remapnd {
namespace {

// Positions and channels of a task: enough that making the taps, and starting a task, cost little.
constexpr std::int64_t kTaskPositions = 8 * kSampleBlock;
constexpr std::int64_t kTaskChannels = 32;

// One call, cut into tasks: a grid, a range of blocks of its places, a range of channels.
struct Run {
    Sampling mode;
    Padding padding;
    Type type, grid_type;
    const std::vector<SampleAxis>& axes;
    const ArrayView &data, &grid;
    const std::int64_t* batches;
    const ArrayView& out;
    const Places places;
    const SampleKernels& kernel = *kernels().sample;

    std::int64_t blocks_a_row = 1, blocks = 1, blocks_a_task = 1, block_tasks = 1;
    std::int64_t channels = 1, channel_tasks = 1;

    void cut() {
        const std::int64_t width = places.axes.back().size;
        blocks_a_row = (width + kSampleBlock - 1) / kSampleBlock;
        blocks = places.rows * blocks_a_row;
        blocks_a_task = std::max<std::int64_t>(1, kTaskPositions / std::min<std::int64_t>(width, kSampleBlock));
        block_tasks = (blocks + blocks_a_task - 1) / blocks_a_task;
        channels = out.shape[1];
        channel_tasks = (channels + kTaskChannels - 1) / kTaskChannels;
    }

    std::int64_t tasks() const { return grid.shape[0] * block_tasks * channel_tasks; }

    struct Task {
        std::int64_t k, first_block, end_block, first_channel, end_channel;
    };

    Task task(std::int64_t t) const {
        const std::int64_t c = t % channel_tasks * kTaskChannels, b = t / channel_tasks % block_tasks * blocks_a_task;
        return {t / channel_tasks / block_tasks, b, std::min(b + blocks_a_task, blocks), c,
                std::min(c + kTaskChannels, channels)};
    }

    // The places of a block: where its coordinates and results are.
    struct Block {
        const std::byte* grid;
        std::byte* out;
        std::int64_t count;
    };

    Block block(const Task& task, std::int64_t b) const {
        const Places::Axis& row = places.axes.back();
        std::intptr_t grid_at, out_at;
        places.begin(b / blocks_a_row, grid_at, out_at);
        const std::int64_t first = b % blocks_a_row * kSampleBlock;
        return {grid.data + task.k * grid.strides[0] + grid_at + first * row.grid,
                out.data + task.k * out.strides[0] + task.first_channel * out.strides[1] + out_at + first * row.out,
                std::min<std::int64_t>(kSampleBlock, row.size - first)};
    }

    const std::byte* image(const Task& task) const {
        return data.data + (batches ? batches[task.k] : task.k) * data.strides[0] + task.first_channel * data.strides[1];
    }

    // Positions of a block along an axis.
    void positions(const Block& block, std::size_t axis, double* x) const {
        const std::intptr_t component = grid.strides[grid.rank - 1] * static_cast<std::intptr_t>(axes.size() - 1 - axis);
        kernel.positions[static_cast<int>(grid_type)](axes[axis], mode, padding, block.grid + component,
                                                      places.axes.back().grid, block.count, x);
    }

    void nearest(const Task& task) const {
        double x[kSampleBlock];
        std::int64_t offsets[kSampleBlock];
        std::uint8_t outside[kSampleBlock];
        const std::vector<std::byte> zero(static_cast<std::size_t>(data.itemsize));
        for (std::int64_t b = task.first_block; b < task.end_block; ++b) {
            const Block at = block(task, b);
            std::fill_n(offsets, at.count, 0);
            std::fill_n(outside, at.count, std::uint8_t{0});
            for (std::size_t a = 0; a < axes.size(); ++a) {
                positions(at, a, x);
                kernel.whole(axes[a], x, at.count, offsets, outside);
            }
            Move m{};
            m.data = image(task);
            m.out = at.out;
            m.offsets = offsets;
            m.count = static_cast<std::size_t>(at.count);
            m.out_step = places.axes.back().out;
            m.reps = static_cast<std::size_t>(task.end_channel - task.first_channel);
            m.rep_data = data.strides[1];
            m.rep_out = out.strides[1];
            m.rows = 1;
            m.run = static_cast<std::size_t>(data.itemsize);
            kernels().gather->move(m);
            if (std::any_of(outside, outside + at.count, [](std::uint8_t o) { return o != 0; }))
                kernels().gather->fill(m, outside, zero.data(), m.run);
        }
    }

    template <class W>
    void interpolate(const Task& task) const {
        const SampleWork<W>& work = sample_work<W>();
        const ResampleKernels& rows = *kernels().resample;
        const int t = static_cast<int>(type);
        const int w = sizeof(W) == 4 ? static_cast<int>(Work::f32) : static_cast<int>(Work::f64);
        const RowKernels<W>& row = [&]() -> const RowKernels<W>& {
            if constexpr (sizeof(W) == 4)
                return rows.f32;
            else
                return rows.f64;
        }();
        SampleBlock<W> positioned(mode, static_cast<int>(axes.size()));
        double x[kSampleBlock];
        W values[kSampleBlock];
        for (std::int64_t b = task.first_block; b < task.end_block; ++b) {
            const Block at = block(task, b);
            for (std::size_t a = 0; a < axes.size(); ++a) {
                positions(at, a, x);
                work.taps(axes[a], mode, padding, x, at.count, &positioned.taps(static_cast<int>(a)));
            }
            positioned.join(at.count, data.itemsize);
            const Samples<W> samples = positioned.samples();
            const std::byte* from = image(task);
            std::byte* to = at.out;
            for (std::int64_t c = task.first_channel; c < task.end_channel;
                 ++c, from += data.strides[1], to += out.strides[1]) {
                (mode == Sampling::cubic ? work.cubic : work.linear)[t](samples, from, values);
                if (row.any_nonfinite(values, at.count)) {
                    if (mode == Sampling::linear) work.linear_careful[t](samples, from, values);
                    row.canonical_nans(values, at.count);
                }
                rows.type[t][w].store(values, at.count, 1, {}, to, places.axes.back().out, 0);
            }
        }
    }

    void operator()(std::int64_t t) const {
        if (mode == Sampling::nearest)
            nearest(task(t));
        else if (works_in_double(type))
            interpolate<double>(task(t));
        else
            interpolate<float>(task(t));
    }
};

}  // namespace

SampleRun::SampleRun(Sampling mode, Padding padding, Type type, Type grid_type, std::vector<SampleAxis> axes)
    : mode_(mode), padding_(padding), type_(type), grid_type_(grid_type), axes_(std::move(axes)) {
    if (mode != Sampling::nearest) check_sample_type(type);
    check_sample_type(grid_type);
    if (axes_.empty() || axes_.size() > kMaxSampleAxes) throw std::invalid_argument("1 to 5 axes can be sampled");
    for (const SampleAxis& a : axes_) check_sampled_length(a.n);
}

Outcome SampleRun::operator()(const ArrayView& data, const ArrayView& grid, const std::int64_t* batches,
                              const ArrayView& out, const Poll& poll) const {
    const int r = static_cast<int>(axes_.size());
    std::vector<SampleAxis> axes = axes_;
    bool fits = data.rank == r + 2 && out.rank == r + 2 && grid.rank == r + 2 && grid.shape[r + 1] == r &&
                data.itemsize == out.itemsize && data.itemsize > 0 &&
                grid.itemsize == kTypeSize[static_cast<int>(grid_type_)] &&
                (mode_ == Sampling::nearest || data.itemsize == kTypeSize[static_cast<int>(type_)]) &&
                out.shape[0] == grid.shape[0] && out.shape[1] == data.shape[1] &&
                (batches || grid.shape[0] == data.shape[0]);
    for (int d = 0; fits && d < r; ++d) {
        fits = data.shape[d + 2] == axes[d].n && out.shape[d + 2] == grid.shape[d + 1];
        axes[d].stride = data.strides[d + 2];
    }
    if (!fits) throw std::invalid_argument("shapes or item sizes do not fit");
    for (std::int64_t k = 0; batches && k < grid.shape[0]; ++k)
        if (batches[k] < 0 || batches[k] >= data.shape[0]) throw std::out_of_range("no such batch");
    if (is_empty(out)) return Outcome::done;
    Run run{mode_, padding_, type_, grid_type_, axes, data, grid, batches, out, Places(grid, out)};
    run.cut();
    return run_all(run.tasks(), std::cref(run), poll);
}

}  // namespace remapnd
