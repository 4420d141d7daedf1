#include "majority_run.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "pool.hpp"
#include "row_geometry.hpp"

namespace remapnd {
namespace {

constexpr std::size_t kMaxAxes = 16;
// Elements of a row that are worked on at once, and of a task: some hundred microseconds.
constexpr std::int64_t kSegment = 4096, kTask = 65536;
// Blocks of at least this many elements are rows of their own.
constexpr std::int64_t kWide = 1024;
// Corners up to this many are told apart by comparing each with each.
constexpr std::size_t kFew = 32;
// Rows of corners up to this many have sums of their weights by tables.
constexpr std::size_t kTabled = 8;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

bool aligned(const ArrayView& a) {
    bool ok = reinterpret_cast<std::uintptr_t>(a.data) % static_cast<std::uintptr_t>(a.itemsize) == 0;
    for (int d = 0; d < a.rank; ++d) ok &= a.shape[d] < 2 || a.strides[d] % a.itemsize == 0;
    return ok;
}

// Part of a row: outputs [x0, x1) and the columns of the input that they need.
struct Segment {
    std::int64_t x0, x1, column0, columns;
    bool dense;  // most columns are used: then also
    std::vector<std::int32_t> first;            // of each output, counted from column0,
    std::vector<std::int32_t> begin, outputs;   // outputs[begin[c]] .. outputs[begin[c + 1] - 1] have the first tap c.
    std::vector<double> weight_a, weight_b;     // of the first tap of each output, and of the one behind it

    // Of the horizontal axis, or null: then an output is its column.
    Segment(const AxisTable* t, std::int64_t from, std::int64_t to) : x0(from), x1(to), column0(from), columns(to - from) {
        const auto at = [](const std::vector<std::int64_t>& taps, std::int64_t x) { return taps.begin() + x; };
        if (t) {
            column0 = *std::min_element(at(t->first, x0), at(t->first, x1));
            columns = *std::max_element(at(t->second, x0), at(t->second, x1)) + 1 - column0;
        }
        dense = columns <= 2 * (x1 - x0);
        for (std::int64_t x = x0; x < x1; ++x) {
            const auto i = static_cast<std::size_t>(x);
            const bool one = !t || t->first[i] == t->second[i];
            weight_a.push_back(!t ? 1 : one ? t->one : t->one - t->weight[i]);
            weight_b.push_back(one ? 0 : t->weight[i]);
            if (dense) first.push_back(static_cast<std::int32_t>((t ? t->first[i] : x) - column0));
        }
        if (!dense) return;
        begin.resize(static_cast<std::size_t>(columns) + 1);
        for (const std::int32_t c : first) ++begin[static_cast<std::size_t>(c) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<std::int32_t> next(begin);
        outputs.resize(first.size());
        for (std::size_t k = 0; k < first.size(); ++k)
            outputs[static_cast<std::size_t>(next[static_cast<std::size_t>(first[k])]++)] = static_cast<std::int32_t>(k);
    }
};

// What all tasks of a call share.  Strides are in elements.
struct Call {
    const std::vector<AxisTable>& axes;
    const std::byte* data;
    std::byte* out;
    RowGeometry g;
    std::int64_t sx, sc, dx, dc;
    double bound;

    const AxisTable* across() const { return g.horizontal ? &axes.back() : nullptr; }
};

// Some rows of the outputs of a segment.
template <class T>
class MajorityTask {
public:
    MajorityTask(const Call& call, const Segment& segment)
        : c_(call), g_(call.g), s_(segment), across_(call.across()), contiguous_((g_.block == 1 || c_.sc == 1) && c_.sx == g_.block) {
        if (s_.dense) differs_.resize(static_cast<std::size_t>(s_.columns * g_.block)), rows_differ_ = differs_;
    }

