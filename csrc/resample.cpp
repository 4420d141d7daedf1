// Kernels of resampling: rows to the working type and back, vertical and horizontal passes, picking of items.
#include "elements.hpp"
#include "simd/pick.hpp"
#include "simd/prefetch.hpp"
#include "simd/vectors.hpp"

namespace remapnd::REMAPND_LEVEL {
namespace {

template <class W>
inline W lerp_one(W a, W b, W w, W one) {
    if constexpr (std::is_integral_v<W>)
        return static_cast<W>(a * (one - w) + b * w);
    else
        return a + (b - a) * w;
}

template <class W>
inline W lerp_one_careful(W a, W b, W w) {
    const W fast = lerp_one(a, b, w, W(1));
    const W slow = w == 0 ? a : w == 1 ? b : (1 - w) * a + w * b;
    return nonfinite(fast) ? slow : fast;
}

#include "simd/rows_ahead.hpp"
#include "simd/words.hpp"
#include "simd/word_rows.hpp"

// ------------------------------------------------------------------------------------------------ rows

template <class W>
void lerp(const W* a, const W* b, W w, W one, int64_t count, W* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = lerp_one(a[i], b[i], w, one);
}

template <class W>
void lerp_careful(const W* a, const W* b, W w, int64_t count, W* out) {
    for (int64_t i = 0; i < count; ++i) out[i] = lerp_one_careful(a[i], b[i], w);
}

#include "simd/across.hpp"

#include "simd/finish.hpp"

template <class W>
bool lerp_last(const W* a, const W* b, W w, int64_t count, W* out, OpenLine* open) {
    return finish(
        count, out, open, [&](auto by, int64_t i) { return decltype(by)::type::lerp(a + i, b + i, w); },
        [&](int64_t begin, int64_t end) { lerp(a + begin, b + begin, w, W(1), end - begin, out + begin); });
}

template <class W>
bool copy_last(const W* row, int64_t count, W* out, OpenLine* open) {
    return finish(
        count, out, open, [&](auto by, int64_t i) { return decltype(by)::type::load(row + i); },
        [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) out[i] = row[i];
        });
}

void end_stream() {
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
    _mm_sfence();
#endif
}

void ask_for(const byte* row, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) prefetch_far(row + i);
}

template <class W>
void canonical_nans(W* row, int64_t count) {
    const W nan = bit_cast<W>(Bits<W>::quiet_nan);
    for (int64_t i = 0; i < count; ++i) row[i] = row[i] != row[i] ? nan : row[i];
}

// Added and subtracted again it leaves the nearest integer, for numbers up to a quarter of it.
template <class W>
constexpr W kToInteger = std::is_same_v<W, float> ? W(0x1.8p23) : W(0x1.8p52);

template <class W>
int64_t doubtful(const W* row, int64_t count, Rule rule, W bound, int32_t* out) {
    using Int = typename Bits<W>::Int;
    const W shift = rule == Rule::half_up || rule == Rule::half_even ? W(0.5) : W(0);
    const auto in_doubt = [shift, bound](W v) -> Int {
        const W t = v + shift;
        const Int gap = bit_cast<Int>(t - ((t + kToInteger<W>) - kToInteger<W>));
        return bit_cast<W>(gap & ~(Int(1) << (8 * sizeof(W) - 1))) <= bound;
    };
    const auto any_in_doubt = [row, in_doubt](int64_t begin, int64_t end) {
        Int any = 0;
        for (int64_t k = begin; k < end; ++k) any |= in_doubt(row[k]);
        return any != 0;
    };
    // Few are: blocks are passed by without a branch inside.
    constexpr int64_t block = 64, part = 8;
    int64_t found = 0;
    for (int64_t i = 0; i < count; i += part) {
        if (i % block == 0)
            while (i + block <= count && !any_in_doubt(i, i + block)) i += block;
        const int64_t end = i + part < count ? i + part : count;
        if (i >= end || (end - i == part && !any_in_doubt(i, i + part))) continue;
        for (int64_t k = i; k < end; ++k) {
            out[found] = static_cast<int32_t>(k);
            found += static_cast<int64_t>(in_doubt(row[k]));
        }
    }
    return found;
}

