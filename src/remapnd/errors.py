"""The wording of errors: ``op: `parameter` must <rule with its real bound>, got <value> [at <position>]``.

The type says what was wrong: TypeError a dtype or a kind of object, ValueError a shape or an option,
IndexError an index.
"""

import sys
from collections.abc import Callable, Iterable


def must(op: str, parameter: str, rule: str, got: object, at: tuple[int, ...] | None = None) -> str:
    """Return the text of an error; `rule` continues the sentence "`parameter` must"."""
    where = "" if at is None else f" at {at}"
    return f"{op}: `{parameter}` must {rule}, got {shown(got)}{where}"


def shown(value: object, form: Callable[[object], str] = str) -> str:
    """Return the text of a value, by `form`, whatever integers are in it."""
    try:
        return form(value)
    except ValueError:  # Python writes no integer of more digits than that
        return f"a number of more than {sys.get_int_max_str_digits()} digits"


def word(value: object, known: Iterable[str]) -> str:
    """Return the text of a value that is none of some words, and the word that may have been meant."""
    text = shown(value, repr)
    if not isinstance(value, str):
        return text
    import difflib  # noqa: PLC0415

    words = {one.lower(): one for one in known}
    given = value.lower()
    begun = [one for one in words if one.startswith(given)] if len(given) >= 3 else []
    # At 0.6, the default, "nearest" is near to "linear".
    near = begun or difflib.get_close_matches(given, words, 1, 0.7)
    return f"{text} (did you mean {words[near[0]]!r}?)" if near else text
