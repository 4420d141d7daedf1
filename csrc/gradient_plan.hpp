// The gradient of a resampling of all axes by float32 scales and offsets: what remapnd.plans.adjoint does for any rationals.
#pragma once
#include <memory>
#include <vector>

#include "call.hpp"
#include "mapped_axis.hpp"
#include "resample_run.hpp"

namespace remapnd {

// Used by any number of threads at once.
class GradientPlan {
public:
    // Axes are those of the forward resampling; type is f16 or f32.  Throw TooManyWeights.
    static GradientPlan nearest(const std::vector<MappedAxis>& axes, NearestRule rule, Type type);
    static GradientPlan linear(const std::vector<MappedAxis>& axes, Type type);

    // From the gradient of the forward output to that of its data.
    Outcome operator()(const ArrayView& gradient, const ArrayView& out) const;

private:
    // Samples of the result that have tables of their own.
    struct Samples {
        int axis;
        std::int64_t first, count;
    };
    struct Part {
        std::vector<Samples> samples;
        std::unique_ptr<ResampleRun> run;
    };

    GradientPlan(const std::vector<MappedAxis>& axes, const std::vector<AxisTable>& tables, Type type);

    std::unique_ptr<NearestRun> copy_;  // where nothing is to be summed
    std::vector<Part> parts_;
};

}  // namespace remapnd
