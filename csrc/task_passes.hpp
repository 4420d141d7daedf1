// The passes of a task of resampling: rows of every level made of those below.
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "byte_division.hpp"
#include "task_rows.hpp"

namespace remapnd {

template <class W>
class TaskPasses : protected TaskRows<W> {
protected:
    using typename TaskRows<W>::Level;
    using typename TaskRows<W>::Slot;
    using TaskRows<W>::arena_;
    using TaskRows<W>::c_;
    using TaskRows<W>::converted;
    using TaskRows<W>::found;
    using TaskRows<W>::g_;
    using TaskRows<W>::inputs;
    using TaskRows<W>::levels_;
    using TaskRows<W>::outputs;
    using TaskRows<W>::place_;
    using TaskRows<W>::remember;
    using TaskRows<W>::s_;
    using TaskRows<W>::source_;
    using TaskRows<W>::source_row;
    using TaskRows<W>::stacked_;
    using TaskRows<W>::summed_;
    using TaskRows<W>::values;

    static constexpr bool kWords = std::is_same_v<W, std::uint32_t>;

    TaskPasses(const ResampleCall<W>& call, const Segment<W>& segment)
        : TaskRows<W>(call, segment), by_pairs_(segment.pairs.count > 0) {}

    // Whether the output at place_ of a vertical pass is the one input row `from`.
    bool is_one_row(const Pass pass, std::int64_t& from) const {
        if (pass.across() || std::is_integral_v<W>) return false;
        const VerticalAxis& v = c_.vertical[pass.vertical];
        const std::int64_t at = place_[pass.vertical];
        from = v.linear ? v.linear->first[at] : v.filter->start[at];
        return v.linear ? from == v.linear->second[at] : v.filter->count[at] == 1 && !v.filter->sums();
    }

    // Whether rows of level k may lie in slots of the levels below: not where a filter pass takes them, whose taps the slots
    // below do not tell apart.
    bool may_lie_below(std::size_t k) const {
        for (; k < c_.passes.size() && !c_.passes[k].across(); ++k)
            if (c_.vertical[c_.passes[k].vertical].filter) return false;
        return true;
    }

    // The row of level k > 0 at place_: in `target` when given, else in its slot, or wherever it lies already.
    const W* made(std::size_t k, W* target, bool careful) {
        const Pass pass = c_.passes[k - 1];
        std::int64_t from = 0;
        const bool one_row = is_one_row(pass, from);
        if (one_row && (k > 1 || c_.same) && may_lie_below(k)) return row_below(k, from, nullptr, careful);
        if (!target) {
            Slot& slot = found(levels_[k]);
            target = reinterpret_cast<W*>(arena_.data() + slot.offset);
            if (!remember(slot, careful)) return target;
        }
        if (pass.across()) {
            across(k, target, careful);
        } else if (one_row) {
            const W* row = row_below(k, from, target, careful);
            if (row != target) std::memcpy(target, row, sizeof(W) * static_cast<std::size_t>(values(k)));
        } else if (c_.vertical[pass.vertical].linear) {
            blend(k, target, careful);
        } else {
            filter(k, target, careful);
        }
        return target;
    }

    // The row of level k - 1 at coordinate `from` of pass k, as W; when it has to be converted, in `target` if given.
    const W* row_below(std::size_t k, std::int64_t from, W* target, bool careful) {
        std::int64_t& place = place_[c_.passes[k - 1].vertical];
        const std::int64_t at = place;
        place = from;
        const W* row = k == 1 ? converted(target) : made(k - 1, nullptr, careful);
        place = at;
        return row;
    }

    // The two rows that a linear pass blends; `target` as in row_below, for the first.
    std::pair<const W*, const W*> two_rows(std::size_t k, W* target, bool careful) {
        const Pass pass = c_.passes[k - 1];
        const AxisTable& t = *c_.vertical[pass.vertical].linear;
        const std::int64_t at = place_[pass.vertical];
        const W* a = row_below(k, t.first[at], target, careful);
        return {a, row_below(k, t.second[at], nullptr, careful)};
    }

    void across(std::size_t k, W* target, bool careful) {
        if constexpr (!std::is_integral_v<W>) {
            const W* row = k == 1 ? converted(nullptr) : made(k - 1, nullptr, careful);
            if (!c_.filter_across)
                for (std::int64_t i = 0, in = inputs() / stacked_; i < stacked_; ++i)
                    (careful ? c_.rows.across_careful : c_.rows.across)(s_.table(), row + i * in, target + i * outputs());
            else if (c_.loose)
                across_in_any_order(row, target);
            else if (careful)
                filters().across_careful(s_.filter.taps(), g_.block, row, target);
            else
                filters().across(s_.filter.taps(), g_.block, row, inputs() + (arena_.holds(row) ? kPad : 0), target);
        } else if (k == 1 && by_pairs_) {
            if constexpr (kWords)
                c_.words.across(s_.pair_table(), s_.table(), source_row(), target);
            else
                c_.kernels.across_bytes(s_.pair_table(), s_.table(), reinterpret_cast<const std::uint8_t*>(source_row()), target);
        } else {
            c_.rows.across(s_.table(), k == 1 ? converted(nullptr) : made(k - 1, nullptr, careful), target);
        }
    }

