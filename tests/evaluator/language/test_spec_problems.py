"""What is refused when a spec is read: exactly where, with which class, and what it says."""

from pathlib import Path

import pytest

from evaluator.language import Problem, SpecProblems, parse_spec, read_spec

ENVIRON = {
    "URL": "host-that-is-secret",
    "SPACED": " hidden-word ",
    "BRACES": "{{mesage}}",
    "EMPTY": "",
    "BYTES": "\udcff",
}

AGENT = "agent:\n  endpoint: http://h/\n"
OK = "{response: {contains: b}}"
SUITES = f"suites:\n  - name: S\n    tests:\n      - trigger: a\n        expect: {OK}\n"


def agent(lines: str) -> str:
    """A spec whose line 3 and following are keys of agent."""
    return AGENT + "".join(f"  {line}\n" for line in lines.split("\n")) + SUITES


def a_test(lines: str) -> str:
    """A spec whose line 6 and following are keys of its only test."""
    inner = "\n        ".join(lines.split("\n"))
    return f"{AGENT}suites:\n  - name: S\n    tests:\n      - {inner}\n"


def expect(lines: str) -> str:
    """A spec whose line 8 and following are keys of expect."""
    inner = "\n  ".join(lines.split("\n"))
    return a_test(f"trigger: a\nexpect:\n  {inner}")


def call(lines: str) -> str:
    """A spec whose line 9 and following are keys of the only call."""
    inner = "\n    ".join(lines.split("\n"))
    return expect(f"function_calls:\n  - {inner}")


def problems(text: str, runs: int | None = None) -> tuple[Problem, ...]:
    try:
        parse_spec(text, Path("a.yaml"), environ=ENVIRON, runs=runs)
    except SpecProblems as error:
        return error.problems
    return ()


T = "suites[0].tests[0]"
E = f"{T}.expect"
C = f"{E}.function_calls[0]"

