#include "mapped_axis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace remapnd {
namespace {

using Integer = AxisMap::Integer;

// numerator / denominator, above 0 and at most 1, rounded once to nearest even.  Both are below 2**480.
double ratio(const Integer& numerator, const Integer& denominator, WeightType type) {
    using Number = Wide<9>;
    const WeightFormat format = kWeightFormats[static_cast<int>(type)];
    int exponent = numerator.width() - denominator.width();  // the ratio is below 2**(exponent + 1)
    if (numerator << -exponent >= denominator) ++exponent;   // and now below 2**exponent
    const int unit = std::max(exponent - format.bits, format.smallest);
    const Number scaled = Number(numerator) << -unit, divisor(denominator);
    // The quotient in float64 is off by some units, as both leading parts are rounded.
    const auto leading = [](const Number& n) {
        const int behind = n.width() - 64;
        return std::pair{static_cast<double>((behind > 0 ? n >> behind : n).limb(0)), std::max(behind, 0)};
    };
    const auto [a, a_shift] = leading(scaled);
    const auto [b, b_shift] = leading(divisor);
    auto quotient = static_cast<std::uint64_t>(std::ldexp(a / b, a_shift - b_shift));
    const Number product = (divisor * static_cast<std::uint32_t>(quotient >> 32) << 32) + divisor * static_cast<std::uint32_t>(quotient);
    Number rest = scaled - product;
    for (; rest.is_negative(); --quotient) rest += divisor;
    for (; rest >= divisor; ++quotient) rest -= divisor;
    const Number twice = rest << 1;
    if (twice >= divisor && (!(twice == divisor) || quotient % 2)) ++quotient;
    return std::ldexp(static_cast<double>(quotient), unit);
}

// The denominator of a row in lowest terms.
std::uint64_t lowest_denominator(const ExactRow& row) {
    int zeros = row.denominator.trailing_zeros();
    for (const Integer& n : row.numerators) zeros = std::min(zeros, n.trailing_zeros());
    const Integer whole = row.denominator >> zeros;
    if (!whole.fits_64()) return kUnknownDenominator;
    std::uint64_t divisor = whole.limb(0);
    for (const Integer& n : row.numerators) {
        if (divisor == 1) break;
        divisor = std::gcd(divisor, (n >> zeros).limb(0));
    }
    return whole.limb(0) / divisor;
}

}  // namespace

ExactRow ExactWeights::row(std::int64_t output) const {
    const Integer& d = axis_.map.denominator();
    const Integer place = axis_.map.numerator(output);
    if (stretched_) return stretched_row(place);
    if (place.is_negative()) return {};
    ExactRow row;
    if (place >= d * static_cast<std::uint32_t>(axis_.n_in - 1)) {
        row.first = axis_.n_in - 1;
        return row;
    }
    row.first = axis_.map.quotient(place);
    const Integer rest = place - d * static_cast<std::uint32_t>(row.first);
    if (rest.is_zero()) return row;
    row.numerators = {d - rest, rest};
    row.denominator = d;
    return row;
}

// Weights are step - |k - x|, over their sum, for a position x that is taken at one sample outside at most.
ExactRow ExactWeights::stretched_row(Integer place) const {
    const Integer &d = axis_.map.denominator(), reach = axis_.map.step();
    const std::int64_t last = axis_.n_in - 1;
    const Integer end = d * static_cast<std::uint32_t>(axis_.n_in);
    if (place < -d) place = -d;
    if (place >= end) place = end;
    const Integer below = place - reach, above = place + reach - Integer(1);
    ExactRow row;
    row.first = below.is_negative() ? 0 : axis_.map.quotient(below) + 1;
    const std::int64_t stop = above >= end ? last : std::min(last, axis_.map.quotient(above));
    if (stop <= 0 || row.first >= last) {
        row.first = stop <= 0 ? 0 : last;
        return row;
    }
    row.numerators.clear();
    row.denominator = Integer();
    for (std::int64_t k = row.first; k <= stop; ++k) {
        Integer distance = d * static_cast<std::uint32_t>(k) - place;
        if (distance.is_negative()) distance = -distance;
        row.numerators.push_back(reach - distance);
        row.denominator += row.numerators.back();
    }
    return row;
}

