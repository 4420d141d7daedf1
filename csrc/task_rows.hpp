// The rows that a task of resampling reads and keeps.
#pragma once
#include <cstring>
#include <vector>

#include "arena.hpp"
#include "resample_call.hpp"

namespace remapnd {

// Rows of level k have gone through the first k passes; those of level 0 are of the type, others of W.  The rows made
// last are kept: one slot for each parity of the input coordinates that linear passes have yet to take, and for each
// tap of the filter pass that comes next, so that the rows of a blend never share one.
template <class W>
class TaskRows {
protected:
    struct Slot {
        std::size_t offset;
        bool filled = false, careful = false;
        const std::byte* source = nullptr;  // source_ and
        std::int64_t place = 0;             // place_ as one number
    };
    // A slot for each combination of the coordinates of the vertical axes modulo these.
    struct Level {
        std::vector<std::int64_t> modulus;
        std::vector<Slot> slots;
        std::vector<const void*> rows;  // the taps of a filter pass into the level
        std::vector<W> weights;
    };

    TaskRows(const ResampleCall<W>& call, const Segment<W>& segment)
        : c_(call), g_(call.geometry), s_(segment), stacked_(call.most_rows()), levels_(c_.passes.size() + 1),
          place_(c_.vertical.size()), arena_(lay_out()) {
        contiguous_ = (g_.block == 1 || g_.src_c == c_.size) && g_.src_x == g_.block * c_.size && s_.columns.empty();
        direct_ = contiguous_ && s_.reads_within();
    }

    W* final_row() const { return reinterpret_cast<W*>(arena_.data() + final_offset_); }

    std::int32_t* carry() const { return reinterpret_cast<std::int32_t*>(arena_.data() + carry_offset_); }

    std::int64_t outputs() const { return (s_.x1 - s_.x0) * g_.block; }
    std::int64_t inputs() const { return s_.column_count * g_.block * stacked_; }
    std::int64_t values(std::size_t level) const { return level > c_.across_at ? outputs() * stacked_ : inputs(); }

    // Sets the slots of all levels; returns the bytes that they take.
    std::size_t lay_out() {
        std::size_t bytes = 0;
        const auto take = [&](std::int64_t count, std::size_t size) {
            const std::size_t offset = bytes;
            bytes += (static_cast<std::size_t>(count + kPad) * size + 63) / 64 * 64;
            return offset;
        };
        const auto take_slots = [&](Level& level, std::int64_t count, std::size_t size) {
            std::int64_t slots = 1;
            for (const std::int64_t m : level.modulus) slots *= m;
            level.slots.resize(static_cast<std::size_t>(slots));
            for (Slot& slot : level.slots) slot.offset = take(count, size);
        };
        std::vector<bool> passed(place_.size());
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            if (k > 0 && !c_.passes[k - 1].across()) passed[c_.passes[k - 1].vertical] = true;
            for (std::size_t v = 0; v < passed.size(); ++v) {
                const bool next = k < c_.passes.size() && c_.passes[k].vertical == static_cast<int>(v);
                const bool kept = !passed[v] && (c_.vertical[v].linear || next) && (c_.sheets.empty() || v + 1 < passed.size());
                levels_[k].modulus.push_back(kept ? c_.vertical[v].widest : 1);
            }
            take_slots(levels_[k], values(k), k == 0 ? static_cast<std::size_t>(c_.size) : sizeof(W));
        }
        converted_.modulus.assign(place_.size(), 1);
        if (!c_.same && !(c_.down_raw && c_.integer)) converted_.modulus = levels_[0].modulus;
        take_slots(converted_, inputs(), sizeof(W));
        final_offset_ = take(outputs(), sizeof(W));
        if (c_.in_bytes) {
            summed_.modulus.assign(1, c_.vertical[0].widest);
            take_slots(summed_, outputs(), sizeof(std::uint16_t));
        }
        if (c_.down_ramps) carry_offset_ = take(inputs(), sizeof(std::int32_t));
        return bytes;
    }

    // Asks for the rows that the next output row takes and this one does not, which come faster together than page by page.
    // Best peer / remapnd without and with, medians of three runs in turn: uint8 RGB 1080p to 720p antialiased 1.32 and 1.46,
    // float32 RGB 540p to 1080p 1.29 and 1.52.  Many or long rows lose: float32 planes of 1080p to 224x224, antialiased, 1.26
    // and 1.16 (AMD EPYC, 2026-11).
    void ask_for_next() const {
        const RowsAhead ahead = rows_ahead();
        if (ahead.count * row_bytes() > kMostAsked) return;
        for (std::int64_t k = 0; k < ahead.count; ++k) c_.kernels.ask_for(ahead.first + k * ahead.stride, row_bytes());
    }

