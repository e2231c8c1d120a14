"""Whatever is in a file, reading it ends in a spec or in problems that can be shown."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import SpecProblems, parse_spec
from evaluator.language.agent import AGENT_KEYS
from evaluator.language.composer import compose
from evaluator.language.document import plain
from evaluator.language.expect import CALL_KEYS, EXPECT_KEYS
from evaluator.language.matchers import MATCHERS
from evaluator.language.reader import SPEC_KEYS
from evaluator.language.request import REQUEST_KEYS
from evaluator.language.session import HOOK_KEYS, SESSION_KEYS
from evaluator.language.spec import Spec
from evaluator.language.suites import BEHAVIORS, SUITE_KEYS, TEST_KEYS
from evaluator.language.templates import parse, path_of, placeholders

SPEC = """\
agent:
  endpoint: http://h/c
  start: python 'a b' ${X}
  request: {headers: {A: "${X}"}, body: {m: "{{message}}", d: [1, {a: "{{session.id}}"}]}}
  session: {setup: {python: "a:b"}, teardown: "x {{ test.id }}"}
defaults: {runs: 3}
x-a: &a {k: 1, j: [x, 0x1F, 1:20, ~]}
suites:
  - name: S
    tests:
      - trigger: hello
        min_pass: 0.5
        expect: &e
          function_calls: [{name: [a, b], params: {q: {contains: x}, r: [1, {matches: "^a"}], <<: *a}}]
          ordered: true
          response: {matches: "a.*b"}
      - turns: [{trigger: a}, {trigger: "{{previous.function_calls[0].result}}", expect: *e}]
"""

FRAGMENTS = st.sampled_from(
    [
        *(
            "{",
            "}",
            "[",
            "]",
            ":",
            " ",
            "\n",
            "\t",
            "- ",
            "? ",
            "&a ",
            "*a",
            "<<: ",
            "!!set ",
            "! ",
            "| ",
            "> ",
            "'",
            '"',
            "#",
        ),
        *(
            "\\",
            "%YAML 1.1\n",
            "---\n",
            "...\n",
            "@",
            "`",
            "~",
            "{{",
            "}}",
            "{{previous.",
            "2024-13-99",
            "0x_",
            ".nan",
            "=",
            "<<",
        ),
        *(
            "9" * 5000,
            "\x00",
            "\ufeff",
            "\ud800",
            '"\\UFFFFFFFF"',
            "!!int ",
            "!!bool ",
            "!!timestamp ",
            "!!binary ",
            "1:61",
            "x-",
        ),
        *("\x85", "\u2028", "[" * 300, "${", "${X}", "(", "null", "yes"),
    ]
)

EDIT = st.tuples(st.integers(0, len(SPEC)), st.integers(0, 25), st.one_of(FRAGMENTS, st.text(max_size=5)))


def outcome(data: bytes | str) -> Spec | SpecProblems:
    try:
        return parse_spec(data, Path("a.yaml"), environ={"X": "v"})
    except SpecProblems as error:
        refused = error
    assert refused.problems
    for problem in refused.problems:
        assert problem.code
        assert problem.message
        assert len(str(problem).splitlines()) == 1
        str(problem).encode()
    return refused


def test_the_spec_that_is_mutilated_is_a_good_one() -> None:
    assert isinstance(outcome(SPEC), Spec)


@settings(max_examples=300, deadline=None)
@given(edits=st.lists(EDIT, min_size=1, max_size=6))
def test_a_mutilated_spec_is_read_or_refused(edits: list[tuple[int, int, str]]) -> None:
    text = SPEC
    for position, length, new in edits:
        text = text[:position] + new + text[position + length :]
    outcome(text)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    outcome(data)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.dates(),
        st.text(max_size=8),
        st.sampled_from(["{{message}}", "{{session.a}}", "contains", "a: b", "${X}", "${Y}"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
KEYS = (
    *(*SPEC_KEYS, *AGENT_KEYS, *REQUEST_KEYS, *SESSION_KEYS, *HOOK_KEYS),
    *(*SUITE_KEYS, *TEST_KEYS, *EXPECT_KEYS, *CALL_KEYS, *MATCHERS),
    *("x-a", BEHAVIORS, "endpont", "a\nb", "\x1b[0m"),
)


def trees(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5))


@settings(max_examples=200, deadline=None)
@given(tree=trees(st.recursive(JSON, trees, max_leaves=15)))
def test_any_tree_of_known_keys_is_read_or_refused(tree: Any) -> None:
    outcome(yaml.safe_dump(tree, allow_unicode=True))


@settings(max_examples=200, deadline=None)
@given(tree=JSON)
def test_a_tree_is_what_pyyaml_reads_with_texts_as_keys(tree: Any) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True)
    document = compose(text, "a.yaml")
    assert document.problems == ()
    assert document.root is not None
    assert repr(plain(document.root)) == repr(_with_text_keys(yaml.safe_load(text)))


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(inner) for key, inner in value.items()}
    return [_with_text_keys(inner) for inner in value] if isinstance(value, list) else value


@settings(max_examples=200, deadline=None)
@given(
    text=st.lists(st.sampled_from(["{{", "}}", "{", "}", "message", ".", "[", "]", "0", " ", "a", "-"])).map("".join)
)
def test_the_pieces_of_a_template_are_the_text(text: str) -> None:
    pieces = parse(text, {"message", "a"})
    assert "".join(piece if isinstance(piece, str) else piece.text for piece in pieces) == text
    for placeholder in placeholders(text):
        assert path_of(placeholder.name) == placeholder.path
