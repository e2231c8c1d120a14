"""The cases that spanbar meets differently than highbar, each with the reason and with what it does instead.

`cases.json` is of highbar 0.1.0rc3. A case with `improve` may be met as `improve` asks, one with `adapt` as
SEMANTICS.md has it; here is where that is done. `expect` takes the place of the case's own and is checked like it;
`any_reasons` lists the sets of reasons of which one must be met.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    why: str
    expect: Mapping[str, Any]


def refused(reason: str, path: str = "") -> dict[str, Any]:
    return {"exit": 2, "tests": [], "spec_error": {"reason": reason, "path": path}}


def tests(*expected: dict[str, Any]) -> dict[str, Any]:
    passes = all(test["status"] == "passed" for test in expected)
    return {"exit": 0 if passes else 1, "tests": list(expected)}


def failed(*reasons: str) -> dict[str, Any]:
    return {"status": "failed", "reasons": list(reasons)}


def error(*reasons: str) -> dict[str, Any]:
    return {"status": "error", "reasons": list(reasons)}


PASSED: dict[str, Any] = {"status": "passed"}
CALL = "suites[0].tests[0].expect.function_calls[0]"

AT_LOAD = "It can never do what it says, so the spec is refused when it is loaded."
JSON_TEXT = "Text forms are JSON's, in arguments as in replies: true is written true."
OTLP_ATTACH = "Spans need no file: an attached agent exports to spanbar's port, and its tests say if nothing comes."
PROOF = (
    "Proof is a span of the message's own, so a test that has none is an error by itself; nothing is stopped, and "
    "nothing passes because the agent sent something else."
)
UNTAGGED = "Calls that name no test never decide one (SEMANTICS.md, section 5), so they do not count by their time."
EARLY = "The forbidden or extra call ends the test at once, so nothing is said of calls that might still have come."
CONFIRMED = (
    "A turn closes when its evidence is whole, and the run is confirmed settle_time after the last reply, so it is "
    "over before this call is made; highbar happens to wait twice as long."
)
ONE_PATH = "Paths are written in one way everywhere: a.0.b, a[0].b, and keys with dashes."
WHOLE_BODY = "A body that is posted is whole: a record without an end cannot be read, which is an error."


DIFFERENCES: Mapping[str, Difference] = {
    # Refused when the file is loaded
    "yaml11-date-in-params-never-matches": Difference(AT_LOAD, refused("bad_value", f"{CALL}.params.day")),
    "start-unbalanced-quote": Difference(AT_LOAD, refused("bad_command", "agent.start")),
    "start-unbalanced-quote-run": Difference(AT_LOAD, refused("bad_command", "agent.start")),
    "placeholder-session-teardown-only": Difference(AT_LOAD, refused("bad_placeholder", "agent.request.body.c")),
    "placeholder-in-start": Difference(AT_LOAD, refused("template_not_allowed", "agent.start")),
    "session-setup-spaced-placeholder": Difference(
        "Placeholders are found before a command is split, so this one is seen, and has no value there.",
        refused("bad_placeholder", "agent.session.setup[1]"),
    ),
    "forbid-blank": Difference(AT_LOAD, refused("empty", "suites[0].tests[0].expect.forbid[0]")),
    "forbid-and-expected": Difference(AT_LOAD, refused("bad_value", "suites[0].tests[0].expect.forbid[0]")),
    "matcher-in-list-not-inspected": Difference(
        "A matcher in a list applies to its element (SEMANTICS.md, section 5), so it is checked like any other.",
        refused("bad_regex", f"{CALL}.params.a[0].matches"),
    ),
    "matcher-contains-empty-in-params": Difference(
        "A check that always holds is refused in params as in response.",
        refused("empty", f"{CALL}.params.a.contains"),
    ),
    "m-matches-empty-pattern": Difference(
        "A check that always holds is refused in params as in response.", refused("empty", f"{CALL}.params.v.matches")
    ),
    "request-header-bad-name": Difference(AT_LOAD, refused("bad_value", 'agent.request.headers["X A"]')),
    "request-header-not-ascii": Difference(AT_LOAD, refused("bad_value", "agent.request.headers.X-A")),
    "previous-in-first-turn": Difference(AT_LOAD, refused("bad_placeholder", "suites[0].tests[0].trigger")),
    # Matching
    "call-params-two-braces-any": Difference(
        "equals takes braces as they are: tools may be given mustache text.", tests(failed("missing_call"))
    ),
    "params-list-matcher-is-literal": Difference(
        "A matcher in a list applies to its element (SEMANTICS.md, section 5).", tests(PASSED)
    ),
    "params-number-key": Difference("JSON keys are text, so a number as a key is its text.", tests(PASSED)),
    "result-empty-vs-text": Difference(
        "The reason is there: the result is a text, and a mapping was expected.", tests(failed("result_mismatch"))
    ),
    "m-contains-true": Difference(JSON_TEXT, tests(PASSED)),
    "m-contains-true-capital": Difference(JSON_TEXT, tests(failed("params_mismatch"))),
    "m-contains-true-operand": Difference(JSON_TEXT, tests(failed("params_mismatch"))),
    "m-contains-null-operand": Difference(
        "null has no text form, so nothing contains it.", tests(failed("params_mismatch"))
    ),
    "m-contains-list-operand-on-text": Difference(
        "A list has no text form, so no text contains it.", tests(failed("params_mismatch"))
    ),
    "m-matches-bool": Difference(JSON_TEXT, tests(PASSED)),
    # Ended early
    "forbid-and-missing": Difference(
        EARLY,
        tests({"status": "failed", "any_reasons": [["forbidden_call"], ["forbidden_call", "missing_call"]]}),
    ),
    "exclusive-missing-first": Difference(
        EARLY, tests({"status": "failed", "any_reasons": [["unexpected_call"], ["missing_call"]]})
    ),
    "ordered-and-exclusive-both-wrong": Difference(
        EARLY,
        tests({"status": "failed", "any_reasons": [["unexpected_call"], ["out_of_order", "unexpected_call"]]}),
    ),
    "find-specs-one-invalid-runs-none": Difference(
        "Nothing runs; every problem of the file is said, in our words.",
        {"exit": 2, "output_has": ["specs/b.highbar.yaml"]},
    ),
    # Replies, templates, sessions
    "reply-unusable-but-calls-only": Difference(
        "A test that does not check the reply accepts any 2xx (SEMANTICS.md, section 5).", tests(PASSED)
    ),
    "reply-204": Difference(
        "A test that does not check the reply accepts any 2xx (SEMANTICS.md, section 5).", tests(PASSED)
    ),
    # The next message can be written, and the script answers it with 404: it does not know it.
    "previous-names-of-the-spec": Difference(
        "name and params, the words of the spec, mean fn and args.", tests(error("reply_status"))
    ),
    "previous-list-index-dotted": Difference(ONE_PATH, tests(error("reply_status"))),
    "previous-key-with-dash": Difference(ONE_PATH, tests(error("reply_status"))),
    "session-pretty-json": Difference("The whole output is read as JSON too.", tests(PASSED)),
    "session-async-setup": Difference("An async setup is awaited.", tests(PASSED)),
    # Secrets
    "secret-base64-not-masked": Difference(
        "Base64 forms are masked too.",
        {**tests({"status": "failed"}), "output_lacks": ["YWJjZGVmLXNlY3JldC0xMjM"]},
    ),
    "secret-in-test-name-not-masked": Difference(
        "Names and triggers are masked too.", {**tests(PASSED), "output_lacks": ["abcdef-secret-123"]}
    ),
    "secret-cut-in-half": Difference(
        "A text is masked before it is cut.", {**tests({"status": "failed"}), "output_lacks": ["abcdef-secret"]}
    ),
    # Observation and attribution
    "attach-needs-traces": Difference(OTLP_ATTACH, tests(failed("response.contains"), failed("missing_call"))),
    "attach-needs-traces-empty-list": Difference(OTLP_ATTACH, tests(PASSED)),
    "attach-needs-traces-forbid": Difference(OTLP_ATTACH, tests(PASSED)),
    "attach-needs-traces-turn": Difference(OTLP_ATTACH, tests(failed("missing_call"))),
    "observed-no-instrumentation": Difference(PROOF, tests(error("not_observed"))),
    "observed-forbid-needs-proof": Difference(PROOF, tests(error("not_observed"))),
    "observed-managed-no-turn-no-calls": Difference(PROOF, tests(error("not_observed"))),
    "tag-none-managed-window": Difference(UNTAGGED, tests(error("not_observed"))),
    "correlate-key-agent-never-writes": Difference(UNTAGGED, tests(error("not_observed"))),
    "trace-args-not-object": Difference(
        "The record names no test, so it does not count, and is an error where it would.",
        tests(error("untagged_ambiguous")),
    ),
    "trace-partial-line": Difference(WHOLE_BODY, tests(error("not_observed", "trace_unreadable"))),
    "trace-huge-number": Difference(
        "One record that cannot be read makes its own test an error.", tests(error("trace_unreadable"), PASSED)
    ),
    "trace-deep-nesting": Difference(
        "One record that cannot be read makes its own test an error.", tests(error("trace_unreadable"), PASSED)
    ),
    # Time
    "late-after-settle-forbidden": Difference(CONFIRMED, tests(PASSED, PASSED)),
    "late-last-test": Difference(CONFIRMED, tests(PASSED)),
    "late-untagged-next-window": Difference(CONFIRMED, tests(PASSED, PASSED)),
    "late-previous-turn": Difference(
        "Each message has its own trace, so a call of the first turn never counts for the second.",
        tests(failed("missing_call")),
    ),
}
