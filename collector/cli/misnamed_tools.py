"""Misnamed tools: warnings of a server about tools that behaviors name and that there seem not to be."""

import logging
from collections.abc import Sequence
from typing import Final

from collector.assembly import Assembly
from collector.index import Index, Update
from evaluator.language.assertion import Behavior
from evaluator.named_tools import NamedTools, shown_by

KNOWN: Final = 10_000
"""From how many names of tools and events on no more are kept."""

_log = logging.getLogger(__name__)


class MisnamedTools:
    """Looks at the names whenever a unit is over, and logs each warning once."""

    def __init__(self, behaviors: Sequence[Behavior], assembly: Assembly) -> None:
        self._named = NamedTools(behaviors)
        self._assembly = assembly
        self._seen: set[str] = set()
        self._told: set[str] = set()
        self._looked_at: tuple[int, int] = (0, 0)
        """How many names had been seen, and how many tools declared, when the names were last looked at."""

    def follow(self, index: Index) -> None:
        if self._named:
            index.listen(self._heard)

    def _heard(self, update: Update) -> None:
        if update.change is not None:
            item = update.change.new
            name = None if item is None else shown_by(item)
            if name is not None and name not in self._seen and len(self._seen) < KNOWN:
                self._seen.add(name)
        elif update.unit.closed:
            self._look()

    def _look(self) -> None:
        declared = self._assembly.declared
        known = len(self._seen), len(declared or ())
        if known == self._looked_at:
            return
        self._looked_at = known
        for text in self._named.unfounded(declared, self._seen):
            if text not in self._told:
                self._told.add(text)
                _log.warning("%s", text)
