// Both passes of an output row at once, from the two rows that it is made of.
//
// Included in the namespace of a level, after simd/pick.hpp and the operations on one value.  Defines REMAPND_TWO_ROWS where the
// level has the instructions.
#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_TWO_ROWS 1

#include "byte_quotients.hpp"

// Two rows of the u16 working type blended and divided.
struct BlendedSums : ByteQuotients {
    const __m256i a_weight, b_weight;

    BlendedSums(uint16_t w, uint16_t one, const Rounding& r)
        : ByteQuotients(r), a_weight(_mm256_set1_epi16(static_cast<short>(one - w))),
          b_weight(_mm256_set1_epi16(static_cast<short>(w))) {}

    REMAPND_INLINE __m256i operator()(__m256i a, __m256i b) const {
        return ByteQuotients::operator()(_mm256_add_epi16(_mm256_mullo_epi16(a, a_weight), _mm256_mullo_epi16(b, b_weight)));
    }
};

// The same of halves of sums of pairs: the sum of four values, a fourth of it rounded.
struct QuarterSums {
    const __m256i add;

    explicit QuarterSums(const Rounding& r) : add(_mm256_set1_epi16(static_cast<short>(r.add))) {}

    static bool can(uint16_t w, uint16_t one, const Rounding& r) { return w == 1 && one == 2 && r.divisor == 4 && r.add <= 2; }
    REMAPND_INLINE __m256i operator()(__m256i a, __m256i b) const {
        return _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(a, b), add), 2);
    }
};

void lerp_bytes(const uint16_t* a, const uint16_t* b, uint16_t w, uint16_t one, int64_t count, const Rounding& r, uint8_t* out) {
    const BlendedSums blended(w, one, r);
    const auto sums = [&blended, a, b](int64_t i) {
        return blended(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i)),
                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i)));
    };
    const Rounding rounding = r;
    int64_t i = 0;
    for (; i + 32 <= count; i += 32)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), BlendedSums::bytes(sums(i), sums(i + 16)));
    for (; i < count; ++i)
        out[i] = static_cast<uint8_t>(divided<Rule::half_up>(lerp_one<uint16_t>(a[i], b[i], w, one), rounding));
}

// What a pair of groups becomes in across_two_bytes.
template <int windows>
struct TwoRows {
    const ByteLerps table;
    const uint8_t *const a, *const b;
    const BlendedSums blended;

    TwoRows(const ByteLerps& t, const uint8_t* a_, const uint8_t* b_, uint16_t w, uint16_t one, const Rounding& r)
        : table(t), a(a_), b(b_), blended(w, one, r) {}

    __m256i across(const uint8_t* row, int64_t g) const {
        return _mm256_maddubs_epi16(pick_32<windows>(row + table.base[g], row + table.base[g + 1], table.pick + 16 * g),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table.weight + 16 * g)));
    }
    __m256i operator()(int64_t g) const { return blended(across(a, g), across(b, g)); }
};

// Returns how many groups it has done.
template <int windows>
int64_t across_two_byte_groups(const TwoRows<windows>& rows, int64_t groups, uint8_t* out) {
    const TwoRows<windows> t = rows;  // a copy: `out` might alias it
    int64_t g = 0;
    for (; g + 4 <= groups; g += 4) {
        ask_for_next(t.table.next, t.table.base[g]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * g), BlendedSums::bytes(t(g), t(g + 2)));
    }
    for (; g + 2 <= groups; g += 2) {
        const __m256i v = t(g);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8 * g),
                         _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
    }
    return g;
}

// The outputs from e on, one by one.
inline void across_two_each(const Lerps<uint16_t>& rest, int64_t e, const uint8_t* a, const uint8_t* b, uint16_t w, uint16_t one,
                            const Rounding& r, uint8_t* out) {
    const auto at = [&rest](const uint8_t* row, int64_t e) {
        return lerp_one<uint16_t>(row[rest.first[e]], row[rest.second[e]], rest.weight[e], rest.one);
    };
    for (; e < rest.count; ++e)
        out[e] = static_cast<uint8_t>(divided<Rule::half_up>(lerp_one<uint16_t>(at(a, e), at(b, e), w, one), r));
}

