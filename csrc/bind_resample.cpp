// Resamplings by tables: linear and filters, nearest, majority; and the short way of those prepared lately.
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "bind_prepared.hpp"
#include "gather_run.hpp"
#include "majority_run.hpp"
#include "nearest_run.hpp"
#include "resample_run.hpp"

namespace remapnd::python {
namespace {

struct Axis {
    AxisTable table;

    Axis(int axis, std::int64_t n_in, nb::handle first, nb::handle second, nb::handle weight, double one)
        : table{axis, n_in, copy_of<std::int64_t>(first, NPY_INT64, "first"),
                copy_of<std::int64_t>(second, NPY_INT64, "second"),
                copy_of<double>(weight, NPY_FLOAT64, "weight"), one} {}
};

struct FilterAxis {
    FilterTable table;

    FilterAxis(int axis, std::int64_t n_in, nb::handle start, nb::handle count, nb::handle weights, nb::handle base,
               nb::handle fine)
        : table{axis,
                n_in,
                0,
                copy_of<std::int64_t>(start, NPY_INT64, "start"),
                copy_of<std::int64_t>(count, NPY_INT64, "count"),
                copy_of<double>(weights, NPY_FLOAT64, "weights", 2),
                base.is_none() ? std::vector<std::int64_t>() : copy_of<std::int64_t>(base, NPY_INT64, "base"),
                fine.is_none() ? std::vector<double>() : copy_of<double>(fine, NPY_FLOAT64, "fine", 2)} {
        table.width = PyArray_DIM(reinterpret_cast<PyArrayObject*>(weights.ptr()), 1);
        for (double& w : table.weights) w = w == 0 ? 0 : w;  // without a sign: it is a term like others
        check({table});
    }
};

std::vector<AxisTable> tables_of(const std::vector<Axis>& axes) {
    std::vector<AxisTable> tables;
    for (const Axis& a : axes) tables.push_back(a.table);
    return tables;
}

std::vector<ResampleTable> tables_of(const std::vector<std::variant<Axis, FilterAxis>>& axes) {
    std::vector<ResampleTable> tables;
    for (const auto& axis : axes) std::visit([&](const auto& a) { tables.emplace_back(a.table); }, axis);
    return tables;
}

nb::object new_positions(const std::vector<std::int64_t>& positions) {
    npy_intp size = static_cast<npy_intp>(positions.size());
    PyObject* a = PyArray_SimpleNew(1, &size, NPY_INT64);
    if (!a) throw nb::python_error();
    if (size) std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(a)), positions.data(), 8 * positions.size());
    return nb::steal(a);
}

// A resampling and the arrays that it was prepared for, all of whose results are certain; see PreparedGather.
struct PreparedResample {
    nb::object run;  // keeps `mixed` or `nearest` alive
    const ResampleRun* mixed = nullptr;
    const NearestRun* nearest = nullptr;
    Rounding rounding;
    Expected data, output;

    PreparedResample(nb::object run_, const Rounding& rounding_, nb::object dtype, std::vector<npy_intp> data_shape,
                     std::vector<npy_intp> output_shape)
        : run(run_), rounding(rounding_), data(dtype, std::move(data_shape)), output(dtype, std::move(output_shape)) {
        if (!nb::try_cast(run_, mixed) && !nb::try_cast(run_, nearest)) throw nb::type_error("`run` must be one");
    }

    nb::object operator()(nb::handle d, nb::handle out) const {
        if (!data.is(d) || output.is_empty()) return nb::none();
        const MovableView from(d, "data");
        const nb::object result = output.result(out);
        if (!result.is_valid()) return nb::none();
        const View to(result, "out");
        if (!out.is_none() && !apart(to, from)) return nb::none();
        if (mixed && !(is_aligned(d) && is_aligned(result))) return nb::none();
        Outcome outcome;
        if (is_small(to)) {
            outcome = to_end(from, to, [] { return PyErr_CheckSignals() != 0; });
        } else {
            WithoutGil others_run;
            outcome = to_end(from, to, [&] { return others_run.interrupted(); });
        }
        raise_unless_done(outcome);
        return result;
    }

private:
    static bool is_aligned(nb::handle h) { return PyArray_ISALIGNED(reinterpret_cast<PyArrayObject*>(h.ptr())); }

    Outcome to_end(const ArrayView& from, const ArrayView& to, const Poll& poll) const {
        if (nearest) return (*nearest)(from, to, poll);
        std::vector<std::int64_t> none;  // in doubt
        return (*mixed)(from, to, rounding, {}, none, poll);
    }
};

// The resamplings prepared lately by calls of one function, each with the arguments of the call.
struct RecentResamples {
    struct Entry {
        nb::object prepared;
        const PreparedResample* core = nullptr;
        nb::object arguments;
    };
    static constexpr std::size_t limit = 16;
    Entry entries[limit];
    std::size_t next = 0;

    nb::object operator()(nb::handle data, nb::handle arguments, nb::handle out) const {
        for (const Entry& e : entries)
            if (e.core && e.core->data.is(data) && same(e.arguments.ptr(), arguments.ptr())) {
                const nb::object kept = e.prepared;  // another thread may replace the entry meanwhile
                return (*e.core)(data, out);
            }
        return nb::none();
    }

