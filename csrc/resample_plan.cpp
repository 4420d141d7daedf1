#include "resample_plan.hpp"

#include <algorithm>
#include <cmath>

#include "byte_division.hpp"

namespace remapnd {
namespace {

const Poll kNoPoll = [] { return false; };

constexpr double kMagnitude = 256;  // above all differences of 8-bit integers
constexpr double kFew = 0x1p-6;     // results in doubt: what looking twice at them costs less than float64 for all
constexpr std::uint64_t kRareTies = 3000;            // from this grid on, so few results are exact ties that these can go to integers
constexpr std::uint64_t kFinest = std::uint64_t{1} << 44;  // the finest grid that is looked at

// A product, or kUnknownDenominator where it is larger.
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b > kUnknownDenominator / a ? kUnknownDenominator : a * b; }

std::uint64_t value_of(const WeightDenominator& d) { return d.shift >= 32 ? kUnknownDenominator : std::uint64_t{d.odd} << d.shift; }

// What an axis does to errors and to the range of values.
struct Growth {
    bool filter;
    std::int64_t taps = 2;
    double gain = 1, spread = 1;  // bounds of the sums of magnitudes of the weights; the same without the base tap

    explicit Growth(const ResampleTable& table) : filter(std::holds_alternative<FilterTable>(table)) {
        if (!filter) return;
        const auto& t = std::get<FilterTable>(table);
        taps = t.widest();
        double all = 0, others = 0;
        for (std::int64_t x = 0; x < t.n_out(); ++x) {
            double sum = 0;
            for (std::int64_t k = 0; k < t.count[static_cast<std::size_t>(x)]; ++k) sum += std::fabs(t.fine_of(x)[k]);
            all = std::max(all, sum);
            others = std::max(others, sum - std::fabs(t.fine_of(x)[t.base_of(x)]));
        }
        gain = all * (1 + 0x1p-20);
        spread = others * (1 + 0x1p-20);
    }
};

// Bound of the error of results in floats of a unit roundoff, before they are rounded; remapnd.plans.arithmetic derives it.
double error_of(double unit, const std::vector<Growth>& axes) {
    double error = 0, largest = kMagnitude, difference = kMagnitude, slack = 1;
    for (const Growth& a : axes) {
        if (!a.filter) {
            error += unit * (3 * difference + largest);
            continue;
        }
        const auto taps = static_cast<double>(a.taps);
        largest += (a.gain - 1) / 2 * difference;
        const double based = (taps + 1) * a.spread * difference + largest;
        error = a.gain * error + unit * std::max(based, (taps / 2 + 3) * a.gain * largest);
        difference *= a.gain;
        slack += 2 * (taps + 4) * unit;
    }
    error = (error + unit * 4 * largest) * slack;
    return slack < 1.25 ? error : HUGE_VAL;
}

// The same of sums in float64 over all combinations of taps: products of weights and values.
double fine_error_of(const std::vector<Growth>& axes) {
    double terms = 1, gain = 1;
    for (const Growth& a : axes) {
        terms *= static_cast<double>(a.taps);
        gain *= a.gain;
    }
    return 0x1p-53 * (terms + 2 * static_cast<double>(axes.size()) + 6) * gain * kMagnitude * 1.25;
}

void use_fine_weights(FilterTable& t) {
    t.weights = std::move(t.fine);
    t.fine.clear();
    for (std::int64_t x = 0; x < t.n_out(); ++x) {
        const double* w = t.weights_of(x);
        t.base[static_cast<std::size_t>(x)] = std::max_element(w, w + t.count[static_cast<std::size_t>(x)]) - w;
    }
}

}  // namespace

