"""Secrets taken out of whatever is shown: a value that a spec took from the environment becomes `${NAME}`."""

import base64
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

from evaluator.expectations.comparison import Difference
from evaluator.expectations.reason import NearestMiss, Reason
from evaluator.items import Call, Json, NotRecorded

SHORTEST: Final = 6
"""Values of fewer characters are not masked: they would take ordinary words out of every text."""


class Masking:
    """Masks the given variables (name -> value) in texts, JSON values, calls and reasons.

    A value is found as it is, stripped, URL-quoted, JSON- and Python-escaped, and in base64 at any alignment; the
    longest form first. Mask before clipping: a value that was cut in two is not found.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names = {form: f"${{{name}}}" for name, value in secrets.items() for form in _forms(value)}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found.group()], text)

    def json(self, value: Json) -> Json:
        """A copy of the value, keys and texts at any depth masked."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.json(key): self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def call(self, call: Call) -> Call:
        if self._pattern is None:
            return call
        return call._replace(
            name=self.text(call.name),
            args=call.args if isinstance(call.args, NotRecorded) else self.json(call.args),
            result=self.json(call.result),
            error=self.text(call.error) if isinstance(call.error, str) else call.error,
        )

    def reason(self, reason: Reason) -> Reason:
        if self._pattern is None:
            return reason
        return dataclasses.replace(
            reason,
            text=self.text(reason.text),
            fix=self.text(reason.fix),
            nearest=reason.nearest and self._nearest(reason.nearest),
            calls=tuple(self.call(call) for call in reason.calls),
        )

    def _nearest(self, nearest: NearestMiss) -> NearestMiss:
        return NearestMiss(self.call(nearest.call), tuple(self._difference(each) for each in nearest.differences))

    def _difference(self, difference: Difference) -> Difference:
        return Difference(self.text(difference.path), self.text(difference.expected), self.text(difference.found))


def _forms(value: str) -> Iterator[str]:
    for plain in {value, value.strip()}:
        if len(plain) < SHORTEST:
            continue
        yield plain
        yield from {quote(plain), quote(plain, safe=""), quote_plus(plain)}
        yield from {json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1], repr(plain)[1:-1]}
        yield from _base64_forms(plain.encode("utf-8", "surrogateescape"))


def _base64_forms(value: bytes) -> Iterator[str]:
    """The base64 of the value alone, and the part of it that is the same whatever stands around the value."""
    for alphabet in (b"+/", b"-_"):
        whole = base64.b64encode(value, alphabet).decode()
        yield whole
        yield whole.rstrip("=")
        for before in (0, 1, 2):
            padded = base64.b64encode(b"\0" * before + value, alphabet).decode()
            first = (0, 2, 3)[before]
            last = (before + len(value)) * 8 // 6
            if last - first >= SHORTEST + 2:
                yield padded[first:last]
