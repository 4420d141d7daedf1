// Passes of a filter of ramps: the sum of an interval of samples and the sum of these times their places, for two outputs each.
//
// Included in the namespace of a level, after simd/vectors.hpp.
#ifdef REMAPND_VECTORS
// What the sum of an interval and that by places are multiplied by, side by side.
inline __m256i ramp_pairs(const std::int16_t (&two)[2]) {
    int both;
    std::memcpy(&both, two, sizeof both);
    return _mm256_set1_epi32(both);
}

// The columns of two vectors, as 16-bit numbers; the carry is left in the order in which these are unpacked.  Sums of sums count each
// row as often as there are rows behind it.  `rows` is their number, or 0.
template <bool makes, int rows>
int64_t ramp_vectors(const ByteRamps& s, int64_t columns, int32_t* carry, float* out) {
    const __m256i ends = ramp_pairs(s.ends), begins = ramp_pairs(s.begins);
    const __m256 scale = _mm256_set1_ps(s.scale);
    const uint8_t* row[kMostRamp] = {};
    for (int64_t k = 0; k < s.count; ++k) row[k] = static_cast<const uint8_t*>(s.rows[k]);
    const int64_t count = rows ? rows : s.count;
    int64_t i = 0;
    for (; i + 32 <= columns; i += 32) {
        __m256i sum[2] = {}, sums[2] = {};
        const auto add = [&](int64_t k) {
            for (int h = 0; h < 2; ++h)
                sum[h] = _mm256_add_epi16(
                    sum[h], _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row[k] + i) + h)));
        };
        for (int64_t k = 0; k + 1 < count; ++k) {
            add(k);
            for (int h = 0; h < 2; ++h) sums[h] = _mm256_add_epi16(sums[h], sum[h]);
        }
        if (count) add(count - 1);
        for (int h = 0; h < 2; ++h) {
            const __m256i both[2] = {_mm256_unpacklo_epi16(sum[h], sums[h]), _mm256_unpackhi_epi16(sum[h], sums[h])};
            __m256 value[2];
            for (int l = 0; l < 2; ++l) {
                auto* kept = reinterpret_cast<__m256i*>(carry + i) + 2 * h + l;
                if constexpr (makes) {
                    const __m256i whole = _mm256_add_epi32(_mm256_loadu_si256(kept), _mm256_madd_epi16(both[l], ends));
                    value[l] = _mm256_mul_ps(_mm256_cvtepi32_ps(whole), scale);
                }
                _mm256_storeu_si256(kept, _mm256_madd_epi16(both[l], begins));
            }
            if constexpr (makes) {
                _mm256_storeu_ps(out + i + 16 * h, _mm256_permute2f128_ps(value[0], value[1], 0x20));
                _mm256_storeu_ps(out + i + 16 * h + 8, _mm256_permute2f128_ps(value[0], value[1], 0x31));
            }
        }
    }
    return i;
}

template <bool makes>
void ramp_row(const ByteRamps& given, int64_t columns, int32_t* carry, float* out) {
    const ByteRamps s = given;  // a copy: what is written might alias it
    int64_t i = 0;
    switch (s.count) {
        case 3: i = ramp_vectors<makes, 3>(s, columns, carry, out); break;
        case 4: i = ramp_vectors<makes, 4>(s, columns, carry, out); break;
        case 5: i = ramp_vectors<makes, 5>(s, columns, carry, out); break;
        case 6: i = ramp_vectors<makes, 6>(s, columns, carry, out); break;
        default: i = ramp_vectors<makes, 0>(s, columns, carry, out); break;
    }
    for (; i < columns; ++i) {
        int32_t sum = 0, sums = 0;
        for (int64_t k = 0; k < s.count; ++k) sums += sum, sum += static_cast<const uint8_t*>(s.rows[k])[i];
        if constexpr (makes) out[i] = static_cast<float>(carry[i] + s.ends[0] * sum + s.ends[1] * sums) * s.scale;
        carry[i] = s.begins[0] * sum + s.begins[1] * sums;
    }
}

