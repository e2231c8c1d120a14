from typing import Any

import pytest

from collector.assembly import Assembly
from collector.index import Index, Limits, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.retention import AT_LEAST, TOO_MANY, Retention
from collector.suspects import FORGOTTEN
from collector.telemetry import Batch, LogRecord
from tests.collector.telemetry import log
from tests.collector.test_oversize import span


class Forgetting:
    """An assembly in which each trace has one span."""

    def __init__(self) -> None:
        self.forgotten: list[bytes] = []

    def forget(self, trace_id: bytes) -> bool:
        self.forgotten.append(trace_id)
        return False

    def places_of(self, trace_id: bytes) -> set[tuple[str | None, str | None]]:
        return set()

    def reports_in(self, trace_id: bytes) -> bool:
        return False

    def size_of(self, trace_id: bytes) -> int:
        return 1


def retention(assembly: Any, now: list[float], **options: Any) -> Retention:
    return Retention(assembly, 0, clock=lambda: now[0], **options)


def test_a_trace_is_forgotten_when_nothing_came_to_it_for_long_enough() -> None:
    assembly, now = Forgetting(), [0.0]
    kept = retention(assembly, now)
    kept.observe([b"old"])
    now[0] = AT_LEAST / 2
    kept.observe([b"new"])
    now[0] = AT_LEAST
    kept.forget_old()
    assert assembly.forgotten == [b"old"]


def test_whatever_comes_of_a_trace_keeps_it() -> None:
    assembly, now = Forgetting(), [0.0]
    kept = retention(assembly, now)
    kept.observe([b"trace"])
    now[0] = AT_LEAST - 1
    kept.observe([b"trace"])
    now[0] = AT_LEAST + 1
    kept.forget_old()
    assert assembly.forgotten == []


def test_the_oldest_traces_go_when_there_are_too_many() -> None:
    assembly = Forgetting()
    kept = retention(assembly, [0.0], most=2)
    for trace in (b"a", b"b", b"a", b"c"):
        kept.observe([trace])
    assert assembly.forgotten == [b"b"]


def test_the_traces_of_a_session_that_is_evicted_go_with_it_unless_another_session_is_in_them() -> None:
    index = Index(limits=Limits(sessions=2))
    pipeline = Pipeline(index, Assembly())
    Retention(pipeline.assembly, 0).follow(index)
    pipeline.receive(Batch([span(1, "alone", trace=1), span(2, "shares", trace=2), span(3, "stays", trace=2)]))
    pipeline.receive(Batch([span(4, "new", trace=4), span(5, "newer", trace=5)]))
    assert [unit.key.id for unit in index.sessions()] == ["new", "newer"]
    of_traces = [pipeline.assembly.places_of(trace.to_bytes(16, "big")) for trace in (1, 2, 4)]
    assert of_traces == [set(), {("shares", None), ("stays", None)}, {("new", None)}]


def test_what_comes_of_an_evicted_trace_without_a_sessions_name_is_not_whole() -> None:
    index = Index(limits=Limits(sessions=1))
    pipeline = Pipeline(index, Assembly())
    Retention(pipeline.assembly, 0).follow(index)
    pipeline.receive(Batch([span(1, "evicted", trace=1), span(2, "other", trace=2)]))
    pipeline.receive(Batch([span(3, None, parent=1, trace=1)]))
    unit = index.units[UnitKey(UnitKind.SESSION, (1).to_bytes(16, "big").hex())]
    assert unit.cut == "the rest of its trace was evicted"


def forgetting(now: list[float], *, limits: Limits | None = None, **options: Any) -> tuple[Pipeline, Retention]:
    pipeline = Pipeline(Index(limits=limits), Assembly(watched=True))
    kept = Retention(pipeline.assembly, 0, pipeline.suspects, clock=lambda: now[0], **options)
    kept.follow(pipeline.index)
    pipeline.follow(kept.observe)
    return pipeline, kept


def test_a_session_that_is_named_after_a_span_was_forgotten_that_waited_for_that_is_not_whole() -> None:
    now = [0.0]
    pipeline, kept = forgetting(now)
    pipeline.receive(Batch([span(2, None, parent=1, trace=1), span(3, "whole", trace=2)]))
    pipeline.index.close_all()
    now[0] = AT_LEAST
    kept.forget_old()
    pipeline.receive(Batch([span(1, "late", trace=1), span(4, "whole", trace=2)]))
    cut = {unit.key.id: unit.cut for unit in pipeline.index.sessions()}
    assert (cut["late"], cut["whole"]) == (FORGOTTEN, None)


