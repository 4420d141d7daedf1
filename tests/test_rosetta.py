"""docs/rosetta.md and docs/exactness.md say what was measured, and it is so where a library is installed."""

from __future__ import annotations

import platform
import warnings
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from rosetta import lengths, measure, page
from rosetta.measure import LIBRARIES

import remapnd

MEASURED = page.measured()["libraries"]
CASES = [(key, case) for key, library in LIBRARIES.items() for case in library.cases if case.ours is not None]
RULED = [(key, case) for key, case in CASES if case.rule]


def name(value):
    return value if isinstance(value, str) else value.label


@lru_cache
def names(key):
    """Return the names of a library, or what is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers, at import
        try:
            return LIBRARIES[key].load()
        except ImportError as error:
            return str(error)


def installed(key):
    found = names(key)
    if isinstance(found, str):
        pytest.skip(found)
    return found


# What does not need the libraries.


def test_rosetta_page_is_up_to_date():
    assert (page.DOCS / "rosetta.md").read_text(encoding="utf-8") == page.rosetta()


def test_tables_of_the_exactness_page_are_up_to_date():
    text = (page.DOCS / "exactness.md").read_text(encoding="utf-8")
    assert text == page.exactness(text)
    assert text.count("<!-- end -->") == len(page.TABLES)


def test_every_case_was_measured_and_nothing_else():
    for key, library in LIBRARIES.items():
        labels = [case.label for case in library.cases]
        assert len(set(labels)) == len(labels)
        assert MEASURED[key]["cases"].keys() == {case.label for at, case in CASES if at == key}
        assert MEASURED[key]["lengths"].keys() == {case.label for at, case in RULED if at == key}


def test_cases_without_an_equal_say_why():
    for library in LIBRARIES.values():
        for case in library.cases:
            assert case.ours or len(case.why) > 5, case.label
            assert not any(bound for bound in case.within.values()) or case.why, case.label


@pytest.mark.parametrize(("key", "case"), CASES, ids=name)
def test_what_was_measured_is_within_the_bounds(key, case):
    stored = MEASURED[key]["cases"][case.label]
    assert stored.keys() == set(case.dtypes)
    for dtype, apart in stored.items():
        assert apart["largest"] <= case.within.get(dtype, 0)


@pytest.mark.parametrize(("key", "case"), RULED, ids=name)
def test_no_pair_of_lengths_was_wrong_here(key, case):
    stored = MEASURED[key]["lengths"][case.label]
    if case.rule in lengths.INDICES:
        assert stored["wrong here"] == 0
    else:
        assert stored["error here"] < 2 * 8 * 2.0**-24
        if "pixels" in stored:
            assert stored["wrong"]["here"] == 0
            assert stored["largest"]["rounded"] <= 1


@pytest.mark.parametrize(("key", "case"), CASES, ids=name)
def test_our_calls_run_without_the_library(key, case):
    library = LIBRARIES[key]
    before, sizes = next(measure.settings(case))
    values = measure.lay(measure.data("float32", before), library)
    scope = {"np": np, "Fraction": Fraction, "remapnd": remapnd, "x": values}
    scope |= {**sizes, "H": before[0], "W": before[1], "n": before[1]}
    result = eval(case.ours, scope)
    assert result.dtype == np.float32
    assert result.ndim == values.ndim


# The integer arithmetic that judges, in fractions.


@pytest.mark.parametrize("rule", lengths.INDICES)
def test_indices(rule):
    coordinates, ties = rule.split(", ")
    half = Fraction(1, 2)
    index = {
        "ties up": lambda x: (x + half).__floor__(),
        "ties down": lambda x: (x - half).__ceil__(),
        "floor": lambda x: x.__floor__(),
        "ceil": lambda x: x.__ceil__(),
    }[ties]
    for n in range(1, 13):
        for m in range(1, 13):
            positions = {
                "half_pixel": [(x + half) * n / m - half for x in range(m)],
                "asymmetric": [Fraction(x * n, m) for x in range(m)],
                "align_corners": [Fraction(x * (n - 1), max(m - 1, 1)) for x in range(m)],
            }[coordinates]
            assert lengths.INDICES[rule](np.arange(m), n, m).tolist() == [index(x) for x in positions]


@pytest.mark.parametrize("rule", ["linear", "antialias"])
def test_weights(rule):
    for n in range(1, 10):
        for m in range(1, 10):
            numerators, sums = lengths.weights(n, m, rule)
            stretch = max(Fraction(n, m), Fraction(1)) if rule == "antialias" else Fraction(1)
            for out in range(m):
                x = (out + Fraction(1, 2)) * n / m - Fraction(1, 2)
                if rule == "linear":
                    x = min(max(x, Fraction(0)), Fraction(n - 1))
                taps = [max(Fraction(0), 1 - abs(k - x) / stretch) for k in range(n)]
                expected = [tap / sum(taps) for tap in taps]
                assert [Fraction(int(w), int(sums[out])) for w in numerators[out]] == expected


# What needs them.


@pytest.mark.parametrize(("key", "case"), CASES, ids=name)
def test_both_calls_agree(key, case):
    found = installed(key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers
        for dtype in case.dtypes:
            apart = measure.difference(LIBRARIES[key], case, found, dtype)
            assert apart.largest <= case.within.get(dtype, 0)


@pytest.mark.parametrize(("key", "case"), RULED, ids=name)
def test_short_lengths(key, case):
    library, found = LIBRARIES[key], installed(key)
    longest = min(14, library.longest // 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers
        if case.rule not in lengths.INDICES:
            short = lengths.linear(library, case, found, longest)
            assert short["error here"] < 2 * 8 * 2.0**-24
            assert short.get("wrong", {"here": 0})["here"] == 0
            assert short.get("largest", {"rounded": 0})["rounded"] <= 1
            return
        short = lengths.nearest(library, case, found, longest)
    assert short["wrong here"] == 0
    stored = MEASURED[key]
    if (measure.version(library), platform.machine()) == (stored["version"], "x86_64"):
        listed = stored["lengths"][case.label]["listed"].split()
        assert short["listed"].split() == [p for p in listed if max(map(int, p.split("→"))) <= longest]
