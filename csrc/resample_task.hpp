// One task of resampling: some rows of one segment through the passes.
#pragma once
#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "second_look.hpp"
#include "task_passes.hpp"

namespace remapnd {

template <class W>
class ResampleTask : TaskPasses<W> {
public:
    ResampleTask(const ResampleCall<W>& call, const Segment<W>& segment, const std::byte* data, std::byte* out)
        : TaskPasses<W>(call, segment), data_(data), out_(out), final_(this->final_row()) {
        in_place_ = c_.same && fills_rows();
        streams_ = in_place_ && c_.large;
        if constexpr (!std::is_same_v<W, double>) at_once_ = at_once();
        asks_ = c_.far && contiguous_ && place_.size() == 1 && g_.loops.back().table >= 0 && c_.sheets.empty() &&
                at_once_ == AtOnce::no;
    }

    // Results in doubt are added under the lock.
    void rows(std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        RowWalk walk(g_.loops, begin);
        for (std::int64_t r = begin; r < end; ++r, walk.next()) {
            source_ = data_;
            std::byte* dst = out_ + s_.x0 * g_.dst_x;
            for (std::size_t l = 0, v = 0; l < g_.loops.size(); ++l) {
                if (g_.loops[l].table >= 0)
                    place_[v++] = walk.at()[l];
                else
                    source_ += walk.at()[l] * g_.loops[l].src_stride;
                dst += walk.at()[l] * g_.loops[l].dst_stride;
            }
            if (asks_) ask_for_next();
            if constexpr (std::is_integral_v<W>)
                if (made_to(dst)) continue;
            if constexpr (std::is_same_v<W, float>)
                if (c_.in_bytes && fills_rows() && make_in_bytes(reinterpret_cast<std::uint8_t*>(dst))) continue;
            if (!c_.sheets.empty()) {
                finish_sheet(c_.sheets[static_cast<std::size_t>(walk.at()[c_.sheet_loop])], dst);
                continue;
            }
            const W* row = finished(in_place_ ? reinterpret_cast<W*>(dst) : final_);
            if (!in_place_) c_.types.store(row, s_.x1 - s_.x0, g_.block, c_.rounding, dst, g_.dst_x, g_.dst_c);
            if constexpr (!std::is_integral_v<W>)
                if (c_.bound > 0) report(row, walk, dst, doubtful, lock);
        }
        open_.close();
    }

private:
    using TaskPasses<W>::ask_for_next;
    using TaskPasses<W>::by_pairs_;
    using TaskPasses<W>::c_;
    using TaskPasses<W>::contiguous_;
    using TaskPasses<W>::direct_;
    using TaskPasses<W>::filter_rows;
    using TaskPasses<W>::filters;
    using TaskPasses<W>::g_;
    using TaskPasses<W>::is_one_row;
    using TaskPasses<W>::kWords;
    using TaskPasses<W>::made;
    using TaskPasses<W>::make_in_bytes;
    using TaskPasses<W>::make_whole;
    using TaskPasses<W>::outputs;
    using TaskPasses<W>::place_;
    using TaskPasses<W>::row_taps;
    using TaskPasses<W>::s_;
    using TaskPasses<W>::source_;
    using TaskPasses<W>::source_row;
    using TaskPasses<W>::stacked_;
    using TaskPasses<W>::two_rows;
    using TaskPasses<W>::weight_at;

    // How rows that are so far apart that two of them serve little but one output are made: from the input at once.
    enum class AtOnce { no, groups, pixel_pairs, pixels };

    AtOnce at_once() const {
        const std::size_t down = std::is_integral_v<W> ? 1 : 0;  // the vertical pass; the other goes across
        if (c_.passes.size() != 2 || !c_.passes[1 - down].across()) return AtOnce::no;
        const AxisTable* t = c_.vertical[0].linear;
        if (!t || c_.filter_across || 4 * t->n_in < 5 * t->n_out()) return AtOnce::no;
        const bool rows_of_pixels = !s_.first_pixel.empty() && g_.src_c == c_.size && g_.src_x == g_.block * c_.size;
        const AxisTable& x = std::get<AxisTable>(c_.axes.back());
        if constexpr (std::is_integral_v<W>) {
            if (!kWords && (!c_.kernels.across_two_bytes || !fills_rows() || c_.rounding.rule == Rule::half_even)) return AtOnce::no;
            if (rows_of_pixels && !s_.pixel_weights.empty() && x.n_in > 4 * x.n_out()) return AtOnce::pixels;
            if (!s_.pixel_pairs.base.empty()) return AtOnce::pixel_pairs;
            return by_pairs_ ? AtOnce::groups : AtOnce::no;
        }
        if (!c_.kernels.across_two_bytes) return AtOnce::no;
        if constexpr (std::is_same_v<W, float>) {
            if (!c_.kernels.blend_groups[static_cast<int>(c_.type)] || c_.rounding.base != 0) return AtOnce::no;
            if (rows_of_pixels && 4 * x.n_in >= 5 * x.n_out()) return AtOnce::pixels;
            return s_.pairs.count ? AtOnce::groups : AtOnce::no;
        }
        return AtOnce::no;
    }

