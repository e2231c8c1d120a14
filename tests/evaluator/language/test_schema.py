"""The JSON Schemas agree with the readers on structure: they take what is read, and refuse wrong structure."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from evaluator.language import SpecProblems, parse_spec
from evaluator.language.behavior_schema import behavior_schema
from evaluator.language.behaviors import OPERATORS, parse_behaviors
from evaluator.language.composer import compose
from evaluator.language.document import plain
from evaluator.language.schema import Schema, mapping, spec_schema

SHARED = Path(__file__).parents[3] / ".." / "shared" / "conformance"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared conformance cases are not here")

SPEC = Draft202012Validator(spec_schema())
BEHAVIORS = Draft202012Validator(behavior_schema())

STRUCTURAL = {
    *(
        "unknown_key",
        "wrong_type",
        "missing_key",
        "empty",
        "exclusive_keys",
        "asserts_nothing",
        "needs_function_calls",
    ),
    *("out_of_range", "bad_number", "mode_conflict", "bad_matcher"),
}
BEYOND = {
    # What no schema of reasonable size says.
    "runs-float": "JSON has one kind of number: 3.0 is 3",
    "defaults-runs-float": "JSON has one kind of number: 2.0 is 2",
    "turns-none-with-expect": "some item has a key",
    "matcher-near-miss-result": "a key that is nearly a matcher",
}


def cases(name: str) -> list[dict[str, Any]]:
    path = SHARED / name
    found = json.loads(path.read_text("utf-8")) if path.exists() else []
    return list(found["cases"] if isinstance(found, dict) else found)


def errors(validator: Draft202012Validator, value: Any) -> list[str]:
    return [error.message for error in validator.iter_errors(value)]


def read(case: dict[str, Any]) -> tuple[Any, set[str]]:
    """The tree of a case's spec, and the codes of its problems."""
    text = case["yaml"] if "yaml" in case else yaml.safe_dump(case.get("spec"), allow_unicode=True, sort_keys=False)
    text = text.replace("@ENDPOINT@", "http://h/").replace("@HEALTH@", "http://h/")
    document = compose(text, "a.yaml")
    tree = None if document.root is None else plain(document.root)
    try:
        parse_spec(text, Path("a.yaml"), environ=case.get("env", {}))
    except SpecProblems as error:
        return tree, {problem.code for problem in error.problems}
    return tree, set()


@pytest.mark.parametrize("schema", [spec_schema(), behavior_schema()], ids=["spec", "behaviors"])
def test_a_schema_is_one_of_draft_2020_12(schema: Schema) -> None:
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


@needs_shared
def test_every_spec_that_is_read_is_taken_by_the_schema() -> None:
    wrong = {}
    for case in cases("highbar/cases.json"):
        tree, codes = read(case)
        if "bytes_hex" not in case and not case.get("no_spec_file") and not codes and errors(SPEC, tree):
            wrong[case["id"]] = errors(SPEC, tree)
    assert wrong == {}


@needs_shared
@pytest.mark.parametrize("case", cases("highbar/cases.json"), ids=lambda case: str(case["id"]))
def test_a_spec_of_wrong_structure_is_refused_by_the_schema(case: dict[str, Any]) -> None:
    tree, codes = read(case)
    if "bytes_hex" in case or tree is None or not codes & STRUCTURAL:
        return
    assert bool(errors(SPEC, tree)) == (case["id"] not in BEYOND)


SOUND = {
    "agent": {"endpoint": "http://h/"},
    "suites": [{"name": "S", "tests": [{"trigger": "a", "expect": {"forbid": ["t"]}}]}],
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("agnet",), {}),
        (("agent", "startup_timeout"), 5),
        (("agent", "timeout"), "5"),
        (("agent", "response"), ["a"]),
        (("agent", "session"), {"x-a": 1}),
        (("agent", "request"), {"method": "GET"}),
        (("agent", "request"), {"headers": {"A": 1}}),
        (("agent", "correlate"), {"a": True}),
        (("suites", 0, "tests", 0, "turns"), [{"trigger": "a"}]),
        (("suites", 0, "tests", 0, "min_pass"), 1.5),
        (("suites", 0, "tests", 0, "expect", "forbid"), "t"),
        (("suites", 0, "tests", 0, "expect", "ordered"), True),
        (("suites", 0, "tests", 0, "expect", "function_calls"), [{"name": " "}]),
        (("suites", 0, "tests", 0, "expect", "function_calls"), [{"name": "t", "error": "boom"}]),
        (
            ("suites", 0, "tests", 0, "expect", "function_calls"),
            [{"name": "t", "params": {"a": [{"contains": 1, "b": 1}]}}],
        ),
        (("suites", 0, "tests", 0, "expect", "response"), {"contains": ""}),
    ],
)
def test_what_the_schema_refuses_the_reader_refuses_too(path: tuple[Any, ...], value: Any) -> None:
    spec = json.loads(json.dumps(SOUND))
    assert errors(SPEC, spec) == []
    inner = spec
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert errors(SPEC, spec) != []
    with pytest.raises(SpecProblems):
        parse_spec(json.dumps(spec), Path("a.yaml"), environ={})


def behaviors(assertion: Any, **more: Any) -> dict[str, Any]:
    return {"behaviors": [{"name": "n", "assert": assertion, **more}]}


@needs_shared
def test_every_assertion_of_the_cases_is_taken_by_the_schema() -> None:
    found = cases("operators.json")
    wrong = {case["id"]: case["assert"] for case in found if errors(BEHAVIORS, behaviors(case["assert"]))}
    assert wrong == {}
    assert {key for case in found for key in case["assert"]} >= {*OPERATORS}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"behaviors": []},
        behaviors({}),
        behaviors({"nevr": {"event": "a"}}),
        behaviors({"never": {"event": "a"}, "eventually": {"event": "a"}}),
        behaviors({"never": {}}),
        behaviors({"never": {"event": "a", "tool": {}}}),
        behaviors({"never": {"tool": {"kind": "shel"}}}),
        behaviors({"never": {"where": {"status": {"not": {"not": "a"}}}}}),
        behaviors({"count": {"match": {"event": "a"}}}),
        behaviors({"each": {"event": "a"}}),
        behaviors({"each": {"event": "a"}, "requires_prior": {"event": "b"}, "within": {"seq": 1, "turns": 1}}),
        behaviors({"never": {"event": "a"}, "within": {"seq": 1}}),
        behaviors({"all": {"paths": {"from": ["files"]}, "match": "*"}}),
        behaviors({"never": {"event": "a"}}, unit="run"),
        behaviors({"never": {"event": "a"}}, severity="info"),
    ],
    ids=json.dumps,
)
def test_behaviors_of_wrong_structure_are_refused_by_both(tree: dict[str, Any]) -> None:
    assert errors(BEHAVIORS, tree) != []
    with pytest.raises(SpecProblems):
        parse_behaviors(json.dumps(tree), "b.yaml")


def test_a_description_that_is_not_of_the_keys_that_are_read_is_a_defect() -> None:
    with pytest.raises(ValueError, match="described and read differ: a, c"):
        mapping(("a", "b"), {"b": {}, "c": {}})
