import json
from typing import Any

import pytest

from collector.live.encoding import encode, text
from evaluator.items import NotRecorded


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, 2.5, None, True, "ü"]}, {"a": [1, 2.5, None, True, "ü"]}),
        (10**30, 10**30),
        ({"big": 10**30, "nan": float("nan"), "inf": float("inf")}, {"big": 10**30, "nan": None, "inf": None}),
        (float("nan"), None),
        ("\ud800", "\ud800"),
        (b"\x00\xff", "AP8="),
        (NotRecorded("content capture is off"), None),
        ({1: "one"}, {"1": "one"}),
        (frozenset({"b", "a"}), ["a", "b"]),
    ],
)
def test_what_telemetry_may_hold_becomes_json(value: Any, expected: Any) -> None:
    assert json.loads(encode(value)) == expected
    assert json.loads(text(value)) == expected


def test_one_line_whatever_the_value() -> None:
    assert b"\n" not in encode({"a\nb": ["c\nd", 10**30, "\u2028"]})


def test_what_has_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no form in JSON"):
        encode({"x": object()})
