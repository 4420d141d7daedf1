import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remapnd.directml.dxdispatch.json_text import parse_json
from remapnd.directml.dxdispatch.values import BareWord, ModelError

_GAPS = st.sampled_from(
    ["", " ", "\n", "\t", '// a "comment", [\n', "/* } */", "/***/", "/* \n // */", " \r\n"]
)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["//", "/* no comment */", ",]", '",}', "\\", '\\"', "http://x", "*/"]
)
_SCALARS = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False) | _TEXTS
_VALUES = st.recursive(
    _SCALARS.filter(lambda v: not (isinstance(v, float) and abs(v) == float("inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


def _decorated(value, draw):
    """Write `value` as JSON with comments and trailing commas wherever they may stand."""

    def gap():
        return draw(_GAPS)

    if isinstance(value, list):
        items = [gap() + _decorated(item, draw) + gap() for item in value]
        brackets = "[]"
    elif isinstance(value, dict):
        items = [
            gap()
            + json.dumps(key, ensure_ascii=draw(st.booleans()))
            + gap()
            + ":"
            + gap()
            + _decorated(item, draw)
            + gap()
            for key, item in value.items()
        ]
        brackets = "{}"
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    comma = "," + gap() if items and draw(st.booleans()) else ""
    return brackets[0] + (",".join(items) or gap()) + comma + brackets[1]


@given(st.data(), _VALUES)
def test_comments_and_trailing_commas_change_nothing(data, value):
    text = data.draw(_GAPS) + _decorated(value, data.draw)
    assert parse_json(text, "m.json") == value


@given(st.text(st.sampled_from('{}[],:"\\/*\n 0aé'), max_size=30))
def test_any_text_is_read_or_refused_at_its_place(text):
    try:
        parse_json(text, "m.json")
    except ModelError as error:
        line, column = map(int, re.match(r"m\.json:(\d+):(\d+): expected .+, got .+\Z", str(error)).groups())
        assert 1 <= line <= text.count("\n") + 1
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.json:1:1: expected a model in JSON, got an empty file"),
        ("  // nothing", "m.json:1:13: expected a model in JSON, got the end of the file"),
        ('{\n  "a": 1\n  "b": 2\n}', 'm.json:3:3: expected a comma or a closing bracket, got "b": 2'),
        ('{"a" 1}', "m.json:1:6: expected a colon, got 1}"),
        ("{a: 1}", "m.json:1:2: expected a key in double quotes or a closing brace, got a: 1}"),
        ("[,]", "m.json:1:2: expected a value, got ,]"),
        ("[1,,]", "m.json:1:4: expected a value, got ,]"),
        ('{"a":,}', "m.json:1:6: expected a value, got ,}"),
        ('["abc', 'm.json:1:2: expected a string that is closed on its line, got "abc'),
        (
            '["abc\n"]',
            "m.json:1:6: expected a string that is closed on its line, without control "
            "characters, got the end of the line",
        ),
        (r'["\q"]', r"""m.json:1:3: expected valid JSON (invalid \escape), got \q"]"""),
        ("[1 /* one", "m.json:1:4: expected a comment that is closed by */, got /* one"),
        ("[1 /*/", "m.json:1:4: expected a comment that is closed by */, got /*/"),
        ("[1 / 2]", "m.json:1:4: expected a comma or a closing bracket, got / 2]"),
        ("[01]", "m.json:1:3: expected a comma or a closing bracket, got 1]"),
        ("é[", "m.json:1:1: expected a model in JSON, got é["),
        ("[1}" + "x" * 80, "m.json:1:3: expected a comma or a closing bracket, got }" + "x" * 39 + "..."),
        ("[1 \x1b[31m", "m.json:1:4: expected a comma or a closing bracket, got  [31m"),
    ],
)
def test_errors_name_line_column_and_what_was_expected(text, message):
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        parse_json(text, "m.json")


def test_text_after_the_value_is_not_read():
    assert parse_json('{"a": 1} and more /*', "m.json") == {"a": 1}


def test_words_that_json_lacks_are_marked():
    assert parse_json("[NaN, -Infinity]", "m.json") == [BareWord("NaN"), BareWord("-Infinity")]


def test_long_integers_are_floats():
    assert parse_json("[" + "9" * 5000 + ", 123456789012345678901]", "m.json") == [
        float("inf"),
        123456789012345678901,
    ]


def test_deep_nesting_is_refused():
    value = parse_json('{"[": ' + "[" * 99 + "]" * 99 + "}", "m.json")
    for _ in range(99):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value == []
    rule = re.escape("m.json:2:101: expected at most 100 objects and arrays around each other, got [[")
    with pytest.raises(ModelError, match=f"^{rule}"):
        parse_json("\n" + "[" * 200_000, "m.json")


def test_the_last_of_equal_keys_counts():
    assert parse_json('{"a": 1, "a": 2}', "m.json") == {"a": 2}


@pytest.mark.parametrize(
    "text",
    ["," * 100_000, '"' * 100_001, '\\"' * 50_000, "/*" * 50_000, " ," * 50_000 + "]", '["\\"' * 30_000],
)
def test_odd_long_texts_take_no_time_to_speak_of(text):
    with pytest.raises(ModelError, match=r"^m.json:1:"):
        parse_json("[" + text, "m.json")