ResamplePlan ResamplePlan::nearest(const std::vector<MappedAxis>& axes, NearestRule rule) {
    std::vector<AxisTable> moved;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        AxisTable table = picking(static_cast<int>(d), axes[d].n_in, axes[d].map.nearest(axes[d].n_in, axes[d].n_out, rule));
        if (!is_identity(table)) moved.push_back(std::move(table));
    }
    ResamplePlan plan;
    if (moved.empty())
        plan.nearest_ = copying(static_cast<int>(axes.size()) - 1, axes.back().n_in);
    else
        plan.nearest_ = std::make_unique<NearestRun>(std::move(moved));
    return plan;
}

ResamplePlan ResamplePlan::linear(const std::vector<MappedAxis>& axes, Type type, bool antialiased) {
    ResamplePlan plan;
    plan.type_ = type;
    const bool integers = kTypeSize[static_cast<int>(type)] == 1;
    std::vector<Pass> passes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const int axis = static_cast<int>(d);
        const MappedAxis& mapped = axes[d];
        if (antialiased && is_stretched(mapped)) {
            Filtered f = filtered(axis, mapped, true, WeightType::f32, integers);
            if (!is_identity(f.table)) passes.push_back({axis, &mapped, true, f.denominator, std::move(f.table)});
            continue;
        }
        LinearTaps taps = mapped.map.linear(mapped.n_in, mapped.n_out, WeightType::f32);
        const std::uint64_t denominator = value_of(taps.denominator);
        AxisTable table = blending(axis, mapped.n_in, std::move(taps));
        if (!is_identity(table)) passes.push_back({axis, &mapped, false, denominator, std::move(table)});
    }
    if (passes.empty()) {
        plan.nearest_ = copying(static_cast<int>(axes.size()) - 1, axes.back().n_in);
        return plan;
    }
    std::vector<ResampledAxis> lengths;
    for (const Pass& p : passes) lengths.push_back({p.axis, p.mapped->n_in, p.mapped->n_out});
    std::vector<int> order = pass_order(lengths);
    if (integers) plan.prepare_integers(passes, order);
    if (plan.work_ == Work::u16 && order.size() == 2) order = {1, 0};
    Resampling resampling{type, plan.work_, {}, std::move(order), {}};
    for (Pass& p : passes) resampling.axes.push_back(std::move(p.table));
    plan.linear_ = std::make_unique<ResampleRun>(std::move(resampling), false);
    return plan;
}

// Chooses the cheapest arithmetic that decides all results rightly: exact results are multiples of one over the grid.
void ResamplePlan::prepare_integers(std::vector<Pass>& passes, const std::vector<int>& order) {
    std::uint64_t grid = 1;
    std::vector<Growth> growth;
    for (const Pass& p : passes) grid = times(grid, p.denominator);
    for (const int p : order) growth.emplace_back(passes[static_cast<std::size_t>(p)].table);
    const bool filters = std::any_of(growth.begin(), growth.end(), [](const Growth& g) { return g.filter; });
    rounding_.rule = Rule::truncate_by_sign;
    if (type_ == Type::u8 && !filters && grid > 1 && grid <= 256) {
        work_ = Work::u16;
        rounding_ = byte_division(static_cast<std::uint32_t>(grid), 0);
        rounding_.rule = Rule::truncate_by_sign;
        for (Pass& p : passes) {
            auto& table = std::get<AxisTable>(p.table);
            table.one = static_cast<double>(p.denominator);
            for (double& w : table.weight) w = std::floor(w * table.one + 0.5);  // the numerator: the grid is coarse
        }
        return;
    }
    for (const auto& [work, unit] : {std::pair{Work::f32, 0x1p-24}, std::pair{Work::f64, 0x1p-53}}) {
        work_ = work;
        doubt_ = {error_of(unit, growth), 0};
        // Both the bound and its product err by less than the difference from 1.
        if (grid < kFinest && 4 * doubt_.bound * static_cast<double>(grid) < 1 - 0x1p-40) {
            rounding_.half_step = 1 / (4 * static_cast<double>(grid));
            doubt_.bound = 0;
            break;
        }
        if (work == Work::f32 && filters && grid >= kRareTies && doubt_.bound <= kFew) {
            doubt_.fine_bound = fine_error_of(growth);
            doubt_.ties = grid < kFinest && 4 * doubt_.fine_bound * static_cast<double>(grid) < 1 - 0x1p-40;
            break;
        }
    }
    for (Pass& p : passes) {
        auto* filter = std::get_if<FilterTable>(&p.table);
        if (work_ == Work::f64 && filter)
            use_fine_weights(*filter);
        else if (work_ == Work::f64)
            std::get<AxisTable>(p.table).weight = p.mapped->map.linear(p.mapped->n_in, p.mapped->n_out, WeightType::f64).weight;
        else if (doubt_.fine_bound > 0 && !filter)
            p.table = filtered(p.axis, *p.mapped, false, WeightType::f32, true).table;
        if (doubt_.bound > 0) exact_.push_back({p.axis, ExactWeights(*p.mapped, p.stretched)});
    }
}

