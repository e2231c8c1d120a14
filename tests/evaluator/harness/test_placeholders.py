"""Placeholders take values as they are, and say what there is when there is none."""

from typing import Any

import pytest

from evaluator.harness.paths import PathError, split, walk
from evaluator.harness.placeholders import PlaceholderError, Scope, fill, fill_previous, fill_text, uses_previous
from evaluator.items import Call, NotRecorded

SCOPE = Scope("ab12", "a test", {"id": 42, "list": ["a", {"b": None}], "text": "{{message}}"}, "hello")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{message}}", "hello"),
        ("{{ test.id }}/{{test.name}}", "ab12/a test"),
        ("{{session.id}}", 42),
        ("n={{session.id}}", "n=42"),
        ("{{session.list.0}}", "a"),
        ("{{session.list[0]}}", "a"),
        ("{{session.list.1.b}}", None),
        ("l={{session.list}}", 'l=["a", {"b": null}]'),
        ({"a": ["{{message}}", 1, None, True]}, {"a": ["hello", 1, None, True]}),
        ({"{{message}}": 1}, {"{{message}}": 1}),
        ("{{session.text}}", "{{message}}"),
        ("{{other}} and {{", "{{other}} and {{"),
    ],
)
def test_a_template_is_filled(template: Any, value: Any) -> None:
    assert fill(template, SCOPE) == value


def test_a_text_stays_a_text() -> None:
    assert fill_text("{{session.id}}", SCOPE) == "42"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{session.nope}}", "the keys are id, list, text"),
        ("{{session.list.7}}", "it is a list of 2"),
        ("{{session.id.x}}", "it is a int"),
    ],
)
def test_what_is_there_instead_is_said(template: str, said: str) -> None:
    with pytest.raises(PlaceholderError, match=said):
        fill(template, SCOPE)


CALLS = [
    Call("create", {"order-id": 7}, {"rows": ["z"], "id": 77}, started=1_000_000_000, ended=2_000_000_000),
    Call("lookup", NotRecorded("content capture is off", "X=1"), "text", error="boom"),
]


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("get {{previous.function_calls[0].result.id}}", "get 77"),
        ("{{ previous.function_calls[0].fn }}", "create"),
        ("{{previous.function_calls.0.name}}", "create"),
        ("{{previous.function_calls[0].params.order-id}}", "7"),
        ("{{previous.function_calls[0].result.rows.0}}", "z"),
        ("{{previous.function_calls[0].result.rows}}", '["z"]'),
        ("{{previous.function_calls[0].started_at}}", "1.0"),
        ("{{previous.function_calls[1].error}}", "boom"),
        ("{{previous.function_calls[0].context.test}}", "ab12"),
        ("{{previous}} stays", "{{previous}} stays"),
    ],
)
def test_a_trigger_takes_values_of_earlier_calls(trigger: str, message: str) -> None:
    assert fill_previous(trigger, CALLS, "ab12") == message


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("{{previous.function_calls[5].fn}}", r"\[0\] create, \[1\] lookup"),
        ("{{previous.response}}", "the keys are function_calls"),
        ("{{previous.function_calls[0].result.ID}}", "the keys are rows, id"),
        ("{{previous.function_calls[1].args.x}}", "content capture is off"),
    ],
)
def test_a_trigger_without_a_value_names_what_there_is(trigger: str, said: str) -> None:
    with pytest.raises(PlaceholderError, match=said):
        fill_previous(trigger, CALLS, "ab12")


def test_only_a_reference_uses_previous_calls() -> None:
    assert uses_previous("x {{previous.function_calls[0].fn}}")
    assert not uses_previous("{{previous}}, {{message}}")


def test_both_ways_of_writing_a_path_mean_the_same() -> None:
    assert split("a.0.b") == split("a[0].b") == ("a", "0", "b")
    assert walk({"a": [{"b": 1}]}, ("a", "0", "b")) == 1


@pytest.mark.parametrize("path", ["a[", "a[x]", "a..b", "{a}"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        split(path)
