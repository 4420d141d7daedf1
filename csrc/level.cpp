// The table of one level.
#include "kernels.hpp"

namespace remapnd::REMAPND_LEVEL {

extern const GatherKernels gather_table;
extern const ItemKernels item_table;
extern const ScatterKernels scatter_table;
extern const ResampleKernels resample_table;
extern const AllFilterKernels filter_table;
extern const SampleKernels sample_table;

#define REMAPND_TEXT_(x) #x
#define REMAPND_TEXT(x) REMAPND_TEXT_(x)

extern const Kernels table;
const Kernels table{REMAPND_TEXT(REMAPND_LEVEL), &gather_table, &item_table, &scatter_table, &resample_table,
                    &filter_table, &sample_table};

}  // namespace remapnd::REMAPND_LEVEL
