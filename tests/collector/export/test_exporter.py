"""The exporter of results, against a spanbar's own receiver."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from collector.export.exporter import ResultExporter
from collector.export.marker import is_own_output
from collector.index import Index
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from collector.telemetry import KIND_CLIENT, STATUS_ERROR, Batch, LogRecord, Resource, Scope, Span
from evaluator.harness.outcome import UnitBehaviors
from evaluator.verdict import Result, Severity, Status
from tests.collector.export.outcomes import (
    T0,
    event_item,
    execution,
    result,
    run_outcome,
    test_outcome,
    turn,
)

SESSION = ("session", "s-1")


class Backend:
    """A second spanbar: its receiver, and what it has received."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.receiver = Receiver(self._take)

    def _take(self, batch: Batch) -> None:
        self.spans.extend(batch.spans)
        self.logs.extend(batch.logs)

    def of(self, kind: str) -> list[Span]:
        return [span for span in self.spans if span.attributes["spanbar.span"] == kind]


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    backend = Backend()
    await backend.receiver.start()
    yield backend
    await backend.receiver.stop()


@pytest.fixture(params=["http", "grpc"])
async def exporter(request: pytest.FixtureRequest, backend: Backend) -> AsyncIterator[ResultExporter]:
    receiver = backend.receiver
    url = receiver.http_url if request.param == "http" else f"grpc://127.0.0.1:{receiver.grpc_port}"
    exporter = ResultExporter(url, environ={}, resource={"ci.job": "7"}, now=lambda: T0)
    await exporter.start()
    yield exporter
    await exporter.close(0)


def tree(spans: list[Span]) -> dict[str, Any]:
    """Names of spans, nested as parents say, children in the order of their names."""

    def below(parent: bytes) -> dict[str, Any]:
        inner = sorted((span for span in spans if span.parent_id == parent), key=lambda span: span.name)
        return {span.name: below(span.span_id) for span in inner}

    return below(b"")


async def test_a_run_is_read_back_as_the_tree_that_it_was(exporter: ResultExporter, backend: Backend) -> None:
    outcome = run_outcome(
        test_outcome(0, "refunds", execution(1, turn(1), turn(2, index=1)), execution(2, turn(3))),
        test_outcome(1, "refuses", execution(1, turn(4, Status.FAILED))),
        behaviors=(UnitBehaviors("session", "s-1", (result(Result.PASS), result(Result.FAIL, name="no force"))),),
    )
    exporter.run_finished(outcome)
    await exporter.close(30)
    assert tree(backend.spans) == {
        "message 1": {},
        "message 2": {},
        "spanbar run": {
            "session s-1": {"behavior no force": {}, "behavior tests before push": {}},
            "suite refunds": {
                "test refunds": {"execution 1": {}, "execution 2": {}},
                "test refuses": {"execution 1": {}},
            },
        },
    }
    assert len(backend.of("message")) == 4
    assert len(backend.logs) == 2
    counts = exporter.counts
    assert (counts.offered, counts.delivered, counts.rejected) == (2, 2, 0)


async def test_the_agents_own_spans_hang_below_the_message(exporter: ResultExporter, backend: Backend) -> None:
    exporter.run_finished(run_outcome(test_outcome(0, "refunds", execution(1, turn(9)))))
    await exporter.close(30)
    (message,) = backend.of("message")
    assert (message.trace_id.hex(), message.span_id.hex(), message.kind) == (f"{9:032x}", f"{9:016x}", KIND_CLIENT)
    assert message.attributes["test.case.name"] == "refunds"


