// The last step of a row: its values stored, and searched for ones that are not finite.  Included in the namespace of a level.

template <class F>
struct By {
    using type = F;
};

// As `finish`, past the caches.  Rows have two lines or more.  Lines of two rows are joined in registers (loads of what was stored
// in other pieces would wait until all stores before them have reached memory), and stored as usual: past the caches they took
// longer than in parts.  float32 8x3x224x224 by 2 took 1.50 ms with lines in two parts and takes 1.41, (128,256,256) by 1.5 15.3
// and 14.6 (AMD EPYC, 2026-11).
template <class W, class Vectors>
bool finish_past_caches(int64_t count, W* out, OpenLine& open, const Vectors& vector) {
    using F = Finished<W>;
    constexpr int64_t line = 64 / sizeof(W), vectors = line / F::width;
    const auto before = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(out) % 64 / sizeof(W));  // in the line of out[0]
    const int64_t head = (line - before) % line;
    F finished;
    W* held = reinterpret_cast<W*>(open.held);
    const bool goes_on = open.bytes && open.at + open.bytes == reinterpret_cast<byte*>(out);
    if (!goes_on) open.close();
    if (head) {
        typename F::Vector both[2 * vectors];
        for (int64_t k = 0; k < vectors; ++k) {
            both[k] = F::load(held + k * F::width);
            finished.see(both[vectors + k] = vector(By<F>(), k * F::width));
        }
        if (goes_on) {
            const auto join = [&](int64_t from) {
                for (int64_t k = 0; k < vectors; ++k)
                    F::store(out - before + k * F::width, F::joined(both[from + k], both[from + k + 1], head % F::width));
            };
            vectors > 1 && head >= F::width ? join(vectors - 1) : join(0);
        } else {
            for (int64_t k = 0; k < vectors; ++k) F::store(held + k * F::width, both[vectors + k]);
            std::memcpy(out, held, static_cast<size_t>(head) * sizeof(W));
        }
    }
    int64_t i = head;
    for (; i + line <= count; i += line)
        for (int64_t j = i; j < i + line; j += F::width) finished.put_past_caches(out + j, vector(By<F>(), j));
    open.at = reinterpret_cast<byte*>(out + i);
    open.bytes = static_cast<size_t>(count - i) * sizeof(W);
    if (i < count)
        for (int64_t j = 0; j < line; j += F::width) finished.put(held + j, vector(By<F>(), count - line + j));
    return finished.nonfinite();
}

// Stores vector(By<Finished<W>>(), i) for all vectors of out, the last of which may begin within the one before, and what is too
// short for a vector by some(begin, end).  `open` as in RowKernels.
template <class W, class Vectors, class Some>
bool finish(int64_t count, W* out, [[maybe_unused]] OpenLine* open, [[maybe_unused]] const Vectors& vector, const Some& some) {
    using F = Finished<W>;
    if constexpr (F::width > 0) {
        if (open && count >= 2 * 64 / static_cast<int64_t>(sizeof(W))) return finish_past_caches(count, out, *open, vector);
        if (count >= F::width) {
            F finished;
            int64_t i = 0;
            for (; i + F::width <= count; i += F::width) finished.put(out + i, vector(By<F>(), i));
            if (i < count) finished.put(out + count - F::width, vector(By<F>(), count - F::width));
            return finished.nonfinite();
        }
    }
    some(0, count);
    return any_nonfinite(out, count);
}
