"""Content encodings of request bodies, inflated within a limit: a small body cannot fill the memory."""

import zlib
from typing import Final

LIMIT: Final = 64 * 1024 * 1024
"""The largest body that is accepted, in bytes after decompression (64 MiB: the Collector's gRPC servers and OTLP's
recommendation)."""

SUPPORTED: Final = ("gzip", "deflate", "identity")
_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS


class TooLarge(ValueError):
    """A body of more than the limit, after decompression."""


class Corrupt(ValueError):
    """A body that is not in the encoding that it says."""


class UnknownEncoding(ValueError):
    """A content encoding that is not supported."""


def decompress(body: bytes, encoding: str, limit: int = LIMIT) -> bytes:
    """The body without its content encoding (`""` is `identity`).

    gzip may consist of several members; deflate is the zlib format of RFC 9110, or the raw one that some clients
    send. Raises `UnknownEncoding`, `Corrupt`, or `TooLarge` as soon as more than `limit` bytes come out.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        if len(body) > limit:
            raise TooLarge(f"the body has {len(body)} bytes, more than {limit}")
        return body
    if not body:
        return body
    if encoding in ("gzip", "x-gzip"):
        return _inflate(body, _GZIP, limit, "gzip")
    if encoding == "deflate":
        if _has_zlib_header(body):
            try:
                return _inflate(body, _ZLIB, limit, "deflate")
            except Corrupt:
                pass  # two bytes of a raw stream may look like the header
        return _inflate(body, _RAW, limit, "deflate")
    raise UnknownEncoding(f"content encoding {encoding!r} is not supported; use {', '.join(SUPPORTED)}")


def _has_zlib_header(body: bytes) -> bool:
    return len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0


def _inflate(body: bytes, window: int, limit: int, name: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    rest = body
    while rest:
        stream = zlib.decompressobj(window)
        try:
            piece = stream.decompress(rest, limit - size + 1)
        except zlib.error as error:
            raise Corrupt(f"the body is not {name}: {error}") from None
        size += len(piece)
        if size > limit:
            raise TooLarge(f"the body has more than {limit} bytes after decompression")
        if not stream.eof:
            raise Corrupt(f"the body is cut: its {name} stream of {len(body)} bytes has no end")
        pieces.append(piece)
        rest = stream.unused_data.lstrip(b"\0") if window == _GZIP else b""  # zeros may pad a gzip file
        if stream.unused_data and window != _GZIP:
            raise Corrupt(f"{len(stream.unused_data)} bytes follow the end of the {name} stream")
    return b"".join(pieces)
