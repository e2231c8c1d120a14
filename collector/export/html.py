"""`--html`: a run as one page that needs nothing else: no script, no request, readable on a phone and on paper."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final

from collector.export.json import write_report
from collector.export.printable import printable
from collector.export.story import decided, duration, execution_title, no_calls, score, span_of, timeline, trace
from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import (
    ExecutionOutcome,
    RunOutcome,
    SpecOutcome,
    TestOutcome,
    TurnOutcome,
    UnitBehaviors,
)
from evaluator.verdict import BehaviorResult, Status

TEXT_SHOWN: Final = 4000
"""How many code points of a message or reply are shown."""

# The page may style itself and do nothing else, whatever text of an agent is on it.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_WORDS: Final = {Status.PASSED: "passed", Status.FAILED: "failed", Status.ERROR: "error"}


def html_page(outcome: RunOutcome) -> bytes:
    """The page as UTF-8."""
    style = files("collector.export").joinpath("report.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_title(outcome)}</title><style>\n{style}</style></head><body>",
        *_header(outcome),
        "<main>",
        *(part for spec in outcome.specs for part in _spec(spec)),
        *(part for unit in outcome.behaviors for part in _unit(unit)),
        "</main></body></html>",
    ]
    return ("\n".join(parts) + "\n").encode()


def write_html(outcome: RunOutcome, path: Path) -> None:
    """Raises OSError."""
    write_report(html_page(outcome), path)


def _title(outcome: RunOutcome) -> str:
    total = len(outcome.tests)
    return f"spanbar: {outcome.count(Status.PASSED)} of {total} test{'' if total == 1 else 's'} passed"


def _header(outcome: RunOutcome) -> Iterator[str]:
    started = datetime.fromtimestamp(outcome.started // 1_000_000_000, UTC)
    took = duration((outcome.ended - outcome.started) / 1e6)
    counts = [
        f'<span class="count {word}">{outcome.count(status)} {word}</span>'
        for status, word in _WORDS.items()
        if outcome.count(status) or status is Status.PASSED
    ]
    yield f"<header><h1>{_title(outcome)}</h1>"
    yield f'<p>{", ".join(counts)} <span class="faint">in {took}, started'
    yield f'<time datetime="{started.isoformat()}">{started:%Y-%m-%d %H:%M:%S} UTC</time></span></p>'
    if outcome.interrupted:
        yield '<p class="notice red">The run was interrupted: what is not here did not run.</p>'
    if outcome.not_run:
        names = ", ".join(_text(test.name) for test in outcome.not_run)
        yield f'<p class="notice red">Not run: {names}</p>'
    for test in outcome.tests:
        if test.revised:
            text = f"<b>Revised:</b> telemetry that came late made {_text(test.name)} {test.status}."
            yield f'<p class="notice{" red" if test.status is Status.FAILED else ""}">{text}</p>'
    for warning in outcome.warnings:
        yield f'<p class="notice">{_text(warning.text)}</p>'
    yield "<fieldset><legend>Show</legend>"
    yield '<label><input type="radio" name="show" id="all" checked> all tests</label>'
    yield '<label><input type="radio" name="show" id="only-red"> those that did not pass</label></fieldset></header>'


def _spec(spec: SpecOutcome) -> Iterator[str]:
    if spec.stop is not None:
        lines = "\n".join(map(_text, spec.stop.text.splitlines()))
        yield f'<div class="notice red"><b>{_text(str(spec.path))} did not run</b><pre>{lines}</pre></div>'
    for suite in spec.suites:
        yield f"<section><h2>{_text(suite.name)} <small>{_text(str(spec.path))}</small></h2>"
        for test in suite.tests:
            yield from _test(test)
        yield "</section>"


def _test(test: TestOutcome) -> Iterator[str]:
    opened = "" if test.status is Status.PASSED else " open"
    notes = [score(test), duration(test.duration_ms), "revised" if test.revised else ""]
    yield f'<details class="test {_WORDS[test.status]}"{opened}><summary>'
    yield f'<span class="status">{_WORDS[test.status]}</span> <span class="name">{_text(test.name)}</span>'
    yield f'<span class="faint">{", ".join(filter(None, notes))}</span></summary><div class="body">'
    yield from _reasons(test.reasons)
    for execution in test.executions:
        yield from _execution(execution, titled=len(test.executions) > 1)
    yield "</div></details>"


def _execution(execution: ExecutionOutcome, *, titled: bool) -> Iterator[str]:
    if titled:
        yield f'<h3 class="faint">{escape(execution_title(execution))}: {execution.status}</h3>'
        yield from _reasons(execution.reasons)
    for turn in execution.turns:
        yield from _turn(turn)


def _reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    items = [_reason(reason) for reason in reasons]
    if items:
        yield f"<ul>{''.join(items)}</ul>"


def _reason(reason: Reason) -> str:
    place = ""
    if reason.place is not None and reason.place.line is not None:
        place = f' <span class="faint" title="{_text(reason.place.path)}">line {reason.place.line}</span>'
    unsure = "" if reason.certain else '<div class="faint">as far as it was seen when the turn was ended</div>'
    fix = f'<span class="fix">{_text(reason.fix)}</span>' if reason.fix else ""
    text = f'<code class="code">{_text(reason.code)}</code>{_text(reason.text)}{place}'
    return f'<li class="reason">{text}{unsure}{fix}{_differences(reason)}</li>'


def _differences(reason: Reason) -> str:
    if reason.nearest is None or not reason.nearest.differences:
        return ""
    rows = "".join(
        f'<tr><td><code>{_text(part.path)}</code></td><td><code class="differs">{_text(part.found)}</code></td>'
        f"<td><code>{_text(part.expected)}</code></td></tr>"
        for part in reason.nearest.differences
    )
    head = "<tr><th>nearest call</th><th>found</th><th>expected</th></tr>"
    return f'<div class="scroll"><table>{head}{rows}</table></div>'


def _turn(turn: TurnOutcome) -> Iterator[str]:
    yield f'<div class="turn"><div class="faint">message</div><pre>{_text(turn.trigger)}</pre>'
    rows, more = timeline(turn)
    start, end = span_of(rows)
    for row in rows:
        left = max(0.0, 100 * (row.start - start) / (end - start))
        width = 100 * (row.end - row.start) / (end - start)
        bad = ' class="bad"' if row.failed else ""
        outcome = f' <span class="differs">{escape(row.outcome)}</span>' if row.outcome else ""
        yield f'<div class="call"><span class="lane"><i{bad} style="left:{left:.2f}%;width:{width:.2f}%"></i></span>'
        yield f'<span class="when">{row.when}</span>'
        yield f'<span class="what"><b>{escape(row.name)}</b> {escape(row.args)}{outcome}</span></div>'
    if more:
        yield f'<p class="faint">and {more} more calls</p>'
    if not rows and (said := no_calls(turn)):
        yield f'<p class="faint">{said}</p>'
    if turn.reply is not None:
        yield f'<div class="faint">reply after {duration(turn.reply_ms or 0)}</div><pre>{_text(turn.reply)}</pre>'
    facts = "; ".join(filter(None, (decided(turn.decision), trace(turn))))
    yield f'<div class="faint">{escape(facts)}</div></div>'


def _unit(unit: UnitBehaviors) -> Iterator[str]:
    yield f"<section><h2>Behaviors <small>{_text(unit.kind)} {_text(unit.id)}</small></h2>"
    yield '<div class="scroll"><table><tr><th>behavior</th><th>result</th><th>why</th></tr>'
    for result in unit.results:
        yield _behavior(result)
    yield "</table></div></section>"


def _behavior(result: BehaviorResult) -> str:
    word = result.verdict.result
    notes = [word.replace("_", " "), *(["revised"] if result.revised else []), *_warn(result)]
    return (
        f'<tr><td>{_text(result.behavior)}</td><td class="result {word}">{", ".join(notes)}</td>'
        f"<td>{_text(result.verdict.reason)}</td></tr>"
    )


def _warn(result: BehaviorResult) -> list[str]:
    return ["only a warning"] if result.severity.value == "warn" else []


def _text(text: str) -> str:
    """Text of strangers: visible as it is, and never markup."""
    return escape(printable(text, TEXT_SHOWN))
