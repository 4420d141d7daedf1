// Rows of integers of 16 bits and fewer in the u32 working type, and pixels of them: simd/words.hpp has the vectors.
//
// Included in the namespace of a level, after simd/words.hpp and simd/rows_ahead.hpp.

#ifdef REMAPND_WORDS

// The lowest value of T, or its bits in the type without a sign, in all places.
template <class T>
Ints lowest() {
    if constexpr (!std::is_signed_v<T>) return Ints::all(0);
    return Ints::words(sizeof(T) == 1 ? 0x8080 : 0x8000);
}

// What turns words into the signed ones that sums are made of.
template <class T>
Ints flip() {
    return Ints::words(std::is_same_v<T, uint16_t> ? 0x8000 : 0);
}

// The results of vector(e), quotients of outputs e and following.
template <class T, class Vector>
int64_t put_quotients(int64_t count, byte* out, const Vector& vector) {
    constexpr int64_t n = Ints::lanes, step = 4 / sizeof(T) * n;
    int64_t e = 0;
    for (; e + step <= count; e += step) {
        Ints packed;
        if constexpr (sizeof(T) == 2)
            packed = Ints::words_of(vector(e), vector(e + n));
        else
            packed = Ints::bytes_of(vector(e), vector(e + n), vector(e + 2 * n), vector(e + 3 * n));
        (packed ^ lowest<T>()).store_bytes(out + e * static_cast<int64_t>(sizeof(T)));
    }
    return e;
}

template <class T>
int64_t store_sums(const uint32_t* row, int64_t count, const Rounding& r, byte* out) {
    return with_quotients<T>(r, [=](auto quotients) {
        return put_quotients<T>(count, out, [=](int64_t e) { return quotients(Ints::load(row + e)); });
    });
}

template <class T>
int64_t blend_sums(const uint32_t* a, const uint32_t* b, uint32_t w, uint32_t one, int64_t count, const Rounding& r,
                   byte* out) {
    return with_last_lerp<T>(w, one, r, [=](auto lerp) {
        return put_quotients<T>(count, out, [=](int64_t e) { return lerp(Ints::load(a + e), Ints::load(b + e)); });
    });
}

// The sums that blending two rows of words gives, a vector's worth of words: `low` and `high` as Ints::interleave has them.
template <class T>
struct RowSums {
    const byte *const a, *const b;
    const Ints weights;

    RowSums(const byte* a_, const byte* b_, uint32_t w, uint32_t one) : a(a_), b(b_), weights(Ints::all(w << 16 | (one - w))) {}

    void operator()(int64_t e, Ints& low, Ints& high) const {
        Ints::interleave(a + 2 * e, b + 2 * e, low, high);
        low = pair_sums(low ^ flip<T>(), weights);
        high = pair_sums(high ^ flip<T>(), weights);
    }
};

// Rows of T blended, to the working type.
template <class T>
int64_t blend_rows(const byte* a, const byte* b, uint32_t w, uint32_t one, int64_t count, uint32_t* out) {
    constexpr int64_t n = Ints::lanes;
    int64_t e = 0;
    if constexpr (sizeof(T) == 2) {
        const RowSums<T> sums(a, b, w, one);
        for (; e + 2 * n <= count; e += 2 * n) {
            Ints low, high;
            sums(e, low, high);
            Ints::join(low, high);
            low.store(out + e);
            high.store(out + e + n);
        }
    }
    return e;
}

// The same, divided.
template <class T>
int64_t blend_rows(const byte* a, const byte* b, uint32_t w, uint32_t one, int64_t count, const Rounding& r, byte* out) {
    return with_quotients<T>(r, [=](auto quotients) {
        if constexpr (sizeof(T) == 2) {
            const RowSums<T> sums(a, b, w, one);
            int64_t e = 0;
            for (; e + 2 * Ints::lanes <= count; e += 2 * Ints::lanes) {
                Ints low, high;
                sums(e, low, high);
                (Ints::pack_words(quotients(low), quotients(high)) ^ lowest<T>()).store_bytes(out + 2 * e);
            }
            return e;
        } else {
            const Ints of_a = Ints::all(one - w), of_b = Ints::all(w);
            const auto *x = reinterpret_cast<const T*>(a), *y = reinterpret_cast<const T*>(b);
            return put_quotients<T>(
                count, out, [=](int64_t e) { return quotients(Ints::load(x + e) * of_a + Ints::load(y + e) * of_b); });
        }
    });
}

