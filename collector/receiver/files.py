"""Telemetry from files, told apart by content and never by name, streamed whatever their size.

Read are: OTLP JSON lines and length-delimited protobuf, as the Collector's file exporter writes them; serialized
export requests of traces or logs, also several one after another; trace-contract lines; and gzip of each.
"""

import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from collector.receiver.decoded import Decoded, Malformed
from collector.receiver.inflating import MAGIC, Inflating, next_member
from collector.receiver.intake import Signal
from collector.receiver.protobuf import decode_logs, decode_traces
from collector.receiver.records import decode_line
from collector.receiver.wire import NotProtobuf, resource_field, signal_of, whole_part
from collector.telemetry import Batch

STDIN: Final = Path("-")

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


class _Resource(NamedTuple):
    """One resource of a request: what it carries, field 1 as it is in the file, and where that is."""

    signal: Signal
    field: bytes
    place: str


OnProblem = Callable[[FileProblem], None]


def _raise(problem: FileProblem) -> None:
    raise problem


def read(
    path: Path, on_problem: OnProblem = _raise, on_position: Callable[[int], None] | None = None
) -> Iterator[Batch]:
    """What the file carries, in its order: a batch for each line, or for some neighbouring resources.

    A bad line, and a span or log record that has to be left out, is a `FileProblem`: raised, unless `on_problem`
    takes it and reading goes on. So is damage, and the end of a file that is cut: what is before it is read, and what
    is after a damaged gzip member. A file that is none of the formats or that cannot be opened raises
    `FileProblem` always. Metrics are skipped. An empty file carries nothing. `on_position` is told before each batch
    how many bytes of the file, as it lies on disk, were read.

    `STDIN` is the standard input. It and other pipes are taken in to their end first, into a file without a name.
    """
    try:
        with _opened(path) as file:
            for batch in _Reading(path, file, on_problem).batches():
                if on_position is not None:
                    on_position(file.tell())
                yield batch
    except OSError as error:
        raise FileProblem(path, "", error.strerror or str(error)) from error


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """The file, in which one can go back: damage is looked for again."""
    with open(0, "rb", closefd=False) if path == STDIN else path.open("rb") as file:
        if file.seekable():
            yield file
            return
        with tempfile.TemporaryFile() as whole:
            shutil.copyfileobj(file, whole)
            whole.seek(0)
            yield cast(io.BufferedReader, whole)