void down_ramps(const ByteRamps& s, int64_t columns, int32_t* carry, float* out) {
    out ? ramp_row<true>(s, columns, carry, out) : ramp_row<false>(s, columns, carry, out);
}

// The two sums of an interval, of even pixels in the lower lanes and of odd ones in the upper.
struct RampSums {
    __m256 sum, places;
};

// Which values of the last step count, where it has 0, 1 or 2 pixels left.
template <int block>
alignas(32) constexpr int32_t ramp_masks[3][8] = {
    {0, 0, 0, 0, 0, 0, 0, 0}, {-1, -1, -1, block == 3 ? 0 : -1, 0, 0, 0, 0}, {-1, -1, -1, -1, -1, -1, -1, -1}};

template <int block>
REMAPND_INLINE RampSums ramp_sums(const RampTaps& t, int64_t steps, int64_t left, const float* value) {
    __m256 sum = _mm256_setzero_ps(), places = sum;
    const auto add = [&](__m256 v, int64_t k) {
        sum = _mm256_add_ps(sum, v);
        places = _mm256_fmadd_ps(v, _mm256_loadu_ps(t.places + 8 * k), places);
    };
    for (int64_t k = 0; k + 1 < steps; ++k) add(_mm256_loadu_ps(value + 2 * block * k), k);
    const __m256 last = _mm256_loadu_ps(value + 2 * block * (steps - 1));
    add(_mm256_and_ps(last, _mm256_load_ps(reinterpret_cast<const float*>(ramp_masks<block>[left]))), steps - 1);
    return {sum, places};
}

// Steps of their known number, without a branch where an interval has that many or almost; `steps` 0: of any number.
template <int block, int steps>
void ramp_pixels(const RampTaps& table, const float* row, float* out) {
    const RampTaps t = table;  // a copy: `out` might alias it
    const __m256i second = _mm256_setr_epi32(block, block + 1, block + 2, 7, 0, 0, 0, 0);
    const auto sums = [&](int64_t i) {
        const float* value = row + t.first[i];
        const int64_t count = t.count[i];
        if (steps && count >= 2 * steps - 2) return ramp_sums<block>(t, steps, count - (2 * steps - 2), value);
        if (count == 0) return RampSums{_mm256_setzero_ps(), _mm256_setzero_ps()};
        return ramp_sums<block>(t, (count + 1) / 2, 2 - count % 2, value);
    };
    RampSums before = sums(0);
    for (int64_t x = 0; x < t.outputs; ++x) {
        const RampSums behind = sums(x + 1);
        const float* w = t.weights + 4 * x;
        __m256 all = _mm256_mul_ps(before.sum, _mm256_broadcast_ss(w));
        all = _mm256_fmadd_ps(before.places, _mm256_broadcast_ss(w + 1), all);
        all = _mm256_fmadd_ps(behind.sum, _mm256_broadcast_ss(w + 2), all);
        all = _mm256_fmadd_ps(behind.places, _mm256_broadcast_ss(w + 3), all);
        const __m128 other = _mm256_castps256_ps128(_mm256_permutevar8x32_ps(all, second));
        _mm_storeu_ps(out + x * block, _mm_add_ps(_mm256_castps256_ps128(all), other));
        before = behind;
    }
}

template <int block>
void ramp_pixels_of(const RampTaps& t, const float* row, float* out) {
    switch (t.steps) {
        case 3: return ramp_pixels<block, 3>(t, row, out);
        case 4: return ramp_pixels<block, 4>(t, row, out);
        case 5: return ramp_pixels<block, 5>(t, row, out);
        case 6: return ramp_pixels<block, 6>(t, row, out);
    }
    ramp_pixels<block, 0>(t, row, out);
}

void across_ramps(const RampTaps& t, const FilterTaps<float>& all, int64_t block, const float* row, float* out) {
    if (t.outputs) block == 3 ? ramp_pixels_of<3>(t, row, out) : ramp_pixels_of<4>(t, row, out);
    across_each(all, block, row, t.outputs * block, all.outputs * block, out);
}
#else
constexpr decltype(AllFilterKernels::down_ramps) down_ramps = nullptr;
constexpr decltype(AllFilterKernels::across_ramps) across_ramps = nullptr;
#endif
