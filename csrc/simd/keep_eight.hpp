// Updates that go to one range of places, eight at a time made compact.
//
// Included in the namespace of a level, after simd/gather_eight.hpp.
#ifdef REMAPND_EIGHT

// Lanes of each set of eight, those of the set first, in order: a byte each.
struct Compaction {
    std::uint64_t lanes[256] = {};

    constexpr Compaction() {
        for (unsigned set = 0; set < 256; ++set)
            for (unsigned lane = 0, k = 0; lane < 8; ++lane)
                if (set >> lane & 1) lanes[set] |= static_cast<std::uint64_t>(lane) << 8 * k++;
    }
    __m256i of(unsigned set) const {
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(lanes + set)));
    }
};
alignas(64) constexpr Compaction compaction;

// The same of each set of four items of two lanes, as vectors.
struct CompactionOfFour {
    alignas(32) std::uint32_t lanes[16][8] = {};

    constexpr CompactionOfFour() {
        for (unsigned set = 0; set < 16; ++set)
            for (unsigned item = 0, k = 0; item < 4; ++item)
                if (set >> item & 1) {
                    lanes[set][k++] = 2 * item;
                    lanes[set][k++] = 2 * item + 1;
                }
    }
    __m256i of(unsigned set) const { return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes[set])); }
};
constexpr CompactionOfFour compaction_of_four;

// Puts the lanes of `set`, which `lanes` has in front, of eight items of N bytes to `to`; may write as far as all of them would.
template <std::size_t N>
REMAPND_INLINE void put_items(const std::byte* items, __m256i lanes, unsigned set, std::byte* to) {
    if constexpr (N == 4) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(v, lanes));
    } else if constexpr (N == 2) {
        const __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(items)));
        const __m256i w = _mm256_permutevar8x32_epi32(v, lanes);
        const __m128i narrow = _mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrow);
    } else if constexpr (N == 1) {
        const __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(items)));
        const __m256i w = _mm256_permutevar8x32_epi32(v, lanes);
        const __m128i narrow = _mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(narrow, narrow));
    } else {
        static_assert(N == 8);
        const auto half = [](const std::byte* four, unsigned set_of_four, std::byte* place) {
            const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(four));
            const __m256i w = _mm256_permutevar8x32_epi32(v, compaction_of_four.of(set_of_four));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(place), w);
        };
        half(items, set & 15, to);
        half(items + 32, set >> 4, to + 8 * _mm_popcnt_u32(set & 15));
    }
}

// The displacements of eight places by one component of indices of type T; sums of both by pairs of them.
template <class T, int components>
REMAPND_INLINE __m256i eight_places(const std::byte* p, Range& range, __m256i step) {
    if constexpr (components == 1) {
        return _mm256_mullo_epi32(eight_lanes<T>(p, range), step);
    } else {
        const __m256i a = _mm256_mullo_epi32(eight_unordered<T>(p, range), step);
        const __m256i b = _mm256_mullo_epi32(eight_unordered<T>(p + 8 * sizeof(T), range), step);
        const __m256i sums = _mm256_hadd_epi32(a, b);
        if constexpr (sizeof(T) == 4) return _mm256_permute4x64_epi64(sums, 0xD8);
        return _mm256_permutevar8x32_epi32(sums, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    }
}

// The first updates of `k`, as many eights as there are, with kept ones counted in `kept`; how many they were, or kNotKept.
template <class T, int components, std::size_t N>
inline std::size_t keep_eights(const Keep& k, std::size_t& kept) {
    Range range(k.n[0], k.n[components - 1]);
    const int step_x = static_cast<int>(k.step[0]), step_y = static_cast<int>(k.step[components - 1]);
    const __m256i step = _mm256_setr_epi32(step_x, step_y, step_x, step_y, step_x, step_y, step_x, step_y);
    const __m256i low = _mm256_set1_epi32(static_cast<int>(k.low)), span = _mm256_set1_epi32(static_cast<int>(k.span));
    constexpr std::size_t index_size = components * sizeof(T);
    std::size_t i = 0, to = 0;
    for (; i + 8 <= k.count; i += 8) {
        for (std::size_t line = 0; line < 8 * N; line += 64) prefetch_once(k.updates + (i + kKeptAhead) * N + line);
        for (std::size_t line = 0; line < 8 * index_size; line += 64)
            prefetch_once(k.indices + (i + kKeptAhead) * index_size + line);
        const __m256i place = _mm256_sub_epi32(eight_places<T, components>(k.indices + i * index_size, range, step), low);
        const __m256i inside = _mm256_andnot_si256(place, _mm256_sub_epi32(place, span));
        const auto set = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(inside)));
        const __m256i lanes = compaction.of(set), some = _mm256_permutevar8x32_epi32(place, lanes);
        auto* offsets = reinterpret_cast<__m256i*>(k.offsets + to);
        _mm256_storeu_si256(offsets, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(some)));
        _mm256_storeu_si256(offsets + 1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(some, 1)));
        put_items<N>(k.updates + i * N, lanes, set, k.kept + to * N);
        to += static_cast<std::size_t>(_mm_popcnt_u32(set));
    }
    kept = to;
    return range.any_outside() ? kNotKept : i;
}

#endif
