#include "resample_run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <tuple>

#include "dispatch.hpp"
#include "pool.hpp"
#include "row_geometry.hpp"

namespace remapnd {
namespace {

// Elements of a row that are worked on at once: with the rows of all passes they stay in the first-level cache.
constexpr std::int64_t kSegment = 4096;
// Elements of a task: some tens of microseconds, so that starting one costs little and Ctrl-C is seen soon.
constexpr std::int64_t kTask = 131072;
// From this many elements behind the innermost resampled axis on, they are rows of their own.
constexpr std::int64_t kWide = 32;
// Room behind a row for vectors that begin inside it.
constexpr std::int64_t kPad = 2 * kMaxLanes;
constexpr int kMaxVertical = 24;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check(const std::vector<AxisTable>& axes) {
    require(!axes.empty(), "there must be an axis to resample");
    int last = -1;
    for (const AxisTable& t : axes) {
        require(t.axis > last, "axes must ascend");
        last = t.axis;
        require(t.second.size() == t.first.size() && t.weight.size() == t.first.size(), "tables must have one length");
        for (std::size_t i = 0; i < t.first.size(); ++i)
            require(t.first[i] >= 0 && t.first[i] < t.n_in && t.second[i] >= 0 && t.second[i] < t.n_in,
                    "taps must lie in [0, n_in)");
    }
}

std::vector<ResampledAxis> lengths(const std::vector<AxisTable>& axes) {
    std::vector<ResampledAxis> r;
    for (const AxisTable& t : axes) r.push_back({t.axis, t.n_in, t.n_out()});
    return r;
}

// Part of a row: outputs [x0, x1) and the columns of the input that they need.
template <class W>
struct Segment {
    std::int64_t x0, x1;
    std::int64_t column0;               // columns are column0 + k, or
    std::vector<std::int64_t> columns;  // these, where they are few of many
    std::int64_t column_count;
    bool reads_within;                  // the vectors read no value behind the last column
    std::vector<std::int32_t> first, second, base;
    std::vector<W> weight;
    std::vector<std::uint8_t> lane_first, lane_second;
    int windows = 0;

    Lerps<W> table() const {
        return {static_cast<std::int64_t>(first.size()), first.data(),      second.data(),     weight.data(),
                windows,                                 base.data(),       lane_first.data(), lane_second.data()};
    }
};

template <class W>
void set_columns(Segment<W>& s, const AxisTable& t) {
    std::vector<std::int64_t> needed(t.first.begin() + s.x0, t.first.begin() + s.x1);
    needed.insert(needed.end(), t.second.begin() + s.x0, t.second.begin() + s.x1);
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    s.column0 = needed.front();
    s.column_count = needed.back() - needed.front() + 1;
    const auto few = static_cast<std::int64_t>(needed.size());
    if (2 * few <= s.column_count) {
        s.column0 = 0;
        s.column_count = few;
        s.columns = std::move(needed);
    }
}

// Names each value by its place among the `lanes` values from the vector's base on, when all vectors allow it.
template <class W>
void set_lanes(Segment<W>& s, std::int64_t available, int lanes) {
    const std::size_t vectors = lanes ? s.first.size() / static_cast<std::size_t>(lanes) : 0;
    std::int32_t widest = 0;
    std::vector<std::int32_t> low(vectors);
    for (std::size_t v = 0; v < vectors; ++v) {
        std::int32_t lo = INT32_MAX, hi = 0;
        for (std::size_t e = v * lanes; e < (v + 1) * lanes; ++e) {
            lo = std::min({lo, s.first[e], s.second[e]});
            hi = std::max({hi, s.first[e], s.second[e]});
        }
        low[v] = lo;
        widest = std::max(widest, hi - lo + 1);
    }
    if (vectors == 0 || widest > 2 * lanes) return;
    s.windows = widest <= lanes ? 1 : 2;
    const std::int64_t reach = s.windows * lanes;
    s.reads_within = reach <= available;
    s.base.resize(vectors);
    s.lane_first.resize(vectors * lanes);
    s.lane_second.resize(vectors * lanes);
    for (std::size_t v = 0; v < vectors; ++v) {
        s.base[v] = static_cast<std::int32_t>(std::max<std::int64_t>(0, std::min<std::int64_t>(low[v], available - reach)));
        for (std::size_t e = v * lanes; e < (v + 1) * lanes; ++e) {
            s.lane_first[e] = static_cast<std::uint8_t>(s.first[e] - s.base[v]);
            s.lane_second[e] = static_cast<std::uint8_t>(s.second[e] - s.base[v]);
        }
    }
}

// The segments of a row of xs outputs of `block` elements, through `t` or (null) through no horizontal pass.
template <class W>
std::vector<Segment<W>> segments(const AxisTable* t, std::int64_t xs, std::int64_t block, int lanes) {
    const std::int64_t count = std::max<std::int64_t>(1, (xs * block + kSegment - 1) / kSegment);
    const std::int64_t width = (xs + count - 1) / count;
    std::vector<Segment<W>> all;
    for (std::int64_t x0 = 0; x0 < xs; x0 += width) {
        Segment<W> s{};
        s.x0 = s.column0 = x0;
        s.x1 = std::min(xs, x0 + width);
        s.column_count = s.x1 - s.x0;
        s.reads_within = true;
        if (t) {
            set_columns(s, *t);
            const auto local = [&](std::int64_t column) {
                if (s.columns.empty()) return column - s.column0;
                return std::lower_bound(s.columns.begin(), s.columns.end(), column) - s.columns.begin();
            };
            for (std::int64_t x = s.x0; x < s.x1; ++x)
                for (std::int64_t j = 0; j < block; ++j) {
                    s.first.push_back(static_cast<std::int32_t>(local(t->first[x]) * block + j));
                    s.second.push_back(static_cast<std::int32_t>(local(t->second[x]) * block + j));
                    s.weight.push_back(static_cast<W>(t->weight[x]));
                }
            set_lanes(s, s.column_count * block, lanes);
        }
        all.push_back(std::move(s));
    }
    return all;
}

template <class W>
using Segments = std::shared_ptr<const std::vector<Segment<W>>>;

}  // namespace

// Segments depend on the block and the lanes only; plans keep those that they have met.
struct LinearRun::Cache {
    std::mutex mutex;
    std::map<std::pair<std::int64_t, int>, Segments<float>> f32;
    std::map<std::pair<std::int64_t, int>, Segments<double>> f64;

