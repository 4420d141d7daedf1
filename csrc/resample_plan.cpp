#include "resample_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace remapnd {
namespace {

const Poll kNoPoll = [] { return false; };

// Division of sums up to 255 * divisor by `divisor`, 2 to 256, towards zero (remapnd.plans.resample states why it holds).
Rounding division(std::uint32_t divisor) {
    const int shift = std::bit_width(divisor - 1) - 1;
    const std::uint32_t power = std::uint32_t{1} << (16 + shift), up = (power + divisor - 1) / divisor;
    Rounding r;
    r.divisor = static_cast<std::uint16_t>(divisor);
    r.shift = shift;
    if (up < 1 << 16 && std::uint64_t{up * divisor - power} * 255 * divisor < power) {
        r.multiplier = static_cast<std::uint16_t>(up);
    } else {
        r.add = 1;
        r.multiplier = static_cast<std::uint16_t>(power / divisor);
    }
    return r;
}

// The product of the denominators, or UINT64_MAX where it is larger.
std::uint64_t grid_of(const std::vector<WeightDenominator>& denominators) {
    std::uint64_t grid = 1;
    for (const WeightDenominator& d : denominators) {
        if (d.shift >= 40 || d.odd > UINT64_MAX / grid >> d.shift) return UINT64_MAX;
        grid *= std::uint64_t{d.odd} << d.shift;
    }
    return grid;
}

// The order of the passes, as positions in the list of axes: outermost first, but the innermost before the last of the others
// when that one enlarges.
std::vector<int> order_of(const std::vector<AxisTable>& tables, Work work) {
    std::vector<int> order(tables.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t n = order.size();
    if (work == Work::u16 && n == 2) return {1, 0};
    if (n >= 2 && tables[n - 2].n_out() > tables[n - 2].n_in) std::swap(order[n - 2], order[n - 1]);
    return order;
}

AxisTable table_of(int axis, std::int64_t n_in, LinearTaps taps) {
    return {axis, n_in, std::move(taps.first), std::move(taps.second), std::move(taps.weight), 1.0};
}

AxisTable picking(int axis, std::int64_t n_in, std::vector<std::int64_t> index) {
    std::vector<double> weight(index.size(), -0.0);
    return {axis, n_in, index, index, std::move(weight), 1.0};
}

bool is_identity(const std::vector<std::int64_t>& index, std::int64_t n_in) {
    if (static_cast<std::int64_t>(index.size()) != n_in) return false;
    for (std::size_t i = 0; i < index.size(); ++i)
        if (index[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

// What copies arrays whose innermost axis has n items: a resampling that picks every one.
std::unique_ptr<NearestRun> copying(int axis, std::int64_t n) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(n));
    std::iota(index.begin(), index.end(), 0);
    return std::make_unique<NearestRun>(std::vector{picking(axis, n, std::move(index))});
}

}  // namespace

ResamplePlan ResamplePlan::nearest(const std::vector<MappedAxis>& axes, NearestRule rule) {
    std::vector<AxisTable> moved;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        std::vector<std::int64_t> index = axes[d].map.nearest(axes[d].n_in, axes[d].n_out, rule);
        if (!is_identity(index, axes[d].n_in)) moved.push_back(picking(static_cast<int>(d), axes[d].n_in, std::move(index)));
    }
    ResamplePlan plan;
    if (moved.empty())
        plan.nearest_ = copying(static_cast<int>(axes.size()) - 1, axes.back().n_in);
    else
        plan.nearest_ = std::make_unique<NearestRun>(std::move(moved));
    return plan;
}

ResamplePlan ResamplePlan::linear(const std::vector<MappedAxis>& axes, Type type) {
    ResamplePlan plan;
    plan.type_ = type;
    std::vector<AxisTable> tables;
    std::vector<WeightDenominator> denominators;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        LinearTaps taps = axes[d].map.linear(axes[d].n_in, axes[d].n_out, WeightType::f32);
        if (taps.is_identity(axes[d].n_in)) continue;
        denominators.push_back(taps.denominator);
        tables.push_back(table_of(static_cast<int>(d), axes[d].n_in, std::move(taps)));
    }
    if (tables.empty()) {
        plan.nearest_ = copying(static_cast<int>(axes.size()) - 1, axes.back().n_in);
        return plan;
    }
    if (kTypeSize[static_cast<int>(type)] == 1) plan.prepare_integers(axes, tables, denominators);
    std::vector<int> order = order_of(tables, plan.work_);
    Resampling resampling{type, plan.work_, {}, std::move(order), {}};
    for (AxisTable& t : tables) resampling.axes.emplace_back(std::move(t));
    plan.linear_ = std::make_unique<ResampleRun>(std::move(resampling), false);
    return plan;
}

