// The module `_core`: threads, levels, and what bind_*.cpp add.
#define REMAPND_IMPORTS_NUMPY
#include "bind.hpp"

#include "dispatch.hpp"
#include "kept.hpp"
#include "pool.hpp"
#include "processors.hpp"

namespace remapnd::python {
namespace {

void bind_threads_and_levels(nb::module_& m) {
    m.def("set_num_threads", &set_num_threads);
    m.def("set_num_threads_here", &set_num_threads_here);
    m.def("get_num_threads_here", &get_num_threads_here);
    m.def("get_num_threads", &get_num_threads);
    m.def("usable_processors", &usable_processors);
    m.def("quota", &quota);
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
}  // namespace remapnd::python

NB_MODULE(_core, m) {
    using namespace remapnd::python;
    if (!import_numpy()) throw nb::python_error();
    nb::set_leak_warnings(false);
    remapnd::prepare_thread();  // most calls come from the thread that imports
    bind_threads_and_levels(m);
    bind_gather(m);
    bind_scatter(m);
    bind_resample(m);
    bind_sample(m);
}