async def test_a_result_is_an_event_on_a_span_and_a_log_record_with_links_to_its_evidence(
    exporter: ResultExporter, backend: Backend
) -> None:
    test_run, push = event_item("test.run", 1), event_item("git.push", 2)
    exporter.behavior_result(SESSION, result(Result.FAIL, test_run, push), [test_run, push])
    await exporter.close(30)
    ((span,), (log,)) = backend.spans, backend.logs
    expected = {
        "gen_ai.evaluation.name": "tests before push",
        "gen_ai.evaluation.score.label": "fail",
        "gen_ai.evaluation.explanation": "it is fail",
        "session.id": "s-1",
        "spanbar.behavior.severity": "error",
        "spanbar.result.final": True,
        "spanbar.result.revision": 0,
    }
    (event,) = span.events
    assert (event.name, log.event_name) == ("gen_ai.evaluation.result",) * 2
    for carrier in (span, event, log):
        assert expected.items() <= dict(carrier.attributes).items()
    assert [(link.trace_id, link.span_id) for link in span.links] == [test_run.id[:2], push.id[:2]]
    assert span.status == STATUS_ERROR
    # The record is where the agent's own trace shows it, and says which span of the results it belongs to.
    assert (log.trace_id, log.span_id) == push.id[:2]
    assert log.attributes["spanbar.result.span_id"] == span.span_id.hex()


@pytest.mark.parametrize(
    ("of", "severity", "number"),
    [
        (Result.PASS, Severity.ERROR, 9),
        (Result.NOT_APPLICABLE, Severity.ERROR, 9),
        (Result.FAIL, Severity.ERROR, 17),
        (Result.UNKNOWN, Severity.ERROR, 17),
        (Result.ERROR, Severity.ERROR, 17),
        (Result.FAIL, Severity.WARN, 13),
    ],
)
async def test_the_severity_of_the_record_is_that_of_the_result(
    exporter: ResultExporter, backend: Backend, of: Result, severity: Severity, number: int
) -> None:
    exporter.behavior_result(SESSION, result(of, severity=severity))
    await exporter.close(30)
    assert backend.logs[0].severity == number


async def test_a_result_that_cannot_be_checked_says_so_as_an_error_type(
    exporter: ResultExporter, backend: Backend
) -> None:
    exporter.behavior_result(SESSION, result(Result.ERROR))
    await exporter.close(30)
    assert backend.spans[0].events[0].attributes["error.type"] == "cannot_be_checked"


async def test_a_revised_result_is_a_span_of_its_own_that_amends_the_one_before(
    exporter: ResultExporter, backend: Backend
) -> None:
    assert exporter.behavior_result(SESSION, result(Result.PASS))
    assert not exporter.behavior_result(SESSION, result(Result.PASS))
    assert exporter.behavior_result(SESSION, result(Result.FAIL))
    assert exporter.behavior_result(SESSION, result(Result.PASS))
    await exporter.close(30)
    first, second, third = backend.spans
    assert [span.attributes["spanbar.result.revision"] for span in backend.spans] == [0, 1, 2]
    assert [span.attributes["spanbar.result.revised"] for span in backend.spans] == [False, True, True]
    assert len({span.span_id for span in backend.spans}) == 3
    amended = [[link.span_id for link in span.links] for span in backend.spans]
    assert amended == [[], [first.span_id], [second.span_id]]
    assert {span.trace_id for span in backend.spans} == {first.trace_id}
    assert third.attributes["gen_ai.evaluation.score.label"] == "pass"


async def test_results_of_a_unit_hang_below_its_span_whichever_comes_first(
    exporter: ResultExporter, backend: Backend
) -> None:
    early, late = event_item("a", 1), event_item("b", 5)
    final = [result(Result.FAIL, early), result(Result.PASS, name="another")]
    exporter.behavior_result(SESSION, final[0])
    exporter.unit_closed(SESSION, final, [early, late])
    exporter.behavior_result(SESSION, final[1])
    await exporter.close(30)
    (session,) = backend.of("session")
    assert tree(backend.spans) == {"session s-1": {"behavior another": {}, "behavior tests before push": {}}}
    assert (session.start, session.end) == (early.time, late.time)
    assert [event.attributes["gen_ai.evaluation.score.label"] for event in session.events] == ["fail", "pass"]


async def test_a_session_that_ends_again_amends_its_span(exporter: ResultExporter, backend: Backend) -> None:
    items = [event_item("a", 1), event_item("b", 2)]
    assert exporter.unit_closed(SESSION, [result(Result.PASS)], items[:1])
    assert not exporter.unit_closed(SESSION, [result(Result.PASS)], items[:1])
    assert exporter.unit_closed(SESSION, [result(Result.UNKNOWN)], items, cut="an item was lost")
    await exporter.close(30)
    first, second = backend.of("session")
    assert [link.span_id for link in second.links] == [first.span_id]
    assert second.attributes["spanbar.unit.cut"] == "an item was lost"
    assert second.status == STATUS_ERROR


