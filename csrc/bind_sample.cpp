// Sampling at positions that are data, and pooling of regions.
#include <cstdint>
#include <utility>

#include "bind.hpp"
#include "roi_run.hpp"
#include "sample_run.hpp"

namespace remapnd::python {

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

}  // namespace remapnd::python