TABLE: list[tuple[str, str, int, str, str]] = [
    # The file
    ("[]", "spec", 1, "wrong_type", "a mapping with agent and suites"),
    ("just text", "spec", 1, "wrong_type", "'just text'"),
    (AGENT + SUITES + "defaults: 3", "defaults", 8, "wrong_type", "{runs: 3}"),
    (AGENT + SUITES + "defaults: {runs: no}", "defaults.runs", 8, "bad_number", "a boolean 'no'"),
    (AGENT + SUITES + "Agent: {}", "Agent", 8, "unknown_key", "'agent'?"),
    (AGENT + SUITES + "1: {}", "1", 8, "unknown_key", "unknown key '1'"),
    (AGENT + SUITES + "'': {}", '[""]', 8, "unknown_key", "unknown key ''"),
    (AGENT + "suites: {a: 1}", "suites", 3, "wrong_type", "a list of suites"),
    (AGENT + "suites:\n  -\n", "suites[0]", 4, "wrong_type", "null"),
    (AGENT + "suites:\n  - {name: S, tests: [hello]}", "suites[0].tests[0]", 4, "wrong_type", "'hello'"),
    (
        AGENT + "suites:\n  - {name: ' ', tests: [{trigger: a, expect: {forbid: [t]}}]}",
        "suites[0].name",
        4,
        "empty",
        "must not be empty",
    ),
    (AGENT + "suites:\n  - {name: S, tests: null}", "suites[0].tests", 4, "wrong_type", "a list of tests"),
    # agent
    ("agent: {}\n" + SUITES, "agent.endpoint", 1, "missing_key", "the URL"),
    (agent("helth: x"), "agent.helth", 3, "unknown_key", "'health'?"),
    (agent("startup_timeout: 5"), "agent.startup_timeout", 3, "mode_conflict", "start"),
    (agent("start: x\ntraces: otlp"), "agent.traces", 4, "mode_conflict", "traces"),
    (agent("start: ' '"), "agent.start", 3, "empty", "command"),
    (agent("start: \"''\""), "agent.start", 3, "bad_command", "names no program"),
    (agent("start: 'run \"x'"), "agent.start", 3, "bad_command", "no closing quotation"),
    (agent("start: run {{ test.id }}"), "agent.start", 3, "template_not_allowed", "once, for all tests"),
    (agent("start: run {{mesage}}"), "agent.start", 3, "template_not_allowed", "'run {{mesage}}'"),
    (agent("start: run {{session.id}}"), "agent.start", 3, "template_not_allowed", "placeholder"),
    (agent("health: ''"), "agent.health", 3, "bad_url", "http://"),
    (agent("health: ftp://h/"), "agent.health", 3, "bad_url", "must start with"),
    (agent("health: http://h:port/"), "agent.health", 3, "bad_url", "port"),
    (agent("health: http://h:0/"), "agent.health", 3, "bad_url", "port is 0"),
    (agent("health: 'http://h/a b'"), "agent.health", 3, "bad_url", "space"),
    (agent("health: 'http://[::1/'"), "agent.health", 3, "bad_url", "host"),
    (agent("health: '${URL}/x'"), "agent.health", 3, "bad_url", "'${URL}/x'"),
    (agent("timeout: 1.5"), "agent.timeout", 3, "wrong_type", "a number '1.5'"),
    (agent("timeout: '${EMPTY}'"), "agent.timeout", 3, "wrong_type", "text"),
    (agent("settle_time: -5"), "agent.settle_time", 3, "out_of_range", "at least 0"),
    (agent("settle_time:"), "agent.settle_time", 3, "wrong_type", "null"),
    (agent("traces: 5"), "agent.traces", 3, "wrong_type", "quote it"),
    (agent("response: a..b"), "agent.response", 3, "bad_value", "choices.0.message.content"),
    (agent("response: a[x]"), "agent.response", 3, "bad_value", "'a[x]'"),
    (agent("response: a[-1]"), "agent.response", 3, "bad_value", "'a[-1]'"),
    (agent("response: a.-1"), "agent.response", 3, "bad_value", "'a.-1'"),
    (agent("response: ' a'"), "agent.response", 3, "bad_value", "' a'"),
    (agent("x-any: ['${NOT_THERE}']"), "agent.x-any[0]", 3, "missing_env", "NOT_THERE is not set"),
    (agent("traces: '${BYTES}'"), "agent.traces", 3, "bad_value", "not UTF-8"),
    # agent.request
    (agent("request: {methd: POST}"), "agent.request.methd", 3, "unknown_key", "'method'?"),
    (agent("request: {method: PST}"), "agent.request.method", 3, "bad_value", "'POST'?"),
    (agent("request: {method: null}"), "agent.request.method", 3, "wrong_type", "null"),
    (agent("request: {headers: null}"), "agent.request.headers", 3, "wrong_type", "null"),
    (agent("request:\n  headers:\n    A: x\n    a: y"), "agent.request.headers.a", 6, "duplicate_key", "one header"),
    (agent("request: {headers: {'A:': x}}"), "agent.request.headers.A:", 3, "bad_value", "name of a header"),
    (agent("request: {headers: {A: '${SPACED}'}}"), "agent.request.headers.A", 3, "bad_value", "not shown"),
    (agent('request: {headers: {A: "a\\nb"}}'), "agent.request.headers.A", 3, "bad_value", "line break"),
    (agent("request: {headers: {A: né}}"), "agent.request.headers.A", 3, "bad_value", "ASCII"),
    (
        agent("request: {headers: {A: '{{mesage}}'}}"),
        "agent.request.headers.A",
        3,
        "bad_placeholder",
        "'{{message}}'?",
    ),
    (agent("request: {headers: {A: '${BRACES}'}}"), "agent.request.headers.A", 3, "bad_placeholder", "'${BRACES}'"),
    (agent("request: {body: hello}"), "agent.request.body", 3, "bad_placeholder", "{{message}}"),
    (agent("request: {body: ['{{message}}', '{{test}}']}"), "agent.request.body[1]", 3, "bad_placeholder", "test.id"),
    (
        agent("request:\n  body:\n    m: '{{message}}'\n    day: 2024-05-01"),
        "agent.request.body.day",
        6,
        "bad_value",
        "a date in YAML",
    ),
    (agent("request: {body: ['{{message}}', .inf]}"), "agent.request.body[1]", 3, "bad_value", "no number in JSON"),
    # agent.session
    (agent("session: null"), "agent.session", 3, "wrong_type", "setup, teardown or both"),
    (agent("session: {x-only: 1}"), "agent.session", 3, "missing_key", "setup, teardown or both"),
    (agent("session: {set_up: x}"), "agent.session.set_up", 3, "unknown_key", "'setup'?"),
    (agent("session: {teardown: null}"), "agent.session.teardown", 3, "wrong_type", "null"),
    (agent("session: {setup: {pyton: 'a:b'}}"), "agent.session.setup.pyton", 3, "unknown_key", "'python'?"),
    (agent("session: {setup: {}}"), "agent.session.setup.python", 3, "missing_key", "module:function"),
    (agent("session: {setup: {python: 'a b:c'}}"), "agent.session.setup.python", 3, "bad_command", "hooks:setup"),
    (agent('session: {setup: "\'"}'), "agent.session.setup", 3, "bad_command", "no closing quotation"),
    (
        agent("session: {setup: 'a {{ test.name }} {{ message }}'}"),
        "agent.session.setup[2]",
        3,
        "bad_placeholder",
        "here",
    ),
    (agent("session: {teardown: 'a {{session.id}}'}"), "agent.session.teardown[1]", 3, "bad_placeholder", "no setup"),
    (
        agent("session: {setup: a, teardown: 'b {{session}}'}"),
        "agent.session.teardown[1]",
        3,
        "bad_placeholder",
        "path",
    ),
    # agent.correlate
    (agent("correlate: {}"), "agent.correlate", 3, "empty", "at least one"),
    (agent("correlate: test"), "agent.correlate", 3, "wrong_type", "'test'"),
    (agent("correlate: {a: true}"), "agent.correlate.a", 3, "wrong_type", "a number"),
    (agent("correlate: {a: .nan}"), "agent.correlate.a", 3, "bad_value", "no number in JSON"),
    (agent("correlate: {a: 2024-05-01}"), "agent.correlate.a", 3, "wrong_type", "2024-05-01"),
    (agent("correlate: {a: '{{session.id}}'}"), "agent.correlate.a", 3, "bad_placeholder", "no agent.session"),
    # tests and turns
    (a_test("expect: " + OK), f"{T}.trigger", 6, "missing_key", "turns"),
    (a_test("trigger: a"), f"{T}.expect", 6, "asserts_nothing", "function_calls: []"),
    (a_test("trigger: a\nexpect:"), E, 7, "wrong_type", "null"),
    (a_test("trigger: ' '\nexpect: " + OK), f"{T}.trigger", 6, "empty", "the message to send"),
    (a_test("trigger: 5\nexpect: " + OK), f"{T}.trigger", 6, "wrong_type", "quote it"),
    (a_test("trigger: a\nname: 5\nexpect: " + OK), f"{T}.name", 7, "wrong_type", "a number '5'"),
    (a_test("turns: []"), f"{T}.turns", 6, "empty", "at least one turn"),
    (
        a_test("turns:\n  - trigger: a\n    runs: 2\n    expect: " + OK),
        f"{T}.turns[0].runs",
        8,
        "unknown_key",
        "trigger",
    ),
    (a_test("turns:\n  - trigger: a\n  - expect: " + OK), f"{T}.turns[1].trigger", 8, "missing_key", "trigger"),
    (a_test("turns: [{trigger: a}, {trigger: b}]"), T, 6, "asserts_nothing", "no turn has an expect"),
    (
        a_test("turns: [{trigger: a, expect: {x-a: 1}}]"),
        f"{T}.turns[0].expect",
        6,
        "asserts_nothing",
        "function_calls",
    ),
    (
        a_test("turns: [{trigger: a, expect: " + OK + "}]\nvariations: 2"),
        f"{T}.variations",
        7,
        "exclusive_keys",
        "turns",
    ),
    (a_test("trigger: a\nruns: 0\nexpect: " + OK), f"{T}.runs", 7, "bad_number", "at least 1"),
    (a_test("trigger: a\nruns:\nexpect: " + OK), f"{T}.runs", 7, "bad_number", "null"),
    (a_test("trigger: a\nmin_pass: 0\nexpect: " + OK), f"{T}.min_pass", 7, "bad_number", "fraction"),
    (a_test("trigger: a\nmin_pass: -0.5\nexpect: " + OK), f"{T}.min_pass", 7, "bad_number", "'-0.5'"),
    (a_test("trigger: a\nmin_pass: .nan\nexpect: " + OK), f"{T}.min_pass", 7, "bad_number", "'.nan'"),
    (a_test("trigger: a\nruns: 2\nmin_pass: 3\nexpect: " + OK), f"{T}.min_pass", 8, "min_pass_over_runs", "2 times"),
    (a_test("trigger: a\nvariations: 1.0\nexpect: " + OK), f"{T}.variations", 7, "wrong_type", "whole number"),
    (a_test("trigger: a\nx-behaviors: [no.yaml]\nexpect: " + OK), f"{T}.x-behaviors[0]", 7, "unreadable", "no.yaml"),
    (a_test("trigger: a\nx-behaviors: 5\nexpect: " + OK), f"{T}.x-behaviors", 7, "wrong_type", "behavior file"),
    (
        a_test("trigger: '{{previous.function_calls[0].fn}}'\nexpect: " + OK),
        f"{T}.trigger",
        6,
        "bad_placeholder",
        "no turn comes before",
    ),
    (
        a_test("turns:\n  - trigger: '{{ previous.function_calls[0].fn }}'\n    expect: " + OK),
        f"{T}.turns[0].trigger",
        7,
        "bad_placeholder",
        "no turn comes before",
    ),
    # expect
    (expect("function_call: []"), f"{E}.function_call", 8, "unknown_key", "'function_calls'?"),
    (expect("ordered: true"), E, 8, "asserts_nothing", "function_calls"),
    (expect("ordered: true\nforbid: [t]"), f"{E}.ordered", 8, "needs_function_calls", "ordered"),
    (expect("function_calls: []\nexclusive: yes please"), f"{E}.exclusive", 9, "wrong_type", "true or false"),
    (expect("function_calls: [t]"), f"{E}.function_calls[0]", 8, "wrong_type", "{name: lookup_order}"),
    (expect("forbid: [t, '']"), f"{E}.forbid[1]", 8, "empty", "name of a tool"),
    (expect("forbid: [5]"), f"{E}.forbid[0]", 8, "wrong_type", "quote it"),
    (expect("forbid: ['{{x}}']"), f"{E}.forbid[0]", 8, "template_not_allowed", "forbid"),
    (expect("function_calls: [{name: t}]\nforbid: [u, t]"), f"{E}.forbid[1]", 9, "bad_value", "never pass"),
    (expect("response: [a]"), f"{E}.response", 8, "wrong_type", "{contains:"),
    (expect("response: {equals: NO}"), f"{E}.response.equals", 8, "wrong_type", "a boolean 'NO' (quote it"),
    (
        expect("response: {contains: '{{previous.x}}'}"),
        f"{E}.response.contains",
        8,
        "template_not_allowed",
        "triggers",
    ),
    (expect("response: {equals: '{{previous.x}}'}"), f"{E}.response.equals", 8, "template_not_allowed", "triggers"),
    (expect("response: {matches: '(?P<a>x)(?P<a>y)'}"), f"{E}.response.matches", 8, "bad_regex", "redefinition"),
    (expect("response: {matches: 'x{99999999999}'}"), f"{E}.response.matches", 8, "bad_regex", "too large"),
    (expect("response: {regex: x}"), f"{E}.response.regex", 8, "unknown_key", "not_matches"),
    # function_calls
    (call("params: {}"), f"{C}.name", 9, "missing_key", "name of its tool"),
    (call("name: []"), f"{C}.name", 9, "empty", "at least one"),
    (call("name: {a: b}"), f"{C}.name", 9, "wrong_type", "a mapping"),
    (call("name: [t, null]"), f"{C}.name[1]", 9, "wrong_type", "null"),
    (call("name: '{{x}}'"), f"{C}.name", 9, "template_not_allowed", "name"),
    (call("name: t\nparams: {a: 2024-05-01}"), f"{C}.params.a", 10, "bad_value", "a date in YAML"),
    (call("name: t\nparams: {a: 2024-05-01T10:00:00Z}"), f"{C}.params.a", 10, "bad_value", "quote it"),
    (call("name: t\nresult: {a: [{b: .nan}]}"), f"{C}.result.a[0].b", 10, "bad_value", "no number in JSON"),
    (call("name: t\nparams: {a: !!binary aGk=}"), f"{C}.params.a", 10, "bad_value", "binary"),
    (call("name: t\nparams: {a: {equals: [2024-05-01]}}"), f"{C}.params.a.equals[0]", 10, "bad_value", "a date"),
    (call("name: t\nparams: {a: {contains: 2024-05-01}}"), f"{C}.params.a.contains", 10, "bad_value", "a date"),
    (call("name: t\nparams: {a: {Contains: x}}"), f"{C}.params.a.Contains", 10, "bad_matcher", "'contains'?"),
    (
        call("name: t\nparams: {a: {not-matches: x}}"),
        f"{C}.params.a.not-matches",
        10,
        "bad_matcher",
        "'not_matches'?",
    ),
    (call("name: t\nparams: {a: {contains: x, b: 1}}"), f"{C}.params.a", 10, "bad_matcher", "either a matcher"),
    (call("name: t\nparams: {a: [{b: {match: x}}]}"), f"{C}.params.a[0].b.match", 10, "bad_matcher", "'matches'?"),
    (call("name: t\nparams: {a: {icontains: ''}}"), f"{C}.params.a.icontains", 10, "empty", "always holds"),
    (call("name: t\nparams: {a: {not_matches: ''}}"), f"{C}.params.a.not_matches", 10, "empty", "never holds"),
    (call("name: t\nparams: {a: {matches: [x]}}"), f"{C}.params.a.matches", 10, "bad_regex", "a list"),
    (call("name: t\nparams: {a: '{{x}}'}"), f"{C}.params.a", 10, "template_not_allowed", "params"),
    (
        call("name: t\nparams: {a: [{contains: '{{x}}'}]}"),
        f"{C}.params.a[0].contains",
        10,
        "template_not_allowed",
        "par",
    ),
    (call("name: t\nresult: [a]"), f"{C}.result", 10, "wrong_type", "a mapping"),
    (call("name: t\nerror: {}"), f"{C}.error", 10, "bad_matcher", "nothing in it"),
    (call("name: t\nerror: {x-a: 1}"), f"{C}.error", 10, "bad_matcher", "x-a"),
    (call("name: t\nerror: {matches: '['}"), f"{C}.error.matches", 10, "bad_regex", "unterminated"),
    (call("name: t\nargs: {}"), f"{C}.args", 10, "unknown_key", "params"),
]


