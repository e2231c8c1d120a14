from typing import Any

from collector.retention import AT_LEAST, Retention
from evaluator.harness.sighting import Sighting
from evaluator.items import Change
from tests.collector.live.samples import event


class Assembly:
    def __init__(self) -> None:
        self.forgotten: list[bytes] = []

    def forget(self, trace_id: bytes) -> None:
        self.forgotten.append(trace_id)


def retention(assembly: Any, now: list[float], **options: Any) -> Retention:
    return Retention(assembly, 0, clock=lambda: now[0], **options)


def seen(trace: bytes) -> list[Sighting]:
    return [Sighting(trace, b"s" * 8, b"", "span", "other")]


def test_a_trace_is_forgotten_when_nothing_came_to_it_for_long_enough() -> None:
    assembly, now = Assembly(), [0.0]
    kept = retention(assembly, now)
    kept.observe(seen(b"old"), [])
    now[0] = AT_LEAST / 2
    kept.observe(seen(b"new"), [])
    now[0] = AT_LEAST
    kept.forget_old()
    assert assembly.forgotten == [b"old"]


def test_whatever_comes_of_a_trace_keeps_it() -> None:
    assembly, now = Assembly(), [0.0]
    kept = retention(assembly, now)
    item = event("e")
    kept.observe(seen(item.id[0]), [])
    now[0] = AT_LEAST - 1
    kept.observe([], [Change(None, item)])
    now[0] = AT_LEAST + 1
    kept.forget_old()
    assert assembly.forgotten == []


def test_the_oldest_traces_go_when_there_are_too_many() -> None:
    assembly = Assembly()
    kept = retention(assembly, [0.0], most=2)
    for trace in (b"a", b"b", b"a", b"c"):
        kept.observe(seen(trace), [])
    assert assembly.forgotten == [b"b"]


def test_records_without_a_trace_are_nobodys() -> None:
    assembly = Assembly()
    kept = retention(assembly, [0.0], most=0)
    kept.observe(seen(b""), [])
    assert assembly.forgotten == []