    // Positions in doubt are added under the lock.
    void rows(std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        RowWalk walk(g_.loops, begin);
        for (std::int64_t r = begin; r < end; ++r, walk.next()) {
            T* dst = reinterpret_cast<T*>(c_.out) + s_.x0 * c_.dx;
            std::int64_t place = s_.x0 * g_.place_x;
            set_corners(walk, dst, place);
            if (!s_.dense) {
                sparse_row(dst, place);
                continue;
            }
            if (corners_ != known_) {
                find_differences();
                find_mixed();
            }
            dense_row(dst, place);
        }
        if (doubtful_.empty()) return;
        const std::lock_guard<std::mutex> guard(lock);
        doubtful.insert(doubtful.end(), doubtful_.begin(), doubtful_.end());
    }

private:
    using Row = const T*;

    // An element of the first columns that are not all one label, and its ballots.
    struct Mixed {
        std::int32_t column, j;
        std::uint32_t begin, end;
    };

    // A label, and the rows that have it in the column and in the one behind it, a bit for each.
    struct Ballot {
        T label;
        std::uint8_t a, b;
    };

    // The input rows of the output row, with the products of their weights; moves dst and place to the output row.
    void set_corners(const RowWalk& walk, T*& dst, std::int64_t& place) {
        corners_.assign(1, reinterpret_cast<Row>(c_.data));
        weights_.assign(1, 1);
        for (std::size_t l = 0; l < g_.loops.size(); ++l) {
            const Loop& loop = g_.loops[l];
            const std::int64_t at = walk.at()[l];
            const auto step = loop.src_stride / static_cast<std::intptr_t>(sizeof(T));
            dst += at * (loop.dst_stride / static_cast<std::intptr_t>(sizeof(T)));
            place += at * loop.place;
            if (loop.table < 0) {
                for (Row& row : corners_) row += at * step;
                continue;
            }
            const AxisTable& t = c_.axes[static_cast<std::size_t>(loop.table)];
            const auto i = static_cast<std::size_t>(at);
            const bool one = t.first[i] == t.second[i];
            const std::size_t count = corners_.size();
            for (std::size_t k = 0; k < count; ++k) {
                const Row row = corners_[k];
                const double w = weights_[k];
                corners_[k] = row + t.first[i] * step;
                weights_[k] = w * (one ? t.one : t.one - t.weight[i]);
                if (one) continue;
                corners_.push_back(row + t.second[i] * step);
                weights_.push_back(w * t.weight[i]);
            }
        }
    }

    // differs_[column, j]: whether not all of the column and the one behind it, in all rows, are one label.
    void find_differences() {
        known_ = corners_;
        const std::int64_t block = g_.block, columns = s_.columns, count = columns * block;
        T* rows_differ = rows_differ_.data();
        T* differs = differs_.data();
        const std::int64_t at = s_.column0 * c_.sx;
        const Row first = corners_[0] + at;
        if (contiguous_ && corners_.size() == 4) {
            const Row second = corners_[1] + at, third = corners_[2] + at, fourth = corners_[3] + at;
            for (std::int64_t e = 0; e < count; ++e)
                rows_differ[e] = static_cast<T>((first[e] ^ second[e]) | (first[e] ^ third[e]) | (first[e] ^ fourth[e]));
        } else {
            std::fill_n(rows_differ, count, T(0));
            for (std::size_t k = 1; k < corners_.size(); ++k) {
                const Row row = corners_[k] + at;
                if (contiguous_)
                    for (std::int64_t e = 0; e < count; ++e) rows_differ[e] |= static_cast<T>(first[e] ^ row[e]);
                else
                    for (std::int64_t x = 0, e = 0; x < columns; ++x)
                        for (std::int64_t j = 0; j < block; ++j, ++e)
                            rows_differ[e] |= static_cast<T>(first[x * c_.sx + j * c_.sc] ^ row[x * c_.sx + j * c_.sc]);
            }
        }
        const std::int64_t last = across_ ? count - block : 0;
        if (contiguous_)
            for (std::int64_t e = 0; e < last; ++e)
                differs[e] = static_cast<T>(rows_differ[e] | rows_differ[e + block] | (first[e] ^ first[e + block]));
        else
            for (std::int64_t x = 0, e = 0; e < last; ++x)
                for (std::int64_t j = 0; j < block; ++j, ++e) {
                    const Row at = first + x * c_.sx + j * c_.sc;
                    differs[e] = static_cast<T>(rows_differ[e] | rows_differ[e + block] | (at[0] ^ at[c_.sx]));
                }
        std::copy(rows_differ + last, rows_differ + count, differs + last);
    }