def test_a_trace_of_an_open_session_is_not_forgotten() -> None:
    now = [0.0]
    pipeline, kept = forgetting(now)
    pipeline.receive(Batch([span(2, None, parent=1, trace=1)]))
    now[0] = AT_LEAST
    kept.forget_old()
    pipeline.receive(Batch([span(1, "late", trace=1)]))
    (unit,) = pipeline.index.sessions()
    assert (unit.key.id, unit.cut) == ("late", None)


def told(session: str | None, *times: int, event: str = "deployed") -> Batch:
    """Log records of a session outside of any trace."""
    attributes = {"session.id": session} if session is not None else {}
    return Batch([], [log(event, attributes, at=time) for time in times])


def cuts(pipeline: Pipeline) -> dict[str, str | None]:
    return {unit.key.id: unit.cut for unit in pipeline.index.sessions()}


def test_log_records_outside_of_traces_are_kept_as_long_as_their_session() -> None:
    now = [0.0]
    pipeline, kept = forgetting(now, limits=Limits(sessions=1))
    pipeline.receive(told("long", 1, 2, 3))
    pipeline.index.close_all()
    now[0] = AT_LEAST
    kept.forget_old()
    assert kept.records == 3
    pipeline.receive(told("evicts it", 4))
    assert kept.records == 1


def test_over_the_limit_the_oldest_go_and_what_is_open_of_them_is_not_whole() -> None:
    pipeline, kept = forgetting([0.0], most_records=5)
    pipeline.receive(told("busy", 1, 2, 3))
    pipeline.receive(told("new", 4, 5, 6))
    assert (kept.records, kept.forgotten) == (3, 3)
    assert cuts(pipeline) == {"busy": TOO_MANY, "new": None}


def test_what_had_ended_stays_as_it_is_unless_more_of_it_comes() -> None:
    pipeline, _ = forgetting([0.0], most_records=5)
    pipeline.receive(told("ended", 1, 2, 3))
    pipeline.index.close_all()
    pipeline.receive(told("new", 4, 5, 6))
    assert cuts(pipeline) == {"ended": None, "new": None}
    pipeline.receive(told("ended", 9))
    assert cuts(pipeline) == {"ended": TOO_MANY, "new": None}


def test_one_session_that_never_ends_does_not_grow_for_ever() -> None:
    pipeline, kept = forgetting([0.0], most_records=50)
    for time in range(200):
        pipeline.receive(told("endless", time))
        assert kept.records <= 50
    assert cuts(pipeline) == {"endless": TOO_MANY}


def test_log_records_that_name_nobody_are_kept_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.retention.MOST_NOBODYS", 10)
    pipeline, kept = forgetting([0.0])
    for time in range(100):
        pipeline.receive(told(None, time))
        assert kept.records <= 10
    assert cuts(pipeline) == {}


def test_turns_go_on_in_a_session_that_is_taken_up_again_after_long() -> None:
    now = [0.0]
    pipeline, kept = forgetting(now)

    def prompt(number: int) -> LogRecord:
        named = {"session.id": "s", "event.name": "user_prompt", "prompt.id": f"p{number}", "event.sequence": number}
        return log("user_prompt", named, at=number * 100, body="claude_code.user_prompt")

    pipeline.receive(Batch([], [prompt(1), prompt(2)]))
    pipeline.index.close_all()
    now[0] = 10 * AT_LEAST
    kept.forget_old()
    pipeline.receive(Batch([], [prompt(3)]))
    (unit,) = pipeline.index.sessions()
    assert [item.turn for item in pipeline.index.items_in_order(unit)] == [1, 2, 3]


def test_calls_of_trace_contract_records_are_judged_and_not_kept_beside_that() -> None:
    pipeline, kept = forgetting([0.0])
    record = {"v": 1, "type": "tool", "ts": 1.0, "fn": "search", "args": {}, "context": {"test": "t"}}
    for _ in range(3):
        pipeline.receive(Batch([], [], [dict(record)]))
    (unit,) = pipeline.index.sessions()
    assert (len(unit.own), kept.records, pipeline.assembly.calls()) == (3, 0, [])
