// Scatters.
#include <optional>
#include <utility>

#include "bind.hpp"
#include "dispatch.hpp"
#include "gather_run.hpp"
#include "scatter_run.hpp"

namespace remapnd::python {
namespace {

struct Scatters {
    IndexGeometry geometry;
    Reduction reduction;
    Number number;

    Scatters(std::vector<int> data_axes, std::vector<int> index_axes, std::vector<int> indexed, int component_axis,
             int bounds, int reduction_, int number_)
        : geometry{std::move(data_axes), std::move(index_axes), std::move(indexed), component_axis,
                   static_cast<Bounds>(bounds)},
          reduction(static_cast<Reduction>(reduction_)), number(static_cast<Number>(number_)) {
        check_geometry(geometry);
        if (reduction_ < 0 || reduction_ >= kReductions || number_ < 0 || number_ >= kNumbers)
            throw nb::value_error("no such reduction");
        if (reduction != Reduction::none && !kernels().scatter->reduce[reduction_][number_].rows)
            throw nb::value_error("no such reduction of complex numbers");
    }

    bool operator()(nb::handle source, nb::handle indices, nb::handle updates, nb::handle data) const {
        const View i(indices, "indices");
        const MovableView u(updates, "updates"), d(data, "data", true);
        std::optional<MovableView> s;
        if (!source.is_none()) s.emplace(source, "source");
        const ArrayView* from = s ? &static_cast<const ArrayView&>(*s) : nullptr;
        const IndexType type = index_type(indices, "indices");
        IndexResult result;
        if (is_small(u) && is_small(d)) {
            result = run_scatter(geometry, reduction, number, from, i, type, u, d, [] { return PyErr_CheckSignals() != 0; });
        } else {
            WithoutGil others_run;
            result = run_scatter(geometry, reduction, number, from, i, type, u, d,
                                 [&] { return others_run.interrupted(); });
        }
        if (result == IndexResult::interrupted) throw nb::python_error();
        return result == IndexResult::done;
    }
};

}  // namespace

void bind_scatter(nb::module_& m) {
    nb::class_<Scatters>(m, "Scatter")
        .def(nb::init<std::vector<int>, std::vector<int>, std::vector<int>, int, int, int, int>(), nb::arg("data_axes"),
             nb::arg("index_axes"), nb::arg("indexed"), nb::arg("component_axis"), nb::arg("bounds"), nb::arg("reduction"),
             nb::arg("number"))
        .def("__call__", &Scatters::operator(), nb::arg("source").none(), nb::arg("indices"), nb::arg("updates"),
             nb::arg("data"));
}

}  // namespace remapnd::python