@pytest.mark.parametrize(("text", "path", "line", "code", "said"), TABLE, ids=[f"{row[3]}-{row[1]}" for row in TABLE])
def test_a_mistake_is_one_problem_at_its_place(text: str, path: str, line: int, code: str, said: str) -> None:
    found = problems(text)
    assert [(problem.path, problem.line, problem.code) for problem in found] == [(path, line, code)], found
    assert said in str(found[0])
    assert not any(value in str(found[0]) for value in ("host-that-is-secret", "hidden-word"))


def test_all_mistakes_of_a_file_are_told_in_its_order() -> None:
    text = (
        'agent: {endpoint: ftp://h/, start: "\'", timeout: 0}\n'
        "suites:\n"
        "  - tests:\n"
        "      - triger: a\n"
        "        expect: {response: {contain: x}}\n"
        "        expect: {}\n"
        "      - trigger: b\n"
        "        min_pass: 2\n"
        "        expect: {function_calls: [{name: t, params: {a: {matches: '('}}}]}\n"
    )
    assert [(problem.line, problem.path, problem.code) for problem in problems(text)] == [
        (1, "agent.start", "bad_command"),
        (1, "agent.endpoint", "bad_url"),
        (1, "agent.timeout", "out_of_range"),
        (3, "suites[0].name", "missing_key"),
        (4, "suites[0].tests[0].triger", "unknown_key"),
        (5, "suites[0].tests[0].expect.response.contain", "unknown_key"),
        (6, "suites[0].tests[0].expect", "duplicate_key"),
        (8, "suites[0].tests[1].min_pass", "min_pass_over_runs"),
        (9, "suites[0].tests[1].expect.function_calls[0].params.a.matches", "bad_regex"),
    ]


