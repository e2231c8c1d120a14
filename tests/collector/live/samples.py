"""Items, behaviors and a served live room for the tests of `collector.live`."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from collector.index import Index, Limits
from collector.live.app import Live
from collector.receiver import Receiver
from evaluator.behaviors import Program
from evaluator.items import Call, CallStatus, Change, Item, ItemKind
from evaluator.language.behaviors import parse_behaviors

BEHAVIORS = """
behaviors:
  - name: no force push
    assert: {never: {tool: {kind: shell}, input: 'push .*--force'}}
  - name: tests run
    assert: {eventually: {event: test.run}}
  - name: tests before push
    severity: warn
    assert: {before: {first: {event: test.run}, then: {tool: {ops: git.push}}}}
  - name: one push a job
    unit: job
    assert: {count: {match: {tool: {ops: git.push}}, max: 1}}
"""

_numbers = itertools.count(1)


def program(text: str = BEHAVIORS) -> Program:
    return Program(parse_behaviors(text, "behaviors.yaml"))


def shell(command: str, session: str | None = "s", seq: int | None = None, **columns: Any) -> Item:
    """A shell call; one that pushes has the op `git.push`."""
    number = next(_numbers)
    args = {"command": command}
    call = Call(
        "bash",
        args,
        result="done",
        started=number * 10**9,
        ended=number * 10**9 + 5_000_000,
        call_id=f"call-{number}",
    )
    ops = ("git.push",) if "push" in command else ()
    return Item(
        (number.to_bytes(16, "big"), number.to_bytes(8, "big"), None),
        ItemKind.TOOL,
        "bash",
        session,
        columns.pop("job", None),
        seq,
        number * 10**9,
        columns.pop("turn", None),
        tool_kind="shell",
        ops=ops,
        status=CallStatus.OK.value,
        call=call,
        **columns,
    )


def event(name: str, session: str | None = "s", seq: int | None = None, **columns: Any) -> Item:
    number = next(_numbers)
    return Item(
        (number.to_bytes(16, "big"), number.to_bytes(8, "big"), 0),
        ItemKind.EVENT,
        name,
        session,
        columns.pop("job", None),
        seq,
        number * 10**9,
        columns.pop("turn", None),
        **columns,
    )


def add(index: Index, *items: Item) -> None:
    index.apply(Change(None, item) for item in items)


@dataclass
class Served:
    """A live room behind a real receiver, and a client of it."""

    index: Index
    live: Live
    receiver: Receiver
    client: httpx.AsyncClient

    async def get(self, path: str, status: int = 200, **params: Any) -> Any:
        response = await self.client.get(path, params=params)
        assert response.status_code == status, response.text
        return response.json()


@contextlib.asynccontextmanager
async def served(
    text: str = BEHAVIORS,
    *,
    limits: Limits | None = None,
    port: int = 0,
    **options: Any,
) -> AsyncIterator[Served]:
    index = Index(program(text), limits=limits)
    live = Live(index, **options)
    token = options.get("token")
    receiver = Receiver(lambda batch: None, app=live.app, http_port=port, grpc_port=None, token=token)
    await receiver.start()
    async with live, httpx.AsyncClient(base_url=receiver.http_url, timeout=30, verify=False) as client:
        try:
            yield Served(index, live, receiver, client)
        finally:
            await live.stop()
            await receiver.stop()


@dataclass(frozen=True)
class Sent:
    """A server-sent event as it was received."""

    name: str
    data: Any
    id: str | None


@contextlib.asynccontextmanager
async def listening(client: httpx.AsyncClient, last_id: str | None = None) -> AsyncIterator["Listening"]:
    headers = {"last-event-id": last_id} if last_id is not None else {}
    async with client.stream("GET", "/api/v1/events", headers=headers) as response:
        assert response.status_code == 200
        yield Listening(response)


class Listening:
    """Reads a stream; what was read last is `last_id`."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()
        self.last_id: str | None = None

    async def next(self) -> Sent:
        name, data, id = "message", "", None
        async for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                data = value
            elif field == "id":
                self.last_id = id = value
            elif line == "" and data:
                return Sent(name, json.loads(data), id)
        raise EOFError("the stream ended")

    async def until(self, name: str, condition: Callable[[Any], bool] = lambda data: True) -> list[Sent]:
        """All events up to the first of that name for which the condition holds, which is the last of them."""
        async with asyncio.timeout(30):
            seen = [await self.next()]
            while seen[-1].name != name or not condition(seen[-1].data):
                seen.append(await self.next())
        return seen


def results_of(events: list[Sent]) -> Iterator[tuple[str, str, bool]]:
    """Behavior, result and finality of each `result` event."""
    return ((e.data["behavior"], e.data["result"], e.data["final"]) for e in events if e.name == "result")