void across_two_bytes(const ByteLerps& t, const Lerps<uint16_t>& rest, const uint8_t* a, const uint8_t* b, uint16_t w,
                      uint16_t one, const Rounding& r, uint8_t* out) {
    const auto run = [&](auto windows) {
        return across_two_byte_groups(TwoRows<decltype(windows)::value>(t, a, b, w, one, r), rest.count / 8, out);
    };
    const int64_t groups = t.windows == 1   ? run(std::integral_constant<int, 1>())
                           : t.windows == 2 ? run(std::integral_constant<int, 2>())
                                            : run(std::integral_constant<int, 4>());
    across_two_each(rest, 8 * groups, a, b, w, one, r, out);
}

// Eight pixels at a time, of 24 values in 32 lanes; returns the number of values made.  Where eight values reach farther than one
// window, two pixels often do not.  Tables that are alike stay in registers, for in memory they take the first-level cache from the
// rows: uint8 RGB 1080p to a half 0.39 ms by groups of values, 0.36 by pixels and 0.26 so (AMD EPYC, 2026-11-30).
template <class Blended>
int64_t pixel_pairs(const PixelPairs& table, int64_t values, const uint8_t* a, const uint8_t* b, const Blended& given, uint8_t* out) {
    const PixelPairs t = table;  // copies: `out` might alias them
    const Blended blended = given;
    const __m256i packed =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));
    struct Table {
        __m256i pick, weight;

        Table(const PixelPairs& t, int64_t g)
            : pick(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(t.pick + 16 * g))),
              weight(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(t.weight + 16 * g))) {}
    };
    const auto load_two = [](const uint8_t* low, const uint8_t* high) {
        const auto load = [](const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
        return _mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
    };
    const auto two = [&](int64_t g, const Table& table) {
        const auto across = [&](const uint8_t* row) {
            const __m256i taps = load_two(row + t.base[g], row + t.base[g + 1]);
            return _mm256_maddubs_epi16(_mm256_shuffle_epi8(taps, table.pick), table.weight);
        };
        return blended(across(a), across(b));
    };
    const auto eight = [&](int64_t g, const Table& first, const Table& second) {
        ask_for_next(t.next, t.base[g]);
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(two(g, first), two(g + 2, second)), packed);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 6 * g), _mm256_castsi256_si128(bytes));
        return _mm256_extracti128_si256(bytes, 1);
    };
    const auto put = [&](int64_t g, __m128i half) { _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 6 * g + 12), half); };
    int64_t g = 0;
    if (t.groups) {
        const Table first(t, 0), second(t, 2);
        for (; g < t.alike && 6 * g + 28 <= values; g += 4) put(g, eight(g, first, second));
    }
    for (; g < t.groups && 6 * g + 28 <= values; g += 4) put(g, eight(g, Table(t, g), Table(t, g + 2)));
    if (g < t.groups) {
        const __m128i last = eight(g, Table(t, g), Table(t, g + 2));
        std::memcpy(out + 6 * g + 12, &last, 12);
        g += 4;
    }
    return 6 * g;
}

void across_two_pixel_pairs(const PixelPairs& t, const Lerps<uint16_t>& rest, const uint8_t* a, const uint8_t* b, uint16_t w,
                            uint16_t one, const Rounding& r, uint8_t* out) {
    const int64_t made = QuarterSums::can(w, one, r) ? pixel_pairs(t, rest.count, a, b, QuarterSums(r), out)
                                                     : pixel_pairs(t, rest.count, a, b, BlendedSums(w, one, r), out);
    across_two_each(rest, made, a, b, w, one, r, out);
}