async def test_two_spanbars_never_write_the_same_span_of_one_session(backend: Backend) -> None:
    for _ in range(2):
        exporter = ResultExporter(backend.receiver.http_url, environ={})
        await exporter.start()
        exporter.behavior_result(SESSION, result(Result.PASS))
        await exporter.close(30)
    assert len({span.span_id for span in backend.spans}) == 2


async def test_everything_exported_is_known_as_own_output(exporter: ResultExporter, backend: Backend) -> None:
    exporter.run_finished(run_outcome(test_outcome(0, "refunds", execution(1, turn(1)))))
    exporter.behavior_result(SESSION, result(Result.PASS))
    exporter.unit_closed(SESSION, [result(Result.PASS)], [])
    await exporter.close(30)
    assert all(is_own_output(each.resource, each.scope) for each in [*backend.spans, *backend.logs])
    assert backend.spans[0].resource.attributes["service.name"] == "spanbar"
    assert backend.spans[0].resource.attributes["ci.job"] == "7"


@pytest.mark.parametrize(
    ("resource", "scope", "own"),
    [
        ({}, Scope("spanbar.results"), True),
        ({"spanbar.output": True}, Scope("rewritten by a hop"), True),
        ({}, Scope("renamed", attributes={"spanbar.output": True}), True),
        ({"service.name": "spanbar"}, Scope("an agent"), False),
        ({"spanbar.output": "yes"}, Scope("an agent"), False),
    ],
)
def test_own_output_is_known_by_scope_or_resource(resource: dict[str, Any], scope: Scope, own: bool) -> None:
    assert is_own_output(Resource(resource), scope) is own


async def test_own_output_that_comes_back_makes_no_items_and_no_sessions(
    exporter: ResultExporter, backend: Backend
) -> None:
    exporter.behavior_result(SESSION, result(Result.FAIL, event_item("a", 1)))
    exporter.unit_closed(SESSION, [result(Result.FAIL)], [])
    await exporter.close(30)
    spans, logs = backend.spans, backend.logs
    theirs = LogRecord(1, "session.end", None, {"session.id": "theirs"}, Resource(), Scope("an agent"))
    index = Index()
    Pipeline(index).receive(Batch(spans=[*spans], logs=[*logs, theirs]))
    assert [unit.key.id for unit in index.sessions()] == ["theirs"]


async def test_more_than_one_request_holds_is_sent_in_several(exporter: ResultExporter, backend: Backend) -> None:
    behaviors = tuple(result(Result.PASS, name=f"rule {n} " + "x" * 8000) for n in range(300))
    exporter.run_finished(run_outcome(behaviors=(UnitBehaviors("session", "s-1", behaviors),)))
    await exporter.close(60)
    assert exporter.counts.delivered > 4
    assert exporter.counts.lost == 0
    assert len(backend.of("result")) == 300
    assert len(backend.logs) == 300


async def test_text_that_no_backend_takes_is_clipped_and_repaired(exporter: ResultExporter, backend: Backend) -> None:
    exporter.behavior_result(("session", "s\ud800"), result(Result.PASS, name="n" * 10_000))
    await exporter.close(30)
    attributes = backend.spans[0].attributes
    assert attributes["spanbar.unit.id"] == "s?"
    assert len(attributes["gen_ai.evaluation.name"]) == 8192
    assert attributes["gen_ai.evaluation.name"].endswith("…")


async def test_what_could_not_be_delivered_is_counted(backend: Backend) -> None:
    url = backend.receiver.http_url
    await backend.receiver.stop()
    exporter = ResultExporter(url, environ={})
    await exporter.start()
    exporter.behavior_result(SESSION, result(Result.PASS))
    await exporter.close(0.2)
    assert (exporter.counts.offered, exporter.counts.lost) == (2, 2)
    assert exporter.counts.last_error
