"""The wording of errors: ``op: `parameter` must <rule with its real bound>, got <value> [at <position>]``.

The type says what was wrong: TypeError a dtype or a kind of object, ValueError a shape or an option,
IndexError an index.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

_NONE: Mapping[str, str] = {}


def must(op: str, parameter: str, rule: str, got: object, at: tuple[int, ...] | None = None) -> str:
    """Return the text of an error; `rule` continues the sentence "`parameter` must"."""
    where = "" if at is None else f" at {at}"
    return f"{op}: `{parameter}` must {rule}, got {shown(got)}{where}"


def shown(value: object, form: Callable[[object], str] = str) -> str:
    """Return the text of a value, by `form`, whatever integers are in it."""
    try:
        return form(value)
    except ValueError:  # Python writes no integer of more digits than a limit
        if not isinstance(value, (int, Fraction)):
            return f"a number of more than {sys.get_int_max_str_digits()} digits"
        over = "" if value.denominator == 1 else f" over {_digits(value.denominator)}"
        return f"about {decimal(value)} ({_digits(value.numerator)} digits{over})"


def decimal(x: int | Fraction) -> str:
    """Return the text of a number with six digits."""
    try:
        near = float(x)
    except OverflowError:
        near = 0
    if near or not x:
        return f"{near:.6g}"
    context = Context(6, Emin=MIN_EMIN, Emax=MAX_EMAX)  # no float is as large, or as small
    return f"{context.divide(Decimal(x.numerator), Decimal(x.denominator)).normalize(context):.6g}"


def _digits(n: int) -> int:
    """Return how many digits an integer has."""
    return Decimal(n).adjusted() + 1


def word(value: object, known: Iterable[str], elsewhere: Mapping[str, str] = _NONE) -> str:
    """Return the text of a value that is none of some words, and the word that may have been meant.

    `elsewhere` has words of other libraries and what they are called here.
    """
    text = shown(value, repr)
    if not isinstance(value, str):
        return text
    import difflib  # noqa: PLC0415

    words = {one.lower(): one for one in known}
    given = value.lower()
    if words.get(elsewhere.get(given, "")):
        return f"{text} (did you mean {elsewhere[given]!r}?)"
    begun = [one for one in words if one.startswith(given)] if len(given) >= 3 else []
    # At 0.6, the default, "nearest" is near to "linear".
    near = begun or difflib.get_close_matches(given, words, 1, 0.7)
    return f"{text} (did you mean {words[near[0]]!r}?)" if near else text
