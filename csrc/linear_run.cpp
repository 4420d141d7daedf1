#include "linear_run.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>

#include "dispatch.hpp"
#include "segments.hpp"

namespace remapnd {
namespace {

// Elements of a task: some tens of microseconds, so that starting one costs little and Ctrl-C is seen soon.
constexpr std::int64_t kTask = 131072;
// From this many elements behind the innermost resampled axis on, they are rows of their own.
constexpr std::int64_t kWide = 32;
constexpr std::size_t kMaxAxes = 24;
// Memory that a thread keeps between tasks.
constexpr std::size_t kKept = std::size_t(1) << 20;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class W>
using Segments = std::shared_ptr<const std::vector<Segment<W>>>;

// Memory for the rows of a task, aligned to 64 bytes.
class Arena {
public:
    explicit Arena(std::size_t bytes) {
        if (bytes > kKept) {
            own_.reset(new_bytes(bytes));
        } else if (!kept().bytes) {
            kept().bytes.reset(new_bytes(kKept));
        }
        data_ = own_ ? own_.get() : kept().bytes.get();
    }
    std::byte* data() const { return data_; }

private:
    struct Free {
        void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };
    using Bytes = std::unique_ptr<std::byte[], Free>;
    struct Kept {
        Bytes bytes;
    };
    static std::byte* new_bytes(std::size_t n) { return new (std::align_val_t(64)) std::byte[n]; }
    static Kept& kept() {
        static thread_local Kept k;
        return k;
    }

    Bytes own_;
    std::byte* data_;
};

}  // namespace

// Segments depend on the block and the level's windows only; runs keep those that they have met.
struct LinearRun::Cache {
    using Key = std::pair<std::int64_t, WindowSizes>;
    std::mutex mutex;
    std::map<Key, Segments<float>> f32;
    std::map<Key, Segments<double>> f64;
    std::map<Key, Segments<std::uint16_t>> u16;

    auto& of(float) { return f32; }
    auto& of(double) { return f64; }
    auto& of(std::uint16_t) { return u16; }

    template <class W>
    Segments<W> get(const AxisTable& t, std::int64_t block, WindowSizes sizes) {
        std::lock_guard lock(mutex);
        auto& entry = of(W())[{block, sizes}];
        if (!entry) entry = std::make_shared<const std::vector<Segment<W>>>(segments<W>(&t, t.n_out(), block, sizes));
        return entry;
    }
};

LinearRun::LinearRun(Type type, Work work, bool pairs, std::vector<AxisTable> axes, std::vector<int> order)
    : type_(type), work_(work), pairs_(pairs), axes_(std::move(axes)), order_(std::move(order)),
      cache_(std::make_unique<Cache>()) {
    check(axes_);
    require(kernels().resample->type[static_cast<int>(type)][static_cast<int>(work)].convert != nullptr,
            "the type has no such working type");
    require(axes_.size() <= kMaxAxes, "at most 24 axes can be resampled at once");
    require(order_.size() == axes_.size(), "order must name every axis");
    std::vector<bool> seen(axes_.size());
    for (const int a : order_) {
        require(a >= 0 && a < static_cast<int>(axes_.size()) && !seen[a], "order must be a permutation");
        seen[a] = true;
    }
    if (work == Work::u16) {
        double product = 1;
        for (const AxisTable& t : axes_) {
            product *= t.one;
            for (const double w : t.weight) require(w >= 0 && w <= t.one, "weights must lie in [0, one]");
        }
        require(product >= 1 && product <= 256, "the product of denominators must be at most 256");
    }
}

LinearRun::~LinearRun() = default;

// What all tasks of one call share.
template <class W>
class LinearCall {
public:
    LinearCall(const LinearRun& run, const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound)
        : run_(run), data_(data), out_(out), rounding_(rounding), bound_(static_cast<W>(bound)),
          geometry_(row_geometry(data, out, lengths(run.axes_), kWide)), size_(kTypeSize[static_cast<int>(run.type_)]),
          kernels_(*kernels().resample), rows_(of(kernels_, W())),
          types_(kernels_.type[static_cast<int>(run.type_)][static_cast<int>(run.work_)]),
          integer_(run.type_ < Type::f16), same_(run.type_ == Type::f32 || run.type_ == Type::f64) {
        const RowGeometry& g = geometry_;
        const WindowSizes sizes{rows_.lanes, std::is_same_v<W, std::uint16_t> && kernels_.across_bytes};
        segments_ = g.horizontal ? run.cache_->template get<W>(run.axes_.back(), g.block, sizes)
                                 : std::make_shared<const std::vector<Segment<W>>>(
                                       segments<W>(nullptr, g.xs, g.block, sizes));
        for (const Loop& loop : g.loops)
            if (loop.table >= 0) vertical_.push_back({&run.axes_[loop.table], loop.src_stride});
        for (const int a : run.order_) {
            int op = kAcross;
            for (std::size_t v = 0; v < vertical_.size(); ++v)
                if (vertical_[v].table == &run.axes_[a]) op = static_cast<int>(v);
            ops_.push_back(op);
        }
        across_at_ = static_cast<std::size_t>(std::find(ops_.begin(), ops_.end(), kAcross) - ops_.begin());
        const std::int64_t width = (*segments_)[0].x1 - (*segments_)[0].x0;
        rows_per_task_ = std::max<std::int64_t>(1, kTask / std::max<std::int64_t>(1, width * g.block));
        tasks_per_segment_ = (g.rows + rows_per_task_ - 1) / rows_per_task_;
    }