// Chooses the cheapest arithmetic that decides all results rightly: exact results are multiples of one over the grid.
//
// Floats: each axis adds at most 4 u M to the error, where M bounds the differences of values: the rounded weight, a difference,
// a product and a sum; the quarter of a step added before the cut adds u (M + 2).
void ResamplePlan::prepare_integers(const std::vector<MappedAxis>& axes, std::vector<AxisTable>& tables,
                                    const std::vector<WeightDenominator>& denominators) {
    const std::uint64_t grid = grid_of(denominators);
    rounding_.rule = Rule::truncate_by_sign;
    if (type_ == Type::u8 && grid > 1 && grid <= 256) {
        work_ = Work::u16;
        rounding_ = division(static_cast<std::uint32_t>(grid));
        rounding_.rule = Rule::truncate_by_sign;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            tables[t].one = static_cast<double>(denominators[t].odd << denominators[t].shift);
            for (double& w : tables[t].weight) w = std::floor(w * tables[t].one + 0.5);  // the numerator: the grid is coarse
        }
        return;
    }
    const double errors = 256.0 * static_cast<double>(4 * tables.size() + 4);
    for (const auto& [work, unit] : {std::pair{Work::f32, 0x1p-24}, std::pair{Work::f64, 0x1p-53}}) {
        work_ = work;
        doubt_.bound = unit * errors;
        // The product is exact: both have few bits.
        if (grid < std::uint64_t{1} << 44 && 4 * doubt_.bound * static_cast<double>(grid) < 1) {
            rounding_.half_step = 1 / (4 * static_cast<double>(grid));
            doubt_.bound = 0;
            break;
        }
    }
    if (work_ == Work::f32) return;
    for (AxisTable& t : tables) {
        const MappedAxis& a = axes[static_cast<std::size_t>(t.axis)];
        t.weight = a.map.linear(a.n_in, a.n_out, WeightType::f64).weight;
    }
    if (doubt_.bound == 0) return;
    for (const AxisTable& t : tables) exact_.push_back({t.axis, axes[static_cast<std::size_t>(t.axis)].map, t.first, t.second});
}

Outcome ResamplePlan::operator()(const ArrayView& data, const ArrayView& out) const {
    if (nearest_) return (*nearest_)(data, out, kNoPoll);
    std::vector<std::int64_t> doubtful;
    const Outcome outcome = (*linear_)(data, out, rounding_, doubt_, doubtful, kNoPoll);
    if (outcome == Outcome::done)
        for (const std::int64_t position : doubtful) settle(data, out, position);
    return outcome;
}

// Computes the result at a row-major position of out in integers.
void ResamplePlan::settle(const ArrayView& data, const ArrayView& out, std::int64_t position) const {
    // Denominators are below 2**301, on at most four axes (those of a RESAMPLE); values below 2**8.
    using Sum = Wide<20>;
    std::vector<std::int64_t> at(static_cast<std::size_t>(out.rank));
    for (int d = out.rank; d-- > 0;) {
        at[static_cast<std::size_t>(d)] = position % out.shape[d];
        position /= out.shape[d];
    }
    const std::byte* source = data.data;
    std::byte* target = out.data;
    for (int d = 0; d < out.rank; ++d) {
        const std::int64_t c = at[static_cast<std::size_t>(d)];
        target += c * out.strides[d];
        if (std::none_of(exact_.begin(), exact_.end(), [d](const ExactAxis& a) { return a.axis == d; })) source += c * data.strides[d];
    }
    Sum total, denominator(1);
    for (const ExactAxis& a : exact_) denominator = denominator * Sum(a.map.denominator());
    for (std::size_t corner = 0; corner < std::size_t{1} << exact_.size(); ++corner) {
        Sum weight(1);
        const std::byte* p = source;
        for (std::size_t t = 0; t < exact_.size(); ++t) {
            const ExactAxis& a = exact_[t];
            const std::int64_t output = at[static_cast<std::size_t>(a.axis)];
            const std::int64_t first = a.first[static_cast<std::size_t>(output)], second = a.second[static_cast<std::size_t>(output)];
            AxisMap::Integer of_second = first == second ? AxisMap::Integer() : a.map.remainder(output, first);
            const bool takes_second = corner >> t & 1;
            weight = weight * Sum(takes_second ? of_second : a.map.denominator() - of_second);
            p += (takes_second ? second : first) * data.strides[a.axis];
        }
        const int value = type_ == Type::u8 ? std::to_integer<int>(*p) : static_cast<std::int8_t>(*p);
        const Sum product = weight * static_cast<std::uint32_t>(std::abs(value));
        value < 0 ? total -= product : total += product;
    }
    const bool negative = total.is_negative();
    if (negative) total = -total;
    int result = 0;  // the largest with result * denominator <= total
    for (int bit = 128; bit; bit /= 2)
        if (total >= denominator * static_cast<std::uint32_t>(result + bit)) result += bit;
    *target = static_cast<std::byte>(negative ? -result : result);
}

}  // namespace remapnd