    // Those rows, where they are so many that they are not asked for together.
    RowsAhead many_rows_ahead() const {
        if (!c_.far || !direct_ || place_.size() != 1) return {};
        const RowsAhead ahead = rows_ahead();
        return ahead.count * row_bytes() > kMostAsked ? ahead : RowsAhead{};
    }

    RowsAhead rows_ahead() const {
        const VerticalAxis& v = c_.vertical[0];
        const std::int64_t next = place_[0] + 1;
        if (next >= (v.linear ? v.linear->n_out() : v.filter->n_out())) return {};
        const auto end = [&v](std::int64_t at) {
            return v.linear ? v.linear->second[at] + 1 : v.filter->start[at] + v.filter->count[at];
        };
        const std::int64_t from = end(next - 1);
        return {source_ + s_.column0 * g_.src_x + from * v.src_stride, end(next) - from, v.src_stride};
    }

    std::int64_t row_bytes() const { return s_.column_count * g_.block * c_.size; }

    // The input row at place_ as W, in `target` or its slot; as it lies when it is of that type.
    const W* converted(W* target) {
        if (c_.same) return reinterpret_cast<const W*>(source_row());
        if (!target) {
            Slot& slot = found(converted_);
            target = reinterpret_cast<W*>(arena_.data() + slot.offset);
            if (!remember(slot, true)) return target;
        }
        c_.types.convert(source_row(), inputs(), c_.rounding.base, target);
        return target;
    }

    // The input row at place_, its columns side by side: as it lies or in its slot.
    const std::byte* source_row() {
        const std::byte* p = source_ + s_.column0 * g_.src_x;
        for (std::size_t v = 0; v < place_.size(); ++v) p += place_[v] * c_.vertical[v].src_stride;
        if (direct_) return p;
        Slot& slot = found(levels_[0]);
        std::byte* row = arena_.data() + slot.offset;
        if (!remember(slot, true)) return row;
        const std::int64_t* columns = s_.columns.empty() ? nullptr : s_.columns.data();
        const bool whole = g_.block == 1 || g_.src_c == c_.size;
        const std::int64_t item = whole ? g_.block * c_.size : c_.size, moves = whole ? 1 : g_.block;
        if (contiguous_)
            std::memcpy(row, p, static_cast<std::size_t>(inputs() * c_.size));
        else
            for (std::int64_t j = 0; j < moves; ++j)
                c_.kernels.pick(p + j * g_.src_c, g_.src_x, columns, s_.column_count, item, row + j * item,
                                g_.block * c_.size);
        return row;
    }

    Slot& found(Level& level) {
        std::size_t n = 0;
        for (std::size_t v = 0; v < place_.size(); ++v)
            if (const std::int64_t m = level.modulus[v]; m > 1)
                n = n * static_cast<std::size_t>(m) + static_cast<std::size_t>(m & (m - 1) ? place_[v] % m : place_[v] & (m - 1));
        return level.slots[n];
    }

    // False when the slot holds that row already; else it is going to.
    bool remember(Slot& slot, bool careful) {
        std::int64_t place = 0;
        if (c_.places_are_numbers)
            for (std::size_t v = 0; v < place_.size(); ++v) place = place * c_.vertical[v].longest + place_[v];
        const bool same = slot.source == source_ && slot.place == place;
        if (slot.filled && c_.places_are_numbers && same && (slot.careful || !careful)) return false;
        slot.source = source_;
        slot.place = place;
        slot.filled = true;
        slot.careful = careful;
        return true;
    }

    const ResampleCall<W>& c_;
    const RowGeometry& g_;
    const Segment<W>& s_;
    std::int64_t stacked_;  // rows that go through the passes together
    std::vector<Level> levels_;
    std::vector<std::int64_t> place_;  // for each vertical axis: output coordinate, or input coordinate below its pass
    Level converted_;                  // rows of level 0 as W,
    Level summed_;                     // and of bytes, after the horizontal pass
    std::size_t final_offset_, carry_offset_ = 0;
    Arena arena_;
    bool contiguous_;  // the columns of an input row lie side by side,
    bool direct_;      // and kernels may read them there
    const std::byte* source_ = nullptr;  // the data, moved along the loops that are not resampled
};

}  // namespace remapnd
