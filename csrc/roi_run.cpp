#include "roi_run.hpp"

#include <algorithm>
#include <stdexcept>

#include "sample_block.hpp"

namespace remapnd {
namespace {

constexpr std::int64_t kTaskChannels = 64;

template <class W>
struct Run {
    Pooling pooling;
    int type;
    const ArrayView& data;
    const Region* regions;
    const ArrayView& out;
    SampleAxis axes[2];
    std::int64_t channel_tasks;

    // All samples of a region in the order of bins, and within a bin row by row, in blocks; a bin may reach over several.
    void operator()(std::int64_t t) const {
        const Region& region = regions[t / channel_tasks];
        const std::int64_t first = t % channel_tasks * kTaskChannels, end = std::min(first + kTaskChannels, out.shape[1]);
        const std::int64_t rows = out.shape[2], columns = out.shape[3];
        const std::int64_t across = region.per_bin[1], per_bin = region.per_bin[0] * across;
        const SampleKernels& kernel = *kernels().sample;
        std::vector<double> ys(static_cast<std::size_t>(rows * region.per_bin[0]));
        std::vector<double> xs(static_cast<std::size_t>(columns * across));
        kernel.bin_positions(region.start[0], region.bin[0], rows, region.per_bin[0], axes[0].n, ys.data());
        kernel.bin_positions(region.start[1], region.bin[1], columns, across, axes[1].n, xs.data());
        std::vector<W> so_far(static_cast<std::size_t>(end - first), W(0));
        if (per_bin == 0) {
            const W zero = 0;
            for (std::int64_t c = first; c < end; ++c)
                for (std::int64_t bin = 0; bin < rows * columns; ++bin) store(at(t, c, bin), &zero, 1);
            return;
        }
        SampleBlock<W> block(Sampling::linear, 2);
        double y[kSampleBlock], x[kSampleBlock];
        W values[kSampleBlock], done[kSampleBlock];
        std::int64_t bin = 0, in_bin = 0;  // where the block begins
        while (bin < rows * columns) {
            std::int64_t count = 0;
            for (std::int64_t b = bin, i = in_bin; count < kSampleBlock && b < rows * columns; ++count) {
                y[count] = ys[b / columns * region.per_bin[0] + i / across];
                x[count] = xs[b % columns * across + i % across];
                if (++i == per_bin) i = 0, ++b;
            }
            const SampleWork<W>& work = sample_work<W>();
            work.taps(axes[0], Sampling::linear, Padding::zeros, y, count, &block.taps(0));
            work.taps(axes[1], Sampling::linear, Padding::zeros, x, count, &block.taps(1));
            block.join(count, data.itemsize);
            const Samples<W> samples = block.samples();
            for (std::int64_t c = first; c < end; ++c) {
                const std::byte* from = data.data + region.batch * data.strides[0] + c * data.strides[1];
                take(work, samples, from, values);
                const std::int64_t bins = (pooling == Pooling::average ? work.average : work.largest)(
                    values, count, in_bin, per_bin, &so_far[static_cast<std::size_t>(c - first)], done);
                put(t, c, bin, bins, done);
            }
            bin += (in_bin + count) / per_bin;
            in_bin = (in_bin + count) % per_bin;
        }
    }

    void take(const SampleWork<W>& work, const Samples<W>& samples, const std::byte* from, W* values) const {
        if (pooling == Pooling::largest) {
            work.largest_term[type](samples, from, values);
            return;
        }
        work.linear[type](samples, from, values);
        if (rows().any_nonfinite(values, samples.count)) work.linear_careful[type](samples, from, values);
    }

    std::byte* at(std::int64_t t, std::int64_t c, std::int64_t bin) const {
        return out.data + t / channel_tasks * out.strides[0] + c * out.strides[1] + bin / out.shape[3] * out.strides[2] +
               bin % out.shape[3] * out.strides[3];
    }

    // Results of one channel, from bin `first` on.
    void put(std::int64_t t, std::int64_t c, std::int64_t first, std::int64_t count, W* done) const {
        if (rows().any_nonfinite(done, count)) rows().canonical_nans(done, count);
        const bool even = out.strides[2] == out.shape[3] * out.strides[3];
        for (std::int64_t i = 0; i < count;) {
            const std::int64_t bin = first + i, rest = count - i;
            const std::int64_t part = even ? rest : std::min(rest, out.shape[3] - bin % out.shape[3]);
            store(at(t, c, bin), done + i, part);
            i += part;
        }
    }

    void store(std::byte* to, const W* values, std::int64_t count) const {
        const int work = sizeof(W) == 4 ? static_cast<int>(Work::f32) : static_cast<int>(Work::f64);
        kernels().resample->type[type][work].store(values, count, 1, {}, to, out.strides[3], 0);
    }

    static const RowKernels<W>& rows() {
        if constexpr (sizeof(W) == 4)
            return kernels().resample->f32;
        else
            return kernels().resample->f64;
    }
};

template <class W>
Outcome run(Pooling pooling, Type type, const ArrayView& data, const Region* regions, std::int64_t count,
            const ArrayView& out, const Poll& poll) {
    Run<W> r{pooling, static_cast<int>(type), data, regions, out, {}, (out.shape[1] + kTaskChannels - 1) / kTaskChannels};
    for (int d = 0; d < 2; ++d) r.axes[d] = {data.shape[d + 2], 0, 0, 0, 0, data.strides[d + 2]};
    return run_all(count * r.channel_tasks, std::cref(r), poll);
}

}  // namespace

Outcome run_roi_align(Pooling pooling, Type type, const ArrayView& data, const Region* regions, std::int64_t count,
                      const ArrayView& out, const Poll& poll) {
    check_sample_type(type);
    if (data.rank != 4 || out.rank != 4 || data.itemsize != kTypeSize[static_cast<int>(type)] ||
        out.itemsize != data.itemsize || out.shape[0] != count || out.shape[1] != data.shape[1])
        throw std::invalid_argument("shapes or item sizes do not fit");
    if (is_empty(out)) return Outcome::done;
    check_sampled_length(data.shape[2]);
    check_sampled_length(data.shape[3]);
    for (std::int64_t k = 0; k < count; ++k) {
        const Region& region = regions[k];
        if (region.batch < 0 || region.batch >= data.shape[0]) throw std::out_of_range("no such batch");
        for (int d = 0; d < 2; ++d)
            if (region.per_bin[d] < 0 || region.per_bin[d] > kMaxBinSamples)
                throw std::invalid_argument("a bin must have at most 2**16 samples along an axis");
    }
    return works_in_double(type) ? run<double>(pooling, type, data, regions, count, out, poll)
                                 : run<float>(pooling, type, data, regions, count, out, poll);
}

}  // namespace remapnd