// ------------------------------------------------------------------------------------------------ types

template <class T, class W>
void convert(const byte* src_, int64_t count, uint64_t base, void* dst_) {
    const T* src = reinterpret_cast<const T*>(src_);
    W* dst = static_cast<W*>(dst_);
    if constexpr (std::is_same_v<T, Half>)
        halves_to_floats(src, count, dst);
    else
        for (int64_t i = 0; i < count; ++i) dst[i] = Element<T, W>::load(src[i], base);
}

// Rows are asked for that many bytes ahead, beyond their end as well, where the next ones lie as a rule: processors look ahead
// no farther than a page.  float32 (128,256,256) by 1.5 took 14.7 ms without and 13.3 with, float64 (64,256,256) 19.9 and 18.0; half
// as far and into the first-level cache 12.2 where it takes 11.3 so (AMD EPYC, 2026-11).
constexpr int64_t kRowAhead = 4096;

template <class T, class W>
void lerp_typed(const byte* a_, const byte* b_, double w_, double one_, int64_t count, void* out_) {
    const T* a = reinterpret_cast<const T*>(a_);
    const T* b = reinterpret_cast<const T*>(b_);
    const W w = static_cast<W>(w_), one = static_cast<W>(one_);
    W* out = static_cast<W*>(out_);
    int64_t i = 0;
    if constexpr (std::is_same_v<T, Half>) i = lerp_halves(a, b, w, count, out);
    if constexpr (std::is_same_v<W, uint32_t>) i = blend_rows<T>(a_, b_, w, one, count, out);
#ifdef REMAPND_VECTORS
    if constexpr (std::is_same_v<T, W>) {
        using V = Vec<W>;
        constexpr int64_t line = 64 / sizeof(W);
        const V down = V::all(w);
        for (; i + line <= count; i += line) {
            prefetch_far(a_ + i * static_cast<int64_t>(sizeof(W)) + kRowAhead);
            prefetch_far(b_ + i * static_cast<int64_t>(sizeof(W)) + kRowAhead);
            for (int64_t k = i; k < i + line; k += V::lanes) {
                const V x = V::load(a + k), y = V::load(b + k);
                (x + (y - x) * down).store(out + k);
            }
        }
    }
#endif
    for (; i < count; ++i) out[i] = lerp_one(Element<T, W>::load(a[i], 0), Element<T, W>::load(b[i], 0), w, one);
}

struct NoLimits {
    explicit NoLimits(const Rounding&) {}
};
template <class T, class W>
using StoreLimits = std::conditional_t<std::is_integral_v<T> && !std::is_integral_v<W>, Limits<T, W>, NoLimits>;

template <class T, class W, Rule rule>
void store_by(const W* row, int64_t count, int64_t block, const Rounding& rounding, byte* dst, intptr_t stride_x,
              intptr_t stride_c) {
    const Rounding r = rounding;
    const auto stored = [r, limits = StoreLimits<T, W>(r)](W v) {
        if constexpr (std::is_integral_v<T> && !std::is_integral_v<W>) v = limits.clamped(v);
        return Element<T, W>::template store<rule>(v, r);
    };
    if (stride_c == intptr_t(sizeof(T)) && stride_x == block * stride_c) {
        T* to = reinterpret_cast<T*>(dst);
        int64_t i = 0;
        if constexpr (std::is_same_v<T, Half>) {
            floats_to_halves(row, count * block, to);
            return;
        } else if constexpr (std::is_same_v<W, uint32_t>) {
            i = store_sums<T>(row, count * block, r, dst);
        } else if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<W, float> && rule == Rule::half_up) {
            i = floats_to_bytes(row, count * block, 0.5f + static_cast<float>(r.half_step), to);
        }
        for (; i < count * block; ++i) to[i] = stored(row[i]);
        return;
    }
    for (int64_t k = 0; k < count; ++k, dst += stride_x)
        for (int64_t j = 0; j < block; ++j)
            *reinterpret_cast<T*>(dst + j * stride_c) = stored(*row++);
}

