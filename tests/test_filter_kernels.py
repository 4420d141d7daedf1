"""The compiled filter passes on tables made by hand, against a twin in NumPy: equal bits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import laid_out, result_arrays, same_bits

from remapnd import _core

TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "bfloat16", "f4", "f8")
RULES = ("half_up", "half_even", "truncate_by_sign", "truncate_down", "truncate_up")
LAYOUTS = ("C", "F", "negative", "strided", "zero_stride", "read_only")
LEVELS = _core.levels_usable()
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 3e38, -3e38], np.float64)


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def working_types(name):
    """The places of the working types of a dtype in `_core.Linear`."""
    return {"f2": (0,), "bfloat16": (0,), "f4": (0,), "f8": (1,)}.get(
        name, (0, 1) if name[1] in "12" else (1,)
    )


class Filter(NamedTuple):
    """A table of one axis: start, count, weights, base (None: the sum form)."""

    n_in: int
    start: np.ndarray
    count: np.ndarray
    weights: np.ndarray
    base: np.ndarray | None

    def core(self, axis, fine=None):
        return _core.FilterAxis(axis, self.n_in, self.start, self.count, self.weights, self.base, fine)


class Linear(NamedTuple):
    """A table of one axis with two taps."""

    n_in: int
    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray

    def core(self, axis):
        return _core.Axis(axis, self.n_in, self.first, self.second, self.weight)


def random_filter(rng, n_in, n_out, widest, *, sums=False, work=np.float32, ascending=True):
    """A table of random windows; some weights are zero, and they add up to one but for rounding."""
    widest = min(widest, n_in)
    count = rng.integers(0 if sums else 1, widest, n_out, endpoint=True)
    start = np.array([rng.integers(0, n_in - c, endpoint=True) for c in count], np.int64)
    if ascending:
        start = np.minimum(np.sort(start), n_in - count)
    weights = np.zeros((n_out, widest))
    base = np.zeros(n_out, np.int64)
    for x, c in enumerate(count):
        if c:
            w = rng.standard_normal(c)
            w[rng.random(c) < 0.2] = 0
            w[rng.integers(c)] = 3.0
            weights[x, :c] = (w if sums else w / w.sum()).astype(work)
            base[x] = weights[x, :c].argmax()
    return Filter(n_in, start, count.astype(np.int64), weights, None if sums else base)


def random_linear(rng, n_in, n_out, work):
    position = np.sort(rng.random(n_out)) * (n_in - 1)
    first = np.floor(position).astype(np.int64)
    weight = (position - first).astype(work).astype(np.float64)
    weight[weight == 0] = -0.0
    second = np.where(weight == 0, first, np.minimum(first + 1, n_in - 1))
    return Linear(n_in, first, second, weight)


def apply(values, axis, table):
    """One pass in the type of `values`, output by output."""
    rows = np.moveaxis(values, axis, 0)
    W = values.dtype.type
    results = np.empty((len(table[1]), *rows.shape[1:]), values.dtype)
    with np.errstate(all="ignore"):
        for X in range(len(results)):
            if isinstance(table, Linear):
                a, b, w = rows[table.first[X]], rows[table.second[X]], W(table.weight[X])
                fast = a + (b - a) * w
                slow = a if w == 0 else b if w == 1 else (1 - w) * a + w * b
            else:
                n = table.count[X]
                taps = rows[table.start[X] : table.start[X] + n]
                weights = table.weights[X, :n].astype(values.dtype)
                c = None if table.base is None else table.base[X]
                terms = [w * (x if c is None else x - taps[c]) for w, x in zip(weights, taps, strict=True)]
                if c is not None:
                    del terms[c]
                fast = added(terms, rows[0])
                if c is not None:
                    fast = taps[c] + fast if terms else taps[c]
                slow = added([w * x for w, x in zip(weights, taps, strict=True) if w != 0], rows[0])
                slow = taps[0] if n == 1 and c == 0 else slow
            results[X] = np.where(np.isfinite(fast), fast, slow)
    return np.moveaxis(results, 0, axis)


def added(terms, like):
    """Sum in this order, that begins with the first term; 0 if there is none."""
    total = np.zeros_like(like) if not terms else terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def stored(values, dtype, rule):
    """Working values as the dtype: floats rounded with one NaN, integers by the rule and clamped."""
    if dtype.kind not in "iu":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
        with np.errstate(all="ignore"):
            return values.astype(dtype)
    limits = np.iinfo(dtype)
    if rule.startswith(
        "half"
    ):  # one half is added in the working type; without a half step no result is a tie
        values, rule = values + values.dtype.type(0.5), "truncate_down"
    whole = [min(max(rounded(Fraction(float(v)), rule), limits.min), limits.max) for v in values.flat]
    return np.array(whole, dtype).reshape(values.shape)


def rounded(v, rule):
    """An exact number rounded by a rule."""
    down, up = math.floor(v), math.ceil(v)
    if rule == "half_up":
        return math.floor(v + Fraction(1, 2))
    if rule == "half_even":
        return round(v)
    return {"truncate_down": down, "truncate_up": up, "truncate_by_sign": down if v >= 0 else up}[rule]


def numbers(rng, shape, dtype):
    """Values of the dtype; some arrays of floats have numbers that are not finite."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        bits = min(8 * dtype.itemsize, 20)
        return rng.integers(
            max(limits.min, -(1 << bits)), min(limits.max, 1 << bits), shape, dtype, endpoint=True
        )
    values = np.atleast_1d(rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape))
    if rng.random() < 0.5:
        put = rng.random(values.shape) < rng.choice([0.02, 0.3])
        values[put] = rng.choice(SPECIAL, np.count_nonzero(put))
    elif rng.random() < 0.3:
        values = np.where(rng.random(values.shape) < 0.7, -0.0, 0.0)
    with np.errstate(over="ignore"):
        return values.reshape(shape).astype(dtype)


