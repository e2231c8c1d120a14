"""Tests to run, agents to run them on, and what is read of the outcome."""

from evaluator.harness.outcome import ClosedBy, RunOutcome
from evaluator.verdict import Status
from tests.evaluator.harness.world import Message

CALLS = {"trigger": "go", "expect": {"function_calls": [{"name": "pay"}]}}
FORBIDS = {"trigger": "go", "expect": {"forbid": ["pay"]}}
NEVER = {"trigger": "go", "expect": {"function_calls": []}}
ANSWERS = {"trigger": "go", "expect": {"response": {"contains": "ok"}}}


def statuses(outcome: RunOutcome) -> list[Status]:
    return [test.status for test in outcome.tests]


def codes(outcome: RunOutcome, at: int = 0) -> list[str]:
    return [reason.code for reason in outcome.tests[at].reasons]


def closed_by(outcome: RunOutcome) -> list[ClosedBy]:
    executions = [execution for test in outcome.tests for execution in test.executions]
    return [turn.decision.by for execution in executions for turn in execution.turns]


P, F, E = Status.PASSED, Status.FAILED, Status.ERROR


async def silent(message: Message) -> str:
    return "ok"


async def pays(message: Message) -> str:
    message.call("pay")
    message.entry()
    return "ok"


async def only_enters(message: Message) -> str:
    message.entry()
    return "ok"
