// The short way: calls with plain NumPy arrays like those of an earlier call, past the checks in Python.
//
// What takes it is prepared for arrays of one dtype and shape (PreparedGather, PreparedScatter, PreparedResample), and gives
// None for every call that needs a closer look; Python then goes the long way, which also says what is wrong.
#pragma once
#include <cstdint>
#include <utility>

#include "bind.hpp"

namespace remapnd::python {

// Whether a and b share no address, told by where they begin and end.
inline bool apart(const ArrayView& a, const ArrayView& b) {
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

// Those prepared lately by calls of one function, each with one more number of its key, and perhaps a word, which is compared
// by identity, as most are written in a program.
template <class Prepared>
struct Recent {
    struct Entry {
        nb::object prepared;
        const Prepared* core = nullptr;
        std::int64_t option = 0;
        nb::object word;
    };
    static constexpr std::size_t limit = 8;
    Entry entries[limit];
    std::size_t next = 0;

    template <class... Arrays>
    nb::object find(nb::handle option, nb::handle word, nb::handle out, Arrays... arrays) const {
        if (!PyLong_CheckExact(option.ptr())) return nb::none();
        const std::int64_t number = PyLong_AsLongLong(option.ptr());
        if (number == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return nb::none();
        }
        for (const Entry& e : entries)
            if (e.core && e.option == number && e.word.is(word) && e.core->fits(arrays...)) {
                const nb::object kept = e.prepared;  // another thread may replace the entry meanwhile
                return nb::cast<const Prepared&>(kept).run(arrays..., out);
            }
        return nb::none();
    }

    void keep(nb::object prepared, std::int64_t option, nb::object word) {
        for (const Entry& e : entries)
            if (e.prepared.is(prepared) && e.option == option && e.word.is(word)) return;
        entries[next] = {prepared, nb::cast<const Prepared*>(prepared), option, std::move(word)};
        next = (next + 1) % limit;
    }
};

}  // namespace remapnd::python
