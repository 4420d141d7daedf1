// Sums of integers of 16 bits and fewer in the u32 working type: passes, and the division by the grid.
//
// Included in the namespace of a level, after simd/pick.hpp and the operations on one value.  Defines REMAPND_WORDS where the
// level has the instructions.

// The last pass in float64, of sums of all weights that 32 bits do not hold; those of one pass are signed ones.
//
// The error is below 2**-35: products and weights each add 2**-53 of at most 2**15, and the two additions and what is added half a
// unit of at most 2**16.  That is less than half_step, a quarter of the grid, as the grid is at most 32767**2.
template <class T>
struct WideWeights {
    static constexpr int32_t above = std::is_same_v<T, uint8_t> ? 0 : std::is_same_v<T, std::int8_t> ? 128 : 32768;
    const double of_a, of_b, half_step, add;

    WideWeights(uint32_t w, uint32_t one, const Rounding& r)
        : of_a(static_cast<double>(one - w) / r.divisor), of_b(static_cast<double>(w) / r.divisor), half_step(r.half_step),
          add(above + (r.rule == Rule::truncate_by_sign ? 0 : 0.5)) {}

    double sum(uint32_t a, uint32_t b) const {
        return static_cast<double>(static_cast<int32_t>(a)) * of_a + static_cast<double>(static_cast<int32_t>(b)) * of_b;
    }
};

// The last pass of two sums, divided; see Rounding.
template <class T>
inline T last_lerp(uint32_t a, uint32_t b, uint32_t w, uint32_t one, const Rounding& r) {
    if (r.multiplier) return divided<T>(lerp_one(a, b, w, one), r);
    const WideWeights<T> weights(w, one, r);
    const double sum = weights.sum(a, b);
    if (std::is_signed_v<T> && r.rule == Rule::truncate_by_sign)
        return static_cast<T>(static_cast<int32_t>(sum < 0 ? sum - r.half_step : sum + r.half_step));
    int32_t q = static_cast<int32_t>(sum + (weights.add + r.half_step));
    if (r.rule == Rule::half_even) q -= (q - static_cast<int32_t>(sum + (weights.add - r.half_step))) & q;
    return static_cast<T>(q - (std::is_signed_v<T> ? WideWeights<T>::above : 0));
}

#if REMAPND_LEVEL_V2 || REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
// The pairs of the group of eight outputs that e is in; where they are side by side, those of e and the next, as many as a vector
// of Ints has: nothing behind the last pair may be read.
template <int windows>
REMAPND_INLINE __m128i pair_bytes(const byte* row_, const WordLerps& t, int64_t e) {
    const auto* row = reinterpret_cast<const uint8_t*>(row_);
    if constexpr (windows == 0) {
        const auto* at = reinterpret_cast<const __m128i*>(row + t.base[0] + 2 * e);
#if REMAPND_LEVEL_V2
        return _mm_loadl_epi64(at);
#else
        return _mm_loadu_si128(at);
#endif
    } else {
        return pick_16<windows>(row + t.base[e / 8], t.pick + e / 8 * 16);
    }
}

// Where the bytes of both taps of the values of pixels lie in vectors that begin with their first taps: whole vectors of words,
// halves of vectors of bytes.
template <class T>
inline __m128i pixel_order(int64_t block) {
    if constexpr (sizeof(T) == 1)
        return block == 3 ? _mm_setr_epi8(0, 3, 1, 4, 2, 5, -1, -1, 8, 11, 9, 12, 10, 13, -1, -1)
                          : _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    return block == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                      : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
}

// Words of pairs of bytes.
template <class T>
inline auto widened(__m128i bytes) {
#if REMAPND_LEVEL_V2
    return std::is_signed_v<T> ? _mm_cvtepi8_epi16(bytes) : _mm_cvtepu8_epi16(bytes);
#else
    return std::is_signed_v<T> ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
#endif
}

// Four values.
template <class T>
inline void store_pixel(T* out, __m128i v) {
    if constexpr (sizeof(T) == 2) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out), v);
    } else {
        const int four = _mm_cvtsi128_si32(v);
        std::memcpy(out, &four, 4);
    }
}
#endif

#if REMAPND_LEVEL_V3 || REMAPND_LEVEL_V4
#define REMAPND_WORDS 1

struct Reals {
    __m256d v;

