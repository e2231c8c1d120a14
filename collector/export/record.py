"""`--record FILE`: every received request as a line of OTLP JSON, which `collector.receiver.files` reads back."""

from pathlib import Path
from types import TracebackType
from typing import Final

import orjson
from google.protobuf.message import DecodeError

from collector.export.otlp_json import request_to_json
from collector.receiver import Received
from collector.receiver.decoded import Malformed
from collector.receiver.intake import Format
from collector.receiver.records import decode_line

_LINE_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")


class Recorder:
    """Writes received requests to a file, each at once and whole, so that a killed run leaves what it received.

    JSON is written as it came; protobuf is converted, with duplicate keys and all; of trace-contract lines, those
    that can be read. What cannot be written is counted in `failed` and told by `problem`; receiving goes on.
    """

    def __init__(self, path: Path, *, append: bool = False) -> None:
        """Open the file, anew unless `append`; its folder is made if need be. Raises `OSError`."""
        self.path = path
        self.recorded = 0
        """Requests that were written."""
        self.failed = 0
        self._last_error = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab" if append else "wb", buffering=0)

    def __call__(self, received: Received) -> None:
        try:
            self._write(_lines(received))
        except (OSError, DecodeError) as error:
            self.failed += 1
            self._last_error = str(error)
        else:
            self.recorded += 1

    @property
    def problem(self) -> str | None:
        """One sentence about what could not be recorded, or None."""
        if not self.failed:
            return None
        return f"{self.path}: {self.failed} received request(s) could not be recorded: {self._last_error}"

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, lines: bytes) -> None:
        rest = memoryview(lines)
        while rest:
            rest = rest[self._file.write(rest) :]


def _lines(received: Received) -> bytes:
    """The request as whole lines, each with its line feed."""
    if received.content_type == Format.LINES:
        return b"".join(line + b"\n" for line in received.body.split(b"\n") if _is_readable(line))
    if received.content_type == Format.JSON:
        # Line breaks can only stand between the tokens of JSON: in a text they are escaped.
        return received.body.translate(_LINE_BREAKS) + b"\n"
    return orjson.dumps(request_to_json(received.signal, received.body)) + b"\n"


def _is_readable(line: bytes) -> bool:
    try:
        return bool(line.strip()) and decode_line(line) is not None
    except Malformed:
        return False
