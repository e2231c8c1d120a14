"""Query parameters of the API: read strictly, so that a misspelt filter is an error and not an unfiltered answer."""

import re
from collections.abc import Collection
from typing import Final

from starlette.requests import Request

_WAIT: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)?", re.ASCII)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


class ApiProblem(Exception):
    """An answer that is an error: `code` is a stable word, `message` says what was found and what to do."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class Query:
    """The parameters of one request. Raises `ApiProblem` (400) for one that is not in `known`."""

    def __init__(self, request: Request, known: Collection[str]) -> None:
        self._params = request.query_params
        for name in self._params:
            if name not in known:
                expected = ", ".join(sorted(known)) or "none"
                raise ApiProblem(400, "bad_parameter", f"unknown parameter {name!r}; expected: {expected}")

    def text(self, name: str) -> str:
        return self._params.get(name, "")

    def texts(self, name: str) -> frozenset[str]:
        return frozenset(self._params.getlist(name))

    def choice(self, name: str, allowed: Collection[str]) -> str:
        """One of `allowed`, or "" if it is not given."""
        value = self._params.get(name, "")
        if value and value not in allowed:
            raise ApiProblem(400, "bad_parameter", f"{name}: found {value!r}, expected one of {', '.join(allowed)}")
        return value

    def number(self, name: str, default: int | None, *, least: int = 0, most: int | None = None) -> int | None:
        value = self._params.get(name)
        if value is None:
            return default
        limits = f"from {least}" + (f" to {most}" if most is not None else "")
        if not (value.isascii() and value.isdigit()) or len(value) > 15 or int(value) < least:
            raise ApiProblem(400, "bad_parameter", f"{name}: found {value!r}, expected a number {limits}")
        if most is not None and int(value) > most:
            raise ApiProblem(400, "bad_parameter", f"{name}: found {value!r}, expected a number {limits}")
        return int(value)

    def seconds(self, name: str, default: float, *, most: float) -> float:
        """A duration such as `500ms`, `30s`, `2m` or `30` (seconds)."""
        value = self._params.get(name)
        if value is None:
            return default
        match = _WAIT.fullmatch(value)
        seconds = float(match[1]) * _UNITS[match[2]] if match is not None else most + 1
        if seconds > most:
            message = f"{name}: found {value!r}, expected a duration such as 500ms, 30s or 2m, at most {most:g} s"
            raise ApiProblem(400, "bad_parameter", message)
        return seconds
