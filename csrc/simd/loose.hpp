// A horizontal pass of a filter whose terms are added in any order: several taps of an output in a vector.
//
// Included in the namespace of a level, after simd/vectors.hpp.
#ifdef REMAPND_VECTORS
// weights(p): those of a step that lie from p on.
template <class Weights>
REMAPND_INLINE __m256 loose_sum(const LooseTaps& t, int64_t x, int64_t values, int64_t taps, const float* row, const Weights& weights) {
    const float *value = row + t.first[x], *weight = t.weights + t.at[x];
    __m256 sum = _mm256_setzero_ps();
    for (int64_t k = 0; k < t.steps[x]; ++k, value += values, weight += taps)
        sum = _mm256_fmadd_ps(_mm256_loadu_ps(value), weights(weight), sum);
    return sum;
}

// Weights are repeated in registers: repeated in memory they took as long to read as all the rest, 0.31 ms of 1.02 for uint8
// (1080,1920,3) to (224,224,3) (AMD EPYC, 2026-11).
template <int block>
void loose_pixels(const LooseTaps& table, const float* row, float* out) {
    const LooseTaps t = table;  // a copy: `out` might alias it
    const __m256i which = block == 3 ? _mm256_setr_epi32(0, 0, 0, 1, 1, 1, 0, 0) : _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const __m256i second = _mm256_setr_epi32(block, block + 1, block + 2, 7, 0, 0, 0, 0);
    const auto weights = [which](const float* p) {
        double two;
        std::memcpy(&two, p, sizeof two);
        return _mm256_permutevar_ps(_mm256_castpd_ps(_mm256_set1_pd(two)), which);
    };
    for (int64_t x = 0; x < t.outputs; ++x) {
        const __m256 sum = loose_sum(t, x, 2 * block, 2, row, weights);
        const __m128 other = _mm256_castps256_ps128(_mm256_permutevar8x32_ps(sum, second));
        _mm_storeu_ps(out + x * block, _mm_add_ps(_mm256_castps256_ps128(sum), other));
    }
}

void loose_values(const LooseTaps& table, const float* row, float* out) {
    const LooseTaps t = table;  // a copy: `out` might alias it
    const auto sum = [&](int64_t x) { return loose_sum(t, x, 8, 8, row, [](const float* p) { return _mm256_loadu_ps(p); }); };
    for (int64_t x = 0; x < t.outputs; x += 8) {
        const auto two = [&](int64_t i) { return _mm256_hadd_ps(sum(x + i), sum(x + i + 1)); };
        const __m256 low = _mm256_hadd_ps(two(0), two(2)), high = _mm256_hadd_ps(two(4), two(6));
        _mm256_storeu_ps(out + x, _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31)));
    }
}

void across_loose(const LooseTaps& t, const FilterTaps<float>& all, int64_t block, const float* row, float* out) {
    if (block == 1)
        loose_values(t, row, out);
    else
        block == 3 ? loose_pixels<3>(t, row, out) : loose_pixels<4>(t, row, out);
    across_each(all, block, row, t.outputs * block, all.outputs * block, out);
}
#else
constexpr decltype(AllFilterKernels::across_loose) across_loose = nullptr;
#endif
