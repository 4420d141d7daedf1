// The only file that knows nanobind and NumPy's C API.
//
// Arguments arrive as NumPy arrays; what memory safety rests on is verified here or in the runners, whatever the Python
// layers checked before.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "dispatch.hpp"
#include "gather_run.hpp"
#include "majority_run.hpp"
#include "nearest_run.hpp"
#include "pool.hpp"
#include "resample_run.hpp"
#include "roi_run.hpp"
#include "sample_run.hpp"
#include "scatter_run.hpp"

namespace nb = nanobind;
using namespace remapnd;

namespace {

// The view of a NumPy array; `writable` asks for one that may be written.  It has a shape and strides of its own: those
// of the array are freed when another Python thread sets its shape.
class View {
public:
    View(nb::handle h, const char* name, bool writable = false) {
        if (!PyArray_Check(h.ptr())) throw nb::type_error((std::string("`") + name + "` must be a NumPy array").c_str());
        auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
        if (writable && !PyArray_ISWRITEABLE(a))
            throw nb::value_error((std::string("`") + name + "` must be writable").c_str());
        const int rank = PyArray_NDIM(a);
        if (rank > kMaxRank) throw nb::value_error((std::string("`") + name + "` has too many axes").c_str());
        std::copy_n(PyArray_DIMS(a), rank, shape_.begin());
        std::copy_n(PyArray_STRIDES(a), rank, strides_.begin());
        view_ = {static_cast<std::byte*>(PyArray_DATA(a)), rank, shape_.data(), strides_.data(),
                 static_cast<std::intptr_t>(PyArray_ITEMSIZE(a))};
    }
    View(const View&) = delete;
    operator const ArrayView&() const { return view_; }
    const ArrayView* operator->() const { return &view_; }

private:
    std::array<std::intptr_t, kMaxRank> shape_, strides_;
    ArrayView view_;
};

// ---- the interpreter's lock

// Other Python threads run for as long as it lives.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() { take_back(); }
    WithoutGil(const WithoutGil&) = delete;

    // For run_tasks: looks for a pending signal (Ctrl-C); the exception stays set.
    bool interrupted() {
        take_back();
        const bool signalled = PyErr_CheckSignals() != 0;
        state_ = PyEval_SaveThread();
        return signalled;
    }

private:
    // Once the interpreter is gone, Python before 3.14 ends a thread that asks for the lock, or waits for it already, by
    // unwinding its stack, which helpers still read and which destructors turn into an abort.  The thread sleeps until the
    // process ends instead, as it does from 3.14 on; within the handler, as leaving it would go on unwinding.
    void take_back() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

    PyThreadState* state_;
};

void bind_threads_and_levels(nb::module_& m) {
    m.def("set_num_threads", &set_num_threads);
    m.def("set_num_threads_here", &set_num_threads_here);
    m.def("get_num_threads_here", &get_num_threads_here);
    m.def("get_num_threads", &get_num_threads);
    m.def("levels_built", &levels_built);
    m.def("levels_usable", &levels_usable);
    m.def("level", [] { return std::string(kernels().level); });
    m.def("use_level", &use_level);
}

// ---- gather

// The type of an index array, which must be of integers in native byte order.
IndexType index_type(nb::handle h, const char* name) {
    auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
    const int type = PyArray_TYPE(a);
    if (!PyTypeNum_ISINTEGER(type) || !PyArray_ISNOTSWAPPED(a))
        throw nb::type_error((std::string("`") + name + "` must have an integer dtype in native byte order").c_str());
    const int width = PyArray_ITEMSIZE(a) == 1 ? 0 : PyArray_ITEMSIZE(a) == 2 ? 1 : PyArray_ITEMSIZE(a) == 4 ? 2 : 3;
    return static_cast<IndexType>(width + (PyTypeNum_ISUNSIGNED(type) ? 4 : 0));
}

