"""What an agent answered, read: its text, or why there is none and what to do about it."""

import asyncio

import pytest

from evaluator.harness.reply import STREAMED, Response, read
from tests.evaluator.harness.agents import ANSWERS, F, P, codes, statuses
from tests.evaluator.harness.world import Message, World

EVENTS = b'data: {"delta": "in tran"}\n\ndata: {"delta": "sit"}\n\n'
STREAM = "text/event-stream; charset=utf-8"

WITHOUT_TEXT = {
    "an empty body": (("text/plain", b" \n"), "reply_empty", "Let the agent put the text"),
    "what is no JSON": (("application/json", b"<html>"), "reply_invalid_json", "text/plain"),
}


@pytest.mark.parametrize(("sent", "code", "fix"), WITHOUT_TEXT.values(), ids=WITHOUT_TEXT)
def test_a_reply_without_a_text_says_what_to_do(sent: tuple[str, bytes], code: str, fix: str) -> None:
    problem = read(Response(200, *sent), None, needed=True).problem
    assert problem is not None
    assert problem.code == code
    assert fix in problem.fix


@pytest.mark.parametrize(
    ("content_type", "fix"), [("text/plain", "Remove agent.response"), (STREAM, STREAMED)], ids=["text", "events"]
)
def test_no_json_for_a_path_says_what_to_do(content_type: str, fix: str) -> None:
    problem = read(Response(200, content_type, EVENTS), ("delta",), needed=True).problem
    assert problem is not None
    assert problem.code == "reply_not_json_for_path"
    assert fix in problem.fix


def test_a_stream_of_events_is_the_text_that_was_sent() -> None:
    reply = read(Response(200, STREAM, EVENTS), None, needed=True)
    assert (reply.text, reply.streamed) == (EVENTS.decode(), True)


async def test_a_stream_that_fails_says_that_it_is_not_put_together() -> None:
    async def agent(message: Message) -> str:
        return "data: o\n\ndata: k\n\n" if message.text == "go" else "data: ok\n\n"

    async with World(agent, content_type=STREAM) as world:
        outcome = await world.run([ANSWERS, {**ANSWERS, "trigger": "at once"}])
    assert statuses(outcome) == [F, P]
    assert codes(outcome) == ["response.contains"]
    assert outcome.tests[0].reasons[0].fix == STREAMED


async def test_an_agent_that_takes_too_long_says_what_to_set() -> None:
    async def agent(message: Message) -> str:
        await asyncio.sleep(600)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([ANSWERS], timeout=20)
    assert codes(outcome) == ["reply_timeout"]
    assert "agent.timeout" in outcome.tests[0].reasons[0].fix
