// Runs a resampling: tables and strides to rows, rows to kernel calls, the work split over the pool.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "kernels.hpp"

namespace remapnd {

using Poll = std::function<bool()>;

// One resampled axis: n_in samples to first.size(); all entries of first and second lie in [0, n_in).
struct AxisTable {
    int axis;
    std::int64_t n_in;
    std::vector<std::int64_t> first, second;
    std::vector<double> weight;  // of second; -0.0 where second is first

    std::int64_t n_out() const { return static_cast<std::int64_t>(first.size()); }
};

enum class Outcome { done, interrupted, out_of_memory };

// Linear resampling.  Axes ascend; `order` lists their positions in the order in which they are applied.
class LinearRun {
public:
    // Throws std::invalid_argument when the tables are not as AxisTable says or order is no permutation.
    LinearRun(Type type, Work work, bool pairs, std::vector<AxisTable> axes, std::vector<int> order);
    ~LinearRun();

    // Resamples data to out: same rank, sizes as the tables say on their axes and equal on the others (std::invalid_argument
    // otherwise), both of the type (with `pairs`: of two of them), aligned to it; they do not overlap.
    // When bound is not 0, positions (row-major, in out) of results within it of a decision are added to doubtful, those
    // whose taps are all the same excepted.
    Outcome operator()(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                       std::vector<std::int64_t>& doubtful, const Poll& poll) const;

private:
    Outcome run(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                std::vector<std::int64_t>& doubtful, const Poll& poll) const;

    Type type_;
    Work work_;
    bool pairs_;
    std::vector<AxisTable> axes_;
    std::vector<int> order_;
    struct Cache;
    std::unique_ptr<Cache> cache_;

    template <class W>
    friend class LinearCall;
};

// Nearest resampling: moves items of any size.  Only `first` of the tables is read.
class NearestRun {
public:
    explicit NearestRun(std::vector<AxisTable> axes);
    Outcome operator()(const ArrayView& data, const ArrayView& out, const Poll& poll) const;

private:
    std::vector<AxisTable> axes_;
};

}  // namespace remapnd