    auto& of(float) { return f32; }
    auto& of(double) { return f64; }

    template <class W>
    Segments<W> get(const AxisTable& t, std::int64_t block, int lanes) {
        std::lock_guard lock(mutex);
        auto& entry = of(W())[{block, lanes}];
        if (!entry) entry = std::make_shared<const std::vector<Segment<W>>>(segments<W>(&t, t.n_out(), block, lanes));
        return entry;
    }
};

LinearRun::LinearRun(Type type, Work work, bool pairs, std::vector<AxisTable> axes, std::vector<int> order)
    : type_(type), work_(work), pairs_(pairs), axes_(std::move(axes)), order_(std::move(order)),
      cache_(std::make_unique<Cache>()) {
    check(axes_);
    require(kernels().resample->type[static_cast<int>(type)][static_cast<int>(work)].load != nullptr,
            "the type has no such working type");
    std::vector<bool> seen(axes_.size());
    require(order_.size() == axes_.size(), "order must name every axis");
    for (const int a : order_) {
        require(a >= 0 && a < static_cast<int>(axes_.size()) && !seen[a], "order must be a permutation");
        seen[a] = true;
    }
    require(axes_.size() <= kMaxVertical, "too many resampled axes");
}

LinearRun::~LinearRun() = default;

// What all tasks of one call share.
template <class W>
class LinearCall {
public:
    LinearCall(const LinearRun& run, const ArrayView& data, const ArrayView& out, const Rounding& rounding, double bound)
        : run_(run), data_(data), out_(out), rounding_(rounding), bound_(static_cast<W>(bound)),
          geometry_(row_geometry(data, out, lengths(run.axes_), kWide)), size_(kTypeSize[static_cast<int>(run.type_)]) {
        const Kernels& k = kernels();
        rows_ = rows_of(*k.resample, W());
        types_ = &k.resample->type[static_cast<int>(run.type_)][static_cast<int>(run.work_)];
        integer_ = run.type_ < Type::f16;
        same_ = run.type_ == Type::f32 || run.type_ == Type::f64;
        const RowGeometry& g = geometry_;
        segments_ = g.horizontal ? run.cache_->template get<W>(run.axes_.back(), g.block, rows_->lanes)
                                 : std::make_shared<const std::vector<Segment<W>>>(
                                       segments<W>(nullptr, g.xs, g.block, rows_->lanes));
        for (std::size_t l = 0; l < g.loops.size(); ++l)
            if (g.loops[l].table >= 0) vertical_.push_back(static_cast<int>(l));
        for (const int a : run.order_) {
            int op = kAcross;
            for (std::size_t v = 0; v < vertical_.size(); ++v)
                if (g.loops[vertical_[v]].table == a) op = static_cast<int>(v);
            ops_.push_back(op);
        }
        for (const int v : vertical_) {
            const AxisTable& t = run.axes_[g.loops[v].table];
            blends_.push_back(t.first != t.second);
        }
        const std::int64_t width = (*segments_)[0].x1 - (*segments_)[0].x0;
        rows_per_task_ = std::max<std::int64_t>(1, kTask / std::max<std::int64_t>(1, width * g.block));
        tasks_per_segment_ = (g.rows + rows_per_task_ - 1) / rows_per_task_;
    }

