"""A call held against an entry of `function_calls`: does it fit, and where does it differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evaluator.expectations.matchers import RegexSearch, RegexTimeout, meets
from evaluator.expectations.values import Fit, equal, gap, show
from evaluator.items import Call, Json, NotRecorded
from evaluator.language.spec import CallExpectation, Elements, Expected, Fields, Literal, Matcher

NO_ERROR_TEXT: Final = NotRecorded("the call failed and its telemetry has no error text")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a call is not what was expected.

    `path` begins with `params`, `result` or `error`; `expected` and `found` are whole texts, not yet clipped.
    """

    path: str
    expected: str
    found: str

    @property
    def area(self) -> str:
        return _area(self.path)


@dataclass(frozen=True, slots=True)
class Unknown:
    """One place that could not be compared. `code` is `not_recorded` or `regex_timeout`."""

    path: str
    code: str
    cause: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every difference between a call and an entry, and everything that could not be compared."""

    differences: tuple[Difference, ...] = ()
    unknowns: tuple[Unknown, ...] = ()

    @property
    def fit(self) -> Fit:
        if self.differences:
            return Fit.NO
        return Fit.UNKNOWN if self.unknowns else Fit.YES


Finding = Difference | Unknown


def compare(entry: CallExpectation, call: Call, search: RegexSearch) -> Comparison:
    """Hold `call`, whose name is one of the entry's, against the entry."""
    findings = [*_error(entry, call, search)]
    if entry.params is not None and entry.params.entries:
        findings += _value(entry.params, call.args, "params", search)
    if entry.result is not None:
        findings += _value(entry.result, call.result, "result", search)
    return comparison(findings)


def comparison(findings: list[Finding]) -> Comparison:
    return Comparison(
        tuple(found for found in findings if isinstance(found, Difference)),
        tuple(found for found in findings if isinstance(found, Unknown)),
    )


def matcher_findings(
    matcher: Matcher, value: Json | NotRecorded, path: str, search: RegexSearch
) -> Iterator[Finding]:
    """What in `value` does not meet `matcher`: one finding for each of its tests that does not hold."""
    for op, operand in matcher.tests:
        try:
            fit = meets(op, operand, value, search)
        except RegexTimeout as timeout:
            yield Unknown(path, "regex_timeout", str(timeout))
            continue
        yield from _finding(fit, path, f"{op} {show(operand)}", value)


def _error(entry: CallExpectation, call: Call, search: RegexSearch) -> Iterator[Finding]:
    text: str | NotRecorded = NO_ERROR_TEXT if call.error is None else call.error
    if entry.error is False:
        if call.failed:
            yield Difference("error", "a call that works", _error_text(text))
    elif not call.failed:
        yield Difference("error", "a call that fails", "it worked")
    elif isinstance(entry.error, Matcher):
        yield from matcher_findings(entry.error, text, "error", search)


def _error_text(text: str | NotRecorded) -> str:
    return "it failed" if isinstance(text, NotRecorded) else f"it failed: {text}"


def _value(
    expected: Expected, actual: Json | NotRecorded, path: str, search: RegexSearch, *, whole: bool = False
) -> Iterator[Finding]:
    """`whole`: inside a list, where mappings are not contained but equal."""
    if isinstance(expected, Matcher):
        yield from matcher_findings(expected, actual, path, search)
    elif isinstance(actual, NotRecorded):
        yield _unknown(path, actual)
    elif isinstance(expected, Literal):
        yield from _finding(equal(expected.value, actual), path, show(expected.value), actual)
    elif isinstance(expected, Fields):
        yield from _fields(expected, actual, path, search, whole=whole)
    else:
        yield from _elements(expected, actual, path, search)


def _fields(expected: Fields, actual: Json, path: str, search: RegexSearch, *, whole: bool) -> Iterator[Finding]:
    if not isinstance(actual, Mapping):
        yield Difference(path, "a mapping", show(actual))
        return
    for key, inner in expected.entries.items():
        if key in actual:
            yield from _value(inner, actual[key], _join(path, key), search, whole=whole)
        else:
            yield Difference(_join(path, key), describe(inner), "(not given)")
    if whole:
        for key in actual.keys() - expected.entries.keys():
            yield Difference(_join(path, key), "(nothing)", show(actual[key]))


def _elements(expected: Elements, actual: Json, path: str, search: RegexSearch) -> Iterator[Finding]:
    if not isinstance(actual, list) or len(actual) != len(expected.entries):
        yield Difference(path, describe(expected), show(actual))
        return
    for index, (inner, item) in enumerate(zip(expected.entries, actual, strict=True)):
        yield from _value(inner, item, f"{path}[{index}]", search, whole=True)


def describe(expected: Expected) -> str:
    """What is expected, on one line: JSON where it is a value, matchers in words."""
    if isinstance(expected, Literal):
        return show(expected.value)
    if isinstance(expected, Matcher):
        return " and ".join(f"{op} {show(operand)}" for op, operand in expected.tests)
    if isinstance(expected, Elements):
        return f"[{', '.join(map(describe, expected.entries))}]"
    return f"{{{', '.join(f'{show(key)}: {describe(inner)}' for key, inner in expected.entries.items())}}}"


def _finding(fit: Fit, path: str, expected: str, actual: Json | NotRecorded) -> Iterator[Finding]:
    if fit is Fit.NO:
        yield Difference(path, expected, show(actual))
    elif fit is Fit.UNKNOWN:
        missing = gap(actual)
        yield _unknown(path, missing if missing is not None else NotRecorded("it cannot be compared"))


def _unknown(path: str, value: NotRecorded) -> Unknown:
    return Unknown(path, "not_recorded", value.cause, value.fix)


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isprintable() else f"{path}[{show(key)}]"


def _area(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]
