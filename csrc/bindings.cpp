// The only file that knows nanobind and NumPy's C API.
//
// Arguments arrive as NumPy arrays; what memory safety rests on is verified here or in the runners, whatever the Python
// layers checked before.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <numpy/arrayobject.h>

#include "arrays.hpp"
#include "dispatch.hpp"
#include "pool.hpp"

namespace nb = nanobind;
using namespace remapnd;

namespace {

// The view of a NumPy array; `writable` asks for one that may be written.
ArrayView view_of(nb::handle h, const char* name, bool writable = false) {
    if (!PyArray_Check(h.ptr())) throw nb::type_error((std::string("`") + name + "` must be a NumPy array").c_str());
    auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
    if (writable && !PyArray_ISWRITEABLE(a)) throw nb::value_error((std::string("`") + name + "` must be writable").c_str());
    return {static_cast<std::byte*>(PyArray_DATA(a)), PyArray_NDIM(a), PyArray_DIMS(a), PyArray_STRIDES(a),
            static_cast<std::intptr_t>(PyArray_ITEMSIZE(a))};
}

// For run_tasks: looks for a pending signal (Ctrl-C); the exception stays set.
bool interrupted() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

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

bool import_numpy() {
    import_array1(false);
    return true;
}

}  // namespace

NB_MODULE(_core, m) {
    if (!import_numpy()) throw nb::python_error();
    nb::set_leak_warnings(false);
    bind_threads_and_levels(m);
}
