// Tables of up to 64 items of 1, 2 or 4 bytes in registers: a look-up is a shuffle, whatever the indices.
//
// Included in the namespace of a level, after simd/gather_eight.hpp.  Defines REMAPND_TABLES where there are any.
#ifdef REMAPND_EIGHT
#define REMAPND_TABLES 1

constexpr std::size_t kTableItems = 64;
constexpr std::size_t kTableStep = 32;  // indices looked up at a time

// 32 indices as bytes in the order that packing leaves: dwords 0 to 3 have the low halves of the four eights, 4 to 7 the
// high ones.
template <class T>
REMAPND_INLINE __m256i packed_indices(const std::byte* p, Range& range) {
    __m256i v[4];
    for (int k = 0; k < 4; ++k) v[k] = eight_lanes<T>(p + 8 * k * sizeof(T), range);
    return _mm256_packus_epi16(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3]));
}

// The bytes of the items, one plane for each byte of an item; `chunks` of 16 items each.
template <std::size_t N, int chunks>
struct Planes {
    __m256i at[N][chunks];

    // The 16 bytes from `first` on of `bytes`, zero behind their end.
    static __m128i part(const std::byte* items, std::size_t bytes, std::size_t first) {
        if (first + 16 <= bytes) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(items + first));
        if (first >= bytes) return _mm_setzero_si128();
        if (bytes < 16) {
            std::byte copy[16] = {};
            std::memcpy(copy, items, bytes);
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(copy));
        }
        // The last 16, moved down: through memory a load would wait for two stores.
        alignas(16) static constexpr std::uint8_t slide[32] = {
            0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
            0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
        const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(items + bytes - 16));
        return _mm_shuffle_epi8(last, _mm_loadu_si128(reinterpret_cast<const __m128i*>(slide + first + 16 - bytes)));
    }

    explicit Planes(const std::byte* items, std::size_t n) {
        const auto load = [&](std::size_t k) { return part(items, n * N, 16 * k); };
        for (int c = 0; c < chunks; ++c) {
            __m128i plane[N];
            if constexpr (N == 1) {
                plane[0] = load(c);
            } else if constexpr (N == 2) {
                const __m128i split = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
                const __m128i x = _mm_shuffle_epi8(load(2 * c), split), y = _mm_shuffle_epi8(load(2 * c + 1), split);
                plane[0] = _mm_unpacklo_epi64(x, y), plane[1] = _mm_unpackhi_epi64(x, y);
            } else {
                const __m128i split = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                __m128i x[4];
                for (int k = 0; k < 4; ++k) x[k] = _mm_shuffle_epi8(load(4 * c + k), split);
                const __m128i low01 = _mm_unpacklo_epi32(x[0], x[1]), high01 = _mm_unpackhi_epi32(x[0], x[1]);
                const __m128i low23 = _mm_unpacklo_epi32(x[2], x[3]), high23 = _mm_unpackhi_epi32(x[2], x[3]);
                plane[0] = _mm_unpacklo_epi64(low01, low23), plane[1] = _mm_unpackhi_epi64(low01, low23);
                plane[2] = _mm_unpacklo_epi64(high01, high23), plane[3] = _mm_unpackhi_epi64(high01, high23);
            }
            for (std::size_t b = 0; b < N; ++b) at[b][c] = _mm256_broadcastsi128_si256(plane[b]);
        }
    }

    // Byte b of the items of 32 indices in [0, 16 * chunks).
    __m256i look_up(std::size_t b, __m256i v, __m256i bit4, __m256i bit5) const {
        const __m256i low = _mm256_shuffle_epi8(at[b][0], v);
        if constexpr (chunks == 1) return low;
        const __m256i second = _mm256_blendv_epi8(low, _mm256_shuffle_epi8(at[b][1 % chunks], v), bit4);
        if constexpr (chunks == 2) return second;
        const __m256i third = _mm256_shuffle_epi8(at[b][2 % chunks], v), last = _mm256_shuffle_epi8(at[b][3 % chunks], v);
        return _mm256_blendv_epi8(second, _mm256_blendv_epi8(third, last, bit4), bit5);
    }
};