// The same of an array whose items are moved as bytes: none may hold a reference.
class MovableView : public View {
public:
    MovableView(nb::handle h, const char* name, bool writable = false) : View(h, name, writable) {
        if (PyDataType_REFCHK(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(h.ptr()))))
            throw nb::type_error((std::string("`") + name + "` must not have a dtype that holds Python objects").c_str());
    }
};

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

// Whether a and b share no address, told by where they begin and end.
bool apart(const ArrayView& a, const ArrayView& b) {
    const auto ends = [](const ArrayView& v) {
        auto low = reinterpret_cast<std::intptr_t>(v.data), high = low + v.itemsize;
        for (int d = 0; d < v.rank; ++d) (v.strides[d] < 0 ? low : high) += v.strides[d] * (v.shape[d] - 1);
        return std::pair(low, high);
    };
    const auto [a_low, a_high] = ends(a);
    const auto [b_low, b_high] = ends(b);
    return a_high <= b_low || b_high <= a_low;
}

// What an array must be for a call to take the short way: a plain NumPy array of a dtype (the very object) and a shape.
struct Expected {
    nb::object dtype;
    std::vector<npy_intp> shape;

    Expected(nb::object dtype_, std::vector<npy_intp> shape_) : dtype(std::move(dtype_)), shape(std::move(shape_)) {
        if (!PyArray_DescrCheck(dtype.ptr())) throw nb::type_error("`dtype` must be a NumPy dtype");
    }

    bool is(nb::handle h) const {
        if (!PyArray_CheckExact(h.ptr())) return false;
        auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
        return reinterpret_cast<PyObject*>(PyArray_DESCR(a)) == dtype.ptr() &&
               static_cast<std::size_t>(PyArray_NDIM(a)) == shape.size() &&
               std::equal(shape.begin(), shape.end(), PyArray_DIMS(a));
    }

    // A new array, or `out` if it is one and can be written from end to end; null for a call that needs a closer look.
    nb::object result(nb::handle out) const {
        if (out.is_none()) {
            Py_INCREF(dtype.ptr());  // NewFromDescr takes one
            nb::object made = nb::steal(PyArray_NewFromDescr(
                &PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.ptr()), static_cast<int>(shape.size()),
                const_cast<npy_intp*>(shape.data()), nullptr, nullptr, 0, nullptr));
            if (!made.is_valid()) PyErr_Clear();
            return made;
        }
        auto* a = reinterpret_cast<PyArrayObject*>(out.ptr());
        return is(out) && PyArray_ISWRITEABLE(a) && PyArray_IS_C_CONTIGUOUS(a) ? nb::borrow(out) : nb::object();
    }

    bool is_empty() const {
        return std::find(shape.begin(), shape.end(), 0) != shape.end();
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

// The gathers prepared lately by calls of one function, each with one more number of its key.
struct RecentGathers {
    struct Entry {
        nb::object prepared;
        const PreparedGather* core = nullptr;
        std::int64_t option = 0;
    };
    static constexpr std::size_t limit = 8;
    Entry entries[limit];
    std::size_t next = 0;

    nb::object operator()(nb::handle data, nb::handle indices, nb::handle option, nb::handle out) const {
        if (!PyLong_CheckExact(option.ptr())) return nb::none();
        const std::int64_t number = PyLong_AsLongLong(option.ptr());
        if (number == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return nb::none();
        }
        for (const Entry& e : entries)
            if (e.core && e.option == number && e.core->fits(data, indices)) {
                const nb::object kept = e.prepared;  // another thread may replace the entry meanwhile
                return e.core->run(data, indices, out);
            }
        return nb::none();
    }

    void keep(nb::object prepared, std::int64_t option) {
        for (const Entry& e : entries)
            if (e.prepared.ptr() == prepared.ptr() && e.option == option) return;
        entries[next] = {prepared, nb::cast<const PreparedGather*>(prepared), option};
        next = (next + 1) % limit;
    }
};

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
        .def("__call__", &RecentGathers::operator(), nb::arg("data").none(), nb::arg("indices").none(),
             nb::arg("option").none(), nb::arg("out").none())
        .def("keep", &RecentGathers::keep, nb::arg("prepared"), nb::arg("option"));
}

