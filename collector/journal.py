"""The journal of a server: which sessions and jobs it has had, on disk, so that the next process knows of them.

Items are kept in memory alone. A process that was killed takes them along, and what comes of a session afterwards
looks whole to the next one: its results would be of a part, and green by mistake. With a journal they are unknown.

An id is written before the request that brought it is answered, and is safe from the end of the process, however it
ends. It is not safe from the end of the machine.
"""

import fcntl
import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from collector.index import Index, UnitKey, UnitKind, Update

REMEMBERED: Final = 100_000
"""Units that are remembered from one process to the next: the newest."""

CAUSE: Final = "spanbar was restarted, and what it had of it before is gone"


def default_path(port: int, environ: Mapping[str, str]) -> Path:
    """Where the server at this HTTP port has its journal: in the user's folder for state (XDG base directories)."""
    state = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "spanbar" / f"serve-{port}.journal"


class NoJournal(ValueError):
    """A file has something else in it than a journal."""


class Journal:
    """Opens FILE, made if need be, for this process alone.

    Raises OSError if it cannot be had, or is another's, and NoJournal, leaving it as it is, if it is no journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._known: OrderedDict[UnitKey, None] = OrderedDict()
        self.problem: str | None = None
        """Why ids are not written any more, if they are not."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
        except (OSError, NoJournal):
            os.close(self._file)
            raise

    def follow(self, index: Index) -> None:
        """Tell the index of the units before its time, and note those that it gets from now on."""
        index.remember(self._known, CAUSE)
        index.listen(self._updated)

    def close(self) -> None:
        os.close(self._file)

    def _read(self) -> None:
        """Take the newest ids, and shorten the file to them. A last line that was cut short was never answered."""
        with open(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, line in enumerate(file):
                try:
                    self._note(_key(line))
                except ValueError:
                    if number == 0 and not _is_beginning(line):
                        raise NoJournal("its first line names no session or job") from None
        shortened = b"".join(map(_line, self._known))
        os.ftruncate(self._file, 0)
        os.write(self._file, shortened)

    def _updated(self, update: Update) -> None:
        key = update.unit.key
        if key in self._known or self.problem is not None:
            return
        self._note(key)
        try:
            os.write(self._file, _line(key))
        except OSError as error:
            self.problem = f"--journal {self.path}: {error.strerror}; sessions are not noted any more"

    def _note(self, key: UnitKey) -> None:
        self._known[key] = None
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


def _key(line: bytes) -> UnitKey:
    """Raises ValueError if the line is none of a journal."""
    match orjson.loads(line):
        case [str(kind), str(id)]:
            return UnitKey(UnitKind(kind), id)
    raise ValueError("no kind and id")


def _is_beginning(line: bytes) -> bool:
    """Whether the line may be a first one that was cut short. A machine that went down may leave NULs for it."""
    line = line.rstrip(b"\0")
    starts = [f'["{kind}","'.encode() for kind in UnitKind]
    return not line.endswith(b"\n") and any(line.startswith(start) or start.startswith(line) for start in starts)


def _line(key: UnitKey) -> bytes:
    return orjson.dumps([key.kind.value, key.id.encode("utf-8", "replace").decode()]) + b"\n"
