"""What comes of a spec: typed values, defaults, warnings."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.language import parse_spec, read_spec
from evaluator.language.spec import (
    CallExpectation,
    CommandHook,
    Elements,
    Fields,
    Literal,
    Matcher,
    Place,
    PythonHook,
    Spec,
)
from evaluator.language.suites import least_passes

SUITES = "suites: [{name: S, tests: [{trigger: a, expect: {response: {contains: b}}}]}]\n"


def read(text: str, **environ: str) -> Spec:
    return parse_spec(text, Path("a.yaml"), environ=environ)


def agent(keys: str, **environ: str) -> Spec:
    return read(f"agent: {{endpoint: 'http://h/', {keys}}}\n{SUITES}", **environ)


def call(text: str) -> tuple[CallExpectation, tuple[str, ...]]:
    """The call that is written as `text`, and the warnings."""
    test = f"{{trigger: a, expect: {{function_calls: [{text}]}}}}"
    spec = read(f"agent: {{endpoint: 'http://h/'}}\nsuites: [{{name: S, tests: [{test}]}}]\n")
    expect = spec.suites[0].tests[0].turns[0].expect
    assert expect is not None
    assert expect.calls is not None
    return expect.calls[0], spec.warnings


def params(text: str) -> Any:
    found = call(f"{{name: t, params: {{v: {text}}}}}")[0].params
    assert found is not None
    return found.entries["v"]


def test_an_agent_has_the_defaults_of_the_format_page() -> None:
    spec = agent("x-note: 1")
    assert (spec.agent.startup_timeout, spec.agent.settle_time, spec.agent.timeout) == (15000, 500, 60000)
    assert not spec.agent.settle_time_given
    assert (spec.agent.request.method, spec.agent.request.headers) == ("POST", None)
    assert spec.agent.request.body == {"message": "{{message}}"}
    assert (spec.agent.response, spec.agent.traces, spec.agent.health, spec.agent.start) == (None, None, None, None)
    assert spec.agent.correlate == {"test": "{{test.id}}"}
    assert spec.default_runs is None


def test_headers_that_are_given_leave_the_default_body() -> None:
    request = agent("request: {headers: {x-key: a}, method: put}").agent.request
    assert (request.method, request.headers, request.body) == ("PUT", {"x-key": "a"}, {"message": "{{message}}"})


def test_a_command_is_split_as_a_shell_does_and_keeps_its_own_braces() -> None:
    assert agent("start: \"run 'a b' --format {{.Names}}\"").agent.start == ("run", "a b", "--format", "{{.Names}}")


@pytest.mark.parametrize("written", ["choices.0.text", "choices[0].text"])
def test_a_reply_path_may_have_dots_or_brackets(written: str) -> None:
    assert agent(f"response: '{written}'").agent.response == ("choices", "0", "text")


def test_hooks_are_functions_or_words_in_which_spaced_placeholders_are_whole() -> None:
    spec = agent(
        "session: {setup: {python: 'my.hooks:open'}, teardown: 'close {{ session.id }} \"{{ test.name }} x\"'}"
    )
    assert spec.agent.setup == PythonHook("my.hooks", "open", Place("agent.session.setup", 1))
    assert spec.agent.teardown == CommandHook(
        ("close", "{{session.id}}", "{{test.name}} x"), Place("agent.session.teardown", 1)
    )


def test_variables_are_filled_in_once_in_values_and_recorded_by_name() -> None:
    spec = agent(
        "request: {headers: {A: '${ONE}-$ONE-${}-${1A}'}, body: {'${TWO}': '{{message}} ${TWO}'}}, x-a: '${THREE}'",
        ONE="${TWO}",
        TWO="two",
        THREE="",
        FOUR="unused",
    )
    assert spec.agent.request.headers == {"A": "${TWO}-$ONE-${}-${1A}"}
    assert spec.agent.request.body == {"${TWO}": "{{message}} two"}
    assert spec.agent.secrets == {"ONE": "${TWO}", "TWO": "two", "THREE": ""}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Literal(1)),
        ("null", Literal(None)),
        ("{}", Fields({})),
        ("{a: {b: 2.0}}", Fields({"a": Fields({"b": Literal(2.0)})})),
        ("[1, [x], {a: null}]", Elements((Literal(1), Elements((Literal("x"),)), Fields({"a": Literal(None)})))),
        ("{1: a, on: b, null: c}", Fields({"1": Literal("a"), "on": Literal("b"), "null": Literal("c")})),
        ("{x-a: 1}", Fields({"x-a": Literal(1)})),
        ("{message: {text: a}}", Fields({"message": Fields({"text": Literal("a")})})),
    ],
)
def test_expected_values_are_contained_mappings_whole_lists_and_scalars(text: str, value: Any) -> None:
    assert params(text) == value


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("{contains: a, not_matches: b}", (("contains", "a"), ("not_matches", "b"))),
        ("{contains: a, x-note: b}", (("contains", "a"),)),
        ("{equals: {contains: a, 1: [b]}}", (("equals", {"contains": "a", "1": ["b"]}),)),
        ("{equals: 'Hello {{name}}'}", (("equals", "Hello {{name}}"),)),
        ("{contains: null}", (("contains", None),)),
        ("{icontains: 4}", (("icontains", 4),)),
        ("{contains: 2e5}", (("contains", "2e5"),)),
    ],
)
def test_a_mapping_of_matchers_is_a_matcher(text: str, tests: Any) -> None:
    assert params(text).tests == tests


def test_a_matcher_in_a_list_is_one_of_its_element_and_knows_its_place() -> None:
    found = params("[1, {icontains: tea}]")
    place = Place("suites[0].tests[0].expect.function_calls[0].params.v[1]", 2)
    assert found == Elements((Literal(1), Matcher((("icontains", "tea"),), place)))


@pytest.mark.parametrize("text", ["{match: foo}", "{contains: tea, limit: 5}", "{equal: 1}"])
def test_params_themselves_are_never_a_matcher(text: str) -> None:
    assert isinstance(call(f"{{name: t, params: {text}}}")[0].params, Fields)


def test_a_call_has_one_name_or_several_and_an_error() -> None:
    found = call("{name: [t, u], error: {contains: boom}, result: null, x-a: 1}")[0]
    assert found.names == ("t", "u")
    assert isinstance(found.error, Matcher)
    assert (found.params, found.result) == (None, None)
    assert call("{name: t}")[0].error is False
    assert call("{name: t, error: true}")[0].error is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{name: t, params: {country: NO}}", "params.country: 'NO' is the boolean false"),
        ("{name: t, params: {id: 0123}}", "'0123' is the number 83"),
        ("{name: t, params: {at: 12:30}}", "'12:30' is the number 750"),
        ("{name: t, params: {n: 1_000}}", "'1_000' is the number 1000"),
        ("{name: t, params: {n: 1e3}}", "'1e3' is text and no number"),
        ("{name: t, params: {n: {equals: 1e3}}}", "'1e3' is text and no number"),
        ("{name: t, params: {contains: tea}}", "looks for a key named contains"),
        ("{name: t, params: {a: {contians: x}}}", "did you mean 'contains'?"),
        ("{name: t, params: {a: {contains: null}}}", "looks at lists only"),
        ("{name: ' t'}", "the spaces around the name count"),
        ("{name: 'delete_*'}", "names are literal, not patterns"),
        ("{name: t, params: {'{{x}}': 1}}", "taken as it is"),
    ],
)
def test_what_can_hardly_be_meant_is_a_warning_with_its_place(text: str, said: str) -> None:
    (warning,) = call(text)[1]
    assert warning.startswith("a.yaml:2: suites[0].tests[0].expect.function_calls[0]")
    assert said in warning


@pytest.mark.parametrize("text", ["true", "0", "-17", "0x1F", "2.5", ".5", "1.0e+3", "'1e3'", "~", "on the way"])
def test_what_every_yaml_reads_alike_is_no_warning(text: str) -> None:
    assert call(f"{{name: t, params: {{a: {text}}}}}")[1] == ()


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        ("{{previous}}", "is no template"),
        ("{{prev.function_calls[0].fn}}", "is no template"),
        ("{{message}}", "is no template"),
        ("{{previous.function_calls[0].fn}", "without '}}'"),
        ("{{previous.calls[0].fn}}", "function_calls only"),
        ("{{previous.function_calls.first}}", "the call's number"),
    ],
)
def test_a_trigger_that_looks_like_a_template_and_is_none_is_a_warning(trigger: str, said: str) -> None:
    turns = f"[{{trigger: one}}, {{trigger: '{trigger}', expect: {{forbid: [t]}}}}]"
    spec = read(f"agent: {{endpoint: 'http://h/'}}\nsuites: [{{name: S, tests: [{{turns: {turns}}}]}}]\n")
    (warning,) = spec.warnings
    assert "turns[1].trigger" in warning
    assert said in warning


def test_behaviors_of_the_suite_and_the_test_are_found_from_where_the_spec_lies(tmp_path: Path) -> None:
    for name in ("suite.yaml", "test.yaml"):
        (tmp_path / name).write_text("behaviors: []\n")
    test = "{trigger: a, expect: {forbid: [t]}, x-behaviors: [test.yaml, suite.yaml]}"
    path = tmp_path / "a.highbar.yaml"
    path.write_text(
        f"agent: {{endpoint: 'http://h/'}}\nsuites: [{{name: S, x-behaviors: suite.yaml, tests: [{test}]}}]\n"
    )
    spec = read_spec(path, environ={})
    assert spec.suites[0].tests[0].behaviors == (tmp_path / "suite.yaml", tmp_path / "test.yaml")


def test_a_conversation_has_turns_of_which_some_only_set_the_scene() -> None:
    turns = (
        "[{trigger: one}, {trigger: 'two {{previous.function_calls[0].fn}}', name: N, expect: {function_calls: []}}]"
    )
    spec = read(f"agent: {{endpoint: 'http://h/'}}\nsuites: [{{name: S, tests: [{{turns: {turns}, name: C}}]}}]\n")
    (test,) = spec.suites[0].tests
    assert (test.conversation, test.name, [turn.name for turn in test.turns]) == (True, "C", [None, "N"])
    assert test.turns[0].expect is None
    assert test.turns[1].expect is not None
    assert test.turns[1].expect.calls == ()
    assert test.turns[1].expect.about_calls


@pytest.mark.parametrize(
    ("min_pass", "runs", "least"), [(None, 3, 3), (2, 3, 2), (0.7, 10, 7), (0.1, 3, 1), (1.0, 4, 4), (0.8, 5, 4)]
)
def test_a_part_of_the_runs_is_rounded_up_exactly(min_pass: int | float | None, runs: int, least: int) -> None:
    assert least_passes(min_pass, runs) == least
