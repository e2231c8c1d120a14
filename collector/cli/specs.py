"""Which files a command line means."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from collector.cli.endings import NothingRan

FOLDER: Final = Path("specs")
"""Where specs are looked for when none are named."""
SPEC_PATTERN: Final = "*.highbar.yaml"
BEHAVIORS_PATTERN: Final = "*.behaviors.yaml"
MAPPING_PATTERN: Final = "*.mapping.yaml"


class NothingFound(NothingRan):
    """There are no such files; nothing can run."""


def find(named: Sequence[Path], *patterns: str) -> list[Path]:
    """The files that are named, and those with a name of `patterns` in the folders that are named, at any depth.

    Without names: those under `specs/`. Each file once; those of a folder by name. Raises NothingFound.
    """
    patterns = patterns or (SPEC_PATTERN,)
    found: dict[Path, None] = {}
    for path in named or (FOLDER,):
        if path.is_dir():
            inside = sorted({file for pattern in patterns for file in path.rglob(pattern) if file.is_file()})
            if not inside:
                raise NothingFound(f"no {' and no '.join(patterns)} in {path}{_advice(named)}")
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            raise NothingFound(f"there is no {path}{_advice(named)}")
    return list(found)


def _advice(named: Sequence[Path]) -> str:
    return "; name the files, or write a first spec with: spanbar init" if not named else ""