std::int64_t ExactWeights::widest() const {
    if (!stretched_) return std::min<std::int64_t>(2, axis_.n_in);
    const Integer both = axis_.map.step() << 1;
    if (both >= axis_.map.denominator() * static_cast<std::uint32_t>(axis_.n_in)) return axis_.n_in;
    return std::min(axis_.map.quotient(both - Integer(1)) + 2, axis_.n_in);
}

bool is_stretched(const MappedAxis& axis) { return axis.map.step() >= (axis.map.denominator() << 1) + Integer(1); }

Filtered filtered(int axis, const MappedAxis& mapped, bool stretched, WeightType type, bool fine) {
    const ExactWeights exact(mapped, stretched);
    const std::int64_t widest = exact.widest();
    if (mapped.n_in > 1 && mapped.n_out > kMostWeights / widest)
        throw TooManyWeights("`Scales` must take at most " + std::to_string(kMostWeights) + " weights along an axis, got " +
                             std::to_string(mapped.n_out) + " samples of up to " + std::to_string(widest) + " weights");
    Filtered result{{axis, mapped.n_in, widest, {}, {}, {}, {}, {}}, 1};
    FilterTable& t = result.table;
    const auto n_out = static_cast<std::size_t>(mapped.n_out), width = static_cast<std::size_t>(widest);
    t.weights.assign(n_out * width, 0.0);
    if (fine) t.fine.assign(n_out * width, 0.0);
    for (std::size_t x = 0; x < n_out; ++x) {
        const ExactRow row = exact.row(static_cast<std::int64_t>(x));
        t.start.push_back(row.first);
        t.count.push_back(static_cast<std::int64_t>(row.numerators.size()));
        double* weights = t.weights.data() + x * width;
        for (std::size_t k = 0; k < row.numerators.size(); ++k) {
            weights[k] = ratio(row.numerators[k], row.denominator, type);
            if (fine) t.fine[x * width + k] = ratio(row.numerators[k], row.denominator, WeightType::f64);
        }
        t.base.push_back(std::max_element(weights, weights + row.numerators.size()) - weights);
        result.denominator = std::max(result.denominator, lowest_denominator(row));
    }
    return result;
}

AxisTable blending(int axis, std::int64_t n_in, LinearTaps taps) {
    return {axis, n_in, std::move(taps.first), std::move(taps.second), std::move(taps.weight), 1.0};
}

AxisTable picking(int axis, std::int64_t n_in, std::vector<std::int64_t> index) {
    std::vector<double> weight(index.size(), -0.0);
    return {axis, n_in, index, index, std::move(weight), 1.0};
}

bool is_identity(const AxisTable& t) {
    if (t.n_out() != t.n_in || t.first != t.second) return false;
    for (std::size_t i = 0; i < t.first.size(); ++i)
        if (t.first[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

bool is_identity(const FilterTable& t) {
    if (t.n_out() != t.n_in) return false;
    for (std::size_t i = 0; i < t.start.size(); ++i)
        if (t.count[i] != 1 || t.start[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

std::unique_ptr<NearestRun> copying(int axis, std::int64_t n) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(n));
    std::iota(index.begin(), index.end(), 0);
    return std::make_unique<NearestRun>(std::vector{picking(axis, n, std::move(index))});
}

std::vector<int> pass_order(const std::vector<ResampledAxis>& lengths) {
    std::vector<int> order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t n = order.size();
    if (n >= 2 && lengths[n - 2].n_out > lengths[n - 2].n_in) std::swap(order[n - 2], order[n - 1]);
    return order;
}

}  // namespace remapnd
