"""Whether tool calls can be seen, while telemetry arrives: at each moment what `check` would say of what is there."""

import random
from itertools import pairwise

import pytest

from collector.assembly import Assembly
from collector.index import Index, Limits, Unit, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.telemetry import Batch, LogRecord, Span
from evaluator.behaviors import Program
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Result, Verdict
from tests.collector.corpus import CORPUS, Recording, recordings
from tests.collector.telemetry import TRACE, agent, chat, log, span, tool

NEVER = """
behaviors:
  - {name: no deletion, assert: {never: {tool: {}, where: {name: delete_account}}}}
"""
HEX = TRACE.hex()
SESSION = {"session.id": "s"}


def silent(**fields: object) -> Span:
    """A model span without its messages."""
    more = fields.pop("more", {})
    assert isinstance(more, dict)
    return span("chat m", {"gen_ai.operation.name": "chat"} | more, **fields)


class Server:
    def __init__(self, limits: Limits | None = None) -> None:
        self.index = Index(Program(parse_behaviors(NEVER, "behaviors.yaml")), limits=limits)
        self.pipeline = Pipeline(self.index, Assembly(watched=True))

    def receive(self, *telemetry: Span | LogRecord) -> None:
        spans = [each for each in telemetry if isinstance(each, Span)]
        self.pipeline.receive(Batch(spans, [each for each in telemetry if isinstance(each, LogRecord)]))

    def unit(self, session: str) -> Unit:
        return self.index.units[UnitKey(UnitKind.SESSION, session)]

    def results(self) -> dict[str, Result]:
        return {unit.key.id: unit.results[0].verdict.result for unit in self.index.sessions()}


def test_a_session_of_which_only_blind_spans_came_is_there_and_says_that_its_calls_cannot_be_seen() -> None:
    server = Server()
    server.receive(silent(more=SESSION))
    assert server.results() == {"s": Result.UNKNOWN}
    (result,) = server.unit("s").results
    assert "tool calls of this unit cannot be seen: content capture is off" in result.verdict.reason


def test_when_a_later_span_shows_that_calls_are_seen_the_result_goes_back() -> None:
    server = Server()
    server.receive(silent(more=SESSION))
    server.receive(agent(more=SESSION))
    assert server.results() == {"s": Result.PASS}


def test_a_request_that_nothing_answers_is_unknown_until_its_result_is_shown_in_another_trace() -> None:
    server = Server()
    server.receive(chat([("delete_account", {}, "c1")], at=10))
    assert server.results() == {HEX: Result.UNKNOWN}
    server.receive(chat(shows=[("c1", "no")], at=50, trace=b"\2" * 16))
    assert server.results()[HEX] is not Result.UNKNOWN


def test_a_session_is_blind_before_what_ends_it_makes_its_result_final() -> None:
    server = Server()
    told: list[list[Verdict]] = []
    server.index.listen(lambda update: told.append([each.verdict for each in update.unit.results]))
    server.receive(silent(more=SESSION), log("session.end", SESSION))
    assert not any(verdict.final and verdict.result is Result.PASS for verdicts in told for verdict in verdicts)
    assert server.unit("s").closed


def test_spans_whose_parent_names_their_session_late_leave_none_in_the_name_of_their_trace() -> None:
    server, parent = Server(), span("POST /chat", SESSION)
    server.receive(silent(parent=parent))
    assert server.results() == {HEX: Result.UNKNOWN}
    server.receive(parent)
    assert server.results() == {"s": Result.UNKNOWN}


def test_a_session_stays_when_its_only_item_turns_out_to_be_another_s() -> None:
    server, parent = Server(), span("POST /chat", SESSION)
    server.receive(silent(), tool("search", {}, parent=parent))
    server.receive(parent)
    assert set(server.results()) == {HEX, "s"}


def test_a_trace_that_was_forgotten_is_still_held_against_its_session() -> None:
    server = Server()
    server.receive(chat([("delete_account", {}, "c1")], at=10, more=SESSION))
    server.pipeline.assembly.forget(TRACE)
    server.receive(chat(more=SESSION, at=50))
    assert server.results() == {"s": Result.UNKNOWN}


def test_what_was_evicted_counts_as_new_and_is_not_whole() -> None:
    server = Server(limits=Limits(sessions=1))
    server.receive(silent(more=SESSION))
    server.receive(agent(more={"session.id": "t"}, trace=b"\2" * 16))
    assert server.results() == {"t": Result.PASS}
    server.receive(agent(more=SESSION, trace=b"\3" * 16))
    assert server.results() == {"s": Result.UNKNOWN}


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside this checkout")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("recording", list(recordings()) if CORPUS.exists() else [], ids=str)
def test_in_any_order_it_is_at_each_moment_what_the_whole_assembly_says(recording: Recording, seed: int) -> None:
    whole = recording.batch()
    pieces: list[Span | LogRecord] = [*whole.spans, *whole.logs]
    random.Random(seed).shuffle(pieces)
    assembly, unseen = Assembly(watched=True), dict[str, object]()
    for piece, following in pairwise([*pieces, None]):
        assert piece is not None
        spans, logs = ([piece], []) if isinstance(piece, Span) else ([], [piece])
        for session, present, why in assembly.add(Batch(spans, logs)).sights:
            unseen.pop(session, None)
            if present:
                unseen[session] = why
        if len(pieces) < 100 or following is None:
            assert {session for session, why in unseen.items() if why is not None} == assembly.blind().keys()
            assert unseen.keys() == {session for session, _ in assembly.sessions()}
