// Gathers that move single items side by side: geometry and strides to rows for the one-pass kernels.
#pragma once
#include "index_geometry.hpp"

namespace remapnd {

// A call, cut into tasks: each a range of rows and columns, or a strip of columns.
class ItemsRun {
public:
    // `loops` as loops_of has them for `out`, none of size 0; all must outlive this.
    ItemsRun(const IndexGeometry& g, const ArrayView& data, const ArrayView& indices, IndexType type, const ArrayView& out,
             const Walks& loops);

    // Whether the kernels can make this call and are the fastest way; if not, nothing else may be asked.
    bool fits() const { return fits_; }

    std::int64_t tasks() const { return tasks_; }

    // False when an index is out of range, whatever the bounds: then all of out has to be written in another way.
    bool task(std::int64_t t) const;

private:
    void cut(std::int64_t reach);
    bool strip(std::int64_t t) const;

    const ArrayView &data_, &indices_, &out_;
    const Walks& loops_;
    const IndexType type_;
    bool fits_ = false;
    Walk row_{1, 0, 0, 0};  // the loop around the innermost
    Items items_{};         // of all columns of one row
    std::int64_t rows_piece_ = 1, columns_piece_ = 1, tasks_ = 1;
    std::int64_t strips_ = 0, first_strip_ = 0, strip_ = 0;  // columns
};

// Results of this many bytes are written past the caches, which would not keep them until they are read.
inline constexpr std::int64_t kStreamFrom = std::int64_t{32} << 20;

std::int64_t bytes_of(const ArrayView& a);

}  // namespace remapnd