    std::int64_t tasks() const { return tasks_per_segment_ * static_cast<std::int64_t>(segments_->size()); }

    // Results in doubt are added under the caller's lock.
    void run(std::int64_t task, std::vector<std::int64_t>& doubtful, std::mutex& lock) const;

private:
    static constexpr int kAcross = -1;
    class Task;

    static const RowKernels<float>* rows_of(const ResampleKernels& k, float) { return &k.f32; }
    static const RowKernels<double>* rows_of(const ResampleKernels& k, double) { return &k.f64; }

    const LinearRun& run_;
    ArrayView data_, out_;
    Rounding rounding_;
    W bound_;
    RowGeometry geometry_;
    std::intptr_t size_;
    const RowKernels<W>* rows_;
    const TypeKernels* types_;
    bool integer_;  // the type is one
    bool same_;     // the type is W itself
    Segments<W> segments_;
    std::vector<int> vertical_;  // the loops that are resampled
    std::vector<bool> blends_;   // for each of them: some output blends two inputs
    std::vector<int> ops_;       // the passes in order: a number in vertical_, or kAcross
    std::int64_t rows_per_task_, tasks_per_segment_;
};

// One task: some rows of one segment.  Rows of level k have gone through the first k passes; those made last are kept,
// one slot for each parity of the input coordinates still to be passed, so that a and b of a blend never share one.
template <class W>
class LinearCall<W>::Task {
public:
    Task(const LinearCall& call, const Segment<W>& segment) : c_(call), g_(call.geometry_), s_(segment) {
        const std::size_t passes = c_.ops_.size();
        const std::int64_t in = round_up(s_.column_count * g_.block + kPad), out = round_up(outputs() + kPad);
        std::int64_t values = 0;
        bool across_done = false;
        std::vector<bool> applied(c_.vertical_.size());
        for (std::size_t k = 0; k <= passes; ++k) {
            if (k > 0) {
                if (c_.ops_[k - 1] == kAcross)
                    across_done = true;
                else
                    applied[c_.ops_[k - 1]] = true;
            }
            Level level;
            level.row = across_done ? out : in;
            for (std::size_t v = 0; v < applied.size(); ++v)
                if (!applied[v] && c_.blends_[v]) level.parity.push_back(v);
            level.slots.resize(std::size_t(1) << level.parity.size());
            for (Slot& slot : level.slots) {
                slot.offset = values;
                values += level.row;
            }
            levels_.push_back(std::move(level));
        }
        final_ = values;
        values += out;
        memory_.reset(new (std::align_val_t(64)) W[static_cast<std::size_t>(values)]);
        for (Level& level : levels_)
            for (Slot& slot : level.slots) {
                slot.key.assign(c_.vertical_.size() + 1, -1);
                slot.filled = false;
            }
        place_.resize(c_.vertical_.size());
        contiguous_ = (g_.block == 1 || g_.src_c == c_.size_) && g_.src_x == g_.block * c_.size_ && s_.columns.empty();
        direct_ = c_.same_ && contiguous_ && s_.reads_within;
        fused_ = contiguous_ && c_.rounding_.base == 0 && c_.ops_[0] != kAcross;
    }

    void rows(std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        RowWalk walk(g_.loops, begin);
        const bool dst_contiguous = (g_.block == 1 || g_.dst_c == c_.size_) && g_.dst_x == g_.block * c_.size_;
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
            const bool in_place = c_.same_ && dst_contiguous;
            W* target = in_place ? reinterpret_cast<W*>(dst) : memory_.get() + final_;
            const W* row = make(c_.ops_.size(), target, false);
            if (!c_.integer_ && c_.rows_->any_nonfinite(row, outputs())) {
                row = make(c_.ops_.size(), target, true);
                if (row != target) std::memcpy(target, row, sizeof(W) * outputs());
                c_.rows_->canonical_nans(target, outputs());
                row = target;
            }
            if (in_place) {
                if (row != target) std::memcpy(target, row, sizeof(W) * outputs());
            } else {
                c_.types_->store(row, s_.x1 - s_.x0, g_.block, c_.rounding_, dst, g_.dst_x, g_.dst_c);
            }
            if (c_.bound_ > 0) report(row, walk, doubtful, lock);
        }
    }

private:
    struct Slot {
        std::int64_t offset;
        bool filled, careful;
        std::vector<std::int64_t> key;
    };
    struct Level {
        std::int64_t row;                 // values of a row
        std::vector<std::size_t> parity;  // the vertical axes that the slot is chosen by
        std::vector<Slot> slots;
    };
    struct AlignedDelete {
        void operator()(W* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };

    static std::int64_t round_up(std::int64_t n) { return (n + 15) / 16 * 16; }
    std::int64_t outputs() const { return (s_.x1 - s_.x0) * g_.block; }

    // The row of level k at place_: into `target` when given, else in its slot or wherever it lies already.
    const W* make(std::size_t k, W* target, bool careful) {
        if (k > 0 && c_.ops_[k - 1] != kAcross) {
            const std::size_t v = static_cast<std::size_t>(c_.ops_[k - 1]);
            const AxisTable& t = table(v);
            const std::int64_t at = place_[v];
            if (t.first[at] == t.second[at]) {
                place_[v] = t.first[at];
                const W* row = make(k - 1, nullptr, careful);
                place_[v] = at;
                return row;
            }
        }
        if (!target) {
            if (k == 0 && direct_) return reinterpret_cast<const W*>(source());
            Slot& slot = find(levels_[k]);
            target = memory_.get() + slot.offset;
            if (!remember(slot, careful)) return target;
        }
        if (k == 0)
            c_.types_->load(source(), g_.src_x, g_.src_c, s_.columns.empty() ? nullptr : s_.columns.data(),
                            s_.column_count, g_.block, c_.rounding_.base, target);
        else if (c_.ops_[k - 1] == kAcross)
            (careful ? c_.rows_->across_careful : c_.rows_->across)(s_.table(), make(k - 1, nullptr, careful), target);
        else
            blend(k, target, careful);
        return target;
    }

    void blend(std::size_t k, W* target, bool careful) {
        const std::size_t v = static_cast<std::size_t>(c_.ops_[k - 1]);
        const AxisTable& t = table(v);
        const std::int64_t at = place_[v], count = k > across_at() ? outputs() : s_.column_count * g_.block;
        const double w = t.weight[at];
        if (k == 1 && fused_ && !careful && !c_.same_) {
            place_[v] = t.first[at];
            const std::byte* a = source();
            place_[v] = t.second[at];
            c_.types_->lerp(a, source(), w, count, target);
        } else {
            place_[v] = t.first[at];
            const W* a = make(k - 1, nullptr, careful);
            place_[v] = t.second[at];
            const W* b = make(k - 1, nullptr, careful);
            (careful ? c_.rows_->lerp_careful : c_.rows_->lerp)(a, b, static_cast<W>(w), count, target);
        }
        place_[v] = at;
    }

    // The number of passes after which rows are as long as the output; more than there are when there is no such pass.
    std::size_t across_at() const {
        return static_cast<std::size_t>(std::find(c_.ops_.begin(), c_.ops_.end(), kAcross) - c_.ops_.begin());
    }

    const AxisTable& table(std::size_t v) const { return c_.run_.axes_[g_.loops[c_.vertical_[v]].table]; }

    // The first column of the segment in the input row at place_.
    const std::byte* source() const {
        const std::byte* p = source_ + s_.column0 * g_.src_x;
        for (std::size_t v = 0; v < place_.size(); ++v) p += place_[v] * g_.loops[c_.vertical_[v]].src_stride;
        return p;
    }