    // Sets mixed_ by differs_: those that are the first taps of an output.
    void find_mixed() {
        mixed_.clear();
        ballots_.clear();
        constexpr std::int64_t word = 8 / sizeof(T);
        const std::int64_t count = s_.columns * g_.block;
        for (std::int64_t e = 0; e < count;) {
            std::uint64_t several = 0;
            if (e + word <= count) {
                std::memcpy(&several, differs_.data() + e, 8);
                if (several == 0) {
                    e += word;
                    continue;
                }
            }
            for (const std::int64_t end = std::min(count, e + word); e < end; ++e)
                if (differs_[static_cast<std::size_t>(e)]) add_mixed(e);
        }
    }

    void add_mixed(std::int64_t e) {
        const std::int64_t column = e / g_.block, j = e % g_.block;
        const auto c = static_cast<std::size_t>(column);
        if (s_.begin[c] == s_.begin[c + 1]) return;
        const auto begin = static_cast<std::uint32_t>(ballots_.size());
        if (corners_.size() <= kTabled) {
            const std::int64_t at = (s_.column0 + column) * c_.sx + j * c_.sc;
            const bool last = column + 1 == s_.columns;
            for (std::size_t k = 0; k < corners_.size(); ++k) {
                const auto bit = static_cast<std::uint8_t>(1u << k);
                ballot(corners_[k][at], begin).a |= bit;
                if (!last && across_) ballot(corners_[k][at + c_.sx], begin).b |= bit;
            }
        }
        mixed_.push_back({static_cast<std::int32_t>(column), static_cast<std::int32_t>(j), begin,
                          static_cast<std::uint32_t>(ballots_.size())});
    }

    Ballot& ballot(T label, std::uint32_t begin) {
        for (std::size_t k = begin; k < ballots_.size(); ++k)
            if (ballots_[k].label == label) return ballots_[k];
        return ballots_.emplace_back(Ballot{label, 0, 0});
    }

    void dense_row(T* dst, std::int64_t place) {
        const Row row = corners_[0] + s_.column0 * c_.sx;
        const std::int32_t* first = s_.first.data();
        const std::int64_t count = s_.x1 - s_.x0, block = g_.block;
        if (block == 1 && c_.dx == 1 && c_.sx == 1)
            for (std::int64_t x = 0; x < count; ++x) dst[x] = row[first[x]];
        else
            for (std::int64_t x = 0; x < count; ++x)
                for (std::int64_t j = 0; j < block; ++j) dst[x * c_.dx + j * c_.dc] = row[first[x] * c_.sx + j * c_.sc];
        if (mixed_.empty()) return;
        const bool tabled = corners_.size() <= kTabled;
        if (tabled) set_sums();
        for (const Mixed& m : mixed_)
            for (std::int32_t k = s_.begin[static_cast<std::size_t>(m.column)],
                              end = s_.begin[static_cast<std::size_t>(m.column) + 1]; k < end; ++k) {
                const std::int64_t x = s_.outputs[static_cast<std::size_t>(k)], at = place + x * g_.place_x + m.j;
                dst[x * c_.dx + m.j * c_.dc] = tabled ? chosen(m, x, at) : elected(x, s_.column0 + m.column, m.j, at);
            }
    }

