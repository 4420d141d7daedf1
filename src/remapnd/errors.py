"""The wording of errors: ``op: `parameter` must <rule with its real bound>, got <value> [at <position>]``.

The type says what was wrong: TypeError a dtype or a kind of object, ValueError a shape or an option,
IndexError an index.
"""


def must(op: str, parameter: str, rule: str, got: object, at: tuple[int, ...] | None = None) -> str:
    """Return the text of an error; `rule` continues the sentence "`parameter` must"."""
    where = "" if at is None else f" at {at}"
    return f"{op}: `{parameter}` must {rule}, got {got}{where}"