template <class T, std::size_t N, int chunks>
inline bool look_up_planes(const std::byte* items, std::int64_t n, const std::byte* p, std::byte* out, std::size_t steps) {
    const Planes<N, chunks> planes(items, static_cast<std::size_t>(n));
    Range range(n);
    const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; steps--; p += kTableStep * sizeof(T), out += kTableStep * N) {
        const __m256i v = packed_indices<T>(p, range);
        const __m256i bit4 = _mm256_slli_epi16(v, 3), bit5 = _mm256_slli_epi16(v, 2);
        const __m256i nibble = _mm256_and_si256(v, _mm256_set1_epi8(15));
        __m256i y[N];
        for (std::size_t b = 0; b < N; ++b) y[b] = planes.look_up(b, nibble, bit4, bit5);
        auto* to = reinterpret_cast<__m256i*>(out);
        if constexpr (N == 1) {
            _mm256_storeu_si256(to, _mm256_permutevar8x32_epi32(y[0], in_order));
        } else if constexpr (N == 2) {
            const __m256i low = _mm256_unpacklo_epi8(y[0], y[1]), high = _mm256_unpackhi_epi8(y[0], y[1]);
            _mm256_storeu_si256(to, _mm256_permute4x64_epi64(low, 0xD8));
            _mm256_storeu_si256(to + 1, _mm256_permute4x64_epi64(high, 0xD8));
        } else {
            const __m256i low01 = _mm256_unpacklo_epi8(y[0], y[1]), high01 = _mm256_unpackhi_epi8(y[0], y[1]);
            const __m256i low23 = _mm256_unpacklo_epi8(y[2], y[3]), high23 = _mm256_unpackhi_epi8(y[2], y[3]);
            _mm256_storeu_si256(to, _mm256_unpacklo_epi16(low01, low23));
            _mm256_storeu_si256(to + 1, _mm256_unpackhi_epi16(low01, low23));
            _mm256_storeu_si256(to + 2, _mm256_unpacklo_epi16(high01, high23));
            _mm256_storeu_si256(to + 3, _mm256_unpackhi_epi16(high01, high23));
        }
    }
    return !range.any_outside();
}

#if REMAPND_LEVEL_V4

// Items of 4 bytes: 32 of them in a pair of registers, which one instruction chooses from.
template <class T>
inline bool look_up_fours(const std::byte* items, std::int64_t n, const std::byte* p, std::byte* out, std::size_t steps) {
    const std::uint64_t valid = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const auto load = [&](int k) { return _mm512_maskz_loadu_ps(static_cast<__mmask16>(valid >> 16 * k), items + 64 * k); };
    const __m512 a = load(0), b = load(1), c = load(2), d = load(3);
    const __m512i bit5 = _mm512_set1_epi32(32);
    Range range(n);
    for (; steps--; p += kTableStep * sizeof(T), out += kTableStep * 4)
        for (int k = 0; k < 2; ++k) {
            const __m256i low = eight_lanes<T>(p + 16 * k * sizeof(T), range);
            const __m256i high = eight_lanes<T>(p + (16 * k + 8) * sizeof(T), range);
            const __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
            const __m512 first = _mm512_permutex2var_ps(a, v, b), second = _mm512_permutex2var_ps(c, v, d);
            _mm512_storeu_ps(out + 64 * k, _mm512_mask_blend_ps(_mm512_test_epi32_mask(v, bit5), first, second));
        }
    return !range.any_outside();
}

#endif

// 32 * steps look-ups; n <= 64.  False when an index is out of range: then out has anything.
template <class T, std::size_t N>
inline bool look_up(const std::byte* items, std::int64_t n, const std::byte* p, std::byte* out, std::size_t steps) {
#if REMAPND_LEVEL_V4
    if constexpr (N == 4) return look_up_fours<T>(items, n, p, out, steps);
#endif
    if (n <= 16) return look_up_planes<T, N, 1>(items, n, p, out, steps);
    if (n <= 32) return look_up_planes<T, N, 2>(items, n, p, out, steps);
    return look_up_planes<T, N, 4>(items, n, p, out, steps);
}

#endif