    // sums_[h][m] is the weight of the rows 4 h + k for the bits k of m.
    void set_sums() {
        for (std::size_t h = 0; h < 2; ++h)
            for (std::size_t m = 1; m < 16; ++m) {
                std::size_t k = 0;
                while (!(m >> k & 1)) ++k;
                const double w = 4 * h + k < weights_.size() ? weights_[4 * h + k] : 0;
                sums_[h][m] = sums_[h][m & (m - 1)] + w;
            }
    }

    double sum(std::uint8_t rows) const { return sums_[0][rows & 15] + sums_[1][rows >> 4]; }

    // The label for the ballots of a mixed element and the weights of output x of the segment.
    T chosen(const Mixed& m, std::int64_t x, std::int64_t place) {
        const double weight_a = s_.weight_a[static_cast<std::size_t>(x)], weight_b = s_.weight_b[static_cast<std::size_t>(x)];
        T best = 0;
        double most = -1, next = 0;
        for (std::uint32_t k = m.begin; k < m.end; ++k) {
            const Ballot& ballot = ballots_[k];
            const double weight = weight_a * sum(ballot.a) + weight_b * sum(ballot.b);
            const bool wins = weight > most || (weight == most && ballot.label < best);
            next = std::max(next, wins ? most : weight);
            most = wins ? weight : most;
            best = wins ? ballot.label : best;
        }
        note(most - next, place);
        return best;
    }

    void sparse_row(T* dst, std::int64_t place) {
        for (std::int64_t x = 0; x < s_.x1 - s_.x0; ++x)
            for (std::int64_t j = 0; j < g_.block; ++j) {
                const std::int64_t column = across_->first[static_cast<std::size_t>(s_.x0 + x)];
                dst[x * c_.dx + j * c_.dc] = elected(x, column, j, place + x * g_.place_x + j);
            }
    }

    // The label of output x of the segment, at j of its block, whose first tap is `column`.
    T elected(std::int64_t x, std::int64_t column, std::int64_t j, std::int64_t place) {
        const double weight_a = s_.weight_a[static_cast<std::size_t>(x)], weight_b = s_.weight_b[static_cast<std::size_t>(x)];
        const std::int64_t a = column * c_.sx + j * c_.sc, b = weight_b > 0 ? a + c_.sx : a;
        const T one = corners_[0][a];
        bool unanimous = true;
        for (const Row row : corners_) unanimous &= (row[a] == one) & (row[b] == one);
        if (unanimous) return one;
        votes_.clear();
        for (std::size_t k = 0; k < corners_.size(); ++k) {
            add(corners_[k][a], weights_[k] * weight_a);
            if (b != a) add(corners_[k][b], weights_[k] * weight_b);
        }
        if (2 * corners_.size() > kFew) join();
        Vote best = votes_[0];
        double next = 0;
        for (std::size_t v = 1; v < votes_.size(); ++v) {
            const Vote& vote = votes_[v];
            const bool wins = vote.weight > best.weight || (vote.weight == best.weight && vote.label < best.label);
            next = std::max(next, wins ? best.weight : vote.weight);
            if (wins) best = vote;
        }
        note(best.weight - next, place);
        return best.label;
    }

    struct Vote {
        T label;
        double weight;
    };

    void add(T label, double weight) {
        if (2 * corners_.size() <= kFew)
            for (Vote& vote : votes_)
                if (vote.label == label) {
                    vote.weight += weight;
                    return;
                }
        votes_.push_back({label, weight});
    }

    // Makes the votes of a label one.
    void join() {
        std::sort(votes_.begin(), votes_.end(), [](const Vote& a, const Vote& b) { return a.label < b.label; });
        std::size_t last = 0;
        for (std::size_t v = 1; v < votes_.size(); ++v) {
            if (votes_[v].label == votes_[last].label)
                votes_[last].weight += votes_[v].weight;
            else
                votes_[++last] = votes_[v];
        }
        votes_.resize(last + 1);
    }

