#include "resample_run.hpp"

#include <cmath>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "dispatch.hpp"
#include "met.hpp"
#include "resample_task.hpp"

namespace remapnd {
namespace {

// Rows are kept for each corner of an output, 2 ** axes of them.
constexpr std::size_t kMaxAxes = 16;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check_integers(const std::vector<ResampleTable>& axes, double most) {
    double product = 1;
    for (const ResampleTable& axis : axes) {
        const auto* t = std::get_if<AxisTable>(&axis);
        require(t != nullptr, "filter axes have no integers as their working type");
        require(t->one >= 1 && t->one <= INT16_MAX, "denominators must lie in [1, 32767]");
        product *= t->one;
        for (const double w : t->weight) require(w >= 0 && w <= t->one, "weights must lie in [0, one]");
    }
    require(product <= most, "the product of denominators must be at most 256");
}

// What the segments of a call depend on beside the table.
struct SegmentKey {
    std::int64_t block, length;
    WindowSizes sizes;

    bool operator==(const SegmentKey&) const = default;
};

}  // namespace

// The call made last, for those that differ from it in nothing but where the arrays lie.
template <class W>
class LastCall {
public:
    // That call, or what make() returns.
    template <class Make>
    std::shared_ptr<const ResampleCall<W>> get(const Kernels& level, const ArrayView& data, const ArrayView& out,
                                               const Rounding& rounding, const Doubt& doubt, const Make& make) {
        std::unique_lock lock(mutex_, std::try_to_lock);  // which never waits: a fork may have left it locked
        if (lock && call_ && level_ == &level && rounding_ == rounding && doubt_ == doubt && data_.is_of(data) && out_.is_of(out))
            return call_;
        auto fresh = std::make_shared<const ResampleCall<W>>(make());
        if (lock) {
            call_.reset();  // nothing fits if what follows finds no memory
            level_ = &level, rounding_ = rounding, doubt_ = doubt;
            data_ = Layout(data), out_ = Layout(out);
            call_ = fresh;
        }
        return fresh;
    }

private:
    struct Layout {
        std::vector<std::intptr_t> shape, strides;

        Layout() = default;
        explicit Layout(const ArrayView& a) : shape(a.shape, a.shape + a.rank), strides(a.strides, a.strides + a.rank) {}
        bool is_of(const ArrayView& a) const {
            return shape.size() == static_cast<std::size_t>(a.rank) && std::equal(shape.begin(), shape.end(), a.shape) &&
                   std::equal(strides.begin(), strides.end(), a.strides);
        }
    };

    std::mutex mutex_;
    const Kernels* level_ = nullptr;
    Rounding rounding_;
    Doubt doubt_;
    Layout data_, out_;
    std::shared_ptr<const ResampleCall<W>> call_;
};

struct ResampleRun::Cache {
    template <class W>
    struct Of {
        Met<SegmentKey, std::vector<Segment<W>>> segments;
        LastCall<W> last;
    };

    std::tuple<Of<float>, Of<double>, Of<std::uint16_t>, Of<std::uint32_t>> of;
};

ResampleRun::ResampleRun(Resampling resampling, bool pairs)
    : r_(std::move(resampling)), pairs_(pairs), cache_(std::make_unique<Cache>()) {
    check(r_.axes);
    require(kernels().resample->type[static_cast<int>(r_.type)][static_cast<int>(r_.work)].convert != nullptr,
            "the type has no such working type");
    require(r_.axes.size() <= kMaxAxes, "at most 16 axes can be resampled at once");
    require(r_.order.size() == r_.axes.size(), "order must name every axis");
    std::vector<bool> seen(r_.axes.size());
    for (const int a : r_.order) {
        require(a >= 0 && a < static_cast<int>(r_.axes.size()) && !seen[a], "order must be a permutation");
        seen[a] = true;
    }
    if (r_.work == Work::u16) check_integers(r_.axes, 256);
    if (r_.work == Work::u32) check_integers(r_.axes, INFINITY);
    for (const ResampleTable& t : r_.axes) {
        const auto* filter = std::get_if<FilterTable>(&t);
        const bool bytes = filter && r_.type == Type::u8 && r_.work == Work::f32;
        r_.whole.push_back(bytes ? WholeWeights(*filter) : WholeWeights());
        r_.ramps.push_back(bytes ? Ramps(*filter, r_.whole.back()) : Ramps());
    }
}

ResampleRun::~ResampleRun() = default;

namespace {

// The view of complex numbers as pairs along a new last axis.
struct PairView {
    std::vector<std::intptr_t> shape, strides;
    ArrayView view;

