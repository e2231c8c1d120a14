"""Plain calls: taken in the short way, they are what they are in the long one, whatever comes before and after."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly import Assembly
from collector.telemetry import Batch, LogRecord, Resource, Span, SpanEvent
from evaluator.items import Change
from tests.collector.telemetry import TRACE, agent, chat, log, span, tool
from tests.collector.test_assembly_order import telemetry


class Pedestrian(Assembly):
    """An assembly that takes every span the long way."""

    def __init__(self, *, watched: bool = False) -> None:
        super().__init__(watched=watched)
        self._plain.take = lambda span: None  # type: ignore[method-assign]


def call(name: str = "Bash", **fields: Any) -> Span:
    more = fields.pop("more", {})
    return span("tool.call", {"gen_ai.tool.name": name, "hangar.session.id": "s"} | more, **fields)


def added(assembly: Assembly, pieces: list[Span | LogRecord]) -> list[Any]:
    """What an assembly says of pieces that come one by one: after each, and in the end."""
    said: list[Any] = []
    for piece in pieces:
        batch = Batch([piece]) if isinstance(piece, Span) else Batch([], [piece])
        result = assembly.add(batch)
        sightings = [each[:5] for each in result.sightings]
        said.append((sorted(result.changes, key=_id), result.losses, sightings, result.sights))
    places = [assembly.place_of(each.trace_id, each.span_id) for each in pieces if isinstance(each, Span)]
    sessions = [assembly.places_of(each.trace_id) for each in pieces]
    said += [places, sessions, set(assembly.sessions()), assembly.blind()]
    return [*said, sorted(assembly.calls(), key=repr), sorted(assembly.ignored(), key=repr)]


def _id(change: Change) -> str:
    item = change.new or change.old
    assert item is not None
    return repr(item.id)


CASES: dict[str, list[Span | LogRecord]] = {
    "alone": [call(), call("Edit", more={"hangar.tool.input": '{"file_path": "a.py"}', "hangar.seq": 7})],
    "arguments and a result": [call(more={"gen_ai.tool.call.arguments": '{"a": 1}', "hangar.tool.output": "[1]"})],
    "a server's span": [call(kind=2), agent()],
    "no session": [span("tool.call", {"gen_ai.tool.name": "Bash"}), span("tool.call", {"gen_ai.tool.name": 3})],
    "only a job": [span("tool.call", {"gen_ai.tool.name": "Bash", "hangar.job.id": "j"})],
    "failed": [call(status=2), call(more={"error.type": "Boom"})],
    "dropped": [call(dropped_attributes=1), call(dropped_events=1)],
    "a blank name": [call(" ")],
    "cut": [call(more={"hangar.tool.input": '{"a": '})],
    "delivered files": [call(more={"hangar.diff.files": ["a.py"]})],
}
SESSIONLESS = span("tool.call", {"gen_ai.tool.name": "Bash"})
OUTER, ONE, OTHER = call(at=10), call(at=20), call(at=30, trace=b"\x02" * 16)
ASKING = chat([("Bash", {"command": "git push"}, "c1")], at=5)
CASES |= {
    "sent again": [ONE, ONE],
    "another under its id": [ONE, call(at=21, id=ONE.span_id)],
    "a layer below": [OUTER, call(at=11, parent=OUTER)],
    "a tool that calls itself": [OUTER, call(at=11, parent=OUTER, more={"hangar.tool.input": '{"a": 1}'})],
    "a child before it": [call(at=11, parent=OUTER), OUTER],
    "sent again, as another object": [ONE, replace(ONE, attributes=dict(ONE.attributes))],
    "again with another status": [ONE, replace(ONE, status=2, status_message="boom")],
    "again with an event": [ONE, replace(ONE, events=[SpanEvent("file.change", 5, {"hangar.file.repo_path": "a"})])],
    "again with another attribute": [ONE, replace(ONE, attributes={**ONE.attributes, "gen_ai.tool.name": "Edit"})],
    "again below another": [ONE, replace(ONE, parent_id=OUTER.span_id), OUTER],
    "again of another session": [SESSIONLESS, replace(SESSIONLESS, resource=Resource({"session.id": "other"}))],
    "again with dropped events": [ONE, replace(ONE, dropped_events=2)],
    "its own parent": [replace(ONE, parent_id=ONE.span_id), OUTER],
    "each other's parents": [
        replace(OUTER, parent_id=ONE.span_id),
        replace(ONE, parent_id=OUTER.span_id),
        call(at=40, parent=ONE),
    ],
    "under the id of one of a circle": [
        ONE,
        agent(id=OUTER.span_id, parent=ONE),
        replace(ONE, parent_id=OUTER.span_id, kind=2),
    ],
    "an exception in a log record": [ONE, log("exception", {"exception.type": "Boom"}, of=ONE)],
    "an exception before it": [log("exception", {"exception.type": "Boom"}, of=ONE), ONE],
    "an event of it": [ONE, log("steer", of=ONE)],
    "asked for later": [
        ONE,
        chat([("Bash", {"command": "git push"}, "c1")], at=5),
        chat(shows=[("c1", "ok")], at=90),
    ],
    "asked for before": [chat([("Bash", {"command": "git push"}, "c1")], at=5), ONE],
    "asked for elsewhere": [OTHER, chat([("Bash", {"command": "git push"}, "c1")], at=5), ONE],
}


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
def test_the_short_way_leads_where_the_long_one_does(pieces: list[Span | LogRecord]) -> None:
    for order in (pieces, pieces[::-1]):
        assert added(Assembly(), order) == added(Pedestrian(), order)
        assert added(Assembly(watched=True), order) == added(Pedestrian(watched=True), order)


def test_a_held_call_finds_what_took_it_up_among_plain_calls() -> None:
    held = tool("Bash", {}, {"error": "This tool call requires confirmation"}, at=5)
    held.attributes = {**held.attributes, "gcp.vertex.agent.event_id": "e", "hangar.session.id": "s"}
    taken_up = call(at=50, trace=b"\x02" * 16, more={"gen_ai.tool.call.arguments": "{}"})
    for pieces in ([held, taken_up], [taken_up, held]):
        said = added(Assembly(), pieces)
        assert said == added(Pedestrian(), pieces)
        last = said[1][0][-1].new
        assert last is not None
    assembly = Assembly()
    assembly.add(Batch([taken_up]))
    statuses = [change.new.status for change in assembly.add(Batch([held])).changes if change.new is not None]
    assert statuses == ["allowed"]


def test_a_plain_call_has_no_node_until_something_speaks_of_it() -> None:
    assembly = Assembly()
    assembly.add(Batch([ONE]))
    trace = assembly._traces[TRACE]
    assert (list(trace.plain), list(trace.nodes)) == ([ONE.span_id], [])
    assembly.add(Batch([], [log("steer", of=ONE)]))
    assert not trace.plain
    assert ONE.span_id in trace.nodes


def test_a_trace_with_a_new_plain_call_is_alive() -> None:
    assembly = Assembly(watched=True)
    assert [assembly.add(Batch([each])).touched for each in (OUTER, ONE)] == [(TRACE,), (TRACE,)]


def test_a_forgotten_trace_leaves_nothing() -> None:
    assembly = Assembly()
    assembly.add(Batch([ONE, OTHER]))
    for trace in (ONE.trace_id, OTHER.trace_id):
        assembly.forget(trace)
    assert not assembly._plain._traces
    assert not list(assembly.sessions())


@settings(max_examples=300, deadline=None)
@given(telemetry(), st.randoms(use_true_random=False))
def test_the_ways_do_not_differ(spans: list[Span], random: Any) -> None:
    pieces: list[Span | LogRecord] = [*spans]
    random.shuffle(pieces)
    assert added(Assembly(watched=True), pieces) == added(Pedestrian(watched=True), pieces)


@settings(max_examples=200, deadline=None)
@given(telemetry(circles=True), st.data())
def test_the_ways_do_not_differ_for_circles_and_shared_ids(spans: list[Span], data: Any) -> None:
    ids = st.sampled_from([each.span_id for each in spans])
    again = [replace(each, span_id=data.draw(ids), status=data.draw(st.sampled_from([0, 2]))) for each in spans[:4]]
    pieces: list[Span | LogRecord] = data.draw(st.permutations([*spans, *again]))
    assert added(Assembly(watched=True), pieces) == added(Pedestrian(watched=True), pieces)
