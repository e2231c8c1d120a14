"""What is known of an agent's tools: those it declares, those it was seen to call, and whether calls show at all."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from evaluator.expectations.reason import Reason, listed, unverifiable
from evaluator.harness.sighting import Sighting
from evaluator.items import NotRecorded
from evaluator.language.spec import CallExpectation, Expect

SPEAKING: Final = frozenset({"tool", "model", "agent", "workflow", "turn", "hello"})
"""Roles of spans and records that show that what the agent does is instrumented, and not only its web server."""


@dataclass(slots=True)
class Inventory:
    declared: set[str] | None = None
    """None: the agent has not said which tools it has."""
    called: set[str] = field(default_factory=set)
    speaks: bool = False
    """Some telemetry says something of tools, models or agents, so a call would have been seen."""

    blind: NotRecorded | None = None
    """Why spans that came do not show which tools were called."""

    def saw(self, sighting: Sighting) -> None:
        if sighting.blind is not None:
            self.blind = sighting.blind
        elif sighting.role in SPEAKING:
            self.speaks = True
        if sighting.declares is not None:
            self.declared = (self.declared or set()) | sighting.declares

    def lacks(self, name: str) -> bool:
        """Whether the agent is known not to have the tool."""
        return self.declared is not None and name not in self.declared and name not in self.called

    def gaps(self, expect: Expect) -> Iterator[tuple[CallExpectation | None, Reason]]:
        """What cannot be checked because the agent has no such tool, with the entry that asks for it."""
        for name in dict.fromkeys(expect.forbid):
            if self.lacks(name):
                yield None, unverifiable("tool_not_observable", self._forbidden(name), expect.place)
        for entry in expect.calls or ():
            if all(self.lacks(name) for name in entry.names):
                yield entry, unverifiable("tool_not_observable", self._expected(entry.names), entry.place)

    def blindness(self, expect: Expect | None) -> Reason:
        """Why it is no proof that no call was seen, for what a test expects (or a behavior)."""
        place = None if expect is None else expect.place
        if self.blind is not None:
            text = f"The spans that came do not show which tools were called: {self.blind.cause}."
            return unverifiable("tool_not_observable", text, place, fix=self.blind.fix)
        return unverifiable(
            "tool_not_observable",
            "No span of this agent says anything of tools, models or agents, so nothing shows that a call would have "
            "been seen.",
            place,
            fix="Instrument what runs the agent and not only its web server (docs/frameworks.md). Look closer with: "
            "spanbar doctor",
        )

    def undeclared(self, names: Iterable[str]) -> list[str]:
        """Of the forbidden names, those that nothing shows to be tools of the agent, if it declares none."""
        if self.declared is not None:
            return []
        return sorted({name for name in names if name not in self.called})

    def _forbidden(self, name: str) -> str:
        return f"Nothing is verified by forbidding {name!r}: the agent has no such tool. {self._instead(name)}"

    def _expected(self, names: tuple[str, ...]) -> str:
        wanted = listed([repr(name) for name in names], "or")
        return f"Cannot see calls to {wanted}: the agent has no such tool. {self._instead(names[0])}"

    def _instead(self, name: str) -> str:
        known = sorted((self.declared or set()) | self.called)
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        tools = listed(known, "and") if known else "none"
        return f"({hint}It declares {tools}.)" if hint else f"It declares {tools}."
