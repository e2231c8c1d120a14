"""Inflating bodies: what is accepted, what is not, and never more than the limit."""

import gzip
import tracemalloc
import zlib

import pytest

from collector.receiver.encoding import LIMIT, Corrupt, TooLarge, UnknownEncoding, decompress

BODY = b"a body " * 100


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


ACCEPTED = {
    "no encoding": ("", BODY),
    "identity": ("identity", BODY),
    "gzip": ("gzip", gzip.compress(BODY)),
    "gzip in capitals": (" GZIP ", gzip.compress(BODY)),
    "x-gzip": ("x-gzip", gzip.compress(BODY)),
    "members of gzip": ("gzip", gzip.compress(BODY[:300]) + gzip.compress(b"") + gzip.compress(BODY[300:])),
    "gzip with padding": ("gzip", gzip.compress(BODY) + bytes(5)),
    "zlib": ("deflate", zlib.compress(BODY)),
    "raw deflate": ("deflate", raw_deflate(BODY)),
}


@pytest.mark.parametrize(("encoding", "body"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_body_is_inflated(encoding: str, body: bytes) -> None:
    assert decompress(body, encoding) == BODY


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_an_empty_body_stays_empty(encoding: str) -> None:
    assert decompress(b"", encoding) == b""


CORRUPT = {
    "not gzip": ("gzip", BODY),
    "cut gzip": ("gzip", gzip.compress(BODY)[:-4]),
    "a wrong checksum": ("gzip", gzip.compress(BODY)[:-8] + bytes(8)),
    "something after gzip": ("gzip", gzip.compress(BODY) + b"more"),
    "not deflate": ("deflate", b"\xff" + BODY),
    "cut zlib": ("deflate", zlib.compress(BODY)[:-4]),
    "something after zlib": ("deflate", zlib.compress(BODY) + b"more"),
}


@pytest.mark.parametrize(("encoding", "body"), CORRUPT.values(), ids=CORRUPT)
def test_a_body_that_is_not_what_it_says_is_corrupt(encoding: str, body: bytes) -> None:
    with pytest.raises(Corrupt):
        decompress(body, encoding)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_other_encodings_are_unknown_and_those_that_are_known_are_named(encoding: str) -> None:
    with pytest.raises(UnknownEncoding, match="use gzip, deflate, identity"):
        decompress(BODY, encoding)


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)],
)
def test_the_limit_is_exact(encoding: str, compress) -> None:  # type: ignore[no-untyped-def]
    assert len(decompress(compress(bytes(1000)), encoding, limit=1000)) == 1000
    with pytest.raises(TooLarge, match="more than 1000"):
        decompress(compress(bytes(1001)), encoding, limit=1000)


def test_the_limit_is_of_all_members_together() -> None:
    with pytest.raises(TooLarge):
        decompress(gzip.compress(bytes(600)) * 2, "gzip", limit=1000)


def test_a_bomb_takes_no_more_memory_than_the_limit() -> None:
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    zeros = bytes(1 << 20)
    bomb = b"".join(compressor.compress(zeros) for _ in range(512)) + compressor.flush()

    tracemalloc.start()
    with pytest.raises(TooLarge):
        decompress(bomb, "gzip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2.5 * LIMIT