void blend_byte_pixels(const PixelLerps& t, const uint64_t* weights, const uint8_t* a, const uint8_t* b, uint16_t w,
                       uint16_t one, const Rounding& r, uint8_t* out) {
    const BlendedSums blended(w, one, r);
    const bool three = t.block == 3;
    const __m256i pairs = _mm256_broadcastsi128_si256(
        three ? _mm_setr_epi8(0, 3, 1, 4, 2, 5, -1, -1, 8, 11, 9, 12, 10, 13, -1, -1)
              : _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
    const __m256i packed = _mm256_broadcastsi128_si256(
        three ? _mm_setr_epi8(0, 1, 2, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)
              : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1));
    const auto taps = [&](const uint8_t* row, int64_t x) {
        const auto two = [&](int64_t e) {
            const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + t.first[e]));
            return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low),
                                                 reinterpret_cast<const __m64*>(row + t.first[e + 1])));
        };
        const __m256i four = _mm256_inserti128_si256(_mm256_castsi128_si256(two(x)), two(x + 2), 1);
        return _mm256_maddubs_epi16(_mm256_shuffle_epi8(four, pairs),
                                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + x)));
    };
    const int64_t count = readable(t, 8);
    int64_t x = 0;
    for (; x + 4 <= count; x += 4) {
        const __m256i v = blended(taps(a, x), taps(b, x));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(v, v), packed);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + x * t.block), _mm256_castsi256_si128(bytes));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (x + 2) * t.block), _mm256_extracti128_si256(bytes, 1));
    }
    for (; x < t.count; ++x) {
        const uint16_t first = static_cast<uint16_t>(weights[x] & 255), second = static_cast<uint16_t>(weights[x] >> 8 & 255);
        for (int64_t j = 0; j < t.block; ++j) {
            const auto at = [&](const uint8_t* row) {
                return static_cast<uint16_t>(row[t.first[x] + j] * first + row[t.second[x] + j] * second);
            };
            out[x * t.block + j] = static_cast<uint8_t>(divided<Rule::half_up>(lerp_one<uint16_t>(at(a), at(b), w, one), r));
        }
    }
}

inline Vec<float> lerp(Vec<float> a, Vec<float> b, Vec<float> w) { return a + (b - a) * w; }

// Pairs of pixels, both passes made of them.  A window of eight values from the first tap has the second too, if that is the
// pixel behind it; other taps are loaded one by one.
template <class T, int block, bool windows>
struct PixelPairs {
    using V = Vec<float>;

    const PixelLerps t;
    const T *const a, *const b;
    const float* const weight;
    const V down;

    REMAPND_INLINE V operator()(int64_t x) const {
        const T *a0 = a + t.first[x], *a1 = a + t.first[x + 1], *b0 = b + t.first[x], *b1 = b + t.first[x + 1];
        V first, second;
        if constexpr (windows) {
            const __m256 p = lerp(V::load(a0), V::load(b0), down).v, q = lerp(V::load(a1), V::load(b1), down).v;
            const __m256 low = _mm256_permute2f128_ps(p, q, 0x20), high = _mm256_permute2f128_ps(p, q, 0x31);
            first = {low};
            second = {block == 4 ? high
                                 : _mm256_castsi256_ps(_mm256_alignr_epi8(_mm256_castps_si256(high), _mm256_castps_si256(low),
                                                                          4 * block))};
        } else {
            const T *a2 = a + t.second[x], *a3 = a + t.second[x + 1], *b2 = b + t.second[x], *b3 = b + t.second[x + 1];
            first = lerp(V::load(a0, a1), V::load(b0, b1), down);
            second = lerp(V::load(a2, a3), V::load(b2, b3), down);
        }
        return lerp(first, second, V::load(weight + 4 * x));
    }
};

// Returns how many pixels it has done.
template <class T, int block, bool windows>
int64_t blend_pixel_pairs(const PixelPairs<T, block, windows>& pairs, int64_t count, bool apart, float* out, Nonfinite& any) {
    const PixelPairs<T, block, windows> p = pairs;  // a copy: `out` might alias it
    Nonfinite seen;
    int64_t x = 0;
    for (; x + 2 <= count; x += 2) {
        if (apart && x + kPixelsAhead + 2 <= count)
            for (int64_t k = x + kPixelsAhead; k < x + kPixelsAhead + 2; ++k) ask_for_pixel(p.t, k, p.a, p.b);
        if (!apart) ask_for_next(p.t.next, p.t.first[x] * static_cast<int64_t>(sizeof(T)));
        const Vec<float> v = p(x);
        seen.see(v);
        v.store(out + x * block, out + (x + 1) * block);
    }
    any = seen;
    return x;
}

// One value of both passes.
template <class T>
inline float blend_one(const T* a, const T* b, float down, int64_t first, int64_t second, float weight) {
    const auto blended = [&](int64_t k) {
        return lerp_one(Element<T, float>::load(a[k], 0), Element<T, float>::load(b[k], 0), down, 1.0f);
    };
    return lerp_one(blended(first), blended(second), weight, 1.0f);
}

