// What the bindings share: views of NumPy arrays, the interpreter's lock, and how a call ends.
//
// Only bindings.cpp and bind_*.{hpp,cpp} know nanobind and NumPy's C API.  Arguments arrive as NumPy arrays; what memory
// safety rests on is verified there or in the runners, whatever the Python layers checked before.
#pragma once
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
// One table of NumPy's functions for all files; bindings.cpp fills it.
#define PY_ARRAY_UNIQUE_SYMBOL remapnd_numpy
#ifndef REMAPND_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "index_geometry.hpp"

namespace remapnd::python {

namespace nb = nanobind;

// What each file adds to the module.
void bind_gather(nb::module_& m);
void bind_scatter(nb::module_& m);
void bind_resample(nb::module_& m);
void bind_sample(nb::module_& m);

// ---- arrays

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

// The same of an array whose items are moved as bytes: none may hold a reference.
class MovableView : public View {
public:
    MovableView(nb::handle h, const char* name, bool writable = false) : View(h, name, writable) {
        if (PyDataType_REFCHK(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(h.ptr()))))
            throw nb::type_error((std::string("`") + name + "` must not have a dtype that holds Python objects").c_str());
    }
};

// The type of an index array, which must be of integers in native byte order.
inline IndexType index_type(nb::handle h, const char* name) {
    auto* a = reinterpret_cast<PyArrayObject*>(h.ptr());
    const int type = PyArray_TYPE(a);
    if (!PyTypeNum_ISINTEGER(type) || !PyArray_ISNOTSWAPPED(a))
        throw nb::type_error((std::string("`") + name + "` must have an integer dtype in native byte order").c_str());
    const int width = PyArray_ITEMSIZE(a) == 1 ? 0 : PyArray_ITEMSIZE(a) == 2 ? 1 : PyArray_ITEMSIZE(a) == 4 ? 2 : 3;
    return static_cast<IndexType>(width + (PyTypeNum_ISUNSIGNED(type) ? 4 : 0));
}

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

// Of a value that Python sends for an enumeration of `count`.
template <class E>
E one_of(int value, int count, const char* error) {
    if (value < 0 || value >= count) throw nb::value_error(error);
    return static_cast<E>(value);
}

// ---- calls

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

inline void raise_unless_done(Outcome outcome) {
    if (outcome == Outcome::interrupted) throw nb::python_error();
    if (outcome == Outcome::out_of_memory) throw std::bad_alloc();
}

}  // namespace remapnd::python
