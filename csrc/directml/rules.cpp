#include "rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "overlap.hpp"
#include "remapnd_directml.h"
#include "tables.hpp"

namespace remapnd::directml {
namespace {

// Of all tensors below and from feature level 3_0.
constexpr int kFewDimensions = 5;
constexpr std::uint32_t kLevel30 = 0x3000;

// And finite; by the bits, so that threads that take subnormals for zeros see the same.
bool is_positive(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits > 0 && bits < 0x7F800000;
}

std::string indexed(const std::string& field, std::size_t d) { return field + "[" + std::to_string(d) + "]"; }

const char* type_name(std::uint32_t type) { return kDataTypes[type]; }

int most_dimensions(const SupportRow& row) {
    return std::min(row.most_dimensions, row.since < kLevel30 ? kFewDimensions : kMaxDimensions);
}

class Rules {
public:
    Rules(const Descriptor& desc, const Level& level, Violations& violations)
        : d_(desc), op_(*desc.op), level_(level), violations_(violations) {}

    void common() {
        const Level& first = *find_level(op_.rows[0].since);
        if (level_.value < first.value)
            violations_.add("Type", std::string("must be an operator of feature level ") + level_.name, op_.name, first.name);
        supported_tensors(level_.value < first.value ? first : level_);
        equal_dimension_counts();
        equal_data_types();
        const Tensor& output = d_.tensors.back();
        if (output.owned) violations_.add(output.name + ".Flags", "must be NONE for an output", "OWNED_BY_DML");
        // What reaches too far has been reported.
        if (output.extent_known && overlaps_itself(output.sizes, output.strides))
            violations_.report(output.name + ".Strides",
                               "must give each element of Sizes " + text_of(output.sizes) + " its own address (output_overlap is 'reject')",
                               output.strides);
    }

    // Require Axis to be a dimension.
    void axis_in_range() {
        const Sizes* data = sizes("InputTensor");
        if (data && d_.axis >= data->size()) violations_.report("Axis", "must lie in [0, " + text_of(count(*data)) + ")", d_.axis);
    }

    // Require the indices to be no larger than the input off the axis.
    void off_axis_sizes() {
        const Sizes *data = sizes("InputTensor"), *indices = sizes("IndicesTensor");
        if (!data || !indices || data->size() != indices->size() || d_.axis >= data->size()) return;
        for (std::size_t d = 0; d < data->size(); ++d)
            if (d != d_.axis && (*indices)[d] > (*data)[d])
                violations_.report(indexed("IndicesTensor.Sizes", d),
                                   "must be at most " + indexed("InputTensor.Sizes", d) + " = " + text_of((*data)[d]), (*indices)[d]);
    }

    // Require one tensor to have the sizes of another.
    void same_sizes(const char* name, const char* other) {
        const Sizes *found = sizes(name), *expected = sizes(other);
        if (found && expected && *found != *expected)
            violations_.report(std::string(name) + ".Sizes", "must equal " + std::string(other) + ".Sizes = " + text_of(*expected), *found);
    }

    // Require IndexDimensions and the output sizes of GATHER to fit.
    void gather_sizes() {
        const Sizes *data = sizes("InputTensor"), *indices = sizes("IndicesTensor");
        if (!indices) return;
        if (d_.index_dimensions > indices->size()) {
            violations_.report("IndexDimensions", "must lie in [0, " + text_of(count(*indices)) + "]", d_.index_dimensions);
            return;
        }
        const Sizes real = without_padding("IndicesTensor", *indices, "IndexDimensions", d_.index_dimensions);
        if (!data || d_.axis >= data->size()) return;
        Sizes body(data->begin(), data->begin() + d_.axis);
        body.insert(body.end(), real.begin(), real.end());
        body.insert(body.end(), data->begin() + d_.axis + 1, data->end());
        while (body.size() > data->size() && body[0] == 1) body.erase(body.begin());
        padded_sizes("OutputTensor", body);
    }