    Slot& find(Level& level) {
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
        const std::int64_t found =
            c_.rows_->doubtful(row, outputs(), c_.rounding_.rule, c_.bound_, positions_.data());
        if (!found) return;
        std::int64_t start = 0;
        for (std::size_t l = 0; l < g_.loops.size(); ++l) start += walk.at()[l] * g_.loops[l].place;
        std::lock_guard guard(lock);
        for (std::int64_t i = 0; i < found; ++i) {
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
            for (std::size_t v = 0; v < place_.size(); ++v) {
                const AxisTable& t = table(v);
                p += (corner >> v & 1 ? t.second : t.first)[place_[v]] * g_.loops[c_.vertical_[v]].src_stride;
            }
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
    std::unique_ptr<W[], AlignedDelete> memory_;
    std::int64_t final_;
    bool contiguous_;  // the columns of an input row lie side by side
    bool direct_;      // and are of type W, so that they serve as a row of level 0
    bool fused_;       // and the first pass can read them itself
    const std::byte* source_ = nullptr;      // the data, moved along the loops that are not resampled
    std::vector<std::int64_t> place_;        // for each vertical axis: output coordinate, or input coordinate below its pass
    std::vector<std::int32_t> positions_;
};

template <class W>
void LinearCall<W>::run(std::int64_t task, std::vector<std::int64_t>& doubtful, std::mutex& lock) const {
    const std::int64_t begin = task % tasks_per_segment_ * rows_per_task_;
    Task t(*this, (*segments_)[static_cast<std::size_t>(task / tasks_per_segment_)]);
    t.rows(begin, std::min(begin + rows_per_task_, geometry_.rows), doubtful, lock);
}

namespace {

// Runs the tasks of a call; body throws std::bad_alloc only.
Outcome run_all(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const Poll& poll) {
    std::atomic<bool> out_of_memory{false};
    const bool finished = run_tasks(
        tasks,
        [&](std::int64_t t) {
            if (out_of_memory) return;
            try {
                body(t);
            } catch (const std::bad_alloc&) {
                out_of_memory = true;
            }
        },
        poll);
    return out_of_memory ? Outcome::out_of_memory : finished ? Outcome::done : Outcome::interrupted;
}

bool is_empty(const ArrayView& a) {
    return std::any_of(a.shape, a.shape + a.rank, [](std::intptr_t n) { return n == 0; });
}

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
    if (pairs_) {
        require(data.rank < kMaxRank && data.itemsize % 2 == 0 && out.itemsize % 2 == 0, "items must be pairs");
        return run(PairView(data).view, PairView(out).view, rounding, bound, doubtful, poll);
    }
    return run(data, out, rounding, bound, doubtful, poll);
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
    if (work_ == Work::f32) return go(LinearCall<float>(*this, data, out, rounding, bound));
    return go(LinearCall<double>(*this, data, out, rounding, bound));
}

NearestRun::NearestRun(std::vector<AxisTable> axes) : axes_(std::move(axes)) { check(axes_); }

Outcome NearestRun::operator()(const ArrayView& data, const ArrayView& out, const Poll& poll) const {
    require(data.itemsize == out.itemsize && data.itemsize > 0, "item sizes must be equal");
    const RowGeometry g = row_geometry(data, out, lengths(axes_), INT64_MAX);
    if (is_empty(out)) return Outcome::done;
    const auto pick = kernels().resample->pick;
    // Where the elements of a block lie side by side on both sides they are one item.
    const bool whole = g.block == 1 || (g.src_c == data.itemsize && g.dst_c == data.itemsize);
    const std::int64_t size = whole ? g.block * data.itemsize : data.itemsize, moves = whole ? 1 : g.block;
    const std::int64_t width = std::min(g.xs, std::max<std::int64_t>(1, kTask / (g.block * data.itemsize)));
    const std::int64_t pieces = (g.xs + width - 1) / width;
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, kTask / (width * g.block * data.itemsize));
    const std::int64_t row_tasks = (g.rows + rows_per_task - 1) / rows_per_task;
    const std::int64_t* columns = axes_.back().first.data();

    const auto task = [&](std::int64_t t) {
        const std::int64_t x0 = t / row_tasks * width, count = std::min(width, g.xs - x0);
        const std::int64_t begin = t % row_tasks * rows_per_task, end = std::min(begin + rows_per_task, g.rows);
        const bool repeatable = whole && g.dst_x == size;
        const std::byte* previous = nullptr;
        std::byte* previous_dst = nullptr;
        RowWalk walk(g.loops, begin);
        for (std::int64_t r = begin; r < end; ++r, walk.next()) {
            const std::byte* src = data.data;
            std::byte* dst = out.data + x0 * g.dst_x;
            for (std::size_t l = 0; l < g.loops.size(); ++l) {
                const Loop& loop = g.loops[l];
                const std::int64_t at = walk.at()[l];
                src += (loop.table >= 0 ? axes_[loop.table].first[at] : at) * loop.src_stride;
                dst += at * loop.dst_stride;
            }
            if (repeatable && src == previous)
                std::memcpy(dst, previous_dst, static_cast<std::size_t>(count * size));
            else
                for (std::int64_t j = 0; j < moves; ++j)
                    pick(src + j * g.src_c, g.src_x, columns + x0, count, size, dst + j * g.dst_c, g.dst_x);
            previous = src;
            previous_dst = dst;
        }
    };
    return run_all(pieces * row_tasks, task, poll);
}

}  // namespace remapnd