def test_a_problem_is_one_line_that_names_file_line_path_and_what_was_meant() -> None:
    (problem,) = problems(agent("helth: http://h/"))
    assert str(problem) == "a.yaml:3: agent.helth: unknown key 'helth' (did you mean 'health'?)"


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SpecProblems, match="cannot be read: No such file") as caught:
        read_spec(tmp_path / "none.yaml", environ={})
    assert [problem.code for problem in caught.value.problems] == ["unreadable"]


@pytest.mark.parametrize(("runs", "codes"), [(None, []), (2, ["min_pass_over_runs"]), (3, [])])
def test_min_pass_is_checked_against_the_runs_of_the_command_line(runs: int | None, codes: list[str]) -> None:
    text = a_test(f"trigger: a\nmin_pass: 3\nexpect: {OK}") + "defaults: {runs: 3}\n"
    assert [problem.code for problem in problems(text, runs)] == codes


def test_an_unknown_key_is_not_told_for_its_variable() -> None:
    assert [problem.code for problem in problems(agent("qqq: ${NOT_THERE}"))] == ["unknown_key"]


def test_a_test_cannot_have_both_a_trigger_and_turns() -> None:
    text = a_test(f"trigger: a\nexpect: {OK}\nturns: [{{trigger: b, expect: {OK}}}]")
    assert [(problem.path, problem.code) for problem in problems(text)] == [
        (f"{T}.trigger", "exclusive_keys"),
        (f"{T}.expect", "exclusive_keys"),
    ]
