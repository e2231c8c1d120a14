"""The page of a run: one file, well formed, and no text on it is markup."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from collector.export.html import html_page
from evaluator.harness.outcome import Notice, RunOutcome, Stop
from evaluator.verdict import Result, Status
from tests.collector.outcomes import (
    HOSTILE,
    behaviors,
    call,
    example_run,
    execution,
    forbidden,
    run_outcome,
    test_outcome,
    turn,
)

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in order."""

    def __init__(self, outcome: RunOutcome) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.source = html_page(outcome).decode("utf-8")
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def hostile_run() -> RunOutcome:
    made = call(HOSTILE, {HOSTILE: HOSTILE * 1000}, error=HOSTILE)
    failed = turn(Status.FAILED, reasons=[forbidden(HOSTILE)], trigger=HOSTILE, reply=HOSTILE, calls=(made,))
    return run_outcome(
        test_outcome(HOSTILE, execution(failed, phrasing=HOSTILE), execution(failed, run=2), suite=HOSTILE, runs=2),
        stop=Stop("agent_exited", HOSTILE),
        warnings=(Notice("w", HOSTILE),),
        behaviors=(dataclasses.replace(behaviors(Result.FAIL), id=HOSTILE),),
    )


def test_it_tells_what_a_reader_needs() -> None:
    page = Page(example_run())
    for told in (
        "spanbar: 2 of 5 tests passed",
        "params_mismatch refund was called with a difference",
        "line 14",
        'params.reason "late" contains "broken"',
        'send_mail {"to": "a@b.example"} failed: Timeout: 5s',
        "decided 0.6 ms after the span, reply not awaited; trace 4bf92f3577b34da6a3ce929d0e0e4736",
        "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        "rule 1 fail because 1",
    ):
        assert told in page.text


def test_what_did_not_pass_is_open_and_the_rest_is_not() -> None:
    details = [attrs for tag, attrs in Page(example_run()).tags if tag == "details"]
    assert all(("open" in attrs) is ("passed" not in (attrs["class"] or "")) for attrs in details)
    assert len(details) == 5


@pytest.mark.parametrize(
    "outcome", [example_run(), hostile_run(), run_outcome()], ids=["example", "hostile", "empty"]
)
def test_it_asks_nobody_for_anything_and_runs_nothing(outcome: RunOutcome) -> None:
    page = Page(outcome)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe", "a", "object"})
    names = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in names if name.startswith("on") or name in {"src", "href", "srcdoc"}}
    assert not re.search(r"url\(|@import|https?:", page.source.partition("</style>")[0])


def test_hostile_text_is_shown_as_text() -> None:
    page = Page(hostile_run())
    assert "[red]see [1] and [/red]\\x1b[31m\\u202etxt.exe\\x00<script>alert(1)</script> &amp; ]]>" in page.text
    assert not re.search("[\x00\x1b\u202e\ud800\ufffe]", page.source)


def test_a_page_of_huge_values_stays_small() -> None:
    assert len(Page(hostile_run()).source) < 60_000


def test_a_revised_test_is_told_at_the_top() -> None:
    revised = test_outcome("keeps", execution(turn(Status.FAILED, reasons=[forbidden()])), revised=True)
    header = Page(run_outcome(revised)).source.partition("</header>")[0]
    assert "telemetry that came late made keeps failed" in header