    // Whether an output row has its values side by side.
    bool fills_rows() const { return (g_.block == 1 || g_.dst_c == c_.size) && g_.dst_x == g_.block * c_.size; }

    // The rows of the input that the output row at place_ is made of, whole or what source_row makes of them.
    std::pair<const std::byte*, const std::byte*> two_source_rows(bool whole) {
        const AxisTable& t = *c_.vertical[0].linear;
        const std::int64_t at = place_[0];
        const auto row = [&](std::int64_t tap) {
            place_[0] = tap;
            return whole ? source_ + tap * c_.vertical[0].src_stride : source_row();
        };
        const std::byte* a = row(t.first[at]);
        const std::byte* b = row(t.second[at]);
        place_[0] = at;
        return {a, b};
    }

    PixelLerps pixels() const {
        const std::int64_t values = std::get<AxisTable>(c_.axes.back()).n_in * g_.block;
        return {s_.x1 - s_.x0, g_.block, values, s_.first_pixel.data(), s_.second_pixel.data(), s_.neighbours, next_rows(true)};
    }

    // What two_source_rows gives next, of rows that lie far off, and as they lie.
    NextRows next_rows(bool whole) const {
        const VerticalAxis& v = c_.vertical[0];
        const auto next = static_cast<std::size_t>(place_[0] + 1);
        if (!c_.far || !(whole || direct_) || next >= v.linear->first.size()) return {};
        const std::byte* rows = whole ? source_ : source_ + s_.column0 * g_.src_x;
        return {rows + v.linear->first[next] * v.src_stride, rows + v.linear->second[next] * v.src_stride};
    }

    // Makes the row where it is to lie, if there is a way that makes no other of it.
    bool made_to(std::byte* dst) {
        if constexpr (kWords) {
            const Pass last = c_.passes.back();
            if (last.across()) return false;
            make_words(last, fills_rows() ? dst : reinterpret_cast<std::byte*>(final_));
            if (!fills_rows()) spread(reinterpret_cast<const std::byte*>(final_), dst);
        } else if (at_once_ != AtOnce::no) {
            make_bytes_at_once(reinterpret_cast<std::uint8_t*>(dst));
        } else {
            return made_by_last_blend(reinterpret_cast<std::uint8_t*>(dst));
        }
        return true;
    }

    bool made_by_last_blend(std::uint8_t* dst) {
        const std::size_t k = c_.passes.size();
        const Pass last = c_.passes[k - 1];
        if (last.across() || k == 1 || !c_.kernels.lerp_bytes || !fills_rows() || c_.rounding.rule == Rule::half_even) return false;
        const AxisTable& t = *c_.vertical[last.vertical].linear;
        const auto w = static_cast<W>(weight_at(t, place_[last.vertical])), one = static_cast<W>(t.one);
        const auto [a, b] = two_rows(k, nullptr, false);
        c_.kernels.lerp_bytes(a, b, w, one, outputs(), c_.rounding, dst);
        return true;
    }

    // Moves a row of results to where its elements lie.
    void spread(const std::byte* row, std::byte* dst) const {
        const bool whole = g_.block == 1 || g_.dst_c == c_.size;
        const std::int64_t item = whole ? g_.block * c_.size : c_.size, moves = whole ? 1 : g_.block;
        for (std::int64_t j = 0; j < moves; ++j)
            c_.kernels.pick(row + j * item, g_.block * c_.size, nullptr, s_.x1 - s_.x0, item, dst + j * g_.dst_c, g_.dst_x);
    }