template <class T, class W>
void store(const void* row_, int64_t count, int64_t block, const Rounding& r, byte* dst, intptr_t stride_x,
           intptr_t stride_c) {
    const W* row = static_cast<const W*>(row_);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<W, uint32_t>) {
        switch (r.rule) {
            case Rule::half_up: return store_by<T, W, Rule::half_up>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::half_even: return store_by<T, W, Rule::half_even>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_by_sign:
                return store_by<T, W, Rule::truncate_by_sign>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_down:
                return store_by<T, W, Rule::truncate_down>(row, count, block, r, dst, stride_x, stride_c);
            case Rule::truncate_up: return store_by<T, W, Rule::truncate_up>(row, count, block, r, dst, stride_x, stride_c);
        }
    } else {
        store_by<T, W, Rule::half_up>(row, count, block, r, dst, stride_x, stride_c);
    }
}

template <class T, class W>
constexpr TypeKernels type_kernels() {
    return {&convert<T, W>, &lerp_typed<T, W>, &store<T, W>};
}

template <class W>
constexpr RowKernels<W> row_kernels() {
    if constexpr (std::is_integral_v<W>)
        return {Picker<W>::lanes, &lerp<W>, &across<W>, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    else
        return {Picker<W>::lanes,  &lerp<W>,        &across<W>,         &lerp_careful<W>,   &across_careful<W>,
                &any_nonfinite<W>, &lerp_last<W>,   &copy_last<W>,      &canonical_nans<W>, &doubtful<W>};
}

#include "simd/two_rows.hpp"

// ------------------------------------------------------------------------------------------------ rows of bytes

#ifdef REMAPND_HAS_BYTE_PICKS
template <int windows>
void across_byte_groups(const ByteLerps& table, int64_t groups, const uint8_t* row, uint16_t* out) {
    const ByteLerps t = table;  // a copy: `out` might alias it
    int64_t g = 0;
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
    for (; g + 2 <= groups; g += 2)
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(out + 8 * g),
            _mm256_maddubs_epi16(pick_32<windows>(row + t.base[g], row + t.base[g + 1], t.pick + 16 * g),
                                 _mm256_loadu_si256(reinterpret_cast<const __m256i*>(t.weight + 16 * g))));
#endif
    for (; g < groups; ++g)
        _mm_storeu_si128(
            reinterpret_cast<__m128i*>(out + 8 * g),
            _mm_maddubs_epi16(pick_16<windows>(row + t.base[g], t.pick + 16 * g),
                              _mm_loadu_si128(reinterpret_cast<const __m128i*>(t.weight + 16 * g))));
}

void across_bytes(const ByteLerps& t, const Lerps<uint16_t>& rest, const uint8_t* row, uint16_t* out) {
    const int64_t groups = rest.count / 8;
    const auto run = t.windows == 1 ? across_byte_groups<1> : t.windows == 2 ? across_byte_groups<2> : across_byte_groups<4>;
    run(t, groups, row, out);
    for (int64_t e = 8 * groups; e < rest.count; ++e)
        out[e] = lerp_one<uint16_t>(row[rest.first[e]], row[rest.second[e]], rest.weight[e], rest.one);
}

template <int windows>
void pick_byte_groups(const BytePicks& t, const uint8_t* row, uint8_t* out) {
    int64_t g = 0;
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
    for (; g + 2 <= t.groups; g += 2)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16 * g),
                            pick_32<windows>(row + t.base[g], row + t.base[g + 1], t.place + 16 * g));
#endif
    for (; g < t.groups; ++g)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * g), pick_16<windows>(row + t.base[g], t.place + 16 * g));
}

void pick_bytes(const BytePicks& t, const uint8_t* row, uint8_t* out) {
    const auto run = t.windows == 1 ? pick_byte_groups<1> : t.windows == 2 ? pick_byte_groups<2> : pick_byte_groups<4>;
    run(t, row, out);
}
#else
constexpr decltype(ResampleKernels::across_bytes) across_bytes = nullptr;
constexpr decltype(ResampleKernels::pick_bytes) pick_bytes = nullptr;
#endif