class Case(NamedTuple):
    name: str
    work: int
    shape: tuple[int, ...]
    tables: dict[int, Filter | Linear]
    order: list[int]
    rule: str
    seed: int

    @property
    def out_shape(self):
        return tuple(len(self.tables[a][1]) if a in self.tables else n for a, n in enumerate(self.shape))

    def expected(self, data):
        values = data.astype((np.float32, np.float64)[self.work])
        for place in self.order:
            axis = list(self.tables)[place]
            values = apply(values, axis, self.tables[axis])
        return stored(values, data.dtype, self.rule)

    def run(self, data, out=None):
        out = np.full(self.out_shape, 7, data.dtype) if out is None else out
        linear = _core.Linear(
            TYPES.index(self.name), self.work, False, [t.core(a) for a, t in self.tables.items()], self.order
        )
        doubtful = linear(data, out, _core.Rounding(RULES.index(self.rule)), 0.0)
        assert doubtful.size == 0
        return out


@st.composite
def cases(draw):
    name = draw(st.sampled_from(TYPES))
    work = draw(st.sampled_from(working_types(name)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.integers(1, 4))
    most = {1: 300, 2: 40, 3: 14, 4: 7}[rank]
    shape = [draw(st.integers(1, most)) for _ in range(rank)]
    if draw(st.booleans()):
        shape[-1] = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 33, 40]))
    axes = sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    tables = {}
    for axis in axes:
        n_out = draw(st.integers(1, 2 * most))
        if draw(st.integers(0, 3)) == 0:
            tables[axis] = random_linear(rng, shape[axis], n_out, (np.float32, np.float64)[work])
        else:
            widest = draw(st.sampled_from([1, 2, 4, 7, 30]))
            ascending = draw(st.booleans())
            tables[axis] = random_filter(
                rng,
                shape[axis],
                n_out,
                widest,
                sums=name[0] in "fb" and draw(st.integers(0, 3)) == 0,
                work=(np.float32, np.float64)[work],
                ascending=ascending,
            )
    order = draw(st.permutations(range(len(axes))))
    return Case(
        name, work, tuple(shape), tables, list(order), draw(st.sampled_from(RULES)), draw(st.integers(0, 99))
    )


@given(cases(), st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS))
def test_passes_have_the_bits_of_the_twin(case, layout, out_layout):
    data = laid_out(numbers(np.random.default_rng(case.seed), case.shape, dtype_of(case.name)), layout)
    expected = case.expected(data)
    for level in LEVELS:
        _core.use_level(level)
        for threads in (1, 3):
            _core.set_num_threads(threads)
            out = result_arrays(case.out_shape, data.dtype, out_layout)
            assert same_bits(np.array(case.run(data, out)), expected), (level, threads)


