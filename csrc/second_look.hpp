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
    void add(const ResampleTable& t, std::int64_t x, std::intptr_t stride) { taps_.push_back(taps_of(t, x, stride)); }
    // The same for an axis that changes from one result to the next.
    void set_last(const ResampleTable& t, std::int64_t x, std::intptr_t stride) {
        last_ = taps_of(t, x, stride);
        has_last_ = true;
    }

    // Whether all taps are the same number, from p on; a blend of these is exact.
    bool all_equal(const std::byte* p) const {
        const std::byte* first = nullptr;
        return blends_ && each_line<false>(0, p, 1.0, [&](const std::byte* line, double, const Taps& taps) {
                   for (std::int64_t k = 0; k < taps.count; ++k) {
                       const std::byte* tap = line + taps.offset(k);
                       if (!first) first = tap;
                       if (std::memcmp(first, tap, static_cast<std::size_t>(size_)) != 0) return false;
                   }
                   return true;
               });
    }

    // Whether the result is farther than `bound` from a decision of the rule; then it is stored.  With `ties`, those that are not
    // are at the decision.
    bool decided(const std::byte* p, Rule rule, double bound, bool ties, std::byte* to) const {
        if (!sums_) return false;
        switch (type_) {
            case Type::u8: return decided_as<std::uint8_t>(p, rule, bound, ties, to);
            case Type::i8: return decided_as<std::int8_t>(p, rule, bound, ties, to);
            case Type::u16: return decided_as<std::uint16_t>(p, rule, bound, ties, to);
            default: return decided_as<std::int16_t>(p, rule, bound, ties, to);
        }
    }

private:
    struct Taps {
        std::intptr_t first, step;  // bytes
        std::int64_t count;
        const double* fine;         // or null
        double two[2];              // then, of a linear axis

        std::intptr_t offset(std::int64_t k) const { return first + k * step; }
        const double* weights() const { return fine ? fine : two; }
    };

    static Taps taps_of(const ResampleTable& table, std::int64_t x, std::intptr_t stride) {
        if (const auto* filter = std::get_if<FilterTable>(&table))
            return {filter->start[x] * stride, stride, filter->count[x], filter->fine.empty() ? nullptr : filter->fine_of(x), {}};
        const auto& t = std::get<AxisTable>(table);
        const double w = t.weight[x] / t.one;
        const std::int64_t apart = t.second[x] - t.first[x];
        return {t.first[x] * stride, apart * stride, apart ? 2 : 1, nullptr, {1 - w, w}};
    }

    // visit(address, weight, taps of the last axis) for all combinations of taps of the axes before it, from axis `a` on, until
    // one returns false.  Filter axes need have no weights for one that is not `weighted`.
    template <bool weighted, class Visit>
    bool each_line(std::size_t a, const std::byte* p, double weight, const Visit& visit) const {
        if (a + (has_last_ ? 0 : 1) == taps_.size()) return visit(p, weight, has_last_ ? last_ : taps_.back());
        const Taps& taps = taps_[a];
        for (std::int64_t k = 0; k < taps.count; ++k)
            if (!each_line<weighted>(a + 1, p + taps.offset(k), weighted ? weight * taps.weights()[k] : weight, visit)) return false;
        return true;
    }

    template <class T>
    bool decided_as(const std::byte* p, Rule rule, double bound, bool ties, std::byte* to) const {
        double sum = 0;
        each_line<true>(0, p, 1.0, [&](const std::byte* line, double weight, const Taps& taps) {
            const double* weights = taps.weights();
            double parts[4] = {};  // that additions need not wait for each other
            for (std::int64_t k = 0; k < taps.count; ++k)
                parts[k % 4] += weights[k] * static_cast<double>(*reinterpret_cast<const T*>(line + taps.offset(k)));
            sum += weight * ((parts[0] + parts[1]) + (parts[2] + parts[3]));
            return true;
        });
        const double shifted = rule == Rule::half_up || rule == Rule::half_even ? sum + 0.5 : sum;
        double whole = std::nearbyint(shifted);
        if (std::fabs(shifted - whole) > bound) {
            whole = std::floor(shifted);
            if (rule == Rule::truncate_up || (rule == Rule::truncate_by_sign && sum < 0)) whole = std::ceil(sum);
        } else if (!ties) {
            return false;
        } else if (rule == Rule::half_even && std::fmod(whole, 2) != 0) {
            --whole;
        }
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