    static Reals all(double x) { return {_mm256_set1_pd(x)}; }
    friend Reals operator+(Reals a, Reals b) { return {_mm256_add_pd(a.v, b.v)}; }
    friend Reals operator*(Reals a, Reals b) { return {_mm256_mul_pd(a.v, b.v)}; }
    // x, which is not negative, with the sign of *this.
    Reals give_sign(Reals x) const { return {_mm256_or_pd(x.v, _mm256_and_pd(v, _mm256_set1_pd(-0.0)))}; }
};

// Eight integers of 32 bits.
struct Ints {
    static constexpr int lanes = 8;
    __m256i v;

    static Ints all(uint32_t x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }
    static Ints words(uint32_t x) { return {_mm256_set1_epi16(static_cast<short>(x))}; }
    static Ints load(const uint32_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
    static Ints load(const int16_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
    static Ints load(const uint8_t* p) { return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))}; }
    static Ints load(const int8_t* p) { return {_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))}; }
    void store(uint32_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

    friend Ints operator+(Ints a, Ints b) { return {_mm256_add_epi32(a.v, b.v)}; }
    friend Ints operator-(Ints a, Ints b) { return {_mm256_sub_epi32(a.v, b.v)}; }
    friend Ints operator*(Ints a, Ints b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
    friend Ints operator&(Ints a, Ints b) { return {_mm256_and_si256(a.v, b.v)}; }
    friend Ints operator^(Ints a, Ints b) { return {_mm256_xor_si256(a.v, b.v)}; }
    friend Ints equal(Ints a, Ints b) { return {_mm256_cmpeq_epi32(a.v, b.v)}; }
    friend Ints larger(Ints a, Ints b) { return {_mm256_max_epu32(a.v, b.v)}; }
    friend Ints word_products(Ints a, Ints b) { return {_mm256_mullo_epi16(a.v, b.v)}; }
    friend Ints pair_sums(Ints a, Ints b) { return {_mm256_madd_epi16(a.v, b.v)}; }
    Ints shifted(__m128i shift) const { return {_mm256_srl_epi32(v, shift)}; }
    // a * b >> 32 >> shift
    friend Ints high_products(Ints a, Ints b, __m128i shift) {
        const __m256i even = _mm256_mul_epu32(a.v, b.v), odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), b.v);
        return {_mm256_srl_epi32(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA), shift)};
    }
    // v * of + add, cut to integers
    Ints cut(float of, float add) const {
        return {_mm256_cvttps_epi32(_mm256_fmadd_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(of), _mm256_set1_ps(add)))};
    }
    // The pairs of outputs e and following, words or bytes made such; `windows` 0: they are side by side.
    template <class T, int windows>
    static REMAPND_INLINE Ints pairs(const byte* row, const WordLerps& t, int64_t e) {
        if constexpr (sizeof(T) == 1) {
            return {widened<T>(pair_bytes<windows>(row, t, e))};
        } else if constexpr (windows == 0) {
            return load(reinterpret_cast<const int16_t*>(row) + t.base[0] + 2 * e);
        } else {
            const auto at = [row, &t, e](int64_t i) { return reinterpret_cast<const uint8_t*>(row) + 2 * t.base[e / 4 + i]; };
            return {pick_32<windows>(at(0), at(1), t.pick + 4 * e)};
        }
    }
    // Pairs of taps of two pixels, and what they are multiplied by.
    template <class T>
    static REMAPND_INLINE Ints pixels(const T* row, const std::int32_t* first, __m128i order) {
        const auto at = [row, first](int64_t i) { return reinterpret_cast<const __m128i*>(row + first[i]); };
        if constexpr (sizeof(T) == 1)
            return {widened<T>(_mm_shuffle_epi8(_mm_unpacklo_epi64(_mm_loadl_epi64(at(0)), _mm_loadl_epi64(at(1))), order))};
        else
            return {_mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(at(0))),
                                                                _mm_loadu_si128(at(1)), 1),
                                        _mm256_broadcastsi128_si256(order))};
    }
    static Ints pixel_weights(const uint64_t* p) {
        const __m128i two = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return {_mm256_permute4x64_epi64(_mm256_castsi128_si256(two), 0x50)};
    }
    // Two pixels, and what they are in a type of that size, each in a half.
    template <int size>
    Ints narrowed() const {
        const __m256i words = _mm256_packus_epi32(v, v);
        return {size == 2 ? words : _mm256_packus_epi16(words, words)};
    }
    template <class T>
    void store_pixels(T* out, int64_t block) const {
        store_pixel(out, _mm256_castsi256_si128(v));
        store_pixel(out + block, _mm256_extracti128_si256(v, 1));
    }
    // a[i], b[i] for the words i at the places that pack_words takes from `low`, and from `high`.
    static void interleave(const byte* a, const byte* b, Ints& low, Ints& high) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
        const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
        low = {_mm256_unpacklo_epi16(x, y)};
        high = {_mm256_unpackhi_epi16(x, y)};
    }
    // What `interleave` has taken apart, in order.
    static void join(Ints& low, Ints& high) {
        const __m256i first = _mm256_permute2x128_si256(low.v, high.v, 0x20);
        high = {_mm256_permute2x128_si256(low.v, high.v, 0x31)};
        low = {first};
    }
    static Ints pack_words(Ints low, Ints high) { return {_mm256_packus_epi32(low.v, high.v)}; }
    static Ints words_of(Ints a, Ints b) { return {_mm256_permute4x64_epi64(pack_words(a, b).v, 0xD8)}; }
    static Ints bytes_of(Ints a, Ints b, Ints c, Ints d) {
        const __m256i packed = _mm256_packus_epi16(pack_words(a, b).v, pack_words(c, d).v);
        return {_mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))};
    }
    void store_bytes(void* p) const { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
    // f(a, b) cut to integers.
    template <class F>
    static Ints cut(Ints a, Ints b, const F& f) {
        const auto half = [&f](__m128i x, __m128i y) {
            return _mm256_cvttpd_epi32(f(Reals{_mm256_cvtepi32_pd(x)}, Reals{_mm256_cvtepi32_pd(y)}).v);
        };
        const __m128i low = half(_mm256_castsi256_si128(a.v), _mm256_castsi256_si128(b.v));
        const __m128i high = half(_mm256_extracti128_si256(a.v, 1), _mm256_extracti128_si256(b.v, 1));
        return {_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)};
    }
};

