"""The tables of resampling that libremapnd makes: those of `remapnd.taps`, bit by bit."""

import numpy as np
import pytest
from c_library import INVALID_ARGUMENT, OK, pointer
from c_library_cases import floats
from hypothesis import given
from hypothesis import strategies as st

from remapnd import coordinates, taps


@given(
    n_in=st.integers(1, 70),
    n_out=st.integers(1, 70),
    scale=floats(True),
    into=floats(False),
    onto=floats(False),
)
def test_tables_are_python_s(*, libremapnd, n_in, n_out, scale, into, onto):
    exact = coordinates.axis_map(*map(float, np.array([scale, into, onto], np.float32)))
    index = np.empty(n_out, np.int64)
    for number, rule in enumerate(taps.NEAREST_RULES):
        assert libremapnd.nearest_table(n_in, n_out, scale, into, onto, number, pointer(index)) == OK
        np.testing.assert_array_equal(index, taps.nearest_table(exact, n_in, n_out, rule))
    first, second, weight = np.empty(n_out, np.int64), np.empty(n_out, np.int64), np.empty(n_out)
    for bits, dtype in ((32, np.float32), (64, np.float64)):
        assert (
            libremapnd.linear_table(
                n_in, n_out, scale, into, onto, bits, *map(pointer, (first, second, weight))
            )
            == OK
        )
        table = taps.linear_table(exact, n_in, n_out, dtype)
        np.testing.assert_array_equal(first, table.first)
        np.testing.assert_array_equal(second, table.second)
        assert weight.tobytes() == table.weight.astype(np.float64).tobytes()


@pytest.mark.parametrize("position", [0.5, 1e-30, 1.4e-45, 2.0**-75, 1 - 2.0**-24])
def test_weights_near_the_ends_of_the_format(libremapnd, position):
    # One output at `position`; the smallest weights of float32 are subnormal, half of the smallest is a tie.
    for scale in (1.0, 2.0**24, 3.0):
        exact = coordinates.axis_map(scale, -float(np.float32(position)), -1.0)
        first, second, weight = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
        for bits, dtype in ((32, np.float32), (64, np.float64)):
            assert (
                libremapnd.linear_table(
                    4, 1, scale, -position, -1.0, bits, *map(pointer, (first, second, weight))
                )
                == OK
            )
            table = taps.linear_table(exact, 4, 1, dtype)
            assert (first[0], second[0], weight.tobytes()) == (
                table.first[0],
                table.second[0],
                table.weight.astype(float).tobytes(),
            )


def test_lengths_of_32_bits(libremapnd):
    n, index = 2**32 - 1, np.empty(3, np.int64)
    assert libremapnd.nearest_table(n, 3, 1e-9, 0.0, 0.0, 2, pointer(index)) == OK
    exact = coordinates.axis_map(float(np.float32(1e-9)), 0, 0)
    assert index.tolist() == taps.nearest_table(exact, n, 3, "floor").tolist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, 1, 0, 0, 0), "`n_in` must lie in [1, 4294967295]"),
        ((1, 2**32, 1, 0, 0, 0), "`n_out` must lie in [1, 4294967295]"),
        ((1, 1, 0, 0, 0, 0), "`scale` must be above 0 and finite"),
        ((1, 1, np.nan, 0, 0, 0), "`scale` must be above 0 and finite"),
        ((1, 1, 1, np.inf, 0, 0), "`input_offset` must be finite"),
        ((1, 1, 1, 0, np.nan, 0), "`output_offset` must be finite"),
        ((1, 1, 1, 0, 0, 4), "`rule` must lie in [0, 3]"),
    ],
)
def test_arguments_of_tables(libremapnd, arguments, text):
    index = np.full(1, -5, np.int64)
    assert libremapnd.nearest_table(*arguments, pointer(index)) == INVALID_ARGUMENT
    assert libremapnd.error() == f"remapnd_nearest_table: {text}"
    assert index[0] == -5
    assert libremapnd.nearest_table(1, 1, 1, 0, 0, 0, None) == INVALID_ARGUMENT
    assert libremapnd.linear_table(1, 1, 1, 0, 0, 16, *[pointer(index)] * 3) == INVALID_ARGUMENT
    assert libremapnd.error() == "remapnd_linear_table: `bits` must be 32 or 64"
    assert libremapnd.linear_table(1, 1, 1, 0, 0, 32, None, None, None) == INVALID_ARGUMENT