    explicit PairView(const ArrayView& a)
        : shape(a.shape, a.shape + a.rank), strides(a.strides, a.strides + a.rank) {
        shape.push_back(2);
        strides.push_back(a.itemsize / 2);
        view = {a.data, a.rank + 1, shape.data(), strides.data(), a.itemsize / 2};
    }
};

bool aligned(const ArrayView& a) {
    bool ok = reinterpret_cast<std::uintptr_t>(a.data) % static_cast<std::uintptr_t>(a.itemsize) == 0;
    for (int d = 0; d < a.rank; ++d) ok &= a.shape[d] < 2 || a.strides[d] % a.itemsize == 0;
    return ok;
}

}  // namespace

Outcome ResampleRun::operator()(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                                std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    if (!pairs_) return run(data, out, rounding, doubt, doubtful, poll);
    require(data.itemsize % 2 == 0 && out.itemsize % 2 == 0, "items must be pairs");
    return run(PairView(data).view, PairView(out).view, rounding, doubt, doubtful, poll);
}

Outcome ResampleRun::run(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                         std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    const std::intptr_t size = kTypeSize[static_cast<int>(r_.type)];
    require(data.itemsize == size && out.itemsize == size, "item sizes must be those of the type");
    require(aligned(data) && aligned(out), "data and out must be aligned");
    if (is_empty(out)) return Outcome::done;
    switch (r_.work) {
        case Work::f32: return run_as<float>(data, out, rounding, doubt, doubtful, poll);
        case Work::f64: return run_as<double>(data, out, rounding, doubt, doubtful, poll);
        case Work::u16: return run_as<std::uint16_t>(data, out, rounding, doubt, doubtful, poll);
        default: return run_as<std::uint32_t>(data, out, rounding, doubt, doubtful, poll);
    }
}

template <class W>
Outcome ResampleRun::run_as(const ArrayView& data, const ArrayView& out, const Rounding& rounding, const Doubt& doubt,
                            std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    auto& cache = std::get<Cache::Of<W>>(cache_->of);
    const auto segmented = [&](const ResampleTable* t, std::int64_t block, std::int64_t length, WindowSizes sizes) {
        const auto make = [&] { return segments<W>(t, lengths({*t})[0].n_out, block, length, sizes); };
        return cache.segments.get({block, length, sizes}, make);
    };
    const Kernels& level = kernels();
    const auto make = [&] { return ResampleCall<W>(r_, level, data, out, rounding, doubt, segmented); };
    const auto kept = cache.last.get(level, data, out, rounding, doubt, make);
    const ResampleCall<W>& call = *kept;
    std::mutex lock;
    const auto task = [&](std::int64_t t) {
        const std::int64_t begin = t % call.tasks_per_segment * call.rows_per_task;
        const Segment<W>& segment = (*call.segments)[static_cast<std::size_t>(t / call.tasks_per_segment)];
        ResampleTask<W> rows(call, segment, data.data, out.data);
        rows.rows(begin, std::min(begin + call.rows_per_task, call.geometry.rows), doubtful, lock);
        if (call.large) call.kernels.end_stream();
    };
    return run_all(call.tasks(), task, poll);
}

}  // namespace remapnd
