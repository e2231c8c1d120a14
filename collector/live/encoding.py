"""JSON for readers, of whatever telemetry holds: bytes, lazily decoded mappings, integers of any size."""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from evaluator.items import NotRecorded

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def encode(value: Any) -> bytes:
    """JSON in UTF-8 on one line. Bytes become base64, what was not recorded null, NaN and infinities null."""
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except TypeError:
        # orjson refuses integers beyond 64 bits and lone surrogates; telemetry may hold both.
        return json.dumps(_finite(value), default=_plain, separators=(",", ":")).encode("ascii")


def text(value: Any) -> str:
    """JSON on indented lines, for people."""
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS | orjson.OPT_INDENT_2).decode()
    except TypeError:
        return json.dumps(_finite(value), default=_plain, indent=2, ensure_ascii=True)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, NotRecorded):
        return None
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _finite(value: Any) -> Any:
    """The same value with null for what JSON has no number for, as orjson writes it."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value
