"""Values of a policy; what each does is tested with `check` and `run`."""

import pytest

from remapnd.directml import Policy


def test_defaults():
    assert Policy() == Policy(
        gather_oob="clamp",
        gather_under="clamp0",
        scatter_oob="drop",
        scatter_duplicates="last",
        off_axis="lenient",
        index_dimensions_max="N",
        nearest_ties="up",
        grad_offsets="forward",
        aa_filter="triangle",
        int_linear_rounding="truncate",
        coordinate_precision="exact",
        output_overlap="reject",
        dxdispatch_compat="off",
    )


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("gather_oob", "'clamp', 'zero', 'error'"),
        ("gather_under", "'clamp0', 'clampN'"),
        ("scatter_oob", "'drop', 'clamp', 'error'"),
        ("scatter_duplicates", "'last', 'error'"),
        ("index_dimensions_max", "'N', 'N-1'"),
        ("grad_offsets", "'forward', 'swapped'"),
        ("aa_filter", "'triangle', 'iterative', 'off'"),
        ("coordinate_precision", "'exact', 'float64', 'float32'"),
        ("dxdispatch_compat", "'off', 'on'"),
        ("off_axis", "'lenient', 'strict'"),
        ("nearest_ties", "'up', 'down'"),
        ("int_linear_rounding", "'truncate', 'half_even', 'half_up'"),
        ("output_overlap", "'reject', 'allow'"),
    ],
)
@pytest.mark.parametrize("bad", ["Clamp", None, 1])
def test_other_values(field, words, bad):
    with pytest.raises(ValueError, match=rf"^Policy: `{field}` must be one of {words}, got {bad!r}$"):
        Policy(**{field: bad})