#elif REMAPND_LEVEL_V2
#define REMAPND_WORDS 1

struct Reals {
    __m128d v;

    static Reals all(double x) { return {_mm_set1_pd(x)}; }
    friend Reals operator+(Reals a, Reals b) { return {_mm_add_pd(a.v, b.v)}; }
    friend Reals operator*(Reals a, Reals b) { return {_mm_mul_pd(a.v, b.v)}; }
    Reals give_sign(Reals x) const { return {_mm_or_pd(x.v, _mm_and_pd(v, _mm_set1_pd(-0.0)))}; }
};

// Four integers of 32 bits.
struct Ints {
    static constexpr int lanes = 4;
    __m128i v;

    static Ints all(uint32_t x) { return {_mm_set1_epi32(static_cast<int>(x))}; }
    static Ints words(uint32_t x) { return {_mm_set1_epi16(static_cast<short>(x))}; }
    static Ints load(const uint32_t* p) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))}; }
    static Ints load(const int16_t* p) { return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))}; }
    static Ints load(const uint8_t* p) { return {_mm_cvtepu8_epi32(four(p))}; }
    static Ints load(const int8_t* p) { return {_mm_cvtepi8_epi32(four(p))}; }
    void store(uint32_t* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }

    friend Ints operator+(Ints a, Ints b) { return {_mm_add_epi32(a.v, b.v)}; }
    friend Ints operator-(Ints a, Ints b) { return {_mm_sub_epi32(a.v, b.v)}; }
    friend Ints operator*(Ints a, Ints b) { return {_mm_mullo_epi32(a.v, b.v)}; }
    friend Ints operator&(Ints a, Ints b) { return {_mm_and_si128(a.v, b.v)}; }
    friend Ints operator^(Ints a, Ints b) { return {_mm_xor_si128(a.v, b.v)}; }
    friend Ints equal(Ints a, Ints b) { return {_mm_cmpeq_epi32(a.v, b.v)}; }
    friend Ints larger(Ints a, Ints b) { return {_mm_max_epu32(a.v, b.v)}; }
    friend Ints word_products(Ints a, Ints b) { return {_mm_mullo_epi16(a.v, b.v)}; }
    friend Ints pair_sums(Ints a, Ints b) { return {_mm_madd_epi16(a.v, b.v)}; }
    Ints shifted(__m128i shift) const { return {_mm_srl_epi32(v, shift)}; }
    friend Ints high_products(Ints a, Ints b, __m128i shift) {
        const __m128i even = _mm_mul_epu32(a.v, b.v), odd = _mm_mul_epu32(_mm_srli_epi64(a.v, 32), b.v);
        return {_mm_srl_epi32(_mm_blend_epi16(_mm_srli_epi64(even, 32), odd, 0xCC), shift)};
    }
    Ints cut(float of, float add) const {
        return {_mm_cvttps_epi32(_mm_add_ps(_mm_mul_ps(_mm_cvtepi32_ps(v), _mm_set1_ps(of)), _mm_set1_ps(add)))};
    }
    template <class T, int windows>
    static REMAPND_INLINE Ints pairs(const byte* row, const WordLerps& t, int64_t e) {
        if constexpr (sizeof(T) == 1) {
            __m128i bytes = pair_bytes<windows>(row, t, e);
            if (windows != 0 && e % 8) bytes = _mm_srli_si128(bytes, 8);
            return {widened<T>(bytes)};
        } else if constexpr (windows == 0) {
            return load(reinterpret_cast<const int16_t*>(row) + t.base[0] + 2 * e);
        } else {
            return {pick_16<windows>(reinterpret_cast<const uint8_t*>(row) + 2 * t.base[e / 4], t.pick + 4 * e)};
        }
    }
    template <class T>
    static REMAPND_INLINE Ints pixels(const T* row, const std::int32_t* first, __m128i order) {
        const auto* at = reinterpret_cast<const __m128i*>(row + first[0]);
        if constexpr (sizeof(T) == 1)
            return {widened<T>(_mm_shuffle_epi8(_mm_loadl_epi64(at), order))};
        else
            return {_mm_shuffle_epi8(_mm_loadu_si128(at), order)};
    }
    static Ints pixel_weights(const uint64_t* p) { return {_mm_set1_epi64x(static_cast<int64_t>(*p))}; }
    template <int size>
    Ints narrowed() const {
        const __m128i words = _mm_packus_epi32(v, v);
        return {size == 2 ? words : _mm_packus_epi16(words, words)};
    }
    template <class T>
    void store_pixels(T* out, int64_t) const {
        store_pixel(out, v);
    }
    static void interleave(const byte* a, const byte* b, Ints& low, Ints& high) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
        const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
        low = {_mm_unpacklo_epi16(x, y)};
        high = {_mm_unpackhi_epi16(x, y)};
    }
    static void join(Ints&, Ints&) {}
    static Ints pack_words(Ints low, Ints high) { return {_mm_packus_epi32(low.v, high.v)}; }
    static Ints words_of(Ints a, Ints b) { return pack_words(a, b); }
    static Ints bytes_of(Ints a, Ints b, Ints c, Ints d) { return {_mm_packus_epi16(pack_words(a, b).v, pack_words(c, d).v)}; }
    void store_bytes(void* p) const { _mm_storeu_si128(static_cast<__m128i*>(p), v); }
    template <class F>
    static Ints cut(Ints a, Ints b, const F& f) {
        const auto half = [&f](__m128i x, __m128i y) {
            return _mm_cvttpd_epi32(f(Reals{_mm_cvtepi32_pd(x)}, Reals{_mm_cvtepi32_pd(y)}).v);
        };
        const __m128i low = half(a.v, b.v), high = half(_mm_srli_si128(a.v, 8), _mm_srli_si128(b.v, 8));
        return {_mm_unpacklo_epi64(low, high)};
    }

