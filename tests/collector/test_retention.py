from typing import Any

from collector.assembly import Assembly
from collector.index import Index, Limits, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.retention import AT_LEAST, Retention
from collector.suspects import FORGOTTEN
from collector.telemetry import Batch
from evaluator.harness.sighting import Sighting
from evaluator.items import Change
from tests.collector.live.samples import event
from tests.collector.test_oversize import span


class Forgetting:
    def __init__(self) -> None:
        self.forgotten: list[bytes] = []

    def forget(self, trace_id: bytes) -> bool:
        self.forgotten.append(trace_id)
        return False


def retention(assembly: Any, now: list[float], **options: Any) -> Retention:
    return Retention(assembly, 0, clock=lambda: now[0], **options)


def seen(trace: bytes) -> list[Sighting]:
    return [Sighting(trace, b"s" * 8, b"", "span", "other")]


def test_a_trace_is_forgotten_when_nothing_came_to_it_for_long_enough() -> None:
    assembly, now = Forgetting(), [0.0]
    kept = retention(assembly, now)
    kept.observe(seen(b"old"), [])
    now[0] = AT_LEAST / 2
    kept.observe(seen(b"new"), [])
    now[0] = AT_LEAST
    kept.forget_old()
    assert assembly.forgotten == [b"old"]


def test_whatever_comes_of_a_trace_keeps_it() -> None:
    assembly, now = Forgetting(), [0.0]
    kept = retention(assembly, now)
    item = event("e")
    kept.observe(seen(item.id[0]), [])
    now[0] = AT_LEAST - 1
    kept.observe([], [Change(None, item)])
    now[0] = AT_LEAST + 1
    kept.forget_old()
    assert assembly.forgotten == []


def test_the_oldest_traces_go_when_there_are_too_many() -> None:
    assembly = Forgetting()
    kept = retention(assembly, [0.0], most=2)
    for trace in (b"a", b"b", b"a", b"c"):
        kept.observe(seen(trace), [])
    assert assembly.forgotten == [b"b"]


def test_records_without_a_trace_are_nobodys() -> None:
    assembly = Forgetting()
    kept = retention(assembly, [0.0], most=0)
    kept.observe(seen(b""), [])
    assert assembly.forgotten == []


def test_the_traces_of_a_session_that_is_evicted_go_with_it_unless_another_session_is_in_them() -> None:
    index = Index(limits=Limits(sessions=2))
    pipeline = Pipeline(index, Assembly())
    Retention(pipeline.assembly, 0).follow(index)
    pipeline.receive(Batch([span(1, "alone", trace=1), span(2, "shares", trace=2), span(3, "stays", trace=2)]))
    pipeline.receive(Batch([span(4, "new", trace=4), span(5, "newer", trace=5)]))
    assert [unit.key.id for unit in index.sessions()] == ["new", "newer"]
    of_traces = [pipeline.assembly.sessions_of(trace.to_bytes(16, "big")) for trace in (1, 2, 4)]
    assert of_traces == [set(), {"shares", "stays"}, {"new"}]


def test_what_comes_of_an_evicted_trace_without_a_sessions_name_is_not_whole() -> None:
    index = Index(limits=Limits(sessions=1))
    pipeline = Pipeline(index, Assembly())
    Retention(pipeline.assembly, 0).follow(index)
    pipeline.receive(Batch([span(1, "evicted", trace=1), span(2, "other", trace=2)]))
    pipeline.receive(Batch([span(3, None, parent=1, trace=1)]))
    unit = index.units[UnitKey(UnitKind.SESSION, (1).to_bytes(16, "big").hex())]
    assert unit.cut == "the rest of its trace was evicted"


def forgetting(now: list[float]) -> tuple[Pipeline, Retention]:
    pipeline = Pipeline(Index(), Assembly())
    kept = Retention(pipeline.assembly, 0, pipeline.suspects, clock=lambda: now[0])
    kept.follow(pipeline.index)
    pipeline.watch(kept)
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