class _Reading:
    """One file while it is read. `_place` is where the part begins that is read at the moment."""

    def __init__(self, path: Path, file: io.BufferedReader, on_problem: OnProblem) -> None:
        self._path = path
        self._on_problem = on_problem
        self._file = file
        self._place = "byte 0"
        self._inflating: Inflating | None = None
        self._broken: FileProblem | None = None
        """Why the contents cannot be read further."""

    def batches(self) -> Iterator[Batch]:
        if self._file.peek(2)[:2] == MAGIC:
            yield from self._inflated()
            return
        yield from self._contents(self._file)
        if self._broken is not None:
            self._on_problem(self._broken)

    def _inflated(self) -> Iterator[Batch]:
        """The contents of a gzip file, and after damage those of the next member that has any."""
        start: int | None = 0
        while start is not None:
            self._inflating, self._broken = Inflating(self._file, start), None
            stream = io.BufferedReader(self._inflating, 1 << 16)
            damage = None
            if start == 0 or self._kind(stream.peek(4096)[:4096]) is not None:
                yield from self._contents(stream)
                damage = self._damage() or self._broken
            start = next_member(self._file, self._inflating.position + 1) if self._inflating.damage else None
            if damage is not None:
                self._on_problem(damage)

    def _damage(self) -> FileProblem | None:
        inflating = self._inflating
        if inflating is None or inflating.damage is None:
            return None
        return self._problem(
            f"the gzip file is damaged here, at its byte {inflating.position}: {inflating.damage}. What is before it "
            "was read"
        )

    def _contents(self, stream: "io.BufferedReader[Any]") -> Iterator[Batch]:
        start = stream.peek(4096)[:4096]
        reader = self._kind(start)
        if reader is not None:
            return reader(stream)
        if _ZSTD in (start[:4], start[4:8]):
            raise self._problem("the file is compressed with zstd, which is not read; decompress it first")
        raise self._problem(
            f"the file begins with {start[:8]!r}, and is neither OTLP (JSON lines, protobuf) nor trace-contract "
            "lines, nor gzip of them"
        )

    def _kind(self, start: bytes) -> "Callable[[io.BufferedReader[Any]], Iterator[Batch]] | None":
        """How contents that begin so are read; None where they are none of the formats."""
        if start.startswith(_BYTE_ORDER_MARK) or _is_text(start):
            return self._lines
        if start.startswith(_FIELD_ONE):
            return self._request
        if _ZSTD not in (start[:4], start[4:8]) and (start[:4] == bytes(4) or start[4:5] == _FIELD_ONE):
            return self._delimited
        return None

    def _lines(self, stream: "io.BufferedReader[Any]") -> Iterator[Batch]:
        number = 1
        self._place = "line 1"
        if stream.peek(3).startswith(_BYTE_ORDER_MARK):
            stream.read(len(_BYTE_ORDER_MARK))
        while line := stream.readline():
            content = line.strip(_BLANKS)
            if content in (b"{", b"["):
                raise self._problem("a JSON text of several lines; expected one object a line: jq -c . FILE")
            if not line.endswith(b"\n") and self._damage() is not None:
                return  # a part of a line
            if content:
                yield from self._decode(decode_line, line, self._place)
            number += 1
            self._place = f"line {number}"

    def _delimited(self, stream: "io.BufferedReader[Any]") -> Iterator[Batch]:
        """Requests, each after its length in 4 bytes, big-endian."""
        offset = 0
        while self._broken is None and (prefix := stream.read(4)):
            self._place = f"byte {offset}"
            size = int.from_bytes(prefix, "big")
            if len(prefix) < 4 or size > _LARGEST:
                self._break(f"expected the length of a request in 4 bytes, found {prefix.hex(' ')}")
                return
            request = self._up_to(stream, size)
            if len(request) < size:
                self._break_at_end(size - len(request), size)
            yield from self._resources(io.BytesIO(request), offset + 4)
            offset += 4 + size

    def _request(self, stream: "io.BufferedReader[Any]") -> Iterator[Batch]:
        return self._resources(stream, 0)

    def _resources(self, stream: IO[bytes], offset: int) -> Iterator[Batch]:
        """A request, or several: one after another they are, in protobuf, one request of all their resources.

        So they are read resource by resource, neighbours of one signal together. `offset` is where they begin.
        """
        piece: list[_Resource] = []
        size = 0
        for resource in self._fields(stream, offset):
            if piece and (resource.signal is not piece[0].signal or size + len(resource.field) > _PIECE):
                yield from self._decode_resources(piece)
                piece, size = [], 0
            piece.append(resource)
            size += len(resource.field)
        if piece:
            yield from self._decode_resources(piece)

    def _fields(self, stream: IO[bytes], offset: int) -> Iterator[_Resource]:
        """The resources. Of one that is cut, what is whole of it."""
        signal = Signal.TRACES
        while tag := stream.read(1):
            self._place = f"byte {offset}"
            header = bytearray(tag)
            size = shift = 0
            while tag == _FIELD_ONE and len(header) <= 5 and (byte := stream.read(1)):
                header += byte
                size |= (byte[0] & 0x7F) << shift
                shift += 7
                if byte[0] < 0x80:
                    break
            if tag == _FIELD_ONE and len(header) <= 5 and (len(header) == 1 or header[-1] >= 0x80):
                self._break_at_end(1, 1)
                return
            if tag != _FIELD_ONE or size > _LARGEST or header[-1] >= 0x80:
                self._break(f"expected a resource (field 1) of an OTLP request, found {header.hex(' ')}")
                return
            contents = self._up_to(stream, size)
            missing = size - len(contents)
            if missing:
                self._break_at_end(missing, size)
                contents = whole_part(contents)
            signal = self._signal(contents) or signal
            yield _Resource(signal, resource_field(contents) if missing else bytes(header) + contents, self._place)
            if missing:
                return
            offset += len(header) + size

    def _signal(self, resource: bytes) -> Signal | None:
        try:
            return signal_of(resource)
        except NotProtobuf:
            return Signal.TRACES  # its decoder says what is wrong with it

    def _decode_resources(self, piece: list[_Resource]) -> Iterator[Batch]:
        """Neighbours of one signal; one by one where they cannot be read together, so that only one is lost."""
        signal, _, place = piece[0]
        if signal is Signal.METRICS:
            return
        decoder = decode_traces if signal is Signal.TRACES else decode_logs
        try:
            yield from self._taken(decoder(b"".join(resource.field for resource in piece)), place)
        except Malformed:
            for resource in piece:
                yield from self._decode(decoder, resource.field, resource.place)

    def _decode(self, decoder: Callable[[bytes], Decoded], body: bytes, place: str) -> Iterator[Batch]:
        try:
            decoded = decoder(body)
        except Malformed as malformed:
            self._on_problem(FileProblem(self._path, place, f"{malformed}{self._end_of(body, decoder)}"))
            return
        yield from self._taken(decoded, place)

    def _taken(self, decoded: Decoded, place: str) -> Iterator[Batch]:
        if decoded.rejected:
            message = f"{decoded.rejected} left out; the first, {decoded.reason}"
            self._on_problem(FileProblem(self._path, place, message))
        batch = decoded.batch
        if batch.spans or batch.logs or batch.records:
            yield batch

    def _end_of(self, body: bytes, decoder: Callable[[bytes], Decoded]) -> str:
        """What to say beside of a last line without its line feed: it may have been cut."""
        if decoder is not decode_line or body.endswith(b"\n") or self._inflating is not None:
            return ""
        return f". The file ends in this line, at byte {self._file.tell()}: it may be cut"

    def _up_to(self, stream: IO[bytes], size: int) -> bytes:
        """The next `size` bytes, or what is left: read by and by, since a damaged length must not take the memory."""
        pieces: list[bytes] = []
        missing = size
        while missing and (piece := stream.read(min(missing, 1 << 20))):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _break(self, message: str) -> None:
        if self._broken is None:
            self._broken = self._problem(message)

    def _break_at_end(self, missing: int, size: int) -> None:
        self._break(f"the file is cut: {missing} of the next {size} bytes are missing. What is before that was read")

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