    // By the last pass, or by both of them at once.
    void make_words(Pass last, std::byte* dst) {
        const AxisTable& t = *c_.vertical[last.vertical].linear;
        const auto w = static_cast<W>(weight_at(t, place_[last.vertical])), one = static_cast<W>(t.one);
        if (at_once_ == AtOnce::pixels) {
            const auto [a, b] = two_source_rows(true);
            c_.words.across_two_pixels(pixels(), s_.pixel_weights.data(), a, b, w, one, c_.rounding, dst);
        } else if (at_once_ == AtOnce::groups) {
            const auto [a, b] = two_source_rows(false);
            c_.words.across_two(s_.pair_table(next_rows(false)), s_.table(), a, b, w, one, c_.rounding, dst);
        } else if (c_.passes.size() == 1) {
            const auto [a, b] = two_source_rows(false);
            c_.words.lerp_rows_last(a, b, w, one, outputs(), c_.rounding, dst);
        } else {
            const auto [a, b] = two_rows(c_.passes.size(), nullptr, false);
            c_.words.lerp_last(a, b, w, one, outputs(), c_.rounding, dst);
        }
    }

    void make_bytes_at_once(std::uint8_t* dst) {
        const auto [a_, b_] = two_source_rows(at_once_ == AtOnce::pixels);
        const AxisTable& t = *c_.vertical[0].linear;
        const auto *a = reinterpret_cast<const std::uint8_t*>(a_), *b = reinterpret_cast<const std::uint8_t*>(b_);
        const auto w = static_cast<std::uint16_t>(t.weight[place_[0]]), one = static_cast<std::uint16_t>(t.one);
        if (at_once_ == AtOnce::pixels)
            c_.kernels.blend_byte_pixels(pixels(), s_.pixel_weights.data(), a, b, w, one, c_.rounding, dst);
        else if (at_once_ == AtOnce::pixel_pairs)
            c_.kernels.across_two_pixel_pairs(s_.pixel_pair_table(next_rows(false)), s_.table(), a, b, w, one, c_.rounding, dst);
        else
            c_.kernels.across_two_bytes(s_.pair_table(next_rows(false)), s_.table(), a, b, w, one, c_.rounding, dst);
    }

    // True when a value is not finite.
    bool make_at_once(float* target) {
        const auto [a, b] = two_source_rows(at_once_ == AtOnce::pixels);
        const auto w = static_cast<float>(c_.vertical[0].linear->weight[place_[0]]);
        const int type = static_cast<int>(c_.type);
        if (at_once_ == AtOnce::pixels)
            return c_.kernels.blend_pixels[type](pixels(), s_.pixel_weights.data(), a, b, w, target);
        return c_.kernels.blend_groups[type](s_.row_table(next_rows(false)), s_.table(), a, b, w, target);
    }

    // The row at place_ after all passes, in `target`.
    const W* finished(W* target) {
        const std::size_t k = c_.passes.size();
        if constexpr (std::is_same_v<W, float>)
            if (at_once_ != AtOnce::no && !make_at_once(target)) return target;
        if constexpr (std::is_integral_v<W>) {
            copy(made(k, target, false), target);
        } else if (c_.integer) {
            if constexpr (std::is_same_v<W, float>)
                if (c_.shorts) {
                    make_whole(target);
                    return target;
                }
            copy(made(k, target, false), target);
        } else if (last(target)) {
            open_.bytes = 0;
            copy(made(k, target, true), target);
            c_.rows.canonical_nans(target, outputs());
        }
        return target;
    }

    // As `finished`, the fast way; true when the row has a value that is not finite.
    bool last(W* target) {
        const std::size_t k = c_.passes.size();
        const Pass pass = c_.passes[k - 1];
        if (!pass.across() && c_.vertical[pass.vertical].linear && (k > 1 || c_.same)) {
            const AxisTable& t = *c_.vertical[pass.vertical].linear;
            const std::int64_t at = place_[pass.vertical];
            if (t.first[at] != t.second[at]) {
                const auto [a, b] = two_rows(k, nullptr, false);
                return c_.rows.lerp_last(a, b, static_cast<W>(t.weight[at]), outputs(), target, open());
            }
        }
        if constexpr (!std::is_integral_v<W>) {
            std::int64_t from = 0;
            const bool filtered = !pass.across() && c_.vertical[pass.vertical].filter && !is_one_row(pass, from);
            // More taps than are held do not go past the caches: that takes rows made before.
            if (filtered && k > 1 && filters().down_last && (!streams_ || taps_beside_base(pass) == kHeldTaps)) {
                filter_rows(k, false, false);
                const RowTaps taps = row_taps(k);
                if (!streams_ || !any_in_the_way(taps, target)) return filters().down_last(taps, outputs(), target, open());
                filters().down(taps, outputs(), final_);
                return c_.rows.copy_last(final_, outputs(), target, open());
            }
        }
        return c_.rows.copy_last(made(k, final_, false), outputs(), target, open());
    }

