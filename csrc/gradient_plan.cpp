#include "gradient_plan.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace remapnd {
namespace {

const Poll kNoPoll = [] { return false; };

// How many times as many outputs share an edge as share any other sample before it has a table of its own.
constexpr std::int64_t kLong = 8;

// Samples first, first + 1, ... of an axis, and for each the run of outputs that it takes part in.
struct Turned {
    std::int64_t first;
    FilterTable table;
};

struct Entry {
    std::int64_t output, sample;
    double weight;
};

// Taps of weights that are not zero, in the order of the outputs.
std::vector<Entry> entries(const AxisTable& t) {
    std::vector<Entry> all;
    for (std::int64_t x = 0; x < t.n_out(); ++x) {
        const auto i = static_cast<std::size_t>(x);
        if (t.first[i] == t.second[i]) {
            all.push_back({x, t.first[i], 1.0});
            continue;
        }
        // A float32, but in this type also threads that take subnormals for zeros see it.
        const double w = t.weight[i];
        const float rest = 1.0f - static_cast<float>(w);
        if (rest != 0) all.push_back({x, t.first[i], rest});
        if (w != 0) all.push_back({x, t.second[i], w});
    }
    return all;
}

// Where samples are cut into tables: behind a long first one, before a long last one.
std::vector<std::int64_t> cuts(const std::vector<std::int64_t>& count) {
    const auto n = static_cast<std::int64_t>(count.size());
    std::int64_t most = kLong;
    if (n > 2) most = std::max(most, *std::max_element(count.begin() + 1, count.end() - 1));
    std::vector<std::int64_t> places{0};
    if (count.front() > kLong * most && n > 1) places.push_back(1);
    if (count.back() > kLong * most && n - 1 > places.back()) places.push_back(n - 1);
    places.push_back(n);
    return places;
}

std::vector<Turned> turned(const AxisTable& t) {
    const std::vector<Entry> all = entries(t);
    const auto n = static_cast<std::size_t>(t.n_in);
    std::vector<std::int64_t> start(n, 0), count(n, 0);
    for (const Entry& e : all) {
        const auto i = static_cast<std::size_t>(e.sample);
        if (count[i] == 0) start[i] = e.output;
        count[i] = e.output + 1 - start[i];
    }
    std::vector<Turned> tables;
    const std::vector<std::int64_t> places = cuts(count);
    for (std::size_t p = 0; p + 1 < places.size(); ++p) {
        const std::int64_t low = places[p], high = places[p + 1];
        const auto begin = count.begin() + low, end = count.begin() + high;
        const std::int64_t widest = std::max<std::int64_t>(1, *std::max_element(begin, end));
        if (high - low > kMostWeights / widest)
            throw TooManyWeights("`Scales` must let outputs share samples such that a gradient takes at most " +
                                 std::to_string(kMostWeights) + " weights, got " + std::to_string(high - low) + " samples of up to " +
                                 std::to_string(widest) + " weights");
        FilterTable table{t.axis, t.n_out(), widest, {start.begin() + low, start.begin() + high}, {begin, end}, {}, {}, {}};
        table.weights.assign(static_cast<std::size_t>((high - low) * widest), 0.0);
        tables.push_back({low, std::move(table)});
    }
    for (const Entry& e : all) {
        const auto part = std::find_if(tables.rbegin(), tables.rend(), [&](const Turned& u) { return u.first <= e.sample; });
        FilterTable& table = part->table;
        const std::int64_t sample = e.sample - part->first;
        table.weights[static_cast<std::size_t>(sample * table.width + e.output - table.start[static_cast<std::size_t>(sample)])] = e.weight;
    }
    return tables;
}

}  // namespace

GradientPlan GradientPlan::nearest(const std::vector<MappedAxis>& axes, NearestRule rule, Type type) {
    std::vector<AxisTable> tables;
    for (std::size_t d = 0; d < axes.size(); ++d)
        tables.push_back(picking(static_cast<int>(d), axes[d].n_in, axes[d].map.nearest(axes[d].n_in, axes[d].n_out, rule)));
    return {axes, tables, type};
}

GradientPlan GradientPlan::linear(const std::vector<MappedAxis>& axes, Type type) {
    std::vector<AxisTable> tables;
    for (std::size_t d = 0; d < axes.size(); ++d)
        tables.push_back(blending(static_cast<int>(d), axes[d].n_in, axes[d].map.linear(axes[d].n_in, axes[d].n_out, WeightType::f32)));
    return {axes, tables, type};
}

// Every combination of the tables of the axes makes a part of the result.
GradientPlan::GradientPlan(const std::vector<MappedAxis>& axes, const std::vector<AxisTable>& tables, Type type) {
    std::vector<std::vector<Turned>> all;
    std::vector<ResampledAxis> lengths;
    for (const AxisTable& t : tables) {
        if (is_identity(t)) continue;
        all.push_back(turned(t));
        lengths.push_back({t.axis, t.n_out(), t.n_in});
    }
    if (all.empty()) {
        copy_ = copying(static_cast<int>(axes.size()) - 1, axes.back().n_in);
        return;
    }
    const std::vector<int> order = pass_order(lengths);
    std::size_t combinations = 1;
    for (const auto& of_axis : all) combinations *= of_axis.size();
    for (std::size_t c = 0; c < combinations; ++c) {
        Part part;
        Resampling resampling{type, Work::f32, {}, order, {}};
        std::size_t rest = c;
        for (const auto& of_axis : all) {
            const Turned& t = of_axis[rest % of_axis.size()];
            rest /= of_axis.size();
            part.samples.push_back({t.table.axis, t.first, t.table.n_out()});
            resampling.axes.emplace_back(t.table);
        }
        part.run = std::make_unique<ResampleRun>(std::move(resampling), false);
        parts_.push_back(std::move(part));
    }
}

Outcome GradientPlan::operator()(const ArrayView& gradient, const ArrayView& out) const {
    if (copy_) return (*copy_)(gradient, out, kNoPoll);
    std::vector<std::int64_t> doubtful;
    for (const Part& part : parts_) {
        std::array<std::intptr_t, kMaxRank> shape;
        std::copy(out.shape, out.shape + out.rank, shape.begin());
        ArrayView to{out.data, out.rank, shape.data(), out.strides, out.itemsize};
        for (const Samples& s : part.samples) {
            shape[static_cast<std::size_t>(s.axis)] = static_cast<std::intptr_t>(s.count);
            to.data += s.first * out.strides[s.axis];
        }
        const Outcome outcome = (*part.run)(gradient, to, Rounding(), Doubt(), doubtful, kNoPoll);
        if (outcome != Outcome::done) return outcome;
    }
    return Outcome::done;
}

}  // namespace remapnd