    std::int64_t tasks() const { return tasks_per_segment_ * static_cast<std::int64_t>(segments_->size()); }

    // Results in doubt are added under the lock.
    void run(std::int64_t task, std::vector<std::int64_t>& doubtful, std::mutex& lock) const;

private:
    static constexpr int kAcross = -1;
    class Task;
    struct Vertical {
        const AxisTable* table;
        std::intptr_t src_stride;
    };

    static const auto& of(const ResampleKernels& k, float) { return k.f32; }
    static const auto& of(const ResampleKernels& k, double) { return k.f64; }
    static const auto& of(const ResampleKernels& k, std::uint16_t) { return k.u16; }

    const LinearRun& run_;
    ArrayView data_, out_;
    Rounding rounding_;
    W bound_;
    RowGeometry geometry_;
    std::intptr_t size_;
    const ResampleKernels& kernels_;
    const RowKernels<W>& rows_;
    const TypeKernels& types_;
    bool integer_;  // the type is one
    bool same_;     // the type is W itself
    Segments<W> segments_;
    std::vector<Vertical> vertical_;  // the resampled axes among the loops
    std::vector<int> ops_;            // the passes in order: a number in vertical_, or kAcross
    std::size_t across_at_;           // the place of kAcross in ops_, or their number
    std::int64_t rows_per_task_, tasks_per_segment_;
};

// One task: some rows of one segment.
//
// Rows of level k have gone through the first k passes; those of level 0 are of the type, others of W.  The rows made
// last are kept, one slot for each parity of the input coordinates still to be passed, so that the two rows of a blend
// never share one.
template <class W>
class LinearCall<W>::Task {
public:
    Task(const LinearCall& call, const Segment<W>& segment)
        : c_(call), g_(call.geometry_), s_(segment), levels_(c_.ops_.size() + 1), place_(c_.vertical_.size()),
          arena_(lay_out()) {
        final_ = reinterpret_cast<W*>(arena_.data() + final_offset_);
        contiguous_ = (g_.block == 1 || g_.src_c == c_.size_) && g_.src_x == g_.block * c_.size_ && s_.columns.empty();
        by_bytes_ = s_.bytes.count > 0;
        direct_ = contiguous_ && s_.reads_within();
        in_place_ = c_.same_ && (g_.block == 1 || g_.dst_c == c_.size_) && g_.dst_x == g_.block * c_.size_;
    }

    void rows(std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        RowWalk walk(g_.loops, begin);
        for (std::int64_t r = begin; r < end; ++r, walk.next()) {
            source_ = c_.data_.data;
            std::byte* dst = c_.out_.data + s_.x0 * g_.dst_x;
            for (std::size_t l = 0, v = 0; l < g_.loops.size(); ++l) {
                if (g_.loops[l].table >= 0)
                    place_[v++] = walk.at()[l];
                else
                    source_ += walk.at()[l] * g_.loops[l].src_stride;
                dst += walk.at()[l] * g_.loops[l].dst_stride;
            }
            const W* row = finished(in_place_ ? reinterpret_cast<W*>(dst) : final_);
            if (!in_place_) c_.types_.store(row, s_.x1 - s_.x0, g_.block, c_.rounding_, dst, g_.dst_x, g_.dst_c);
            if constexpr (!std::is_integral_v<W>)
                if (c_.bound_ > 0) report(row, walk, doubtful, lock);
        }
    }

private:
    struct Slot {
        std::size_t offset;
        bool filled = false, careful = false;
        std::vector<std::int64_t> key;  // place_ and source_
    };
    struct Level {
        std::vector<std::size_t> parity;  // the vertical axes that the slot is chosen by
        std::vector<Slot> slots;
    };

