"""Reads a test spec: a YAML file -> a `Spec`, or every problem it has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evaluator.language.agent import read_agent
from evaluator.language.composer import compose
from evaluator.language.document import Node
from evaluator.language.problem import Problem, SpecProblems
from evaluator.language.review import Review
from evaluator.language.spec import Spec
from evaluator.language.suites import Suites

SPEC_KEYS: Final = ("agent", "suites", "defaults")
DEFAULTS_KEYS: Final = ("runs",)


def read_spec(path: Path, *, environ: Mapping[str, str], runs: int | None = None) -> Spec:
    """Read the spec at `path`.

    `environ` are the variables for `${NAME}`; `runs` is what `--runs` says, which `min_pass` is checked against.
    Raises SpecProblems with every problem of the file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise SpecProblems([Problem(str(path), "", None, "unreadable", message)]) from error
    return parse_spec(data, path, environ=environ, runs=runs)


def parse_spec(data: bytes | str, path: Path, *, environ: Mapping[str, str], runs: int | None = None) -> Spec:
    """Read a spec from `data`, as if it were the file at `path`. Raises SpecProblems."""
    document = compose(data, str(path))
    if document.root is None:
        raise SpecProblems(document.problems)
    review = Review(str(path), root="spec", problems=list(document.problems))
    spec = _spec(review, document.root, path, environ, runs)
    review.done()
    if spec is None:
        raise RuntimeError(f"{path}: the spec was refused without a problem")  # a defect of this package
    return spec


def _spec(review: Review, root: Node, path: Path, environ: Mapping[str, str], runs: int | None) -> Spec | None:
    entries = review.mapping(root, SPEC_KEYS, "a mapping with agent and suites")
    if entries is None:
        return None
    if "agent" not in entries:
        review.missing(root, "agent", "how to reach the agent is missing")
    if "suites" not in entries:
        review.missing(root, "suites", "there are no tests: add a suite with tests", code="empty")
    default_runs = _default_runs(review, entries["defaults"].value) if "defaults" in entries else None
    agent = read_agent(review, entries["agent"].value, environ) if "agent" in entries else None
    reader = Suites(review, path.parent, runs or default_runs or 1)
    suites = reader.read(entries["suites"].value) if "suites" in entries else ()
    return None if agent is None else Spec(path, agent, default_runs, suites, tuple(review.warnings))


def _default_runs(review: Review, node: Node) -> int | None:
    entries = review.mapping(node, DEFAULTS_KEYS, "a mapping such as {runs: 3}")
    if not entries:
        return None
    return review.whole(entries["runs"].value, least=1, wrong="bad_number", low="bad_number")
