// Gathers, and the short way of those prepared lately.
#include <cstdint>
#include <utility>

#include "bind_prepared.hpp"
#include "gather_run.hpp"

namespace remapnd::python {
namespace {

struct Gather {
    IndexGeometry geometry;

    Gather(std::vector<int> data_axes, std::vector<int> index_axes, std::vector<int> indexed, int component_axis, int bounds)
        : geometry{std::move(data_axes), std::move(index_axes), std::move(indexed), component_axis,
                   static_cast<Bounds>(bounds)} {
        check_geometry(geometry);
    }

    bool operator()(nb::handle data, nb::handle indices, nb::handle out, nb::handle fill) const {
        const MovableView d(data, "data"), o(out, "out", true);
        const View i(indices, "indices");
        const IndexType type = index_type(indices, "indices");
        const std::byte* item = nullptr;
        if (geometry.bounds == Bounds::fill) {
            if (!PyBytes_Check(fill.ptr()) || PyBytes_GET_SIZE(fill.ptr()) != d->itemsize)
                throw nb::value_error("`fill` must be the bytes of one item");
            item = reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(fill.ptr()));
        }
        return run(d, i, type, o, item);
    }

    bool run(const ArrayView& d, const ArrayView& i, IndexType type, const ArrayView& o, const std::byte* item) const {
        IndexResult result;
        if (is_small(o)) {
            result = run_gather(geometry, d, i, type, o, item, [] { return PyErr_CheckSignals() != 0; });
        } else {
            WithoutGil others_run;
            result = run_gather(geometry, d, i, type, o, item, [&] { return others_run.interrupted(); });
        }
        if (result == IndexResult::interrupted) throw nb::python_error();
        return result == IndexResult::done;
    }
};

// A Gather and the arrays that it was prepared for: plain NumPy arrays of one shape and dtype are served without a look at
// what else Python's callers may bring.
struct PreparedGather {
    nb::object gather;  // keeps `core` alive
    const Gather& core;
    Expected data, indices, output;

    PreparedGather(nb::object gather_, nb::object data_dtype, std::vector<npy_intp> data_shape, nb::object indices_dtype,
                   std::vector<npy_intp> indices_shape, std::vector<npy_intp> output_shape)
        : gather(gather_), core(nb::cast<const Gather&>(gather_)), data(data_dtype, std::move(data_shape)),
          indices(indices_dtype, std::move(indices_shape)), output(data_dtype, std::move(output_shape)) {
        if (core.geometry.bounds == Bounds::fill) throw nb::value_error("`bounds` must not be fill");
    }

    bool fits(nb::handle d, nb::handle i) const { return data.is(d) && indices.is(i); }

    // The result, or None for a call that needs a closer look: other arrays, or indices that are out of range.
    nb::object operator()(nb::handle d, nb::handle i, nb::handle out) const { return fits(d, i) ? run(d, i, out) : nb::none(); }

    nb::object run(nb::handle d, nb::handle i, nb::handle out) const {
        const MovableView data_view(d, "data");
        const View indices_view(i, "indices");
        const IndexType type = index_type(i, "indices");
        const nb::object result = output.result(out);
        if (!result.is_valid() || output.is_empty()) return nb::none();
        const View to(result, "out");
        if (!out.is_none() && !(apart(to, data_view) && apart(to, indices_view))) return nb::none();
        return core.run(data_view, indices_view, type, to, nullptr) ? result : nb::none();
    }
};

using RecentGathers = Recent<PreparedGather>;

}  // namespace

void bind_gather(nb::module_& m) {
    nb::class_<Gather>(m, "Gather")
        .def(nb::init<std::vector<int>, std::vector<int>, std::vector<int>, int, int>(), nb::arg("data_axes"),
             nb::arg("index_axes"), nb::arg("indexed"), nb::arg("component_axis"), nb::arg("bounds"))
        .def("__call__", &Gather::operator(), nb::arg("data"), nb::arg("indices"), nb::arg("out"),
             nb::arg("fill").none());
    nb::class_<PreparedGather>(m, "PreparedGather")
        .def(nb::init<nb::object, nb::object, std::vector<npy_intp>, nb::object, std::vector<npy_intp>,
                      std::vector<npy_intp>>(),
             nb::arg("gather"), nb::arg("data_dtype"), nb::arg("data_shape"), nb::arg("indices_dtype"),
             nb::arg("indices_shape"), nb::arg("output_shape"))
        .def("__call__", &PreparedGather::operator(), nb::arg("data").none(), nb::arg("indices").none(),
             nb::arg("out").none());
    nb::class_<RecentGathers>(m, "RecentGathers")
        .def(nb::init<>())
        .def(
            "__call__",
            [](const RecentGathers& recent, nb::handle data, nb::handle indices, nb::handle option, nb::handle out) {
                return recent.find(option, nb::none(), out, data, indices);
            },
            nb::arg("data").none(), nb::arg("indices").none(), nb::arg("option").none(), nb::arg("out").none())
        .def(
            "keep",
            [](RecentGathers& recent, nb::object prepared, std::int64_t option) {
                recent.keep(std::move(prepared), option, nb::none());
            },
            nb::arg("prepared"), nb::arg("option"));
}

}  // namespace remapnd::python