    std::int64_t outputs() const { return (s_.x1 - s_.x0) * g_.block; }
    std::int64_t inputs() const { return s_.column_count * g_.block; }
    std::int64_t values(std::size_t level) const { return level > c_.across_at_ ? outputs() : inputs(); }

    // Sets the slots of all levels; returns the bytes that they take.
    std::size_t lay_out() {
        std::size_t bytes = 0;
        const auto take = [&](std::int64_t count, std::size_t size) {
            const std::size_t offset = bytes;
            bytes += (static_cast<std::size_t>(count + kPad) * size + 63) / 64 * 64;
            return offset;
        };
        std::vector<bool> passed(place_.size());
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            if (k > 0 && c_.ops_[k - 1] != kAcross) passed[c_.ops_[k - 1]] = true;
            for (std::size_t v = 0; v < passed.size(); ++v)
                if (!passed[v] && table(v).first != table(v).second) levels_[k].parity.push_back(v);
            levels_[k].slots.resize(std::size_t(1) << levels_[k].parity.size());
            for (Slot& slot : levels_[k].slots) {
                slot.offset = take(values(k), k == 0 ? static_cast<std::size_t>(c_.size_) : sizeof(W));
                slot.key.resize(place_.size() + 1);
            }
        }
        converted_offset_ = take(inputs(), sizeof(W));
        final_offset_ = take(outputs(), sizeof(W));
        return bytes;
    }

    // The row at place_ after all passes, in `target`.
    const W* finished(W* target) {
        const W* row = made(c_.ops_.size(), target, false);
        if constexpr (!std::is_integral_v<W>) {
            if (!c_.integer_ && c_.rows_.any_nonfinite(row, outputs())) {
                row = made(c_.ops_.size(), target, true);
                copy(row, target);
                c_.rows_.canonical_nans(target, outputs());
                row = target;
            }
        }
        copy(row, target);
        return target;
    }

    void copy(const W* row, W* target) const {
        if (row != target) std::memcpy(target, row, sizeof(W) * static_cast<std::size_t>(outputs()));
    }

    // The row of level k > 0 at place_: in `target` when given, else in its slot, or wherever it lies already.
    const W* made(std::size_t k, W* target, bool careful) {
        const int op = c_.ops_[k - 1];
        const bool one_tap = op != kAcross && table(op).first[place_[op]] == table(op).second[place_[op]];
        if (one_tap && !std::is_integral_v<W> && (k > 1 || c_.same_)) {
            const std::int64_t at = place_[op];
            place_[op] = table(op).first[at];
            const W* row = k == 1 ? converted(nullptr) : made(k - 1, nullptr, careful);
            place_[op] = at;
            return row;
        }
        if (!target) {
            Slot& slot = found(levels_[k]);
            target = reinterpret_cast<W*>(arena_.data() + slot.offset);
            if (!remember(slot, careful)) return target;
        }
        if (op == kAcross)
            across(k, target, careful);
        else if (one_tap)
            single(k, target);
        else
            blend(k, target, careful);
        return target;
    }

    // A vertical pass with one tap: integers are multiplied by `one` like all others, floats (of level 0) converted.
    void single(std::size_t k, W* target) {
        const std::size_t v = static_cast<std::size_t>(c_.ops_[k - 1]);
        const AxisTable& t = table(v);
        const std::int64_t at = place_[v];
        place_[v] = t.first[at];
        if constexpr (!std::is_integral_v<W>) {
            converted(target);
        } else if (k == 1) {
            const std::byte* row = source_row();
            c_.types_.lerp(row, row, 0, t.one, inputs(), target);
        } else {
            const W* row = made(k - 1, nullptr, false);
            c_.rows_.lerp(row, row, 0, static_cast<W>(t.one), values(k), target);
        }
        place_[v] = at;
    }