def windows(n_in, n_out, support, *, work=np.float32, negative=False):
    """Windows of a stretched triangle, or `negative`, of a kernel with lobes below zero."""
    scale = max(1.0, n_in / n_out)
    rows = []
    for X in range(n_out):
        centre = (X + 0.5) * n_in / n_out
        low, high = (
            max(0, int(centre - support * scale + 0.5)),
            min(n_in, int(centre + support * scale + 0.5)),
        )
        t = (np.arange(low, max(high, low + 1)) + 0.5 - centre) / scale
        w = np.cos(t * 1.5) * np.exp(-t * t) if negative else np.maximum(support - abs(t), 1e-3)
        rows.append((low, w / w.sum()))
    widest = max(len(w) for _, w in rows)
    weights = np.array([np.pad(w, (0, widest - len(w))) for _, w in rows]).astype(work).astype(np.float64)
    start, count = np.array([s for s, _ in rows]), np.array([len(w) for _, w in rows])
    return Filter(n_in, start, count, weights, weights.argmax(axis=1))


@pytest.mark.parametrize(
    ("shape", "name", "outs", "support", "order"),
    [
        ((90, 701, 3), "u1", {0: 37, 1: 83}, 1, [0, 1]),
        ((90, 701, 3), "f4", {0: 37, 1: 470}, 1, [0, 1]),
        ((60, 500, 4), "u1", {0: 40, 1: 50}, 1, [0, 1]),
        ((30, 300, 2), "f4", {0: 40, 1: 50}, 2, [1, 0]),
        ((3, 40, 320), "f4", {1: 80, 2: 640}, 2, [1, 0]),
        ((3, 40, 3200), "f4", {1: 7, 2: 150}, 1, [0, 1]),
        ((3, 40, 1200), "f8", {1: 7, 2: 150}, 1, [0, 1]),
        ((40, 230), "i2", {0: 70, 1: 460}, 2, [1, 0]),
        ((20, 30, 40), "f2", {0: 11, 1: 44, 2: 25}, 2, [0, 1, 2]),
        ((12, 700, 12), "f4", {0: 4, 1: 97}, 1, [0, 1]),
        ((20, 40, 48), "f4", {0: 30, 1: 53}, 2, [1, 0]),
        ((90_000,), "f4", {0: 501}, 1, [0]),
        ((4, 20_000), "u1", {1: 3}, 1, [0]),
        ((9_000,), "f4", {0: 19_000}, 2, [0]),
    ],
)
def test_sizes_that_are_cut_into_segments_and_tasks(shape, name, outs, support, order):
    work = working_types(name)[-1] if name != "u1" else 0
    W = (np.float32, np.float64)[work]
    tables = {a: windows(shape[a], m, support, work=W, negative=support > 1) for a, m in outs.items()}
    case = Case(name, work, shape, tables, order, "half_up", 3)
    data = numbers(np.random.default_rng(case.seed), shape, dtype_of(name))
    expected = case.expected(data)
    for level in LEVELS:
        _core.use_level(level)
        for threads in (1, 3):
            _core.set_num_threads(threads)
            assert same_bits(case.run(data), expected), (level, threads)


@pytest.mark.parametrize("name", [n for n in TYPES if n[0] in "ui"])
@pytest.mark.parametrize("rule", RULES)
def test_integers_are_clamped_to_their_range(name, rule):
    dtype = dtype_of(name)
    limits = np.iinfo(dtype)
    high = min(limits.max, 2**40)
    low = max(limits.min, -(2**40))
    data = np.array([low, high, low, high, high, low, low], dtype)
    table = Filter(7, np.arange(6), np.full(6, 2), np.tile([1.75, -0.75], (6, 1)), np.zeros(6, np.int64))
    for work in working_types(name):
        case = Case(name, work, (7,), {0: table}, [0], rule, 0)
        expected = [
            min(max(rounded(Fraction(7 * int(a) - 3 * int(b), 4), rule), limits.min), limits.max)
            for a, b in itertools.pairwise(data)
        ]
        for level in LEVELS:
            _core.use_level(level)
            assert case.run(data).tolist() == expected


