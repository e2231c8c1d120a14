"""Telemetry from files, told apart by content and never by name, streamed whatever their size.

Read are: OTLP JSON lines and length-delimited protobuf, as the Collector's file exporter writes them; serialized
export requests of traces or logs, also several one after another; trace-contract lines; and gzip of each.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from collector.receiver.decoded import Decoded, Malformed
from collector.receiver.intake import Signal
from collector.receiver.protobuf import decode_logs, decode_traces
from collector.receiver.records import decode_line
from collector.receiver.wire import NotProtobuf, signal_of
from collector.telemetry import Batch

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANKS: Final = b" \t\r\n"
_FIELD_ONE: Final = b"\n"
"""The first byte of an export request: field 1, length-delimited. (As text it is an empty line.)"""
_PIECE: Final = 256 * 1024
"""How many bytes of neighbouring resources are decoded together."""
_LARGEST: Final = (1 << 31) - 1
"""The largest protobuf message, in bytes."""


class FileProblem(ValueError):
    """A file, or a part of it, that cannot be read. `place` is a line or a byte (after decompression), or ""."""

    def __init__(self, path: Path, place: str, message: str) -> None:
        super().__init__(f"{path}: {place}: {message}" if place else f"{path}: {message}")
        self.path, self.place, self.message = path, place, message


OnProblem = Callable[[FileProblem], None]


def _raise(problem: FileProblem) -> None:
    raise problem


def read(
    path: Path, on_problem: OnProblem = _raise, on_position: Callable[[int], None] | None = None
) -> Iterator[Batch]:
    """What the file carries, in its order: a batch for each line, or for some neighbouring resources.

    A bad line, and a span or log record that has to be left out, is a `FileProblem`: raised, unless `on_problem`
    takes it and reading goes on. A file that is cut, that is none of the formats or that cannot be opened raises
    `FileProblem` always. Metrics are skipped. An empty file carries nothing. `on_position` is told before each batch
    how many bytes of the file, as it lies on disk, were read.
    """
    try:
        with path.open("rb") as file:
            for batch in _Reading(path, file, on_problem).batches():
                if on_position is not None:
                    on_position(file.tell())
                yield batch
    except OSError as error:
        raise FileProblem(path, "", error.strerror or str(error)) from error


class _Reading:
    """One file while it is read. `_place` is where the part begins that is read at the moment."""

    def __init__(self, path: Path, file: io.BufferedReader, on_problem: OnProblem) -> None:
        self._path = path
        self._on_problem = on_problem
        self._file = file
        self._place = "byte 0"

    def batches(self) -> Iterator[Batch]:
        if self._file.peek(2)[:2] != _GZIP:
            yield from self._contents(self._file)
            return
        try:
            with gzip.GzipFile(fileobj=self._file, mode="rb") as inflated:
                yield from self._contents(io.BufferedReader(inflated, 1 << 16))
        except EOFError:
            raise self._problem("the gzip file is cut here: its end is missing") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._problem(f"the gzip file is damaged here: {error}") from None

    def _contents(self, stream: io.BufferedReader) -> Iterator[Batch]:
        start = stream.peek(4096)[:4096]
        if start.startswith(_BYTE_ORDER_MARK):
            stream.read(len(_BYTE_ORDER_MARK))
            return self._lines(stream)
        if _is_text(start):
            return self._lines(stream)
        if start.startswith(_FIELD_ONE):
            return self._resources(stream, 0)
        if _ZSTD in (start[:4], start[4:8]):
            raise self._problem("the file is compressed with zstd, which is not read; decompress it first")
        if start[:4] == bytes(4) or start[4:5] == _FIELD_ONE:
            return self._delimited(stream)
        raise self._problem(
            f"the file begins with {start[:8]!r}, and is neither OTLP (JSON lines, protobuf) nor trace-contract "
            "lines, nor gzip of them"
        )

    def _lines(self, stream: io.BufferedReader) -> Iterator[Batch]:
        number = 1
        self._place = "line 1"
        while line := stream.readline():
            content = line.strip(_BLANKS)
            if content in (b"{", b"["):
                raise self._problem("a JSON text of several lines; expected one object a line: jq -c . FILE")
            if content:
                yield from self._decode(decode_line, line, self._place)
            number += 1
            self._place = f"line {number}"

    def _delimited(self, stream: io.BufferedReader) -> Iterator[Batch]:
        """Requests, each after its length in 4 bytes, big-endian."""
        offset = 0
        while prefix := stream.read(4):
            self._place = f"byte {offset}"
            size = int.from_bytes(prefix, "big")
            if len(prefix) < 4 or size > _LARGEST:
                raise self._problem(f"expected the length of a request in 4 bytes, found {prefix.hex(' ')}")
            request = self._exactly(stream, size)
            yield from self._resources(io.BytesIO(request), offset + 4)
            offset += 4 + size

    def _resources(self, stream: IO[bytes], offset: int) -> Iterator[Batch]:
        """A request, or several: one after another they are, in protobuf, one request of all their resources.

        So they are read resource by resource, neighbours of one signal together. `offset` is where they begin.
        """
        piece, piece_signal, piece_place = bytearray(), Signal.TRACES, ""
        for field, contents in self._fields(stream, offset):
            signal = self._signal(contents) or piece_signal
            if piece and (signal is not piece_signal or len(piece) + len(field) > _PIECE):
                yield from self._decode_resources(piece_signal, bytes(piece), piece_place)
                piece.clear()
            if not piece:
                piece_signal, piece_place = signal, self._place
            piece += field
        if piece:
            yield from self._decode_resources(piece_signal, bytes(piece), piece_place)

    def _fields(self, stream: IO[bytes], offset: int) -> Iterator[tuple[bytes, bytes]]:
        """Each field 1 as it is in the file, and its contents."""
        while tag := stream.read(1):
            self._place = f"byte {offset}"
            header = bytearray(tag)
            size = shift = 0
            while tag == _FIELD_ONE and len(header) <= 5:
                byte = self._exactly(stream, 1)[0]
                header.append(byte)
                size |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
            if tag != _FIELD_ONE or size > _LARGEST or header[-1] >= 0x80:
                raise self._problem(f"expected a resource (field 1) of an OTLP request, found {header.hex(' ')}")
            contents = self._exactly(stream, size)
            yield bytes(header) + contents, contents
            offset += len(header) + size

    def _signal(self, resource: bytes) -> Signal | None:
        try:
            return signal_of(resource)
        except NotProtobuf:
            return Signal.TRACES  # its decoder says what is wrong with it

    def _decode_resources(self, signal: Signal, request: bytes, place: str) -> Iterator[Batch]:
        if signal is not Signal.METRICS:
            yield from self._decode(decode_traces if signal is Signal.TRACES else decode_logs, request, place)

    def _decode(self, decoder: Callable[[bytes], Decoded], body: bytes, place: str) -> Iterator[Batch]:
        try:
            decoded = decoder(body)
        except Malformed as malformed:
            self._on_problem(FileProblem(self._path, place, str(malformed)))
            return
        if decoded.rejected:
            message = f"{decoded.rejected} left out; the first, {decoded.reason}"
            self._on_problem(FileProblem(self._path, place, message))
        batch = decoded.batch
        if batch.spans or batch.logs or batch.records:
            yield batch

    def _exactly(self, stream: IO[bytes], size: int) -> bytes:
        """The next `size` bytes: read by and by, since a damaged length must not take the memory."""
        pieces: list[bytes] = []
        missing = size
        while missing:
            piece = stream.read(min(missing, 1 << 20))
            if not piece:
                raise self._problem(f"the file is cut: {missing} of the next {size} bytes are missing")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _problem(self, message: str) -> FileProblem:
        return FileProblem(self._path, self._place, message)


def _is_text(start: bytes) -> bool:
    """Whether a file that begins so is lines of JSON.

    It is when it begins with a brace, after blanks or not. A line feed is field 1 of a request as well, and a brace
    then its length, 123; but no resource begins as an object goes on.
    """
    text = start.lstrip(_BLANKS)
    if not text:
        return True
    if start[:1] == _FIELD_ONE:
        return text.startswith((b'{"', b"{}"))
    return text[:1] in (b"{", b"[")
