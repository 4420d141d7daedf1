#include "axis_table.hpp"

#include <stdexcept>

namespace remapnd {

void check(const std::vector<AxisTable>& axes) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw std::invalid_argument(what);
    };
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

}  // namespace remapnd