    // The last pass within the sheet; rows with a value that is not finite are made again with care.
    void finish_sheet(const Sheet& s, std::byte* dst) {
        if constexpr (!std::is_integral_v<W>) {
            stacked_ = s.rows;
            place_.back() = s.row0;
            const AxisTable& t = *c_.vertical.back().linear;
            const std::size_t k = c_.passes.size() - 1;
            const W* sheet = made(k, nullptr, false);
            const auto row = [&](std::int64_t tap) { return sheet + (tap - s.row0) * outputs(); };
            dst += s.y0 * c_.sheet_stride;
            for (std::int64_t y = s.y0; y < s.y1; ++y, dst += c_.sheet_stride) {
                W* target = in_place_ ? reinterpret_cast<W*>(dst) : final_;
                const std::int64_t first = t.first[y], second = t.second[y];
                const W w = static_cast<W>(t.weight[y]);
                if (first == second ? c_.rows.copy_last(row(first), outputs(), target, open())
                                    : c_.rows.lerp_last(row(first), row(second), w, outputs(), target, open())) {
                    open_.bytes = 0;
                    sheet = made(k, nullptr, true);
                    if (first == second)
                        copy(row(first), target);
                    else
                        c_.rows.lerp_careful(row(first), row(second), w, outputs(), target);
                    c_.rows.canonical_nans(target, outputs());
                }
                if (!in_place_) c_.types.store(target, s_.x1 - s_.x0, g_.block, c_.rounding, dst, g_.dst_x, g_.dst_c);
            }
        }
    }

    std::int64_t taps_beside_base(const Pass pass) const {
        const FilterTable& t = *c_.vertical[pass.vertical].filter;
        return t.count[place_[pass.vertical]] - (t.sums() ? 0 : 1);
    }

    // Whether a row lies at the place in its page that `out` has in another, or up to some lines before it.  Its loads would each wait
    // until a store past the caches has reached memory, 2.5 ms instead of 1.4 (float32 512x512 to 1024x1024, cubic, 3 planes; AMD
    // EPYC, 2026-11-30).
    static bool any_in_the_way(const RowTaps& taps, const W* out) {
        const auto in_the_way = [out](const void* row) {
            return (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(row) + 64) % 4096 < 320;
        };
        return std::any_of(taps.rows, taps.rows + taps.taps, in_the_way) || (taps.base && in_the_way(taps.base));
    }

    OpenLine* open() { return streams_ ? &open_ : nullptr; }

    void copy(const W* row, W* target) const {
        if (row != target) std::memcpy(target, row, sizeof(W) * static_cast<std::size_t>(outputs()));
    }

    // Adds the results of `row` that are in doubt, those aside that a second look decides.
    void report(const W* row, const RowWalk& walk, std::byte* dst, std::vector<std::int64_t>& doubtful, std::mutex& lock) {
        positions_.resize(static_cast<std::size_t>(outputs()) + 1);
        const std::int64_t count = c_.rows.doubtful(row, outputs(), c_.rounding.rule, c_.bound, positions_.data());
        if (!count) return;
        std::int64_t start = 0;
        for (std::size_t l = 0; l < g_.loops.size(); ++l) start += walk.at()[l] * g_.loops[l].place;
        std::vector<std::int64_t> left;
        SecondLook look(c_.axes, c_.type, std::is_same_v<W, float>);
        for (std::size_t v = 0; v < place_.size(); ++v)
            look.add(*c_.vertical[v].table, place_[v], c_.vertical[v].src_stride);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t x = s_.x0 + positions_[i] / g_.block, j = positions_[i] % g_.block;
            const std::byte* p = source_ + j * g_.src_c + (g_.horizontal ? 0 : x * g_.src_x);
            if (g_.horizontal) look.set_last(c_.axes.back(), x, g_.src_x);
            if (look.all_equal(p)) continue;
            std::byte* to = dst + (x - s_.x0) * g_.dst_x + j * g_.dst_c;
            if (!look.decided(p, c_.rounding.rule, c_.doubt.fine_bound, c_.doubt.ties, to)) left.push_back(start + x * g_.place_x + j);
        }
        std::lock_guard guard(lock);
        doubtful.insert(doubtful.end(), left.begin(), left.end());
    }

    const std::byte* const data_;
    std::byte* const out_;
    W* const final_;   // the row that is moved to out, where it is not made there
    AtOnce at_once_ = AtOnce::no;
    bool asks_;        // rows are asked for ahead
    bool in_place_;    // the finished row lies in out
    bool streams_;     // and is stored past the caches, its end with the next row
    OpenLine open_;
    std::vector<std::int32_t> positions_;
};

}  // namespace remapnd