Outcome ResamplePlan::operator()(const ArrayView& data, const ArrayView& out) const {
    if (nearest_) return (*nearest_)(data, out, kNoPoll);
    std::vector<std::int64_t> doubtful;
    const Outcome outcome = (*linear_)(data, out, rounding_, doubt_, doubtful, kNoPoll);
    if (outcome == Outcome::done)
        for (const std::int64_t position : doubtful) settle(data, out, position);
    return outcome;
}

namespace {

// Denominators are below 2**470, on at most four axes; values below 2**8.
using Sum = Wide<32>;

// Numerators along an axis whose samples are `stride` bytes apart.
struct ExactLine {
    ExactRow row;
    std::intptr_t stride;
};

// The sum of the products of values and numerators of all axes from `a` on; the first sample of these lies at p.
Sum exact_sum(const std::vector<ExactLine>& lines, std::size_t a, const std::byte* p, Type type) {
    const ExactLine& line = lines[a];
    Sum total;
    for (const AxisMap::Integer& numerator : line.row.numerators) {
        if (a + 1 < lines.size()) {
            const Sum part = exact_sum(lines, a + 1, p, type);
            const Sum product = Sum(numerator) * (part.is_negative() ? -part : part);
            part.is_negative() ? total -= product : total += product;
        } else {
            const int value = type == Type::u8 ? std::to_integer<int>(*p) : static_cast<std::int8_t>(*p);
            const Sum product = Sum(numerator) * static_cast<std::uint32_t>(std::abs(value));
            value < 0 ? total -= product : total += product;
        }
        p += line.stride;
    }
    return total;
}

}  // namespace

// Computes the result at a row-major position of out in integers.
void ResamplePlan::settle(const ArrayView& data, const ArrayView& out, std::int64_t position) const {
    const std::byte* source = data.data;
    std::byte* target = out.data;
    std::vector<ExactLine> lines;
    Sum denominator(1);
    for (int d = out.rank; d-- > 0;) {
        const std::int64_t c = position % out.shape[d];
        position /= out.shape[d];
        target += c * out.strides[d];
        const auto changed = std::find_if(exact_.begin(), exact_.end(), [d](const ExactAxis& a) { return a.axis == d; });
        if (changed == exact_.end()) {
            source += c * data.strides[d];
            continue;
        }
        lines.push_back({changed->weights.row(c), data.strides[d]});
        source += lines.back().row.first * data.strides[d];
        denominator = denominator * Sum(lines.back().row.denominator);
    }
    Sum total = exact_sum(lines, 0, source, type_);
    const bool negative = total.is_negative();
    if (negative) total = -total;
    int result = 0;  // the largest with result * denominator <= total
    for (int bit = 128; bit; bit /= 2)
        if (total >= denominator * static_cast<std::uint32_t>(result + bit)) result += bit;
    *target = static_cast<std::byte>(negative ? -result : result);
}

}  // namespace remapnd