// ---- scatter

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

void bind_scatter(nb::module_& m) {
    nb::class_<Scatters>(m, "Scatter")
        .def(nb::init<std::vector<int>, std::vector<int>, std::vector<int>, int, int, int, int>(), nb::arg("data_axes"),
             nb::arg("index_axes"), nb::arg("indexed"), nb::arg("component_axis"), nb::arg("bounds"), nb::arg("reduction"),
             nb::arg("number"))
        .def("__call__", &Scatters::operator(), nb::arg("source").none(), nb::arg("indices"), nb::arg("updates"),
             nb::arg("data"));
}

// ---- resample

// A copy of a NumPy array of T of the rank, one after another.
template <class T>
std::vector<T> copy_of(nb::handle h, int type, const char* name, int rank = 1) {
    const View v(h, name);
    auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
    if (PyArray_TYPE(a) != type || v->rank != rank || !PyArray_ISCARRAY_RO(a))
        throw nb::value_error(
            (std::string("`") + name + "` must be a contiguous native " + std::to_string(rank) + "-D array").c_str());
    const T* begin = reinterpret_cast<const T*>(v->data);
    return std::vector<T>(begin, begin + PyArray_SIZE(a));
}

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

void raise_unless_done(Outcome outcome) {
    if (outcome == Outcome::interrupted) throw nb::python_error();
    if (outcome == Outcome::out_of_memory) throw std::bad_alloc();
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

void bind_resample(nb::module_& m) {
    nb::class_<Axis>(m, "Axis")
        .def(nb::init<int, std::int64_t, nb::handle, nb::handle, nb::handle, double>(), nb::arg("axis"), nb::arg("n_in"),
             nb::arg("first"), nb::arg("second"), nb::arg("weight"), nb::arg("one") = 1.0);
    nb::class_<Rounding>(m, "Rounding")
        .def("__init__",
             [](Rounding* self, int rule, double half_step, std::uint64_t base, std::uint16_t divisor, std::uint16_t add,
                std::uint16_t multiplier, int shift) {
                 if (rule < 0 || rule > static_cast<int>(Rule::truncate_up)) throw nb::value_error("no such rule");
                 if (divisor < 1 || shift < 0 || shift > 15) throw nb::value_error("no such division");
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
                double fine_bound) {
                 const View from(data, "data"), to(out, "out", true);
                 std::vector<std::int64_t> doubtful;
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self(from, to, rounding, {bound, fine_bound}, doubtful,
                                    [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
                 return new_positions(doubtful);
             },
             nb::arg("data"), nb::arg("out"), nb::arg("rounding"), nb::arg("bound"), nb::arg("fine_bound") = 0.0);
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

// ---- sample

// Of a value that Python sends for an enumeration of `count`.
template <class E>
E one_of(int value, int count, const char* error) {
    if (value < 0 || value >= count) throw nb::value_error(error);
    return static_cast<E>(value);
}

void bind_sample(nb::module_& m) {
    nb::class_<SampleAxis>(m, "SampleAxis")
        .def("__init__",
             [](SampleAxis* self, std::int64_t n, double scale, double shift, double low, double high) {
                 new (self) SampleAxis{n, scale, shift, low, high, 0};
             },
             nb::arg("n"), nb::arg("scale"), nb::arg("shift"), nb::arg("low"), nb::arg("high"));
    nb::class_<SampleRun>(m, "Sample")
        .def("__init__",
             [](SampleRun* self, int mode, int padding, int type, int grid_type, std::vector<SampleAxis> axes) {
                 new (self) SampleRun(one_of<Sampling>(mode, 3, "no such mode"), one_of<Padding>(padding, 3, "no such padding"),
                                      one_of<Type>(type, kTypes, "no such type"), one_of<Type>(grid_type, kTypes, "no such type"),
                                      std::move(axes));
             },
             nb::arg("mode"), nb::arg("padding"), nb::arg("type"), nb::arg("grid_type"), nb::arg("axes"))
        .def("__call__",
             [](const SampleRun& self, nb::handle data, nb::handle grid, nb::handle batches, nb::handle out) {
                 const MovableView from(data, "data"), to(out, "out", true);
                 const View at(grid, "grid");
                 std::vector<std::int64_t> chosen;
                 if (!batches.is_none()) {
                     chosen = copy_of<std::int64_t>(batches, NPY_INT64, "batches");
                     if (at->rank == 0 || static_cast<std::intptr_t>(chosen.size()) != at->shape[0])
                         throw nb::value_error("`batches` must have one value for each grid");
                 }
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self(from, at, batches.is_none() ? nullptr : chosen.data(), to,
                                    [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
             },
             nb::arg("data"), nb::arg("grid"), nb::arg("batches").none(), nb::arg("out"))
        .def("gradient",
             [](const SampleRun& self, nb::handle gradient, nb::handle grid, nb::handle out) {
                 const MovableView from(gradient, "gradient"), to(out, "out", true);
                 const View at(grid, "grid");
                 Outcome outcome;
                 {
                     WithoutGil others_run;
                     outcome = self.gradient(from, at, to, [&] { return others_run.interrupted(); });
                 }
                 raise_unless_done(outcome);
             },
             nb::arg("gradient"), nb::arg("grid"), nb::arg("out"));
    m.attr("MAX_BIN_SAMPLES") = kMaxBinSamples;
    m.def("roi_align",
          [](nb::handle data, nb::handle batches, nb::handle start, nb::handle bin, nb::handle per_bin, int pooling, int type,
             nb::handle out) {
              const MovableView from(data, "data"), to(out, "out", true);
              const auto b = copy_of<std::int64_t>(batches, NPY_INT64, "batches"),
                         n = copy_of<std::int64_t>(per_bin, NPY_INT64, "per_bin");
              const auto s = copy_of<double>(start, NPY_FLOAT64, "start"), size = copy_of<double>(bin, NPY_FLOAT64, "bin");
              if (s.size() != 2 * b.size() || size.size() != 2 * b.size() || n.size() != 2 * b.size())
                  throw nb::value_error("regions must have one batch and two of all others each");
              std::vector<Region> regions(b.size());
              for (std::size_t k = 0; k < b.size(); ++k)
                  regions[k] = {b[k], {s[2 * k], s[2 * k + 1]}, {size[2 * k], size[2 * k + 1]}, {n[2 * k], n[2 * k + 1]}};
              const auto how = one_of<Pooling>(pooling, 2, "no such pooling");
              const auto kind = one_of<Type>(type, kTypes, "no such type");
              Outcome outcome;
              {
                  WithoutGil others_run;
                  outcome = run_roi_align(how, kind, from, regions.data(), static_cast<std::int64_t>(regions.size()), to,
                                          [&] { return others_run.interrupted(); });
              }
              raise_unless_done(outcome);
          },
          nb::arg("data"), nb::arg("batches"), nb::arg("start"), nb::arg("bin"), nb::arg("per_bin"), nb::arg("pooling"),
          nb::arg("type"), nb::arg("out"));
}

// ---- the module

bool import_numpy() {
    import_array1(false);
    return true;
}

}  // namespace

NB_MODULE(_core, m) {
    if (!import_numpy()) throw nb::python_error();
    nb::set_leak_warnings(false);
    bind_threads_and_levels(m);
    bind_gather(m);
    bind_scatter(m);
    bind_resample(m);
    bind_sample(m);
}
