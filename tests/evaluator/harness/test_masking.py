"""No value of an environment variable that a spec expanded is shown, in whatever form it comes."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from evaluator.expectations.comparison import Difference
from evaluator.expectations.reason import NearestMiss, Reason
from evaluator.harness.masking import Masking
from evaluator.items import Call

SECRET = "s3cr&t/value é+x"
MASKING = Masking({"TOKEN": SECRET})


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_form_of_the_value_is_replaced_by_the_name(form: str) -> None:
    assert MASKING.text(f"before {form} after") == "before ${TOKEN} after"


@pytest.mark.parametrize("user", ["a", "ab", "abc"])
def test_a_value_inside_a_longer_base64_text_is_replaced(user: str) -> None:
    header = base64.b64encode(f"{user}:abcdef-secret-123".encode()).decode()
    masked = Masking({"PASSWORD": "abcdef-secret-123"}).text(f"Basic {header}")
    assert "${PASSWORD}" in masked
    assert base64.b64encode(b"secret-12").decode()[:8] not in masked


def test_the_longest_value_wins() -> None:
    masking = Masking({"HOST": "example", "URL": "http://example/path"})
    assert masking.text("at http://example/path of example") == "at ${URL} of ${HOST}"


def test_outer_spaces_of_a_value_do_not_hide_it() -> None:
    assert Masking({"TOKEN": " abcdef-secret\n"}).text("abcdef-secret") == "${TOKEN}"


@pytest.mark.parametrize("value", ["", "short", "     "])
def test_a_value_of_few_characters_is_left_alone(value: str) -> None:
    text = "a short text,      with spaces"
    assert Masking({"TOKEN": value}).text(text) == text


def test_json_is_masked_at_any_depth_keys_included() -> None:
    value = {"a": [1, {"x" + SECRET: SECRET}], "b": None}
    assert MASKING.json(value) == {"a": [1, {"x${TOKEN}": "${TOKEN}"}], "b": None}


def test_a_call_and_a_reason_are_masked_in_every_part() -> None:
    call = Call(f"tool {SECRET}", {"key": SECRET}, [SECRET], error=f"no {SECRET}")
    difference = Difference("params.key", SECRET, SECRET)
    reason = Reason("x", SECRET, nearest=NearestMiss(call, (difference,)), calls=(call,), fix=SECRET)
    assert SECRET not in repr(MASKING.reason(reason))
    assert SECRET not in repr(MASKING.call(call))