    void across(std::size_t k, W* target, bool careful) {
        if constexpr (!std::is_integral_v<W>) {
            const W* row = k == 1 ? converted(nullptr) : made(k - 1, nullptr, careful);
            (careful ? c_.rows_.across_careful : c_.rows_.across)(s_.table(), row, target);
        } else if (k == 1 && by_bytes_) {
            c_.kernels_.across_bytes(s_.byte_table(), s_.table(), reinterpret_cast<const std::uint8_t*>(source_row()),
                                     target);
        } else {
            c_.rows_.across(s_.table(), k == 1 ? converted(nullptr) : made(k - 1, nullptr, careful), target);
        }
    }

    void blend(std::size_t k, W* target, bool careful) {
        const std::size_t v = static_cast<std::size_t>(c_.ops_[k - 1]);
        const AxisTable& t = table(v);
        const std::int64_t at = place_[v];
        const double w = t.weight[at];
        place_[v] = t.first[at];
        if (k == 1 && !careful && c_.rounding_.base == 0) {
            const std::byte* a = source_row();
            place_[v] = t.second[at];
            c_.types_.lerp(a, source_row(), w, t.one, inputs(), target);
        } else if (k == 1) {
            // level 0 has no slots of type W: the first row goes through the target
            const W* a = converted(target);
            place_[v] = t.second[at];
            blend_rows(a, converted(nullptr), w, t.one, inputs(), target, careful);
        } else {
            const W* a = made(k - 1, nullptr, careful);
            place_[v] = t.second[at];
            blend_rows(a, made(k - 1, nullptr, careful), w, t.one, values(k), target, careful);
        }
        place_[v] = at;
    }

    void blend_rows(const W* a, const W* b, double w, double one, std::int64_t count, W* target, bool careful) const {
        if (careful)
            c_.rows_.lerp_careful(a, b, static_cast<W>(w), count, target);
        else
            c_.rows_.lerp(a, b, static_cast<W>(w), static_cast<W>(one), count, target);
    }

    template <class Int>
    const AxisTable& table(Int v) const {
        return *c_.vertical_[static_cast<std::size_t>(v)].table;
    }

    // The input row at place_ as W, in `target` or the row kept for that; as it lies when it is of that type.
    const W* converted(W* target) {
        const std::byte* row = source_row();
        if (c_.same_) return reinterpret_cast<const W*>(row);
        if (!target) target = reinterpret_cast<W*>(arena_.data() + converted_offset_);
        c_.types_.convert(row, inputs(), c_.rounding_.base, target);
        return target;
    }

    // The input row at place_, its columns side by side: as it lies or in its slot.
    const std::byte* source_row() {
        const std::byte* p = source_ + s_.column0 * g_.src_x;
        for (std::size_t v = 0; v < place_.size(); ++v) p += place_[v] * c_.vertical_[v].src_stride;
        if (direct_) return p;
        Slot& slot = found(levels_[0]);
        std::byte* row = arena_.data() + slot.offset;
        if (!remember(slot, true)) return row;
        const std::int64_t* columns = s_.columns.empty() ? nullptr : s_.columns.data();
        const bool whole = g_.block == 1 || g_.src_c == c_.size_;
        const std::int64_t item = whole ? g_.block * c_.size_ : c_.size_, moves = whole ? 1 : g_.block;
        if (contiguous_)
            std::memcpy(row, p, static_cast<std::size_t>(inputs() * c_.size_));
        else
            for (std::int64_t j = 0; j < moves; ++j)
                c_.kernels_.pick(p + j * g_.src_c, g_.src_x, columns, s_.column_count, item, row + j * item,
                                 g_.block * c_.size_);
        return row;
    }

    Slot& found(Level& level) {
        std::size_t n = 0;
        for (const std::size_t v : level.parity) n = n << 1 | (static_cast<std::size_t>(place_[v]) & 1);
        return level.slots[n];
    }

    // False when the slot holds that row already; else it is going to.
    bool remember(Slot& slot, bool careful) {
        const auto source_key = reinterpret_cast<std::intptr_t>(source_);
        if (slot.filled && (slot.careful || !careful) && slot.key.back() == source_key &&
            std::equal(place_.begin(), place_.end(), slot.key.begin()))
            return false;
        std::copy(place_.begin(), place_.end(), slot.key.begin());
        slot.key.back() = source_key;
        slot.filled = true;
        slot.careful = careful;
        return true;
    }