// The weights of the first output, in all places.
inline Ints first_weights(const WordLerps& t) {
    return Ints::all(static_cast<uint32_t>(t.weight[1]) << 16 | static_cast<uint32_t>(t.weight[0]));
}

template <class T, int windows>
int64_t across_word_groups(const WordLerps& table, int64_t count, const byte* row, uint32_t* out) {
    const WordLerps t = table;  // a copy: `out` might alias it
    const Ints first = first_weights(t);
    int64_t e = 0;
    for (; e + Ints::lanes <= count; e += Ints::lanes) {
        const Ints weights = windows == 0 ? first : Ints::load(t.weight + 2 * e);
        pair_sums(Ints::pairs<T, windows>(row, t, e) ^ flip<T>(), weights).store(out + e);
    }
    return e;
}

// Where the pairs of Ints::pairs begin in a row, in bytes.
template <class T, int windows>
int64_t place_of(const WordLerps& t, int64_t e) {
    constexpr int64_t group = 8 / sizeof(T);
    return (windows == 0 ? t.base[0] + 2 * e : int64_t{t.base[e / group]}) * static_cast<int64_t>(sizeof(T));
}

template <class T, int windows>
int64_t across_two_word_groups(const WordLerps& table, int64_t count, const byte* a, const byte* b, uint32_t w,
                               uint32_t one, const Rounding& r, byte* out) {
    const WordLerps t = table;
    if (!r.multiplier || r.divisor > INT16_MAX) {
        const Ints first = first_weights(t);
        return with_last_lerp<T>(w, one, r, [=](auto lerp) {
            return put_quotients<T>(count, out, [=](int64_t e) {
                ask_for_next(t.next, place_of<T, windows>(t, e));
                const Ints weights = windows == 0 ? first : Ints::load(t.weight + 2 * e);
                return lerp(pair_sums(Ints::pairs<T, windows>(a, t, e) ^ flip<T>(), weights),
                            pair_sums(Ints::pairs<T, windows>(b, t, e) ^ flip<T>(), weights));
            });
        });
    }
    const Ints of_a = Ints::words(one - w), of_b = Ints::words(w);
    const Ints first_a = word_products(first_weights(t), of_a), first_b = word_products(first_weights(t), of_b);
    return with_quotients<T>(r, [=](auto quotients) {
        return put_quotients<T>(count, out, [=](int64_t e) {
            const auto sums = [&](const byte* row, Ints of_row, Ints first) {
                const Ints weights = windows == 0 ? first : word_products(Ints::load(t.weight + 2 * e), of_row);
                return pair_sums(Ints::pairs<T, windows>(row, t, e) ^ flip<T>(), weights);
            };
            ask_for_next(t.next, place_of<T, windows>(t, e));
            return quotients(sums(a, of_a, first_a) + sums(b, of_b, first_b));
        });
    });
}

// The outputs that fill groups.
template <class T>
int64_t grouped(const Lerps<uint32_t>& all) {
    constexpr int64_t group = 8 / sizeof(T);
    return all.count / group * group;
}

template <class Run>
int64_t by_windows(const WordLerps& t, const Run& run) {
    return t.in_line        ? run(std::integral_constant<int, 0>())
           : t.windows == 1 ? run(std::integral_constant<int, 1>())
           : t.windows == 2 ? run(std::integral_constant<int, 2>())
                            : run(std::integral_constant<int, 4>());
}

template <class T>
void across_words(const WordLerps& t, const Lerps<uint32_t>& rest, const byte* row, uint32_t* out) {
    int64_t e = by_windows(
        t, [&](auto windows) { return across_word_groups<T, decltype(windows)::value>(t, grouped<T>(rest), row, out); });
    const T* values = reinterpret_cast<const T*>(row);
    const auto load = [values](int64_t place) { return Element<T, uint32_t>::load(values[place], 0); };
    for (; e < rest.count; ++e) out[e] = lerp_one(load(rest.first[e]), load(rest.second[e]), rest.weight[e], rest.one);
}

template <class T>
void across_two_words(const WordLerps& t, const Lerps<uint32_t>& rest, const byte* a, const byte* b, uint32_t w,
                      uint32_t one, const Rounding& r, byte* out_) {
    int64_t e = by_windows(t, [&](auto windows) {
        return across_two_word_groups<T, decltype(windows)::value>(t, grouped<T>(rest), a, b, w, one, r, out_);
    });
    T* out = reinterpret_cast<T*>(out_);
    const auto at = [&rest, &e](const byte* row) {
        const T* values = reinterpret_cast<const T*>(row);
        return lerp_one(Element<T, uint32_t>::load(values[rest.first[e]], 0),
                        Element<T, uint32_t>::load(values[rest.second[e]], 0), rest.weight[e], rest.one);
    };
    for (; e < rest.count; ++e) out[e] = last_lerp<T>(at(a), at(b), w, one, r);
}

