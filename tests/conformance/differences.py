"""The cases that spanbar meets differently than highbar, each with the reason and with what it does instead.

`cases.json` is of highbar 0.1.0rc3. A case with `improve` may be met as `improve` asks, one with `adapt` as SEMANTICS.md
has it; here is where that is done. `expect` takes the place of the case's own and is checked like it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    why: str
    expect: Mapping[str, Any]


DIFFERENCES: Mapping[str, Difference] = {}
