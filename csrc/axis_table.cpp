#include "axis_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace remapnd {
namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check_table(const AxisTable& t) {
    require(t.second.size() == t.first.size() && t.weight.size() == t.first.size(), "tables must have one length");
    for (std::size_t i = 0; i < t.first.size(); ++i)
        require(t.first[i] >= 0 && t.first[i] < t.n_in && t.second[i] >= 0 && t.second[i] < t.n_in,
                "taps must lie in [0, n_in)");
}

void check_table(const FilterTable& t) {
    const std::size_t n = t.start.size(), weights = n * static_cast<std::size_t>(t.width);
    require(t.count.size() == n && t.weights.size() == weights && (t.base.empty() || t.base.size() == n) &&
                (t.fine.empty() || t.fine.size() == weights),
            "tables must have one length");
    require(t.n_in >= 0, "taps must lie in [0, n_in)");
    for (std::size_t i = 0; i < n; ++i) {
        require(t.count[i] >= (t.sums() ? 0 : 1) && t.count[i] <= t.width, "counts must lie in [1, width]");
        require(t.start[i] >= 0 && t.start[i] <= t.n_in - t.count[i], "taps must lie in [0, n_in)");
        require(t.sums() || (t.base[i] >= 0 && t.base[i] < t.count[i]), "base must lie in [0, count)");
    }
    const auto finite = [](double w) { return std::isfinite(w); };
    require(std::all_of(t.weights.begin(), t.weights.end(), finite) && std::all_of(t.fine.begin(), t.fine.end(), finite),
            "weights must be finite");
}

void check_table(const ResampleTable& t) {
    std::visit([](const auto& table) { check_table(table); }, t);
}

int axis_of(const AxisTable& t) { return t.axis; }
int axis_of(const ResampleTable& t) {
    return std::visit([](const auto& table) { return table.axis; }, t);
}

ResampledAxis length(const AxisTable& t) { return {t.axis, t.n_in, t.n_out()}; }
ResampledAxis length(const ResampleTable& t) {
    return std::visit([](const auto& table) -> ResampledAxis { return {table.axis, table.n_in, table.n_out()}; }, t);
}

template <class Table>
void check_all(const std::vector<Table>& axes) {
    require(!axes.empty(), "there must be an axis to resample");
    int last = -1;
    for (const Table& t : axes) {
        require(axis_of(t) > last, "axes must ascend");
        last = axis_of(t);
        check_table(t);
    }
}

template <class Table>
std::vector<ResampledAxis> all_lengths(const std::vector<Table>& axes) {
    std::vector<ResampledAxis> r;
    for (const Table& t : axes) r.push_back(length(t));
    return r;
}

}  // namespace

std::int64_t FilterTable::widest() const {
    return count.empty() ? 1 : std::max<std::int64_t>(1, *std::max_element(count.begin(), count.end()));
}

void check(const std::vector<AxisTable>& axes) { check_all(axes); }
void check(const std::vector<ResampleTable>& axes) { check_all(axes); }

std::vector<ResampledAxis> lengths(const std::vector<AxisTable>& axes) { return all_lengths(axes); }
std::vector<ResampledAxis> lengths(const std::vector<ResampleTable>& axes) { return all_lengths(axes); }

}  // namespace remapnd
