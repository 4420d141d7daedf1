// A block of positions between the kernels that make taps and those that use them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dispatch.hpp"

namespace remapnd {

template <class W>
const SampleWork<W>& sample_work() {
    if constexpr (sizeof(W) == 4)
        return kernels().sample->f32;
    else
        return kernels().sample->f64;
}

// Whether values of a type are computed with in double; others in float.
inline bool works_in_double(Type type) { return type == Type::f64; }

inline void check_sample_type(Type type) {
    if (!kernels().sample->positions[static_cast<int>(type)]) throw std::invalid_argument("the type must be of floats");
}

inline void check_sampled_length(std::int64_t n) {
    if (n < 1 || n > kMaxSampled) throw std::invalid_argument("sampled axes must have 1 to 2**30 samples");
}

// The number of taps of an axis.
inline int taps_of(Sampling mode) { return mode == Sampling::cubic ? 4 : mode == Sampling::linear ? 2 : 1; }

template <class W>
class SampleBlock {
public:
    using Int = typename BitsOf<W>::Int;

    SampleBlock(Sampling mode, int axes) : mode_(mode), taps_(static_cast<std::size_t>(axes)) {
        std::size_t rows = 1;
        for (int a = 0; a < axes; ++a) rows *= static_cast<std::size_t>(taps_of(mode));
        offset_.resize(rows * kSampleBlock);
        inside_.resize(rows * kSampleBlock);
        values_.resize(rows / static_cast<std::size_t>(taps_of(mode)) * kSampleBlock);
    }

    AxisTaps<W>& taps(int axis) { return taps_[static_cast<std::size_t>(axis)]; }

    // Joins the taps of the axes for `count` positions, of items that lie `itemsize` apart or more.
    void join(std::int64_t count, std::int64_t itemsize) {
        count_ = count;
        masked_ = any_outside();
        paired_ = mode_ == Sampling::linear && !masked_ && is_paired(itemsize);
        const int k = taps_of(mode_);
        std::fill_n(offset_.begin(), count, 0);
        if (masked_) std::fill_n(inside_.begin(), count, static_cast<Int>(~Int{0}));
        std::int64_t rows = 1;
        for (std::size_t a = 0; a < taps_.size(); rows *= k, ++a)
            for (std::int64_t r = rows - 1; r >= 0; --r)  // from the last: row r becomes rows r * k and on
                for (int t = k - 1; t >= 0; --t) {
                    const std::int64_t from = r * kSampleBlock, to = (r * k + t) * kSampleBlock;
                    const AxisTaps<W>& taps = taps_[a];
                    for (std::int64_t i = 0; i < count; ++i) offset_[to + i] = offset_[from + i] + taps.offset[t][i];
                    if (!masked_) continue;
                    for (std::int64_t i = 0; i < count; ++i)
                        inside_[to + i] = inside_[from + i] & taps.inside[t][i];
                }
    }

    Samples<W> samples() {
        return {static_cast<int>(taps_.size()), count_,         masked_,        paired_, taps_.data(),
                offset_.data(),                 inside_.data(), values_.data()};
    }

private:
    bool any_outside() const {
        Int all = static_cast<Int>(~Int{0});
        for (const AxisTaps<W>& taps : taps_)
            for (int t = 0; t < taps_of(mode_); ++t)
                for (std::int64_t i = 0; i < count_; ++i) all &= taps.inside[t][i];
        return all != static_cast<Int>(~Int{0});
    }

    bool is_paired(std::int64_t itemsize) const {
        const AxisTaps<W>& last = taps_.back();
        std::int64_t other = 0;
        for (std::int64_t i = 0; i < count_; ++i) other |= (last.offset[1][i] - last.offset[0][i]) ^ itemsize;
        return other == 0;
    }

    Sampling mode_;
    std::int64_t count_ = 0;
    bool masked_ = false;  // some tap is outside
    bool paired_ = false;
    std::vector<AxisTaps<W>> taps_;
    std::vector<std::int64_t> offset_;
    std::vector<Int> inside_;
    std::vector<W> values_;
};

}  // namespace remapnd