#ifndef REMAPND_TWO_ROWS
constexpr decltype(ResampleKernels::across_two_bytes) across_two_bytes = nullptr;
constexpr decltype(ResampleKernels::across_two_pixel_pairs) across_two_pixel_pairs = nullptr;
constexpr decltype(ResampleKernels::blend_byte_pixels) blend_byte_pixels = nullptr;
constexpr decltype(ResampleKernels::lerp_bytes) lerp_bytes = nullptr;
#define REMAPND_BLENDS(kernel) {}
#endif

// ------------------------------------------------------------------------------------------------ nearest

template <int size>
void pick_sized(const byte* src, intptr_t src_stride, const int64_t* columns, int64_t count, byte* dst,
                intptr_t dst_stride) {
    if (!columns)
        for (int64_t k = 0; k < count; ++k, dst += dst_stride, src += src_stride) std::memcpy(dst, src, size);
    else
        for (int64_t k = 0; k < count; ++k, dst += dst_stride) std::memcpy(dst, src + columns[k] * src_stride, size);
}

void pick(const byte* src, intptr_t src_stride, const int64_t* columns, int64_t count, int64_t size, byte* dst,
          intptr_t dst_stride) {
    switch (size) {
        case 1: return pick_sized<1>(src, src_stride, columns, count, dst, dst_stride);
        case 2: return pick_sized<2>(src, src_stride, columns, count, dst, dst_stride);
        case 3: return pick_sized<3>(src, src_stride, columns, count, dst, dst_stride);
        case 4: return pick_sized<4>(src, src_stride, columns, count, dst, dst_stride);
        case 6: return pick_sized<6>(src, src_stride, columns, count, dst, dst_stride);
        case 8: return pick_sized<8>(src, src_stride, columns, count, dst, dst_stride);
        case 12: return pick_sized<12>(src, src_stride, columns, count, dst, dst_stride);
        case 16: return pick_sized<16>(src, src_stride, columns, count, dst, dst_stride);
        default:
            for (int64_t k = 0; k < count; ++k, dst += dst_stride)
                std::memcpy(dst, src + (columns ? columns[k] : k) * src_stride, static_cast<std::size_t>(size));
    }
}

}  // namespace

extern const ResampleKernels resample_table;
const ResampleKernels resample_table{
    row_kernels<float>(),
    row_kernels<double>(),
    row_kernels<uint16_t>(),
    row_kernels<uint32_t>(),
    {{type_kernels<uint8_t, float>(), type_kernels<uint8_t, double>(), type_kernels<uint8_t, uint16_t>(),
      type_kernels<uint8_t, uint32_t>()},
     {type_kernels<std::int8_t, float>(), type_kernels<std::int8_t, double>(), {}, type_kernels<std::int8_t, uint32_t>()},
     {type_kernels<uint16_t, float>(), type_kernels<uint16_t, double>(), {}, type_kernels<uint16_t, uint32_t>()},
     {type_kernels<std::int16_t, float>(), type_kernels<std::int16_t, double>(), {}, type_kernels<std::int16_t, uint32_t>()},
     {{}, type_kernels<uint32_t, double>(), {}, {}},
     {{}, type_kernels<int32_t, double>(), {}, {}},
     {{}, type_kernels<uint64_t, double>(), {}, {}},
     {{}, type_kernels<int64_t, double>(), {}, {}},
     {type_kernels<Half, float>(), {}, {}, {}},
     {type_kernels<BFloat, float>(), {}, {}, {}},
     {type_kernels<float, float>(), {}, {}, {}},
     {{}, type_kernels<double, double>(), {}, {}}},
    {word_kernels<uint8_t>(), word_kernels<std::int8_t>(), word_kernels<uint16_t>(), word_kernels<std::int16_t>()},
    across_bytes,
    across_two_bytes,
    across_two_pixel_pairs,
    blend_byte_pixels,
    lerp_bytes,
    REMAPND_BLENDS(blend_pixels),
    REMAPND_BLENDS(blend_groups),
    &end_stream,
    &ask_for,
    pick_bytes,
    &pick};

}  // namespace remapnd::REMAPND_LEVEL
