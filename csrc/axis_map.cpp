#include "axis_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace remapnd {

// By the bits: threads that take subnormals for zeros see the same.
AxisMap::Parts AxisMap::parts(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto biased = static_cast<int>(bits >> 23 & 0xFF);
    Parts r = parts((bits & 0x7FFFFF) | (biased ? 1u << 23 : 0));
    r.negative = r.odd && bits >> 31;
    if (r.odd) r.exponent += std::max(biased, 1) - 150;
    return r;
}

AxisMap::Parts AxisMap::parts(std::uint32_t value) {
    if (value == 0) return {};
    const int zeros = std::countr_zero(value);
    return {value >> zeros, zeros, false};
}

AxisMap::AxisMap(const Parts& s, const Parts& i, const Parts& o) {
    int k = std::max(0, s.exponent);
    if (i.odd) k = std::max(k, -i.exponent);
    if (o.odd) k = std::max(k, s.exponent - o.exponent);
    const auto subtract = [this](const Integer& term, bool negative) { negative ? b_ += term : b_ -= term; };
    if (o.odd) subtract(Integer(o.odd) << (o.exponent - s.exponent + k), o.negative);
    if (i.odd) subtract(Integer(std::uint64_t{i.odd} * s.odd) << (i.exponent + k), i.negative);
    // The step has all of m in its denominator, so that only powers of two can be common to all three.
    const bool negative = b_.is_negative();
    if (negative) b_ = -b_;
    const int common = std::min({k, k - s.exponent, b_.trailing_zeros()});
    b_ = b_ >> common;
    if (negative) b_ = -b_;
    k_ = k - common;
    p_ = k - s.exponent - common;
    m_ = s.odd;
    d_ = Integer(m_) << k_;
}

AxisMap AxisMap::shifted_by_half(int sign) const {
    AxisMap map;
    map.p_ = p_ + 1;
    map.k_ = k_ + 1;
    map.m_ = m_;
    map.d_ = d_ << 1;
    map.b_ = (b_ << 1) + (sign > 0 ? d_ : -d_);
    return map;
}

AxisMap::Integer AxisMap::remainder(std::int64_t output, std::int64_t floor) const {
    return numerator(output) - d_ * static_cast<std::uint32_t>(floor);
}

std::int64_t AxisMap::first_at(std::int64_t position, std::int64_t n_out) const {
    const Integer gap = d_ * static_cast<std::uint32_t>(position) - b_;
    if (gap.is_negative()) return 0;
    const Integer steps = (gap + (Integer(1) << p_) - Integer(1)) >> p_;
    const bool beyond = !steps.fits_64() || steps.limb(0) > static_cast<std::uint64_t>(n_out);
    return beyond ? n_out : static_cast<std::int64_t>(steps.limb(0));
}

template <class Visit>
void AxisMap::each(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    if (begin >= end) return;
    std::int64_t floor = quotient(numerator(begin));
    Integer rest = remainder(begin, floor);
    std::int64_t step_floor = 0;
    Integer step_rest;
    if (end - begin > 1) {  // then the step is below 2**32
        step_floor = quotient(step());
        step_rest = step() - d_ * static_cast<std::uint32_t>(step_floor);
    }
    for (std::int64_t output = begin;;) {
        visit(output, floor, rest);
        if (++output == end) return;
        floor += step_floor;
        rest += step_rest;
        if (rest >= d_) {
            rest -= d_;
            ++floor;
        }
    }
}

// remainder / (m * 2**k) rounded once, to nearest even; -0.0 for exactly 0, +0.0 for what the type cannot tell from it.
double AxisMap::weight(const Integer& remainder, WeightType type) const {
    if (remainder.is_zero()) return -0.0;
    // The top 96 bits by m: at least 72 bits of the quotient, and whether anything is left.
    const int width = remainder.width();
    const Integer top = width > 96 ? remainder >> (width - 96) : remainder << (96 - width);
    bool rest = width > 96 && remainder.trailing_zeros() < width - 96;
    const std::uint64_t high = top.limb(1) << 32 | top.limb(0) >> 32, low = top.limb(0) & 0xFFFFFFFF;
    const std::uint64_t behind = high % m_ << 32 | low;
    std::uint64_t quotient = high / m_, next = behind / m_;  // in all quotient * 2**32 + next
    rest |= behind % m_ != 0;
    const int shift = std::countl_zero(quotient);  // at most 32
    if (shift) quotient = quotient << shift | next >> (32 - shift);
    rest |= (next & ((std::uint64_t{1} << (32 - shift)) - 1)) != 0;
    const int exponent = width - 64 - shift - k_;  // the ratio is quotient * 2**exponent and a little

    const WeightFormat& format = kWeightFormats[static_cast<int>(type)];
    const int unit = std::max(exponent + 64 - format.bits, format.smallest), cut = unit - exponent;
    std::uint64_t kept = 0, half = std::uint64_t{1} << 63, tail = quotient;
    if (cut < 64) kept = quotient >> cut, tail = quotient << (64 - cut);
    if (cut <= 64) {
        if (tail > half || (tail == half && (rest || kept % 2))) ++kept;
    }
    return std::ldexp(static_cast<double>(kept), unit);
}

LinearTaps AxisMap::linear(std::int64_t n_in, std::int64_t n_out, WeightType type) const {
    const auto size = static_cast<std::size_t>(n_out);
    LinearTaps t{std::vector<std::int64_t>(size), std::vector<std::int64_t>(size), std::vector<double>(size, -0.0), {},
                 first_at(0, n_out), first_at(n_in - 1, n_out)};
    t.begin = std::min(t.begin, t.end);
    std::fill(t.first.begin() + t.end, t.first.end(), n_in - 1);
    std::fill(t.second.begin() + t.end, t.second.end(), n_in - 1);
    each(t.begin, t.end, [&](std::int64_t output, std::int64_t floor, const Integer& rest) {
        const auto i = static_cast<std::size_t>(output);
        t.first[i] = floor;
        t.second[i] = floor + !rest.is_zero();
        t.weight[i] = weight(rest, type);
    });
    if (t.end - t.begin > 1) {
        t.denominator = {m_, k_};
    } else if (t.end > t.begin) {
        Integer rest = remainder(t.begin, t.first[static_cast<std::size_t>(t.begin)]);
        const int zeros = std::min(rest.trailing_zeros(), k_);
        t.denominator = {m_ / std::gcd(rest.divide_by(m_), m_), k_ - zeros};
    }
    return t;
}

std::vector<std::int64_t> AxisMap::nearest(std::int64_t n_in, std::int64_t n_out, NearestRule rule) const {
    if (rule == NearestRule::half_up) return shifted_by_half(1).nearest(n_in, n_out, NearestRule::floor);
    if (rule == NearestRule::half_down) return shifted_by_half(-1).nearest(n_in, n_out, NearestRule::ceil);
    std::vector<std::int64_t> index(static_cast<std::size_t>(n_out));
    const std::int64_t end = first_at(n_in, n_out), begin = std::min(first_at(0, n_out), end);
    std::fill(index.begin() + end, index.end(), n_in - 1);
    each(begin, end, [&](std::int64_t output, std::int64_t floor, const Integer& rest) {
        const bool up = rule == NearestRule::ceil && !rest.is_zero();
        index[static_cast<std::size_t>(output)] = std::min(floor + up, n_in - 1);
    });
    return index;
}

}  // namespace remapnd
