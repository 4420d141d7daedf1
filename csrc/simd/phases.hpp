// Filters whose outputs repeat every second one.  Included in the namespace of a level, after simd/vectors.hpp.

// Outputs of either kind in a vector, whose taps lie side by side, then in turn.
// float32 512x512 to 1024x1024, cubic, 3 planes: 2.41 ms out of windows and 1.78 so (AMD EPYC, 2026-11).
template <bool sums, int taps>
void phase_vectors(const FilterTaps<float>& t, const float* row, float* out) {
    using V = Vec<float>;
    constexpr int terms = sums ? taps : taps - 1;
    const int64_t x = t.phases_begin, pairs = t.phases_pairs;
    struct Phase {
        const float* base;
        const float* tap[terms];
        V weight[terms];
    } phases[2];
    for (int p = 0; p < 2; ++p) {
        const float* first = row + t.first[x + p];
        const int64_t base = t.base[x + p];
        if constexpr (!sums) phases[p].base = first + base;
        for (int k = 0, term = 0; k < taps; ++k)
            if (sums || k != base) {
                phases[p].tap[term] = first + k;
                phases[p].weight[term++] = V::all(t.weights[(x + p) * t.width + k]);
            }
    }
    const auto made = [](const Phase& phase, int64_t i) {
        V c = V::all(0);
        if constexpr (!sums) c = V::load(phase.base + i);
        const auto term = [&](int k) {
            const V tap = V::load(phase.tap[k] + i);
            return phase.weight[k] * (sums ? tap : tap - c);
        };
        V sum = term(0);
        for (int k = 1; k < terms; ++k) sum = sum + term(k);
        return sums ? sum : c + sum;
    };
    const auto put = [&](int64_t i) { store_in_turn(made(phases[0], i), made(phases[1], i), out + x + 2 * i); };
    for (int64_t i = 0; i + V::lanes <= pairs; i += V::lanes) put(i);
    put(pairs - V::lanes);
}

template <bool sums>
void across_phases(const FilterTaps<float>& t, const float* row, float* out) {
    const auto run = t.count[t.phases_begin] == 4 ? phase_vectors<sums, 4> : phase_vectors<sums, 6>;
    run(t, row, out);
    across_each(t, 1, row, 0, t.phases_begin, out);
    across_each(t, 1, row, t.phases_begin + 2 * t.phases_pairs, t.outputs, out);
}