private:
    static __m128i four(const void* p) {
        int bytes;
        std::memcpy(&bytes, p, 4);
        return _mm_cvtsi32_si128(bytes);
    }
};

#endif

#ifdef REMAPND_WORDS

// Sums become results of the type T, less the lowest value of T: `divided`, in vectors.
template <class T, Rule rule>
struct Quotients {
    const Ints add, multiplier, divisor, below, zero;
    const __m128i shift;

    explicit Quotients(const Rounding& r)
        : add(Ints::all(r.add)), multiplier(Ints::all(r.multiplier)), divisor(Ints::all(r.divisor)),
          below(Ints::all(r.divisor - 1)), zero(Ints::all(sum_of_zero<T>(r))), shift(_mm_cvtsi32_si128(r.shift)) {}

    REMAPND_INLINE Ints operator()(Ints v) const {
        Ints sum = v + add;
        if constexpr (rule == Rule::truncate_by_sign) sum = sum + below - (equal(larger(sum, zero), sum) & below);
        const Ints q = high_products(sum, multiplier, shift);
        if constexpr (rule == Rule::half_even) return q - (equal(sum, q * divisor) & q & Ints::all(1));
        return q;
    }
};

// The same of powers of two, of sums that are cut.
struct Shifted {
    const Ints add;
    const __m128i shift;