@pytest.mark.parametrize("base", [2**63 - 40, -(2**63), 2**64 - 30, 0])
def test_64_bit_integers_are_clamped_after_their_base(base):
    dtype = np.dtype("u8" if base >= 2**63 else "i8")
    limits = np.iinfo(dtype)
    values = [base + d for d in (0, 29, 3, 29, 0)]
    data = np.array([min(v, limits.max) for v in values], dtype)
    table = Filter(5, np.arange(4), np.full(4, 2), np.tile([1.5, -0.5], (4, 1)), np.zeros(4, np.int64))
    linear = _core.Linear(TYPES.index(dtype.str[1:]), 1, False, [table.core(0)], [0])
    out = np.zeros(4, dtype)
    linear(data, out, _core.Rounding(0, base=base % 2**64), 0.0)
    ints = [int(v) for v in data]
    exact = [rounded(Fraction(3 * a - b, 2), "half_up") for a, b in itertools.pairwise(ints)]
    assert out.tolist() == [min(max(v, limits.min), limits.max) for v in exact]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["u1", "i1", "u2", "i2"])
def test_doubtful_results_are_looked_at_again(name, rule):
    """Every result outside the finer bound is the exact one; inside are those that are listed."""
    rng = np.random.default_rng(5)
    dtype = dtype_of(name)
    limits = np.iinfo(dtype)
    shape, n_outs = (23, 31), (40, 17)
    fractions, cores = [], []
    for axis, (n, m) in enumerate(zip(shape, n_outs, strict=True)):
        start = rng.integers(0, n - 4, m)
        numerators = rng.integers(-40, 90, (m, 4))
        numerators[:, 1] = 256 - numerators[:, [0, 2, 3]].sum(axis=1)
        fractions.append((start, numerators))
        weights = (numerators / 256).astype(np.float64)
        base = np.ones(m, np.int64)
        cores.append(_core.FilterAxis(axis, n, start, np.full(m, 4), weights, base, weights))
    low, high = max(limits.min, -128), min(limits.max, 127)  # so that float32 holds the exact results
    data = rng.integers(low, high, shape, dtype, endpoint=True)
    data[:8, :9] = 5
    exact = data.astype(object)
    for axis, (start, numerators) in enumerate(fractions):
        rows = np.moveaxis(exact, axis, 0)
        sums = [
            sum(int(w) * rows[s + k] for k, w in enumerate(ws))
            for s, ws in zip(start, numerators, strict=True)
        ]
        exact = np.moveaxis(np.array(sums, object), 0, axis)
    exact = np.vectorize(lambda v: Fraction(int(v), 256**2), otypes=[object])(exact)
    whole = np.vectorize(lambda v: min(max(rounded(v, rule), limits.min), limits.max), otypes=[object])(exact)
    half = Fraction(1, 2) if rule.startswith("half") else Fraction(0)
    gap = np.vectorize(lambda v: abs(v + half - round(v + half)), otypes=[object])(exact)
    linear = _core.Linear(TYPES.index(name), 0, False, cores, [0, 1])
    for bound, fine_bound in ((0.25, 0.0), (0.25, 2.0**-9), (2.0**-6, 0.125)):
        for level in LEVELS:
            _core.use_level(level)
            out = np.zeros(n_outs, dtype)
            left = linear(data, out, _core.Rounding(RULES.index(rule)), bound, fine_bound)
            constant = np.zeros(n_outs, bool)
            for X, Y in np.ndindex(n_outs):
                taps = data[fractions[0][0][X] :, fractions[1][0][Y] :][:4, :4]
                constant[X, Y] = (taps == taps[0, 0]).all()
            assert constant.any()
            listed = np.zeros(n_outs, bool)
            listed.flat[left] = True
            assert np.array_equal(listed, (gap <= min(bound, fine_bound)) & ~constant)
            assert np.array_equal(out[~listed], whole[~listed].astype(dtype))


def test_without_fine_weights_all_doubtful_results_are_listed():
    table = windows(40, 13, 1)
    data = np.random.default_rng(0).integers(0, 255, (40, 9), np.uint8)
    linear = _core.Linear(0, 0, False, [table.core(0)], [0])
    out = np.zeros((13, 9), np.uint8)
    assert len(linear(data, out, _core.Rounding(0), 0.5)) == out.size
    assert len(linear(np.full_like(data, 9), out, _core.Rounding(0), 0.5)) == 0
    assert (out == 9).all()


