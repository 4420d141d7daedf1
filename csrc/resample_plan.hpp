// A resampling of all axes by float32 scales and offsets, prepared: what remapnd.plans.resample does for any rationals.
#pragma once
#include <memory>
#include <vector>

#include "call.hpp"
#include "mapped_axis.hpp"
#include "nearest_run.hpp"
#include "resample_run.hpp"

namespace remapnd {

// Used by any number of threads at once.
class ResamplePlan {
public:
    // Items of `itemsize` bytes are moved.
    static ResamplePlan nearest(const std::vector<MappedAxis>& axes, NearestRule rule);
    // Type is u8, i8, f16 or f32; integers are cut towards zero, once, from the exact result.  At most four axes, of integers.
    // Antialiased, by a triangle along axes that shrink to less than half; throws TooManyWeights.
    static ResamplePlan linear(const std::vector<MappedAxis>& axes, Type type, bool antialiased);

    // data and out have as many axes, of these lengths; what ResampleRun and NearestRun say of them holds here.
    Outcome operator()(const ArrayView& data, const ArrayView& out) const;

private:
    ResamplePlan() = default;
    // An axis along which anything happens.
    struct Pass {
        int axis;
        const MappedAxis* mapped;
        bool stretched;
        std::uint64_t denominator;  // of the exact weights
        ResampleTable table;
    };
    struct ExactAxis {
        int axis;
        ExactWeights weights;
    };

    void prepare_integers(std::vector<Pass>& passes, const std::vector<int>& order);
    void settle(const ArrayView& data, const ArrayView& out, std::int64_t position) const;

    std::unique_ptr<NearestRun> nearest_;
    std::unique_ptr<ResampleRun> linear_;
    Type type_ = Type::f32;
    Work work_ = Work::f32;
    Rounding rounding_;
    Doubt doubt_;                    // what is in it is settled by integers
    std::vector<ExactAxis> exact_;   // what that takes
};

}  // namespace remapnd
