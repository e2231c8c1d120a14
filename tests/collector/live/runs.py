"""A run as the harness tells it to its listeners."""

from pathlib import Path

from evaluator.expectations import Reason
from evaluator.harness.listener import Listener, TestStarted, TurnSent
from evaluator.harness.outcome import Notice, TestKey
from evaluator.language.reader import parse_spec
from evaluator.language.spec import Place, Spec
from evaluator.verdict import Status
from tests.collector.outcomes import SENT, call, execution, run_outcome, test_outcome, turn

SPEC = """
agent: {endpoint: "http://127.0.0.1:1/chat"}
suites:
  - name: Support
    tests:
      - trigger: refund my order
        expect: {function_calls: [{name: refund}]}
      - name: stays polite
        trigger: you are late
        expect: {response: {contains: sorry}}
      - name: never run
        trigger: hello
        expect: {response: {contains: hello}}
"""


def spec() -> Spec:
    return parse_spec(SPEC, Path("specs/support.highbar.yaml"), environ={})


def started(number: int, name: str) -> TestStarted:
    return TestStarted(TestKey(0, 0, number), Path("specs/support.highbar.yaml"), "Support", name, 1, SENT)


def sent(number: int, trace: str, *, index: int = 0) -> TurnSent:
    return TurnSent(TestKey(0, 0, number), f"test-{number}", 1, None, index, "refund my order", trace, "b" * 16, SENT)


FAILED = Reason("missing_call", "refund was not called", Place("suites[0].tests[0].expect", 6))


def play(listener: Listener, *, to_the_end: bool = False) -> None:
    """One test that fails, one that is under way (or passes, `to_the_end`), one that never begins."""
    listener.run_started([spec()])
    listener.agent_ready(spec(), "started, ready at its health URL", 120.0)
    listener.warning(Notice("no_declared_tools", "the agent declares no tools"))
    listener.test_started(started(0, "refund my order"))
    first = sent(0, "a" * 32)
    listener.turn_sent(first)
    failed = turn(Status.FAILED, reasons=[FAILED], calls=(call("lookup", {"id": 1}),), trace_id="a" * 32)
    listener.turn_decided(first, failed)
    ended = execution(failed, test_id="test-0")
    listener.execution_finished(TestKey(0, 0, 0), ended)
    listener.test_finished(test_outcome("refund my order", ended))
    listener.test_started(started(1, "stays polite"))
    second = sent(1, "c" * 32)
    listener.turn_sent(second)
    if not to_the_end:
        return
    passed = turn(trace_id="c" * 32)
    listener.turn_decided(second, passed)
    outcomes = [
        test_outcome("refund my order", ended),
        test_outcome("stays polite", execution(passed, test_id="test-1"), key=TestKey(0, 0, 1)),
    ]
    listener.test_finished(outcomes[1])
    listener.run_finished(run_outcome(*outcomes))
