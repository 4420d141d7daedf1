// The horizontal pass of two taps, picked within registers.  Included in the namespace of a level.
//
// ns a result, float32, (256,512) along the last axis to 1024, 768 and 700: by across_vectors alone 0.30, 0.33 and 0.31, as here
// 0.22, 0.25 and 0.29 (AMD EPYC, 2026-11).

template <class W, int windows>
REMAPND_INLINE auto picked(const W* p, typename Picker<W>::Lanes lanes) {
    using P = Picker<W>;
    constexpr int step = P::lanes;
    if constexpr (windows == 1)
        return P::pick(P::load(p), lanes);
    else if constexpr (windows == 2)
        return P::pick(P::load(p), P::load(p + step), lanes);
    else
        return P::pick(P::load(p), P::load(p + step), P::load(p + 2 * step), P::load(p + 3 * step), lanes);
}

// Vectors [begin, end).
template <class W, int windows>
void across_vectors(const Lerps<W>& t, int64_t begin, int64_t end, const W* row, W* out) {
    using P = Picker<W>;
    const auto one = P::all(t.one);
    for (int64_t v = begin, e = begin * P::lanes; v < end; ++v, e += P::lanes)
        P::store(out + e, P::lerp(picked<W, windows>(row + t.first_base[v], P::load_lanes(t.first_lane + e)),
                                  picked<W, windows>(row + t.second_base[v], P::load_lanes(t.second_lane + e)),
                                  P::load(t.weight + e), one));
}

// The same of those beside each other.
template <class W, int windows>
void across_beside(const Lerps<W>& t, int64_t begin, int64_t end, const W* row, W* out) {
    using P = Picker<W>;
    const auto one = P::all(t.one);
    for (int64_t v = begin, e = begin * P::lanes; v < end; ++v, e += P::lanes) {
        const W* at = row + t.first_base[v];
        const auto lanes = P::load_lanes(t.first_lane + e);
        P::store(out + e, P::lerp(picked<W, windows>(at, lanes), picked<W, windows>(at + t.beside.step, lanes),
                                  P::load(t.weight + e), one));
    }
}

// As many of these as are whole periods; returns the next vector.
template <class W, int windows, int period>
int64_t across_periods(const Lerps<W>& t, int64_t begin, int64_t end, const W* row, W* out) {
    using P = Picker<W>;
    const auto one = P::all(t.one);
    typename P::Lanes lanes[period];
    typename P::Vector weight[period];
    int64_t offset[period];
    for (int i = 0; i < period; ++i) {
        lanes[i] = P::load_lanes(t.first_lane + (begin + i) * P::lanes);
        weight[i] = P::load(t.weight + (begin + i) * P::lanes);
        offset[i] = t.first_base[begin + i];
    }
    int64_t v = begin;
    for (; v + period <= end; v += period, row += t.beside.advance)
        for (int i = 0; i < period; ++i) {
            const W* at = row + offset[i];
            P::store(out + (v + i) * P::lanes, P::lerp(picked<W, windows>(at, lanes[i]),
                                                       picked<W, windows>(at + t.beside.step, lanes[i]), weight[i], one));
        }
    return v;
}

template <class W, int windows>
void across_windows(const Lerps<W>& table, int64_t vectors, const W* row, W* out) {
    const Lerps<W> t = table;  // a copy: `out` might alias it
    across_vectors<W, windows>(t, 0, t.beside.begin, row, out);
    int64_t v = t.beside.begin;
    if (t.beside.period == 1) v = across_periods<W, windows, 1>(t, v, t.beside.end, row, out);
    if (t.beside.period == 3) v = across_periods<W, windows, 3>(t, v, t.beside.end, row, out);
    across_beside<W, windows>(t, v, t.beside.end, row, out);
    across_vectors<W, windows>(t, t.beside.end, vectors, row, out);
}

template <class W>
void across(const Lerps<W>& t, const W* row, W* out) {
    int64_t e = 0;
    if constexpr (Picker<W>::lanes > 0) {
        const int64_t vectors = t.windows ? t.count / Picker<W>::lanes : 0;
        if (t.windows == 1) across_windows<W, 1>(t, vectors, row, out);
        if (t.windows == 2) across_windows<W, 2>(t, vectors, row, out);
        if (t.windows == 4) across_windows<W, 4>(t, vectors, row, out);
        e = vectors * Picker<W>::lanes;
    }
    for (; e < t.count; ++e) out[e] = lerp_one(row[t.first[e]], row[t.second[e]], t.weight[e], t.one);
}

template <class W>
void across_careful(const Lerps<W>& t, const W* row, W* out) {
    for (int64_t e = 0; e < t.count; ++e) out[e] = lerp_one_careful(row[t.first[e]], row[t.second[e]], t.weight[e]);
}