    void note(double lead, std::int64_t place) {
        if (c_.bound > 0 && lead <= c_.bound) doubtful_.push_back(place);
    }

    const Call& c_;
    const RowGeometry& g_;
    const Segment& s_;
    const AxisTable* across_;  // the horizontal axis, or null
    bool contiguous_;          // the elements of a row lie side by side
    std::vector<Row> corners_, known_;  // input rows; those that differs_ and mixed_ are of
    std::vector<double> weights_;
    std::vector<T> rows_differ_, differs_;
    std::vector<Mixed> mixed_;
    std::vector<Ballot> ballots_;
    double sums_[2][16] = {};
    std::vector<Vote> votes_;
    std::vector<std::int64_t> doubtful_;
};

}  // namespace

MajorityRun::MajorityRun(Type type, std::vector<AxisTable> axes) : type_(type), axes_(std::move(axes)) {
    require(type < Type::f16, "labels must be integers");
    check(axes_);
    require(axes_.size() <= kMaxAxes, "at most 16 axes can be resampled at once");
    for (const AxisTable& t : axes_)
        for (std::size_t i = 0; i < t.first.size(); ++i)
            require(t.second[i] == t.first[i] || t.second[i] == t.first[i] + 1, "taps must be neighbours");
}

Outcome MajorityRun::operator()(const ArrayView& data, const ArrayView& out, double bound,
                                std::vector<std::int64_t>& doubtful, const Poll& poll) const {
    const std::intptr_t size = kTypeSize[static_cast<int>(type_)];
    require(data.itemsize == size && out.itemsize == size, "item sizes must be those of the type");
    require(aligned(data) && aligned(out), "data and out must be aligned");
    switch (type_) {
        case Type::u8: return run<std::uint8_t>(data, out, bound, doubtful, poll);
        case Type::i8: return run<std::int8_t>(data, out, bound, doubtful, poll);
        case Type::u16: return run<std::uint16_t>(data, out, bound, doubtful, poll);
        case Type::i16: return run<std::int16_t>(data, out, bound, doubtful, poll);
        case Type::u32: return run<std::uint32_t>(data, out, bound, doubtful, poll);
        case Type::i32: return run<std::int32_t>(data, out, bound, doubtful, poll);
        case Type::u64: return run<std::uint64_t>(data, out, bound, doubtful, poll);
        default: return run<std::int64_t>(data, out, bound, doubtful, poll);
    }
}

template <class T>
Outcome MajorityRun::run(const ArrayView& data, const ArrayView& out, double bound, std::vector<std::int64_t>& doubtful,
                         const Poll& poll) const {
    constexpr auto size = static_cast<std::intptr_t>(sizeof(T));
    const RowGeometry g = row_geometry(data, out, lengths(axes_), kWide);
    if (is_empty(out)) return Outcome::done;
    const Call call{axes_,          data.data,      out.data, g, g.src_x / size, g.src_c / size, g.dst_x / size,
                    g.dst_c / size, bound};
    const std::int64_t width = std::min(g.xs, std::max<std::int64_t>(1, kSegment / g.block));
    std::vector<Segment> segments;
    for (std::int64_t x0 = 0; x0 < g.xs; x0 += width) segments.emplace_back(call.across(), x0, std::min(x0 + width, g.xs));
    const std::int64_t rows_per_task = units_a_task(g.rows, std::max<std::int64_t>(1, kTask / (width * g.block)));
    const std::int64_t row_tasks = (g.rows + rows_per_task - 1) / rows_per_task;
    std::mutex lock;
    const auto task = [&](std::int64_t t) {
        const std::int64_t begin = t % row_tasks * rows_per_task;
        MajorityTask<T> rows(call, segments[static_cast<std::size_t>(t / row_tasks)]);
        rows.rows(begin, std::min(begin + rows_per_task, g.rows), doubtful, lock);
    };
    return run_all(static_cast<std::int64_t>(segments.size()) * row_tasks, task, poll);
}

}  // namespace remapnd