    void across_in_any_order(const W* row, W* target) const {
        if constexpr (std::is_same_v<W, float>) {
            if (s_.ramps.empty())
                c_.filters.across_loose(s_.loose.taps(), s_.filter.taps(), g_.block, row, target);
            else
                c_.filters.across_ramps(s_.ramps.taps(), s_.filter.taps(), g_.block, row, target);
        }
    }

    static double weight_at(const AxisTable& t, std::int64_t at) { return t.first[at] == t.second[at] ? 0 : t.weight[at]; }

    // A linear pass; one row as well in integers, which are multiplied by `one` like all others.
    void blend(std::size_t k, W* target, bool careful) {
        const Pass pass = c_.passes[k - 1];
        const AxisTable& t = *c_.vertical[pass.vertical].linear;
        std::int64_t& place = place_[pass.vertical];
        const std::int64_t at = place;
        const double w = weight_at(t, at);
        if (k == 1 && !careful && c_.rounding.base == 0) {
            place = t.first[at];
            const std::byte* a = source_row();
            place = t.second[at];
            c_.types.lerp(a, source_row(), w, t.one, inputs(), target);
            place = at;
            return;
        }
        // level 0 has no slots of type W for linear passes: the first row goes through the target
        const auto [a, b] = two_rows(k, k == 1 ? target : nullptr, careful);
        if (careful)
            c_.rows.lerp_careful(a, b, static_cast<W>(w), values(k), target);
        else
            c_.rows.lerp(a, b, static_cast<W>(w), static_cast<W>(t.one), values(k), target);
    }

    void filter(std::size_t k, W* target, bool careful) {
        if constexpr (!std::is_integral_v<W>) {
            const Pass pass = c_.passes[k - 1];
            const bool raw = k == 1 && c_.down_raw && !careful;
            if constexpr (std::is_same_v<W, float>)
                if (raw && c_.down_ramps) return down_ramps(target);
            std::vector<const void*>& rows = filter_rows(k, raw, careful);
            if (raw && c_.down_whole) {
                if constexpr (std::is_same_v<W, float>)
                    down_whole(*c_.vertical[pass.vertical].whole, place_[pass.vertical], rows, target);
                return;
            }
            RowTaps taps = row_taps(k);
            if (k == 1 && (raw || c_.same)) taps.ahead = this->many_rows_ahead();
            if (raw)
                c_.down(taps, values(k), target);
            else
                (careful ? filters().down_careful : filters().down)(taps, values(k), target);
        }
    }

    // The rows that pass k sums at place_, kept in its level.
    std::vector<const void*>& filter_rows(std::size_t k, bool raw, bool careful) {
        const Pass pass = c_.passes[k - 1];
        const FilterTable& t = *c_.vertical[pass.vertical].filter;
        std::int64_t& place = place_[pass.vertical];
        const std::int64_t at = place;
        std::vector<const void*>& rows = levels_[k].rows;
        rows.clear();
        for (std::int64_t i = 0; i < t.count[at]; ++i) {
            place = t.start[at] + i;
            rows.push_back(raw ? static_cast<const void*>(source_row()) : row_below(k, place, nullptr, careful));
        }
        place = at;
        return rows;
    }

    // Those rows and their weights, the base apart.
    RowTaps row_taps(std::size_t k) {
        const std::size_t vertical = c_.passes[k - 1].vertical;
        const FilterTable& t = *c_.vertical[vertical].filter;
        const std::int64_t at = place_[vertical], base = t.base_of(at);
        const double* weights = t.weights_of(at);
        Level& level = levels_[k];
        RowTaps taps{level.rows.data(), nullptr, t.count[at], nullptr, base, 0, {}};
        level.weights.assign(weights, weights + t.count[at]);
        if (base >= 0) {
            taps.base = level.rows[static_cast<std::size_t>(base)];
            taps.base_weight = weights[base];
            level.rows.erase(level.rows.begin() + base);
            level.weights.erase(level.weights.begin() + base);
            --taps.taps;
        }
        taps.weights = level.weights.data();
        return taps;
    }

    // Both passes of a filter in integers.
    void make_whole(float* target) {
        const VerticalAxis& axis = c_.vertical[0];
        const std::int64_t at = place_[0];
        Level& level = levels_[1];
        level.rows.clear();
        for (std::int64_t i = 0; i < axis.filter->count[at]; ++i) {
            place_[0] = axis.filter->start[at] + i;
            level.rows.push_back(source_row());
        }
        place_[0] = at;
        if (level.rows.size() % 2) level.rows.push_back(level.rows.back());
        auto* row = reinterpret_cast<std::int16_t*>(arena_.data() + level.slots[0].offset);
        c_.filters.down_short(level.rows.data(), axis.whole->numerators.data() + at * axis.whole->width,
                              static_cast<std::int64_t>(level.rows.size()), inputs(), row);
        c_.filters.across_short(s_.whole.taps(), g_.block, row, axis.whole->scale[static_cast<std::size_t>(at)], target);
    }