    // Adds the results of `row` that are in doubt.
    void report(const W* row, const RowWalk& walk, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        positions_.resize(static_cast<std::size_t>(outputs()) + 1);
        const std::int64_t count =
            c_.rows_.doubtful(row, outputs(), c_.rounding_.rule, c_.bound_, positions_.data());
        if (!count) return;
        std::int64_t start = 0;
        for (std::size_t l = 0; l < g_.loops.size(); ++l) start += walk.at()[l] * g_.loops[l].place;
        std::lock_guard guard(lock);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t x = s_.x0 + positions_[i] / g_.block, j = positions_[i] % g_.block;
            if (!taps_equal(x, j)) doubtful.push_back(start + x * g_.place_x + j);
        }
    }

    // Whether all taps of output (x, j) of the row at place_ are the same number.
    bool taps_equal(std::int64_t x, std::int64_t j) const {
        const std::size_t axes = place_.size() + (g_.horizontal ? 1 : 0);
        const std::byte* corner0 = nullptr;
        for (std::size_t corner = 0; corner < std::size_t(1) << axes; ++corner) {
            const std::byte* p = source_ + j * g_.src_c;
            for (std::size_t v = 0; v < place_.size(); ++v)
                p += (corner >> v & 1 ? table(v).second : table(v).first)[place_[v]] * c_.vertical_[v].src_stride;
            if (g_.horizontal) {
                const AxisTable& t = c_.run_.axes_.back();
                p += (corner >> place_.size() & 1 ? t.second : t.first)[x] * g_.src_x;
            } else {
                p += x * g_.src_x;
            }
            if (!corner0)
                corner0 = p;
            else if (std::memcmp(corner0, p, static_cast<std::size_t>(c_.size_)) != 0)
                return false;
        }
        return true;
    }

    const LinearCall& c_;
    const RowGeometry& g_;
    const Segment<W>& s_;
    std::vector<Level> levels_;
    std::vector<std::int64_t> place_;  // for each vertical axis: output coordinate, or input coordinate below its pass
    std::size_t converted_offset_, final_offset_;
    Arena arena_;
    W* final_;
    bool contiguous_;  // the columns of an input row lie side by side,
    bool direct_;      // and kernels may read them there
    bool by_bytes_;    // the horizontal pass can read rows of bytes
    bool in_place_;    // the finished row lies in out
    const std::byte* source_ = nullptr;  // the data, moved along the loops that are not resampled
    std::vector<std::int32_t> positions_;
};

template <class W>
void LinearCall<W>::run(std::int64_t task, std::vector<std::int64_t>& doubtful, std::mutex& lock) const {
    const std::int64_t begin = task % tasks_per_segment_ * rows_per_task_;
    Task t(*this, (*segments_)[static_cast<std::size_t>(task / tasks_per_segment_)]);
    t.rows(begin, std::min(begin + rows_per_task_, geometry_.rows), doubtful, lock);
}

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

Outcome LinearRun::operator()(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                              std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    if (!pairs_) return run(data, out, rounding, bound, doubtful, poll);
    require(data.itemsize % 2 == 0 && out.itemsize % 2 == 0, "items must be pairs");
    return run(PairView(data).view, PairView(out).view, rounding, bound, doubtful, poll);
}

Outcome LinearRun::run(const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound,
                       std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    const std::intptr_t size = kTypeSize[static_cast<int>(type_)];
    require(data.itemsize == size && out.itemsize == size, "item sizes must be those of the type");
    require(aligned(data) && aligned(out), "data and out must be aligned");
    if (is_empty(out)) return Outcome::done;
    std::mutex lock;
    const auto go = [&](const auto& call) {
        return run_all(call.tasks(), [&](std::int64_t t) { call.run(t, doubtful, lock); }, poll);
    };
    switch (work_) {
        case Work::f32: return go(LinearCall<float>(*this, data, out, rounding, bound));
        case Work::f64: return go(LinearCall<double>(*this, data, out, rounding, bound));
        default: return go(LinearCall<std::uint16_t>(*this, data, out, rounding, bound));
    }
}

}  // namespace remapnd
