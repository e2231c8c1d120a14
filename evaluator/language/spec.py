"""The typed form of a test spec (reference/spec-format.txt). `evaluator.language.read_spec` makes it from YAML.

Times are ms. Text that may hold placeholders is kept as it was written; `evaluator.harness` fills it in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluator.items import Json

REPLY_KEYS: Final = ("response", "message", "content", "text", "reply")
"""Where the reply text is looked for when `agent.response` is not given: the first key that is there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: the path of keys (`suites[0].tests[2].expect`) and the 1-based line, if known."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Matcher:
    """One value matcher: all `tests` must hold. `op` is a key of the format page, `not_contains` for one."""

    tests: tuple[tuple[str, Json], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping that must be contained in a value: each key's expectation, by key. In `Elements` it must be equal."""

    entries: Mapping[Any, "Expected"]


@dataclass(frozen=True, slots=True)
class Elements:
    """A list that must equal a value as a whole, element by element."""

    entries: tuple["Expected", ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A scalar that a value must equal, as JSON has it."""

    value: Json


Expected = Matcher | Fields | Elements | Literal
"""What a value of `params` or `result` must be."""


@dataclass(frozen=True, slots=True)
class CallExpectation:
    """One entry of `function_calls`."""

    names: tuple[str, ...]
    params: Fields | None
    result: Fields | None
    error: bool | Matcher
    place: Place


@dataclass(frozen=True, slots=True)
class Expect:
    """What must hold of one turn. `calls` is None when the spec does not speak of calls, () for `[]`."""

    calls: tuple[CallExpectation, ...] | None
    ordered: bool
    exclusive: bool
    forbid: tuple[str, ...]
    response: Matcher | None
    place: Place

    @property
    def about_calls(self) -> bool:
        """Whether the verdict depends on tool calls, and so needs an observed agent."""
        return self.calls is not None or bool(self.forbid)


@dataclass(frozen=True, slots=True)
class Turn:
    trigger: str
    expect: Expect | None
    name: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Test:
    """A single test has one turn; a conversation has `conversation` set and any number of turns."""

    turns: tuple[Turn, ...]
    conversation: bool
    name: str | None
    variations: int
    runs: int | None
    min_pass: int | float | None
    behaviors: tuple[Path, ...]
    """Behavior files of `x-behaviors`, the suite's and then the test's, as absolute paths."""
    place: Place


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    tests: tuple[Test, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class PythonHook:
    module: str
    function: str
    place: Place


@dataclass(frozen=True, slots=True)
class CommandHook:
    """A command, split like a shell does; placeholders are filled in argument by argument."""

    argv: tuple[str, ...]
    place: Place


Hook = PythonHook | CommandHook


@dataclass(frozen=True, slots=True)
class Request:
    method: str = "POST"
    headers: Mapping[str, str] | None = None
    body: Json = None
    """`{"message": "{{message}}"}` when the spec gives none; a text is sent as text, anything else as JSON."""


@dataclass(frozen=True, slots=True)
class Agent:
    endpoint: str
    start: tuple[str, ...] | None
    health: str | None
    startup_timeout: int
    settle_time: int
    settle_time_given: bool
    timeout: int
    traces: str | None
    """None, `otlp`, or the path of the trace file that an attached agent writes."""
    request: Request
    response: tuple[str, ...] | None
    """The dotted path, split."""
    setup: Hook | None
    teardown: Hook | None
    correlate: Mapping[str, str | int | float]
    secrets: Mapping[str, str]
    """The environment variables that were expanded, by name: their values are masked wherever text is shown."""
    place: Place


@dataclass(frozen=True, slots=True)
class Spec:
    path: Path
    agent: Agent
    default_runs: int | None
    suites: tuple[Suite, ...]
    warnings: tuple[str, ...] = ()
    """What is allowed but can hardly be meant, such as a date under `params`: one line each, with its place."""
