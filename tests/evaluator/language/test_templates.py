"""Placeholders are paths into a scope; what has no value says what is there instead."""

from typing import Any

import pytest

from evaluator.items import Call, NotRecorded
from evaluator.language import templates
from evaluator.language.templates import Placeholder, Unresolved

SCOPE: dict[str, Any] = {
    "message": "hi {{test.id}}",
    "test": {"id": "0a", "name": "N"},
    "session": {"n": 5, "user": {"order-id": "x", "0": "zero"}, "rows": [{"id": 1}, None], "none": None},
}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b[0].c", ("a", "b", "0", "c")),
        ("a.0[12]", ("a", "0", "12")),
        ("a.order-id", ("a", "order-id")),
        ("a.b c", ("a", "b c")),
        ("", ()),
        (".a", ()),
        ("a.", ()),
        ("a..b", ()),
        ("a[x]", ()),
        ("a[-1]", ()),
        ("a[0", ()),
        ("a[0]b", ()),
        ("[0]", ()),
        ("a. b", ()),
    ],
)
def test_a_path_has_dots_and_brackets(text: str, path: tuple[str, ...]) -> None:
    assert templates.path_of(text) == path


def test_a_text_is_cut_into_texts_and_placeholders_of_the_roots_that_are_asked_for() -> None:
    pieces = templates.parse("a {{ message }}{{test.id}} {{previous.x}} {{}} {{message", {"message", "test"})
    assert pieces == (
        "a ",
        Placeholder("{{ message }}", "message", ("message",)),
        Placeholder("{{test.id}}", "test.id", ("test", "id")),
        " {{previous.x}} {{}} {{message",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{session.n}}", 5),
        ("{{ session.rows }}", [{"id": 1}, None]),
        ("{{session.none}}", None),
        ("{{session.rows[0].id}}", 1),
        ("{{session.rows.0.id}}", 1),
        ("{{session.user[0]}}", "zero"),
        ("{{session.user.order-id}}", "x"),
        (" {{session.n}}", " 5"),
        ("{{session.n}}{{test.id}}", "50a"),
        ("rows: {{session.rows}}", 'rows: [{"id": 1}, null]'),
        ("{{message}}", "hi {{test.id}}"),
        ("{{message}}!", "hi {{test.id}}!"),
        ("{{unknown}} {{previous.x}}", "{{unknown}} {{previous.x}}"),
    ],
)
def test_a_text_that_is_only_a_placeholder_keeps_its_type(text: str, value: Any) -> None:
    assert templates.fill_value(text, SCOPE) == value


def test_a_tree_is_filled_in_at_its_values_only() -> None:
    body = {"{{message}}": ["{{session.n}}", {"a": "n={{session.n}}"}], "b": 2, "c": None}
    assert templates.fill(body, SCOPE) == {"{{message}}": [5, {"a": "n=5"}], "b": 2, "c": None}


def test_a_text_that_stays_one_has_json_for_what_is_none() -> None:
    assert templates.fill_text("{{session.user}}", SCOPE) == '{"order-id": "x", "0": "zero"}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{session.nn}}", "session has no nn, it has n, user, rows, none"),
        ("{{session.rows[2]}}", "session.rows has no [2], it has [0] to [1]"),
        ("{{session.rows.first}}", "session.rows has no [first]"),
        ("{{session.n.x}}", "session.n is the value 5, which has no x"),
        ("{{message.x}}", "message is the text"),
        ("{{session.none.x}}", "session.none is null"),
        ("{{session.rows[999999999]}}", "has no [999999999]"),
    ],
)
def test_what_has_no_value_says_what_is_there(text: str, said: str) -> None:
    with pytest.raises(Unresolved) as caught:
        templates.fill_text(text, SCOPE)
    assert str(caught.value).startswith(f"{text} has no value: ")
    assert said in str(caught.value)


CALLS = [
    Call("create", {"q": "tea"}, {"order": {"id": "O-1"}}, started=1_500_000_000, ended=2_000_000_000),
    Call("fail", {}, None, error="boom"),
    Call("hidden", NotRecorded("content capture is off", "set CAPTURE=true"), NotRecorded("cut")),
]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("cancel {{previous.function_calls[0].result.order.id}}", "cancel O-1"),
        ("{{previous.function_calls[0].fn}} {{previous.function_calls[0].name}}", "create create"),
        ("{{previous.function_calls.0.args.q}} {{previous.function_calls[0].params.q}}", "tea tea"),
        ("{{previous.function_calls[1].error}}", "boom"),
        ("{{previous.function_calls[0].started_at}}-{{previous.function_calls[0].ended_at}}", "1.5-2.0"),
        ("{{previous.function_calls[0].result}}", '{"order": {"id": "O-1"}}'),
        ("{{previous}} and {{message}} stay", "{{previous}} and {{message}} stay"),
    ],
)
def test_a_trigger_names_the_calls_of_earlier_turns(text: str, filled: str) -> None:
    assert templates.fill_text(text, {"previous": templates.previous(CALLS)}) == filled


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{previous.function_calls[3].fn}}", "previous.function_calls has no [3], it has [0] to [2]"),
        ("{{previous.function_calls[0].result.order_id}}", "has no order_id, it has order"),
        ("{{previous.response}}", "previous has no response, it has function_calls"),
        ("{{previous.function_calls[2].args.q}}", "args is not recorded (content capture is off); set CAPTURE=true"),
        ("{{previous.function_calls[2]}}", "a part of the value is not recorded"),
    ],
)
def test_a_trigger_that_names_no_value_says_what_is_there(text: str, said: str) -> None:
    with pytest.raises(Unresolved) as caught:
        templates.fill_text(text, {"previous": templates.previous(CALLS)})
    assert said in str(caught.value)


def test_without_earlier_calls_there_is_nothing_to_name() -> None:
    with pytest.raises(Unresolved, match=r"previous.function_calls has no \[0\], it is empty"):
        templates.fill_text("{{previous.function_calls[0].fn}}", {"previous": templates.previous([])})
