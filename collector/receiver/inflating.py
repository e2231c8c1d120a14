"""Gzip that may be damaged: what comes out before the damage, where that is, and where the next member begins."""

import io
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC: Final = b"\x1f\x8b"
_MEMBER: Final = b"\x1f\x8b\x08"
"""How a member begins: the magic number, and deflate, the only method."""
_GZIP_WINDOW: Final = 31
"""Makes zlib read the header and the trailer of gzip, and check the sum in it."""
_CHUNK: Final = 1 << 16
_MOST_OUT: Final = 1 << 20
"""Bytes that come out at once at most, however much a chunk inflates to."""


class Inflating(io.RawIOBase):
    """The contents of the members that begin at byte `start` of a file, one after another.

    It ends at damage as at the end, with all that comes out before: ask `damage` afterwards.
    """

    def __init__(self, file: io.BufferedReader, start: int = 0) -> None:
        self.damage: str | None = None
        """What is wrong, if it ended at damage: a clause."""
        self.position = start
        """The first byte of the file that has not come out: at the end, where the damage is."""
        self._file = file
        self._file.seek(start)
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._begun = False
        self._compressed = b""
        self._out = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        while not self._out and self.damage is None:
            if not self._compressed:
                self._compressed = self._file.read(_CHUNK)
                if not self._compressed:
                    self._end()
                    break
            self._out = memoryview(self._inflate())
        target = memoryview(buffer)
        size = min(len(target), len(self._out))
        target[:size] = self._out[:size]
        self._out = self._out[size:]
        return size

    def _end(self) -> None:
        if self._begun:
            self.damage = "its end is missing"

    def _inflate(self) -> bytes:
        if not self._begun:
            self._compressed, padding = self._compressed.lstrip(b"\0"), len(self._compressed)
            self.position += padding - len(self._compressed)
            if not self._compressed:
                return b""
            self._begun = True
        before = self._member.copy()
        try:
            out = self._member.decompress(self._compressed, _MOST_OUT)
        except zlib.error:
            self._member = before
            return self._up_to_damage()
        rest = self._member.unconsumed_tail or self._member.unused_data
        self.position += len(self._compressed) - len(rest)
        self._compressed = rest
        if self._member.eof:
            self._member, self._begun = zlib.decompressobj(_GZIP_WINDOW), False
        return out

    def _up_to_damage(self) -> bytes:
        """What comes out of a damaged chunk, byte by byte."""
        found = bytearray()
        for at in range(len(self._compressed)):
            try:
                found += self._member.decompress(self._compressed[at : at + 1])
            except zlib.error as error:
                self.damage = str(error).rpartition(": ")[2]
                break
            self.position += 1
        return bytes(found)


def next_member(file: io.BufferedReader, start: int) -> int | None:
    """The first byte from `start` on at which a gzip member may begin; None where there is none."""
    file.seek(start)
    tail = b""
    while chunk := file.read(_CHUNK):
        searched = tail + chunk
        at = searched.find(_MEMBER)
        if at >= 0:
            return start - len(tail) + at
        start += len(chunk)
        tail = searched[1 - len(_MEMBER) :]
    return None
