"""A trace-contract file followed as it grows."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from collector.receiver.decoded import Malformed
from collector.receiver.files import FileProblem, OnProblem
from collector.receiver.records import decode_line
from collector.telemetry import Batch

_STEP: Final = 10
"""ms during which further changes of the file join the first."""
_DEBOUNCE: Final = 50
"""ms after which changes are told although more of them come."""
_LOOK: Final = 200
"""ms without a notice after which the file is looked at anyway: the first change may come before the watch stands,
and some file systems send none."""
_PIECE: Final = 1 << 20


class Following:
    """Hands what is appended to a file to a sink, a batch for each read.

    The file need not exist yet. A last line without its line feed is kept until that arrives, or `close`. A file that
    became shorter, or was replaced, is read from its start. A line that cannot be read goes to `on_problem`, with its
    number. `from_end` skips what is in the file at the moment.
    """

    def __init__(
        self, path: Path, sink: Callable[[Batch], None], on_problem: OnProblem, *, from_end: bool = False
    ) -> None:
        self._path = path
        self._sink = sink
        self._on_problem = on_problem
        self._identity: tuple[int, int] | None = None
        self._offset = 0
        self._line = 0
        self._rest = b""
        if from_end:
            self._skip()

    def drain(self) -> None:
        """Hand on everything that the file has now. Afterwards the sink has seen every whole line of it."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            status = os.fstat(file.fileno())
            identity = (status.st_dev, status.st_ino)
            if identity != self._identity or status.st_size < self._offset:
                self._identity = identity
                self._offset, self._line, self._rest = 0, 0, b""
            file.seek(self._offset)
            while piece := file.read(_PIECE):
                self._offset += len(piece)
                *lines, self._rest = (self._rest + piece).split(b"\n")
                self._hand_on(lines)

    def close(self) -> None:
        """Drain, and take a last line without a line feed as it is: nothing more is written."""
        self.drain()
        last, self._rest = self._rest, b""
        self._hand_on([last])

    async def run(self) -> None:
        """Drain now and at every change, until cancelled. Makes the file's directory if there is none."""
        directory, name = self._path.absolute().parent, self._path.name
        directory.mkdir(parents=True, exist_ok=True)
        self.drain()
        # Loading it takes long beside a short run whose agent writes no file.
        from watchfiles import awatch

        async for _ in awatch(
            directory,
            watch_filter=lambda _, path: Path(path).name == name,
            debounce=_DEBOUNCE,
            step=_STEP,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            recursive=False,
        ):
            self.drain()

    def _skip(self) -> None:
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                self._identity = (status.st_dev, status.st_ino)
                while piece := file.read(_PIECE):
                    self._offset += len(piece)
                    self._line += piece.count(b"\n")
                    self._rest = (self._rest + piece).rpartition(b"\n")[2]
        except FileNotFoundError:
            return

    def _hand_on(self, lines: list[bytes]) -> None:
        batch = Batch()
        for line in lines:
            self._line += 1
            if not line.strip():
                continue
            try:
                decoded = decode_line(line)
            except Malformed as malformed:
                self._on_problem(FileProblem(self._path, f"line {self._line}", str(malformed)))
                continue
            if decoded.rejected:
                self._on_problem(FileProblem(self._path, f"line {self._line}", decoded.reason))
            batch.spans += decoded.batch.spans
            batch.logs += decoded.batch.logs
            batch.records += decoded.batch.records
        if batch.spans or batch.logs or batch.records:
            self._sink(batch)


async def follow(path: Path, sink: Callable[[Batch], None], on_problem: OnProblem) -> None:
    """Hand what is in the file and what is appended to it to the sink, until cancelled."""
    await Following(path, sink, on_problem).run()