// Both passes of pixels: as many at once as vectors have groups of four values.
template <class T>
void across_two_word_pixels(const PixelLerps& pixels, const uint64_t* weights, const byte* a, const byte* b, uint32_t w,
                            uint32_t one, const Rounding& r, byte* out) {
    const PixelLerps t = pixels;  // a copy: `out` might alias it
    const T *x_row = reinterpret_cast<const T*>(a), *y_row = reinterpret_cast<const T*>(b);
    T* results = reinterpret_cast<T*>(out);
    const __m128i order = pixel_order<T>(t.block);
    int64_t x = with_last_lerp<T>(w, one, r, [=, count = readable(t, 8)](auto lerp) {
        constexpr int64_t n = Ints::lanes / 4;
        int64_t e = 0;
        for (; e + n <= count; e += n) {
            if (e + kPixelsAhead + n <= count)
                for (int64_t k = e + kPixelsAhead; k < e + kPixelsAhead + n; ++k) ask_for_pixel(t, k, x_row, y_row);
            const Ints of_pixels = Ints::pixel_weights(weights + e);
            const auto sums = [&](const T* row) {
                return pair_sums(Ints::pixels(row, t.first + e, order) ^ flip<T>(), of_pixels);
            };
            const Ints quotients = lerp(sums(x_row), sums(y_row));
            (quotients.template narrowed<sizeof(T)>() ^ lowest<T>()).store_pixels(results + e * t.block, t.block);
        }
        return e;
    });
    for (; x < t.count; ++x) {
        const auto second = static_cast<uint32_t>(weights[x] >> 16 & 0xFFFF), sum = second + static_cast<uint32_t>(weights[x] & 0xFFFF);
        for (int64_t j = 0; j < t.block; ++j) {
            const auto at = [&](const T* row) {
                return lerp_one(Element<T, uint32_t>::load(row[t.first[x] + j], 0),
                                Element<T, uint32_t>::load(row[t.second[x] + j], 0), second, sum);
            };
            results[x * t.block + j] = last_lerp<T>(at(x_row), at(y_row), w, one, r);
        }
    }
}

#else

template <class T>
int64_t store_sums(const uint32_t*, int64_t, const Rounding&, byte*) {
    return 0;
}
template <class T>
int64_t blend_sums(const uint32_t*, const uint32_t*, uint32_t, uint32_t, int64_t, const Rounding&, byte*) {
    return 0;
}
template <class T>
int64_t blend_rows(const byte*, const byte*, uint32_t, uint32_t, int64_t, uint32_t*) {
    return 0;
}
template <class T>
int64_t blend_rows(const byte*, const byte*, uint32_t, uint32_t, int64_t, const Rounding&, byte*) {
    return 0;
}

#endif

template <class T>
void lerp_sums_last(const uint32_t* a, const uint32_t* b, uint32_t w, uint32_t one, int64_t count, const Rounding& r,
                    byte* out) {
    const Rounding rounding = r;
    for (int64_t i = blend_sums<T>(a, b, w, one, count, r, out); i < count; ++i)
        reinterpret_cast<T*>(out)[i] = last_lerp<T>(a[i], b[i], w, one, rounding);
}

template <class T>
void lerp_rows_last(const byte* a, const byte* b, uint32_t w, uint32_t one, int64_t count, const Rounding& r, byte* out) {
    const Rounding rounding = r;
    const auto load = [](const byte* row, int64_t i) {
        return Element<T, uint32_t>::load(reinterpret_cast<const T*>(row)[i], 0);
    };
    for (int64_t i = blend_rows<T>(a, b, w, one, count, r, out); i < count; ++i)
        reinterpret_cast<T*>(out)[i] = divided<T>(lerp_one(load(a, i), load(b, i), w, one), rounding);
}

template <class T>
constexpr WordKernels word_kernels() {
#ifdef REMAPND_WORDS
    return {&across_words<T>, &across_two_words<T>, &across_two_word_pixels<T>, &lerp_sums_last<T>, &lerp_rows_last<T>};
#else
    return {nullptr, nullptr, nullptr, &lerp_sums_last<T>, &lerp_rows_last<T>};
#endif
}
