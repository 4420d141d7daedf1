// Exact source positions of one axis, and the tables that they make.  What remapnd.coordinates and remapnd.taps say of any
// rationals is done here for the float32 numbers of a descriptor.
#pragma once
#include <cstdint>
#include <vector>

#include "wide.hpp"

namespace remapnd {

enum class NearestRule { half_up, half_down, floor, ceil };

// Formats that weights are rounded to.
enum class WeightType { f32, f64 };
struct WeightFormat {
    int bits, smallest;  // of the significand; exponent of the smallest number above 0
};
inline constexpr WeightFormat kWeightFormats[] = {{24, -149}, {53, -1074}};  // by WeightType

// The smallest common denominator of the exact weights of an axis: odd << shift.
struct WeightDenominator {
    std::uint32_t odd = 1;
    int shift = 0;
};

// Taps and weights of linear interpolation, as AxisTable has them.  Outputs in [begin, end) have 0 <= x < n_in - 1.
struct LinearTaps {
    std::vector<std::int64_t> first, second;
    std::vector<double> weight;
    WeightDenominator denominator;
    std::int64_t begin, end;
};

// x(X) = (X - onto) / scale - into = (X * 2**p + b) / d with d = m * 2**k, in lowest common terms.
//
// All of it stays below 2**440: scale is m * 2**e with m < 2**24 and e in [-149, 127], or a whole number below 2**32, offsets are
// below 2**128 and multiples of 2**-149, and outputs and lengths are below 2**32.
class AxisMap {
public:
    using Integer = Wide<8>;

    // The floats are finite, scale > 0.
    AxisMap(float scale, float into, float onto) : AxisMap(parts(scale), parts(into), parts(onto)) {}
    // Of a whole number as scale, above 0.
    static AxisMap enlarging(std::uint32_t scale, float into, float onto) { return {parts(scale), parts(into), parts(onto)}; }

    // n_in, n_out in [1, 2**32).
    LinearTaps linear(std::int64_t n_in, std::int64_t n_out, WeightType type) const;
    std::vector<std::int64_t> nearest(std::int64_t n_in, std::int64_t n_out, NearestRule rule) const;

    const Integer& denominator() const { return d_; }  // below 2**301
    // The same times the position of an output, and times the distance of neighbouring ones.
    Integer numerator(std::int64_t output) const { return (Integer(static_cast<std::uint64_t>(output)) << p_) + b_; }
    Integer step() const { return Integer(1) << p_; }
    // Floor of a number over the denominator, in [0, 2**32).
    std::int64_t quotient(const Integer& numerator) const { return static_cast<std::int64_t>((numerator >> k_).limb(0) / m_); }

private:
    // A number as odd * 2**exponent, or 0.
    struct Parts {
        std::uint32_t odd = 0;
        int exponent = 0;
        bool negative = false;
    };
    static Parts parts(float value);
    static Parts parts(std::uint32_t value);

    AxisMap() = default;
    AxisMap(const Parts& scale, const Parts& into, const Parts& onto);
    AxisMap shifted_by_half(int sign) const;
    // d times the distance of x(output) from `floor`, which it is.
    Integer remainder(std::int64_t output, std::int64_t floor) const;
    // The first of the outputs [0, n_out) that lies at `position` or above it; n_out if none does.
    std::int64_t first_at(std::int64_t position, std::int64_t n_out) const;
    // visit(output, floor, d times the fraction) for outputs in [begin, end), whose positions lie in [0, 2**32).
    template <class Visit>
    void each(std::int64_t begin, std::int64_t end, const Visit& visit) const;
    double weight(const Integer& remainder, WeightType type) const;

    int p_ = 0, k_ = 0;
    std::uint32_t m_ = 1;
    Integer b_, d_;
};

}  // namespace remapnd
