// A resampling of all axes by float32 scales and offsets, prepared: what remapnd.plans.resample does for any rationals.
#pragma once
#include <memory>
#include <vector>

#include "axis_map.hpp"
#include "call.hpp"
#include "resample_run.hpp"
#include "nearest_run.hpp"

namespace remapnd {

// One axis: n_in samples to n_out along `map`.
struct MappedAxis {
    AxisMap map;
    std::int64_t n_in, n_out;
};

// Used by any number of threads at once.
class ResamplePlan {
public:
    // Items of `itemsize` bytes are moved.
    static ResamplePlan nearest(const std::vector<MappedAxis>& axes, NearestRule rule);
    // Type is u8, i8, f16 or f32; integers are cut towards zero, once, from the exact result.
    static ResamplePlan linear(const std::vector<MappedAxis>& axes, Type type);

    // data and out have as many axes, of these lengths; what ResampleRun and NearestRun say of them holds here.
    Outcome operator()(const ArrayView& data, const ArrayView& out) const;

private:
    ResamplePlan() = default;
    void prepare_integers(const std::vector<MappedAxis>& axes, std::vector<AxisTable>& tables,
                          const std::vector<WeightDenominator>& denominators);
    void settle(const ArrayView& data, const ArrayView& out, std::int64_t position) const;

    struct ExactAxis {
        int axis;
        AxisMap map;
        std::vector<std::int64_t> first, second;
    };

    std::unique_ptr<NearestRun> nearest_;
    std::unique_ptr<ResampleRun> linear_;
    Type type_ = Type::f32;
    Work work_ = Work::f32;
    Rounding rounding_;
    Doubt doubt_;                    // what is in it is settled by integers
    std::vector<ExactAxis> exact_;   // what that takes
};

}  // namespace remapnd