    // Require counts, tuple length and sizes to fit; `items` has one slice for each index tuple.
    void index_tuples(const char* items) {
        const auto data = real_sizes("InputTensor", "InputDimensionCount", d_.input_dimensions);
        const auto indices = real_sizes("IndicesTensor", "IndicesDimensionCount", d_.indices_dimensions);
        if (!data || !indices) return;
        const std::size_t batch = d_.batch_dimensions, fewer = std::min(data->size(), indices->size());
        if (batch >= fewer) {
            violations_.report("BatchDimensionCount",
                               "must be less than min(InputDimensionCount, IndicesDimensionCount) = " + std::to_string(fewer),
                               d_.batch_dimensions);
            return;
        }
        const std::size_t data_first = sizes("InputTensor")->size() - data->size();
        const std::size_t indices_first = sizes("IndicesTensor")->size() - indices->size();
        for (std::size_t d = 0; d < batch; ++d)
            if ((*indices)[d] != (*data)[d])
                violations_.report(indexed("IndicesTensor.Sizes", indices_first + d),
                                   "must equal " + indexed("InputTensor.Sizes", data_first + d) + " = " + text_of((*data)[d]) +
                                       ", a batch dimension",
                                   (*indices)[d]);
        const std::size_t length = indices->back(), most = data->size() - batch;
        if (length > most) {
            violations_.report(indexed("IndicesTensor.Sizes", indices_first + indices->size() - 1),
                               std::string("must be at most InputDimensionCount") + (d_.has_batch ? " - BatchDimensionCount" : "") + " = " +
                                   std::to_string(most) + ", as the length of an index tuple",
                               indices->back());
            return;
        }
        Sizes body(indices->begin(), indices->end() - 1);
        body.insert(body.end(), data->begin() + static_cast<std::ptrdiff_t>(batch + length), data->end());
        padded_sizes(items, body);
    }

    // Require the scales of UPSAMPLE_2D to be above 0, and exactly the enlarged sizes.
    void upsampled_sizes() {
        const Sizes *data = sizes("InputTensor"), *output = sizes("OutputTensor");
        if (!data || data->size() < 2) return;
        std::vector<std::uint64_t> expected(data->begin(), data->end());
        const std::pair<const char*, std::uint32_t> scales[] = {{"ScaleSize.Height", d_.scale_height}, {"ScaleSize.Width", d_.scale_width}};
        bool empty = false;
        for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t d = data->size() - 2 + i;
            const auto& [name, scale] = scales[i];
            const std::uint32_t most = std::numeric_limits<std::uint32_t>::max() / (*data)[d];
            if (scale < 1 || scale > most)
                violations_.report(name,
                                   "must lie in [1, " + text_of(most) + "], for " + indexed("InputTensor.Sizes", d) + " = " +
                                       text_of((*data)[d]),
                                   scale);
            expected[d] *= scale;
            empty |= scale == 0;
        }
        if (empty || !output || output->size() != data->size()) return;
        if (!std::equal(expected.begin(), expected.end(), output->begin()))
            violations_.report("OutputTensor.Sizes", "must be " + text_of(expected) + ", as ScaleSize says", *output);
    }

    // Require the count to be that of the dimensions, and numbers that make a map.
    void maps() {
        const Tensor& first = d_.tensors[0];
        if (d_.count != first.sizes.size())
            violations_.report(d_.count_name, "must equal " + first.name + ".DimensionCount = " + text_of(first.dimension_count()),
                               d_.count);
        for (std::size_t i = 0; i < d_.scales.size(); ++i)
            if (!is_positive(d_.scales[i]))
                violations_.report(indexed("Scales", i), "must be above 0 and finite as a float32", d_.scales[i]);
        finite("InputPixelOffsets", d_.into);
        finite("OutputPixelOffsets", d_.onto);
    }

private:
    static int count(const Sizes& sizes) { return static_cast<int>(sizes.size()); }

    const Sizes* sizes(const char* name) const {
        const Tensor* t = d_.find(name);
        return t->sizes_known ? &t->sizes : nullptr;
    }

    // Where the level does not have the operator, `level` is the first that does.
    void supported_tensors(const Level& level) {
        const SupportRow* row = op_.rows;
        for (int i = 1; i < op_.row_count && op_.rows[i].since <= level.value; ++i) row = &op_.rows[i];
        for (const Tensor& t : d_.tensors) {
            const bool index = t.kind == TensorKind::indices;
            const auto types = [index](const SupportRow& r) -> const Types& { return index ? r.indices : r.data; };
            if (!types(*row).has(t.data_type)) {
                std::string names;
                for (int i = 0; i < types(*row).count; ++i) names += (i ? ", " : "") + std::string(type_name(types(*row).at[i]));
                const std::string rule = types(*row).count == 1 ? "must be " : "must be one of ";
                violations_.add(t.name + ".DataType", rule + names + " at feature level " + level.name, type_name(t.data_type),
                                lowest_level([&](const SupportRow& r) { return types(r).has(t.data_type); }));
            }
            const int n = t.dimension_count();
            const auto takes = [n](const SupportRow& r) { return r.least_dimensions <= n && n <= most_dimensions(r); };
            if (!takes(*row)) {
                const int least = row->least_dimensions, most = most_dimensions(*row);
                const std::string rule = least == most ? "must be " + text_of(least) : "must lie in [" + text_of(least) + ", " + text_of(most) + "]";
                violations_.report(t.name + ".DimensionCount", rule + " at feature level " + level.name, n, lowest_level(takes));
            }
        }
    }

