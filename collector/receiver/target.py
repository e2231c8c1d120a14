"""The target of a request: whether it is for OTLP."""

from typing import Any, Final

import httptools

from collector.receiver.http import PATHS
from collector.receiver.intake import Signal

_SIGNALS: Final = {path.encode(): signal for path, signal in PATHS.items()}


def asked(start: bytes) -> tuple[Signal | None, bool]:
    """The signal that a request is for, as far as its first line tells, and whether it tells."""
    line, ended, _ = start.lstrip(b"\r\n").partition(b"\n")
    words = line.split(b" ", 2)
    if len(words) < 3:
        return None, bool(ended)
    return signal_of(words[1]), True


def signal_of(target: bytes) -> Signal | None:
    """The signal whose path the target of a request has."""
    found = _SIGNALS.get(target)
    if found is not None:
        return found
    try:
        path: Any = httptools.parse_url(target).path
    except httptools.HttpParserInvalidURLError:
        return None
    return _SIGNALS.get(path)
