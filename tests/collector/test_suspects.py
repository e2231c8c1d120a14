"""Traces that something is gone of, and the sessions that they turn out to be of."""

from collector.assembly import Assembly
from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.suspects import OVERFLOWN, Suspects
from collector.telemetry import Batch
from tests.collector.test_oversize import span


def cuts(pipeline: Pipeline) -> dict[str, str | None]:
    return {unit.key.id: unit.cut for unit in pipeline.index.sessions()}


def trace(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_whoever_a_suspect_trace_names_is_cut_and_nobody_else() -> None:
    pipeline = Pipeline(Index(), Assembly())
    pipeline.suspects.add(trace(1), "something is gone")
    pipeline.receive(Batch([span(1, "suspect", trace=1), span(2, "other", trace=2)]))
    assert cuts(pipeline) == {"suspect": "something is gone", "other": None}


def test_a_suspect_span_that_makes_no_item_cuts_its_session_too() -> None:
    pipeline = Pipeline(Index(), Assembly())
    pipeline.suspects.add(trace(1), "something is gone")
    root = span(1, "s", trace=1)
    root.name, root.attributes = "POST /", {"hangar.session.id": "s"}
    pipeline.receive(Batch([span(2, "s", trace=2), root]))
    assert cuts(pipeline) == {"s": "something is gone"}


def test_of_traces_that_are_too_many_to_remember_the_time_is_known() -> None:
    pipeline = Pipeline(Index(), Assembly())
    now = [5]
    pipeline.suspects = Suspects(remembered=1, clock=lambda: now[0])
    for number in (101, 102):
        pipeline.suspects.add(trace(number), "something is gone")
        now[0] += 10
    # Spans start at their number: the trace that is not remembered any more was forgotten at 5.
    pipeline.receive(Batch([span(4, "before", trace=1), span(6, "after", trace=2)]))
    assert cuts(pipeline) == {"before": OVERFLOWN, "after": None}


def test_a_batch_that_is_lost_cuts_what_it_names_now_or_later() -> None:
    pipeline = Pipeline(Index(), Assembly())
    lost = Batch([span(1, "named", trace=1), span(2, None, parent=3, trace=2)])
    pipeline.lose(lost, "it could not be taken")
    pipeline.receive(Batch([span(4, "named", trace=3), span(3, "of the trace", trace=2), span(5, "other", trace=4)]))
    assert cuts(pipeline) == {
        "named": "it could not be taken",
        "of the trace": "it could not be taken",
        "other": None,
    }
    assert UnitKey(UnitKind.SESSION, "other") in pipeline.index.units
