"""What a batch did, as the assembly tells it."""

from dataclasses import dataclass, field

from collector.assembly.losses import Loss
from collector.assembly.visibility import Sight
from evaluator.harness.sighting import Sighting
from evaluator.items import Change


@dataclass(slots=True)
class Assembled:
    """What a batch did: to items, and which spans were in it (those that came before are not among them)."""

    changes: list[Change] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    """What is known to be missing of sessions and jobs, or is unreadable: none of them is whole."""
    unread: str = ""
    """Why something could not be read, whosever it is: nothing that is open is whole. "" where all was read."""
    sights: list[Sight] = field(default_factory=list)
    """Of which sessions tool calls cannot be seen or again can, where the assembly is `watched`."""
    touched: tuple[bytes, ...] = ()
    """The traces that something new is of, and parts of what is in none, where the assembly is `watched`."""