    void keep(nb::object prepared, nb::object arguments) {
        if (!is_plain(arguments.ptr())) return;
        for (const Entry& e : entries)
            if (e.prepared.ptr() == prepared.ptr() && same(e.arguments.ptr(), arguments.ptr())) return;
        entries[next] = {prepared, nb::cast<const PreparedResample*>(prepared), arguments};
        next = (next + 1) % limit;
    }

private:
    // Whether it cannot change, and is no more than it seems.
    static bool is_plain(PyObject* a) {
        if (PyTuple_CheckExact(a)) {
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(a); ++k)
                if (!is_plain(PyTuple_GET_ITEM(a, k))) return false;
            return true;
        }
        return a == Py_None || PyBool_Check(a) || PyLong_CheckExact(a) || PyFloat_CheckExact(a) || PyUnicode_CheckExact(a);
    }

    // Whether a call with b is the one with the plain a: equal numbers of different types are not the same.
    static bool same(PyObject* a, PyObject* b) {
        if (a == b) return true;
        if (Py_TYPE(a) != Py_TYPE(b)) return false;
        if (!PyTuple_CheckExact(a)) return is_plain(a) && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
        if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(a); ++k)
            if (!same(PyTuple_GET_ITEM(a, k), PyTuple_GET_ITEM(b, k))) return false;
        return true;
    }
};

}  // namespace

void bind_resample(nb::module_& m) {
    nb::class_<Axis>(m, "Axis")
        .def(nb::init<int, std::int64_t, nb::handle, nb::handle, nb::handle, double>(), nb::arg("axis"), nb::arg("n_in"),
             nb::arg("first"), nb::arg("second"), nb::arg("weight"), nb::arg("one") = 1.0);
    nb::class_<Rounding>(m, "Rounding")
        .def("__init__",
             [](Rounding* self, int rule, double half_step, std::uint64_t base, std::uint32_t divisor, std::uint32_t add,
                std::uint32_t multiplier, int shift) {
                 if (rule < 0 || rule > static_cast<int>(Rule::truncate_up)) throw nb::value_error("no such rule");
                 if (divisor < 1 || shift < 0 || shift > 31) throw nb::value_error("no such division");
                 new (self) Rounding{static_cast<Rule>(rule), half_step, base, divisor, add, multiplier, shift};
             },
             nb::arg("rule"), nb::arg("half_step") = 0.0, nb::arg("base") = 0, nb::arg("divisor") = 1, nb::arg("add") = 0,
             nb::arg("multiplier") = 0, nb::arg("shift") = 0);
    nb::class_<FilterAxis>(m, "FilterAxis")
        .def(nb::init<int, std::int64_t, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle>(), nb::arg("axis"),
             nb::arg("n_in"), nb::arg("start"), nb::arg("count"), nb::arg("weights"), nb::arg("base").none(),
             nb::arg("fine").none());
    nb::class_<ResampleRun>(m, "Linear")
        .def("__init__",
             [](ResampleRun* self, int type, int work, bool pairs, const std::vector<std::variant<Axis, FilterAxis>>& axes,
                std::vector<int> order) {
                 if (type < 0 || type >= kTypes || work < 0 || work >= kWorks) throw nb::value_error("no such type");
                 new (self) ResampleRun({static_cast<Type>(type), static_cast<Work>(work), tables_of(axes), std::move(order), {}},
                                        pairs);
             },
             nb::arg("type"), nb::arg("work"), nb::arg("pairs"), nb::arg("axes"), nb::arg("order"))
        .def("__call__",
             [](const ResampleRun& self, nb::handle data, nb::handle out, const Rounding& rounding, double bound,
                double fine_bound, bool ties) {
                 const View from(data, "data"), to(out, "out", true);
                 std::vector<std::int64_t> doubtful;
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self(from, to, rounding, {bound, fine_bound, ties}, doubtful,
                                    [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
                 return new_positions(doubtful);
             },
             nb::arg("data"), nb::arg("out"), nb::arg("rounding"), nb::arg("bound"), nb::arg("fine_bound") = 0.0,
             nb::arg("ties") = false);
    nb::class_<MajorityRun>(m, "Majority")
        .def("__init__",
             [](MajorityRun* self, int type, const std::vector<Axis>& axes) {
                 if (type < 0 || type >= kTypes) throw nb::value_error("no such type");
                 new (self) MajorityRun(static_cast<Type>(type), tables_of(axes));
             },
             nb::arg("type"), nb::arg("axes"))
        .def("__call__",
             [](const MajorityRun& self, nb::handle data, nb::handle out, double bound) {
                 const View from(data, "data"), to(out, "out", true);
                 std::vector<std::int64_t> doubtful;
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self(from, to, bound, doubtful, [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
                 return new_positions(doubtful);
             },
             nb::arg("data"), nb::arg("out"), nb::arg("bound"));
    nb::class_<NearestRun>(m, "Nearest")
        .def("__init__",
             [](NearestRun* self, const std::vector<Axis>& axes) { new (self) NearestRun(tables_of(axes)); },
             nb::arg("axes"))
        .def("__call__",
             [](const NearestRun& self, nb::handle data, nb::handle out) {
                 const MovableView from(data, "data"), to(out, "out", true);
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self(from, to, [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
             },
             nb::arg("data"), nb::arg("out"));
    nb::class_<PreparedResample>(m, "PreparedResample")
        .def(nb::init<nb::object, const Rounding&, nb::object, std::vector<npy_intp>, std::vector<npy_intp>>(),
             nb::arg("run"), nb::arg("rounding"), nb::arg("dtype"), nb::arg("data_shape"), nb::arg("output_shape"))
        .def("__call__", &PreparedResample::operator(), nb::arg("data").none(), nb::arg("out").none());
    nb::class_<RecentResamples>(m, "RecentResamples")
        .def(nb::init<>())
        .def("__call__", &RecentResamples::operator(), nb::arg("data").none(), nb::arg("arguments"),
             nb::arg("out").none())
        .def("keep", &RecentResamples::keep, nb::arg("prepared"), nb::arg("arguments"));
}

}  // namespace remapnd::python