template <class T>
bool blend_pixels(const PixelLerps& t, const float* weight, const byte* a_, const byte* b_, float w, float* out) {
    const T *a = reinterpret_cast<const T*>(a_), *b = reinterpret_cast<const T*>(b_);
    const bool apart = t.values * static_cast<int64_t>(sizeof(T)) > 64 * t.count;
    Nonfinite any;
    const auto run = [&](auto block, auto windows) {
        constexpr int n = decltype(block)::value;
        constexpr bool in_windows = decltype(windows)::value;
        return blend_pixel_pairs(PixelPairs<T, n, in_windows>{t, a, b, weight, Vec<float>::all(w)},
                                 readable(t, in_windows ? 8 : 4), apart, out, any);
    };
    const auto of_block = [&](auto windows) {
        return t.block == 3 ? run(std::integral_constant<int, 3>(), windows) : run(std::integral_constant<int, 4>(), windows);
    };
    const int64_t done = t.neighbours ? of_block(std::true_type()) : of_block(std::false_type());
    for (int64_t x = done; x < t.count; ++x)
        for (int64_t j = 0; j < t.block; ++j)
            out[x * t.block + j] = blend_one(a, b, w, t.first[x] + j, t.second[x] + j, weight[4 * x]);
    return static_cast<bool>(any) | any_nonfinite(out + done * t.block, (t.count - done) * t.block);
}

// Returns how many groups it has done.
template <class T, int windows>
int64_t blend_whole_groups(const RowLerps& table, int64_t groups, const T* a, const T* b, Vec<float> down, float* out,
                           Nonfinite& any) {
    using V = Vec<float>;
    const RowLerps t = table;  // a copy: `out` might alias it
    Nonfinite seen;
    for (int64_t g = 0; g < groups; ++g) {
        ask_for_next(t.next, t.base[g] * static_cast<int64_t>(sizeof(T)));
        const T *p = a + t.base[g], *q = b + t.base[g];
        V window[windows];
        for (int i = 0; i < windows; ++i) window[i] = lerp(V::load(p + V::lanes * i), V::load(q + V::lanes * i), down);
        // the place of a, which picks look for in the low bits, and above it that of b
        const __m256i both = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(t.pick + 16 * g)));
        const auto picked = [&](__m256i n) {
            const auto two = [&](int i) {
                const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(n, 28));
                return _mm256_blendv_ps(window[i].pick(n).v, window[i + 1].pick(n).v, is_high);
            };
            if constexpr (windows == 1)
                return window[0].pick(n);
            else if constexpr (windows == 2)
                return V{two(0)};
            else
                return V{_mm256_blendv_ps(two(0), two(2), _mm256_castsi256_ps(_mm256_slli_epi32(n, 27)))};
        };
        const V v = lerp(picked(both), picked(_mm256_srli_epi32(both, 8)), V::load(t.weight + V::lanes * g));
        seen.see(v);
        v.store(out + V::lanes * g);
    }
    any = seen;
    return groups;
}

template <class T>
bool blend_groups(const RowLerps& t, const Lerps<float>& all, const byte* a_, const byte* b_, float w, float* out) {
    const T *a = reinterpret_cast<const T*>(a_), *b = reinterpret_cast<const T*>(b_);
    Nonfinite any;
    const auto run = [&](auto windows) {
        return blend_whole_groups<T, decltype(windows)::value>(t, all.count / Vec<float>::lanes, a, b, Vec<float>::all(w), out, any);
    };
    const int64_t groups = t.windows == 1   ? run(std::integral_constant<int, 1>())
                           : t.windows == 2 ? run(std::integral_constant<int, 2>())
                                            : run(std::integral_constant<int, 4>());
    const int64_t done = groups * Vec<float>::lanes;
    for (int64_t e = done; e < all.count; ++e) out[e] = blend_one(a, b, w, all.first[e], all.second[e], all.weight[e]);
    return static_cast<bool>(any) | any_nonfinite(out + done, all.count - done);
}

#define REMAPND_BLENDS(kernel)                                                                                  \
    {kernel<uint8_t>, kernel<std::int8_t>, kernel<uint16_t>, kernel<std::int16_t>, nullptr, nullptr, nullptr, \
     nullptr, kernel<Half>, kernel<BFloat>, kernel<float>, nullptr}

#endif
