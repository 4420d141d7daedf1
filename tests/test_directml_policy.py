"""Values of a policy; what each does is tested with `check` and `run`."""

import pytest

from remapnd.directml import Policy


def test_defaults():
    assert Policy() == Policy("clamp", "clamp0", "lenient", "up", "truncate", "reject")


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("gather_oob", "'clamp', 'zero', 'error'"),
        ("gather_under", "'clamp0', 'clampN'"),
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