    // The same of bytes across first, each row of the input once, and rounded.  False where the row can't be made so.
    bool make_in_bytes(std::uint8_t* out) {
        const VerticalAxis& axis = c_.vertical[0];
        const std::int64_t at = place_[0], below = axis.whole->total(at);
        const auto ties = [&](std::int64_t divisor) { return c_.rounding.rule == Rule::half_even && divisor % 2 == 0; };
        if (s_.bytes.empty() || ties(below * s_.bytes.divisor())) return false;
        std::vector<const void*>& rows = levels_[1].rows;
        rows.clear();
        for (std::int64_t i = 0; i < axis.filter->count[at]; ++i) {
            place_[0] = axis.filter->start[at] + i;
            Slot& slot = found(summed_);
            auto* row = reinterpret_cast<std::uint16_t*>(arena_.data() + slot.offset);
            if (remember(slot, true))
                c_.filters.across_bytes(s_.bytes.taps(), reinterpret_cast<const std::uint8_t*>(source_row()), row);
            rows.push_back(row);
        }
        place_[0] = at;
        const WeightedRows weighted{rows.data(), axis.whole->numerators.data() + at * axis.whole->width, axis.filter->count[at]};
        const auto rounding = [](std::int64_t divisor) {
            return byte_division(static_cast<std::uint32_t>(divisor), static_cast<std::uint32_t>(divisor / 2));
        };
        c_.filters.down_divided(weighted, outputs(), rounding(below * s_.bytes.divisor()), out);
        for (const ByteSegment::Other& other : s_.bytes.others()) {
            const std::int64_t divisor = below * other.divisor;
            for (std::int64_t e = other.x * g_.block; e < (other.x + 1) * g_.block; ++e) {
                std::int64_t sum = divisor / 2;
                for (std::int64_t k = 0; k < weighted.count; ++k)
                    sum += weighted.numerators[k] * static_cast<const std::uint16_t*>(rows[static_cast<std::size_t>(k)])[e];
                const std::int64_t quotient = sum / divisor;
                out[e] = static_cast<std::uint8_t>(quotient - (ties(divisor) && sum % divisor == 0 ? quotient % 2 : 0));
            }
        }
        return true;
    }

    // By ramps: what the output before has left of this one, and the interval behind it.
    void down_ramps(float* target) {
        const VerticalAxis& axis = c_.vertical[0];
        const Ramps& r = *axis.ramps;
        const std::int64_t at = place_[0];
        const auto interval = [&](std::int64_t i, float* out) {
            std::vector<const void*>& rows = levels_[1].rows;
            rows.clear();
            for (place_[0] = r.begin(i); place_[0] < r.end(i); ++place_[0]) rows.push_back(source_row());
            ByteRamps ramps{rows.data(), r.count(i), {}, {}, 0};
            const auto set = [&ramps](std::int16_t (&to)[2], const Ramp& ramp) {
                to[0] = static_cast<std::int16_t>(ramp.at + (ramps.count - 1) * ramp.slope);
                to[1] = static_cast<std::int16_t>(-ramp.slope);
            };
            if (out) {
                set(ramps.ends, r.falling(at));
                ramps.scale = axis.whole->scale[static_cast<std::size_t>(at)];
            }
            if (i < axis.filter->n_out()) set(ramps.begins, r.rising(i));
            c_.filters.down_ramps(ramps, inputs(), this->carry(), out);
        };
        if (carried_from_ != source_ || carried_to_ != at) interval(at, nullptr);
        interval(at + 1, target);
        place_[0] = at;
        carried_from_ = source_, carried_to_ = at + 1;
    }

    void down_whole(const WholeWeights& w, std::int64_t at, std::vector<const void*>& rows, float* target) const {
        if (rows.size() % 2) rows.push_back(rows.back());
        const auto taps = static_cast<std::int64_t>(rows.size());
        const float scale = w.scale[static_cast<std::size_t>(at)];
        const std::int16_t* numerators = w.numerators.data() + at * w.width;
        if (w.parts())
            c_.filters.down_parts(rows.data(), numerators, w.lows.data() + at * w.width, taps, scale, inputs(), target);
        else
            c_.filters.down_bytes(rows.data(), numerators, taps, scale, inputs(), target);
    }

    const auto& filters() const {
        if constexpr (std::is_same_v<W, float>)
            return c_.filters.f32;
        else
            return c_.filters.f64;
    }

    const bool by_pairs_;  // the horizontal pass can read rows of the type

private:
    const std::byte* carried_from_ = nullptr;  // what the sums carried belong to, and the output
    std::int64_t carried_to_ = -1;
};

}  // namespace remapnd