    template <class Accepts>
    const char* lowest_level(const Accepts& accepts) const {
        for (int i = 0; i < op_.row_count; ++i)
            if (accepts(op_.rows[i])) return find_level(op_.rows[i].since)->name;
        return nullptr;
    }

    void equal_dimension_counts() {
        const Tensor& first = d_.tensors[0];
        for (const Tensor& t : d_.tensors)
            if (t.sizes.size() != first.sizes.size())
                violations_.report(t.name + ".DimensionCount",
                                   "must equal " + first.name + ".DimensionCount = " + text_of(first.dimension_count()),
                                   t.dimension_count());
    }

    void equal_data_types() {
        const Tensor& first = d_.tensors[0];
        for (const Tensor& t : d_.tensors)
            if (t.kind != TensorKind::indices && t.data_type != first.data_type)
                violations_.add(t.name + ".DataType", "must equal " + first.name + ".DataType = " + type_name(first.data_type),
                                type_name(t.data_type));
    }

    // Require a tensor to have the sizes `body` after leading ones.
    void padded_sizes(const char* name, const Sizes& body) {
        const Sizes* found = sizes(name);
        if (!found) return;
        if (body.size() > found->size()) {
            violations_.report(std::string(name) + ".DimensionCount",
                               "must be at least " + text_of(count(body)) + " to hold the sizes " + text_of(body), count(*found));
            return;
        }
        Sizes expected(found->size() - body.size(), 1);
        expected.insert(expected.end(), body.begin(), body.end());
        if (*found != expected) violations_.report(std::string(name) + ".Sizes", "must be " + text_of(expected), *found);
    }

    // Checks a count and the ones in front of what it counts; the sizes counted.
    std::optional<Sizes> real_sizes(const char* tensor, const char* count_field, std::uint32_t counted) {
        const Sizes* all = sizes(tensor);
        if (!all) return {};
        if (counted < 1 || counted > all->size()) {
            violations_.report(count_field, "must lie in [1, " + text_of(count(*all)) + "]", counted);
            return {};
        }
        return without_padding(tensor, *all, count_field, counted);
    }

    // Checks that the dimensions before the last `counted` are 1; the last ones.
    Sizes without_padding(const char* tensor, const Sizes& all, const char* count_field, std::uint32_t counted) {
        const std::size_t leading = all.size() - counted;
        for (std::size_t d = 0; d < leading; ++d)
            if (all[d] != 1)
                violations_.report(indexed(std::string(tensor) + ".Sizes", d),
                                   "must be 1, as " + std::string(count_field) + " = " + text_of(counted) + " makes the dimensions before " +
                                       std::to_string(leading) + " padding",
                                   all[d]);
        return {all.begin() + static_cast<std::ptrdiff_t>(leading), all.end()};
    }

    void finite(const char* name, const std::vector<float>& values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!std::isfinite(values[i])) violations_.report(indexed(name, i), "must be finite as a float32", values[i]);
    }

    const Descriptor& d_;
    const Operator& op_;
    const Level& level_;
    Violations& violations_;
};

}  // namespace

const Level* find_level(std::uint32_t number) {
    const auto* found = std::find_if(std::begin(kLevels), std::end(kLevels), [number](const Level& l) { return l.value == number; });
    return found == std::end(kLevels) ? nullptr : found;
}

std::string level_names() {
    std::string names;
    for (const Level& l : kLevels) names += (names.empty() ? "" : ", ") + text_of_address(l.value);
    return names;
}

void check(Descriptor& desc, const Level& level, Violations& violations) {
    inspect_tensors(desc, violations);
    Rules rules(desc, level, violations);
    rules.common();
    switch (desc.op->type) {
        case DML_OPERATOR_GATHER:
            rules.axis_in_range();
            rules.gather_sizes();
            return;
        case DML_OPERATOR_GATHER_ELEMENTS:
            rules.axis_in_range();
            rules.off_axis_sizes();
            rules.same_sizes("OutputTensor", "IndicesTensor");
            return;
        case DML_OPERATOR_SCATTER_ELEMENTS:
            rules.axis_in_range();
            rules.off_axis_sizes();
            rules.same_sizes("UpdatesTensor", "IndicesTensor");
            rules.same_sizes("OutputTensor", "InputTensor");
            return;
        case DML_OPERATOR_GATHER_ND:
        case DML_OPERATOR_GATHER_ND1: rules.index_tuples("OutputTensor"); return;
        case DML_OPERATOR_SCATTER_ND:
            rules.index_tuples("UpdatesTensor");
            rules.same_sizes("OutputTensor", "InputTensor");
            return;
        case DML_OPERATOR_UPSAMPLE_2D: rules.upsampled_sizes(); return;
        default: rules.maps();
    }
}

}  // namespace remapnd::directml