@pytest.mark.parametrize(("n", "m"), [(270, 56), (90, 60), (90, 45), (97, 31), (64, 100), (640, 7), (5, 90)])
def test_results_that_are_left_are_exact(n, m):
    """Columns and rows of bytes through triangles of exact weights, with a bound that the error keeps to."""
    rng = np.random.default_rng(n)
    data = np.where(rng.random((n, 45)) < 0.3, 255, rng.integers(0, 256, (n, 45))).astype(np.uint8)
    scale, rows = max(Fraction(1), Fraction(n, m)), []
    for X in range(m):
        centre = Fraction(2 * X + 1, 2) * Fraction(n, m)
        taps = [(k, 1 - abs(k + Fraction(1, 2) - centre) / scale) for k in range(n)]
        taps = [(k, w) for k, w in taps if w > 0]
        total = sum(w for _, w in taps)
        rows.append((taps[0][0], [w / total for _, w in taps]))
    count = np.array([len(w) for _, w in rows])
    fine = np.array([[float(v) for v in w] + [0.0] * (count.max() - len(w)) for _, w in rows])
    weights = fine.astype(np.float32).astype(np.float64)
    start, base = np.array([s for s, _ in rows]), weights.argmax(axis=1)
    exact = [
        [
            sum(w * int(v) for w, v in zip(weights_, column[s : s + len(weights_)], strict=True))
            for column in data.T
        ]
        for s, weights_ in rows
    ]
    bound = 2.0**-24 * 256 * (count.max() + 6)
    for level in LEVELS:
        _core.use_level(level)
        for axis, source in ((0, data), (1, np.ascontiguousarray(data.T))):
            filter_axis = _core.FilterAxis(axis, n, start, count, weights, base, fine)
            linear = _core.Linear(0, 0, False, [filter_axis], [0])
            for rule in RULES:
                expected = np.array([[rounded(v, rule) for v in row] for row in exact], np.uint8)
                expected = expected if axis == 0 else expected.T
                out = np.zeros(expected.shape, np.uint8)
                left = linear(source, out, _core.Rounding(RULES.index(rule)), bound, 2.0**-40)
                out.flat[left] = expected.flat[left]
                assert np.array_equal(out, expected), (level, axis, rule)


def table_arrays(**changes):
    arrays = {
        "axis": 0,
        "n_in": 5,
        "start": np.array([0, 3]),
        "count": np.array([2, 2]),
        "weights": np.full((2, 2), 0.5),
        "base": np.array([0, 1]),
        "fine": None,
    }
    return arrays | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": np.array([0, 4])}, "taps must lie in"),
        ({"start": np.array([-1, 3])}, "taps must lie in"),
        ({"start": np.array([0, 2**63 - 1])}, "taps must lie in"),
        ({"n_in": -(2**63)}, "taps must lie in"),
        ({"count": np.array([2, 0])}, "counts must lie in"),
        ({"count": np.array([2, 3])}, "counts must lie in"),
        ({"count": np.array([2, -1]), "base": None}, "counts must lie in"),
        ({"base": np.array([0, 2])}, "base must lie in"),
        ({"base": np.array([-1, 0])}, "base must lie in"),
        ({"base": np.array([0])}, "one length"),
        ({"count": np.array([2])}, "one length"),
        ({"weights": np.zeros((3, 2))}, "one length"),
        ({"fine": np.zeros((2, 3))}, "one length"),
        ({"weights": np.array([[0.5, np.nan], [1, 0]])}, "weights must be finite"),
        ({"weights": np.zeros(4)}, "2-D"),
        ({"weights": np.zeros((2, 2), np.float32)}, "2-D"),
        ({"start": np.array([0, 3], np.int32)}, "1-D"),
    ],
)
def test_tables_are_verified(changes, message):
    with pytest.raises(ValueError, match=message):
        _core.FilterAxis(**table_arrays(**changes))


def test_filter_axes_have_no_16_bit_working_type():
    with pytest.raises(ValueError, match="no integers as their working type"):
        _core.Linear(0, 2, False, [_core.FilterAxis(**table_arrays())], [0])


def test_sums_without_taps_are_zero():
    table = Filter(4, np.zeros(5, np.int64), np.zeros(5, np.int64), np.zeros((5, 0)), None)
    case = Case("f4", 0, (4, 3), {0: table}, [0], "half_up", 0)
    data = np.full((4, 3), np.nan, np.float32)
    assert same_bits(case.run(data), np.zeros((5, 3), np.float32))
    across = Case("f4", 0, (3, 4), {1: table}, [0], "half_up", 0)
    assert same_bits(across.run(data.T.copy()), np.zeros((3, 5), np.float32))
