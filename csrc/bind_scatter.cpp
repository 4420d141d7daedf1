// Scatters, and the short way of those prepared lately.
#include <optional>
#include <utility>

#include "bind_prepared.hpp"
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
        return run(from, i, type, u, d);
    }

    bool run(const ArrayView* from, const ArrayView& i, IndexType type, const ArrayView& u, const ArrayView& d) const {
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

// A scatter and the arrays that it was prepared for; see PreparedGather.
struct PreparedScatter {
    nb::object scatter;  // keeps `core` alive
    const Scatters& core;
    Expected data, indices, updates;

    PreparedScatter(nb::object scatter_, nb::object data_dtype, std::vector<npy_intp> data_shape, nb::object indices_dtype,
                    std::vector<npy_intp> indices_shape, std::vector<npy_intp> updates_shape)
        : scatter(scatter_), core(nb::cast<const Scatters&>(scatter_)), data(data_dtype, std::move(data_shape)),
          indices(indices_dtype, std::move(indices_shape)), updates(data_dtype, std::move(updates_shape)) {}

    bool fits(nb::handle d, nb::handle i, nb::handle u) const { return data.is(d) && indices.is(i) && updates.is(u); }

    // The result, or None as for PreparedGather; `out` may be the data.
    nb::object operator()(nb::handle d, nb::handle i, nb::handle u, nb::handle out) const {
        return fits(d, i, u) ? run(d, i, u, out) : nb::none();
    }

    nb::object run(nb::handle d, nb::handle i, nb::handle u, nb::handle out) const {
        const MovableView data_view(d, "data"), updates_view(u, "updates");
        const View indices_view(i, "indices");
        const IndexType type = index_type(i, "indices");
        const nb::object result = data.result(out);
        if (!result.is_valid() || data.is_empty() || updates.is_empty()) return nb::none();
        const MovableView to(result, "out", true);
        const bool in_place = out.is(d);
        if (!out.is_none() && !((in_place || apart(to, data_view)) && apart(to, indices_view) && apart(to, updates_view)))
            return nb::none();
        const ArrayView* from = in_place ? nullptr : &static_cast<const ArrayView&>(data_view);
        return core.run(from, indices_view, type, updates_view, to) ? result : nb::none();
    }
};

using RecentScatters = Recent<PreparedScatter>;

}  // namespace

void bind_scatter(nb::module_& m) {
    nb::class_<Scatters>(m, "Scatter")
        .def(nb::init<std::vector<int>, std::vector<int>, std::vector<int>, int, int, int, int>(), nb::arg("data_axes"),
             nb::arg("index_axes"), nb::arg("indexed"), nb::arg("component_axis"), nb::arg("bounds"), nb::arg("reduction"),
             nb::arg("number"))
        .def("__call__", &Scatters::operator(), nb::arg("source").none(), nb::arg("indices"), nb::arg("updates"),
             nb::arg("data"));
    nb::class_<PreparedScatter>(m, "PreparedScatter")
        .def(nb::init<nb::object, nb::object, std::vector<npy_intp>, nb::object, std::vector<npy_intp>,
                      std::vector<npy_intp>>(),
             nb::arg("scatter"), nb::arg("data_dtype"), nb::arg("data_shape"), nb::arg("indices_dtype"),
             nb::arg("indices_shape"), nb::arg("updates_shape"))
        .def("__call__", &PreparedScatter::operator(), nb::arg("data").none(), nb::arg("indices").none(),
             nb::arg("updates").none(), nb::arg("out").none());
    nb::class_<RecentScatters>(m, "RecentScatters")
        .def(nb::init<>())
        .def(
            "__call__",
            [](const RecentScatters& recent, nb::handle data, nb::handle indices, nb::handle updates, nb::handle option,
               nb::handle reduction, nb::handle out) { return recent.find(option, reduction, out, data, indices, updates); },
            nb::arg("data").none(), nb::arg("indices").none(), nb::arg("updates").none(), nb::arg("option").none(),
            nb::arg("reduction").none(), nb::arg("out").none())
        .def("keep", &RecentScatters::keep, nb::arg("prepared"), nb::arg("option"), nb::arg("reduction"));
}

}  // namespace remapnd::python