    explicit Shifted(const Rounding& r) : add(Ints::all(r.add)), shift(_mm_cvtsi32_si128(r.shift + 1)) {}

    REMAPND_INLINE Ints operator()(Ints v) const { return (v + add).shifted(shift); }
};

// The same of small divisors, of sums that are cut, in float32: n / d, where n is v with what is added, is (n + 1/2) / d cut to an
// integer.  That is half of 1 / d or more away from any integer, and the error is below 4 * 2**-9: half a unit of numbers below 2**16
// for 1 / d, for what is added over d, for the product and for the sum.  uint16 (2048,2048) to (1536,1536) takes 1.05 ms with integers
// and 0.95 so (AMD EPYC, 2026-11-30).
struct FloatQuotients {
    static constexpr uint32_t most = 50;
    const float of, add;

    explicit FloatQuotients(const Rounding& r)
        : of(1.0f / static_cast<float>(r.divisor)),
          add(static_cast<float>((static_cast<double>(static_cast<int32_t>(r.add)) + 0.5) / r.divisor)) {}

    REMAPND_INLINE Ints operator()(Ints v) const { return v.cut(of, add); }
};

// Calls run(quotients) with those that the rounding asks for.
template <class T, class Run>
int64_t with_quotients(const Rounding& r, const Run& run) {
    const bool by_sign = std::is_signed_v<T> && r.rule == Rule::truncate_by_sign;
    if (r.multiplier == 1u << 31 && r.rule != Rule::half_even && !by_sign) return run(Shifted(r));
    if (r.rule == Rule::half_even && r.divisor % 2 == 0) return run(Quotients<T, Rule::half_even>(r));
    if constexpr (std::is_signed_v<T>)
        if (r.rule == Rule::truncate_by_sign) return run(Quotients<T, Rule::truncate_by_sign>(r));
    if (r.divisor <= FloatQuotients::most) return run(FloatQuotients(r));
    return run(Quotients<T, Rule::half_up>(r));
}

// Sums of two rows become one, and that a result, less the lowest value of T.
template <class Q>
struct LastLerp {
    const Q quotients;
    const Ints of_a, of_b;

    REMAPND_INLINE Ints operator()(Ints a, Ints b) const { return quotients(a * of_a + b * of_b); }
};

// The same in float64, of sums that 32 bits do not hold.
template <class T, Rule rule>
struct WideLerp {
    const WideWeights<T> w;
    const Reals of_a, of_b;

    explicit WideLerp(const WideWeights<T>& weights) : w(weights), of_a(Reals::all(w.of_a)), of_b(Reals::all(w.of_b)) {}

    Ints cut(Ints a, Ints b, double add) const {
        return Ints::cut(a, b, [&](Reals x, Reals y) { return x * of_a + (y * of_b + Reals::all(add)); });
    }
    REMAPND_INLINE Ints operator()(Ints a, Ints b) const {
        if constexpr (rule == Rule::truncate_by_sign) {
            const auto away = [&](Reals x, Reals y) {
                const Reals sum = x * of_a + y * of_b;
                return sum + sum.give_sign(Reals::all(w.half_step));
            };
            return Ints::cut(a, b, away) + Ints::all(static_cast<uint32_t>(w.above));
        }
        const Ints q = cut(a, b, w.add + w.half_step);
        if constexpr (rule == Rule::half_even) return q - ((q - cut(a, b, w.add - w.half_step)) & q);
        return q;
    }
};

// Calls run(lerp) with the one that the rounding asks for.
template <class T, class Run>
int64_t with_last_lerp(uint32_t w, uint32_t one, const Rounding& r, const Run& run) {
    if (r.multiplier)
        return with_quotients<T>(r, [&](auto quotients) {
            return run(LastLerp<decltype(quotients)>{quotients, Ints::all(one - w), Ints::all(w)});
        });
    const WideWeights<T> weights(w, one, r);
    if (r.rule == Rule::half_even) return run(WideLerp<T, Rule::half_even>(weights));
    if constexpr (std::is_signed_v<T>)
        if (r.rule == Rule::truncate_by_sign) return run(WideLerp<T, Rule::truncate_by_sign>(weights));
    return run(WideLerp<T, Rule::half_up>(weights));
}

#endif
