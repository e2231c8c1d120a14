"""The event stream of a server, read from the terminal: reconnecting, and folded into what there is now."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import httpx
import orjson

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 10.0
SILENCE: Final = 30.0
"""s without anything, beats included, after which a connection counts as lost."""

View = dict[str, Any]


class Event(NamedTuple):
    name: str
    data: Any


class Refused(Exception):
    """The server answers, and will not let this reader in."""


@dataclass(slots=True)
class Seen:
    """What the stream has told: units by kind and id, tests by key. While a snapshot comes in, the old stays."""

    head: View = field(default_factory=dict)
    units: dict[tuple[str, str], View] = field(default_factory=dict)
    tests: dict[str, View] = field(default_factory=dict)
    run: View | None = None
    connection: str = "connecting"
    _coming: "Seen | None" = None

    def apply(self, event: Event) -> None:
        target = self._coming or self
        match event.name:
            case "reset":
                self._coming = Seen(head=event.data)
            case "synced" if self._coming is not None:
                coming, self._coming = self._coming, None
                self.head, self.units, self.tests, self.run = coming.head, coming.units, coming.tests, coming.run
            case "units":
                target.units.update(((unit["kind"], unit["id"]), unit) for unit in event.data["units"])
            case "gone":
                target.units.pop((event.data["unit"]["kind"], event.data["unit"]["id"]), None)
            case "result":
                self._result(target, event.data)
            case "run":
                target.run = event.data
            case "tests":
                target.tests.update((test["key"], test) for test in event.data["tests"])

    def _result(self, target: "Seen", data: View) -> None:
        unit = target.units.get((data["unit"]["kind"], data["unit"]["id"]))
        if unit is not None:
            unit.update(cells=data["cells"], verdict=data["verdict"], last_ms=data["at_ms"])

    @property
    def over(self) -> bool:
        """A run that was followed has ended."""
        return self.run is not None and self.run["status"] in ("finished", "interrupted")


class Stream:
    """Reads `/api/v1/events` of the server at `url`, again and again, until it is cancelled or refused."""

    def __init__(self, url: str, token: str | None, on_state: Callable[[str], None]) -> None:
        headers = {"authorization": f"Bearer {token}"} if token is not None else {}
        self._client = httpx.AsyncClient(base_url=url, headers=headers, timeout=httpx.Timeout(10.0, read=SILENCE))
        self._on_state = on_state
        self._last_id = ""

    async def events(self) -> AsyncIterator[Event]:
        """Events as they come, over any number of connections. Raises `Refused`."""
        wait = FIRST_WAIT
        async with self._client:
            while True:
                try:
                    async for event in self._connection():
                        wait = FIRST_WAIT
                        yield event
                    why = "the server has stopped"
                except httpx.HTTPError as error:
                    why = str(error) or type(error).__name__
                self._on_state(f"not connected ({why}); trying again in {wait:.0f} s")
                await asyncio.sleep(wait)
                wait = min(wait * 1.7, LONGEST_WAIT)

    async def _connection(self) -> AsyncIterator[Event]:
        headers = {"last-event-id": self._last_id} if self._last_id else {}
        async with self._client.stream("GET", "/api/v1/events", headers=headers) as response:
            if response.status_code in (401, 403, 404):
                await response.aread()
                raise Refused(_refusal(response))
            response.raise_for_status()
            self._on_state("live")
            name, data = "", ""
            async for line in response.aiter_lines():
                key, _, value = line.partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    data = value
                elif key == "id":
                    self._last_id = value
                elif not line and data:
                    yield Event(name, orjson.loads(data))
                    if name == "bye":
                        return
                    name, data = "", ""


def _refusal(response: httpx.Response) -> str:
    if response.status_code == 401:
        return "the server wants its token: give --token or set SPANBAR_TOKEN"
    if response.status_code == 404:
        return f"there is no spanbar at {response.url}; give the URL of `spanbar serve` or of `spanbar run --live`"
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {response.status_code}"
