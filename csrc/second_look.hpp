// A closer look at single results that the fast arithmetic leaves in doubt: all taps of all axes in float64.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "axis_table.hpp"
#include "kernels.hpp"

namespace remapnd {

class SecondLook {
public:
    // `sums`: whether results may be decided here, which takes 8- or 16-bit integers and float64 weights of all filter axes.
    SecondLook(const std::vector<ResampleTable>& axes, Type type, bool sums)
        : type_(type), size_(kTypeSize[static_cast<int>(type)]), sums_(sums && type <= Type::i16) {
        bool any_filter = false;
        for (const ResampleTable& t : axes)
            if (const auto* filter = std::get_if<FilterTable>(&t)) {
                any_filter = true;
                sums_ &= !filter->fine.empty();
                blends_ &= !filter->sums();
            }
        sums_ &= any_filter;
    }

    // Sets the taps along one more axis, whose samples are `stride` bytes apart: those of output x of the table.
    void add(const ResampleTable& t, std::int64_t x, std::intptr_t stride) { std::visit(Adder{taps_.emplace_back(), x, stride}, t); }
    // The same for an axis that changes from one result to the next.
    void set_last(const ResampleTable& t, std::int64_t x, std::intptr_t stride) {
        last_.offsets.clear();
        last_.weights.clear();
        has_last_ = true;
        std::visit(Adder{last_, x, stride}, t);
    }

    // Whether all taps are the same number, from p on; a blend of these is exact.
    bool all_equal(const std::byte* p) const {
        const std::byte* first = nullptr;
        return blends_ && each_line(0, p, 1.0, [&](const std::byte* line, double, const Taps& taps) {
                   for (const std::intptr_t offset : taps.offsets) {
                       if (!first) first = line + offset;
                       if (std::memcmp(first, line + offset, static_cast<std::size_t>(size_)) != 0) return false;
                   }
                   return true;
               });
    }

    // Whether the result is farther than `bound` from a decision of the rule; then it is stored.
    bool decided(const std::byte* p, Rule rule, double bound, std::byte* to) const {
        if (!sums_) return false;
        switch (type_) {
            case Type::u8: return decided_as<std::uint8_t>(p, rule, bound, to);
            case Type::i8: return decided_as<std::int8_t>(p, rule, bound, to);
            case Type::u16: return decided_as<std::uint16_t>(p, rule, bound, to);
            default: return decided_as<std::int16_t>(p, rule, bound, to);
        }
    }

private:
    struct Taps {
        std::vector<std::intptr_t> offsets;
        std::vector<double> weights;
    };
    struct Adder {
        Taps& taps;
        std::int64_t x;
        std::intptr_t stride;

        void put(std::int64_t sample, double weight) const {
            taps.offsets.push_back(sample * stride);
            taps.weights.push_back(weight);
        }
        void operator()(const AxisTable& t) const {
            const double w = t.weight[x] / t.one;
            put(t.first[x], 1 - w);
            if (t.second[x] != t.first[x]) put(t.second[x], w);
        }
        void operator()(const FilterTable& t) const {
            for (std::int64_t k = 0; k < t.count[x]; ++k)
                put(t.start[x] + k, t.fine.empty() ? 0 : t.fine[x * t.width + k]);
        }
    };

    // visit(address, weight, taps of the last axis) for all combinations of taps of the axes before it, from axis `a` on, until
    // one returns false.
    template <class Visit>
    bool each_line(std::size_t a, const std::byte* p, double weight, const Visit& visit) const {
        if (a + (has_last_ ? 0 : 1) == taps_.size()) return visit(p, weight, has_last_ ? last_ : taps_.back());
        const Taps& taps = taps_[a];
        for (std::size_t k = 0; k < taps.offsets.size(); ++k)
            if (!each_line(a + 1, p + taps.offsets[k], weight * taps.weights[k], visit)) return false;
        return true;
    }

    template <class T>
    bool decided_as(const std::byte* p, Rule rule, double bound, std::byte* to) const {
        double sum = 0;
        each_line(0, p, 1.0, [&](const std::byte* line, double weight, const Taps& taps) {
            double part = 0;
            for (std::size_t k = 0; k < taps.offsets.size(); ++k)
                part += taps.weights[k] * static_cast<double>(*reinterpret_cast<const T*>(line + taps.offsets[k]));
            sum += weight * part;
            return true;
        });
        const double shifted = rule == Rule::half_up || rule == Rule::half_even ? sum + 0.5 : sum;
        if (!(std::fabs(shifted - std::nearbyint(shifted)) > bound)) return false;
        double whole = std::floor(shifted);
        if (rule == Rule::truncate_up || (rule == Rule::truncate_by_sign && sum < 0)) whole = std::ceil(sum);
        constexpr int bits = 8 * sizeof(T);
        constexpr bool is_signed = T(-1) < T(0);
        constexpr double low = is_signed ? -std::int64_t(1) * (1 << (bits - 1)) : 0;
        constexpr double high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        *reinterpret_cast<T*>(to) = static_cast<T>(whole < low ? low : whole > high ? high : whole);
        return true;
    }

    Type type_;
    std::intptr_t size_;
    bool sums_;           // results can be decided
    bool blends_ = true;  // no axis is in the sum form
    std::vector<Taps> taps_;
    bool has_last_ = false;
    Taps last_;
};

}  // namespace remapnd
