"""Messages to the agent: one HTTP request each, with the trace and the test it belongs to."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evaluator.expectations.reason import unverifiable
from evaluator.harness import http
from evaluator.harness.placeholders import Scope, as_text, fill, fill_text
from evaluator.harness.reply import LARGEST, Reply, Response, read
from evaluator.items import Json
from evaluator.language.spec import Agent

TEST_HEADER: Final = "X-Highbar-Test"
BAGGAGE_KEY: Final = "test"
"""The baggage entry with the test id. A span processor that copies baggage meets the default `correlate` with it."""

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_HEADER: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Envelope:
    """Whose message it is: the ids that go with it."""

    trace_id: bytes
    span_id: bytes
    test_id: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message, ready to be sent."""

    method: str
    headers: tuple[tuple[bytes, bytes], ...]
    content: bytes


class HeaderError(Exception):
    """A header cannot be sent. The message names it and never shows its value."""


class AgentClient:
    """Sends messages to one agent, each over a new connection: none is used that the agent has closed."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def healthy(self, url: str) -> int | None:
        """The status that `url` answers with; None if it cannot be reached within two seconds."""
        try:
            async with asyncio.timeout(2):
                return (await http.request("GET", url, (), b"", largest=LARGEST)).status
        except (TimeoutError, http.HttpError):
            return None

    def request(self, scope: Scope, envelope: Envelope, session_headers: Mapping[str, Json]) -> Message:
        """One message, as it is sent. Raises HeaderError, and PlaceholderError if a placeholder has no value."""
        spec = self._agent.request
        headers = {name: fill_text(value, scope) for name, value in (spec.headers or {}).items()}
        _override(headers, {name: as_text(value) for name, value in session_headers.items()})
        body = fill({"message": "{{message}}"} if spec.body is None else spec.body, scope)
        content_type, content = _encoded(body)
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = content_type
        baggage = [value for name, value in headers.items() if name.lower() == "baggage"]
        _override(
            headers,
            {
                TEST_HEADER: envelope.test_id,
                "traceparent": f"00-{envelope.trace_id.hex()}-{envelope.span_id.hex()}-01",
                "baggage": ",".join([*baggage, f"{BAGGAGE_KEY}={envelope.test_id}"]),
            },
        )
        checked = tuple((_name(name), _value(name, value)) for name, value in headers.items())
        return Message(spec.method.upper(), checked, content)

    async def send(self, message: Message, *, needed: bool) -> Reply:
        """The reply, or why there is none: `agent.timeout` bounds the whole of it. `needed`: its text is checked."""
        endpoint, limit = self._agent.endpoint, self._agent.timeout
        try:
            async with asyncio.timeout(limit / 1000):
                found = await http.request(
                    message.method, endpoint, message.headers, message.content, largest=LARGEST
                )
        except TimeoutError:
            fix = "If the agent may take longer, set agent.timeout, in ms; else look where it hangs."
            return _problem("reply_timeout", f"No whole reply within agent.timeout, {limit} ms.", fix)
        except http.TooLarge:
            return _problem("reply_too_large", f"The reply is larger than {LARGEST // 1_000_000} MB.")
        except http.HttpError as error:
            fix = (
                "Check the host and port of agent.endpoint, and that the agent runs on."
                if isinstance(error, http.NoConnection)
                else "Let the agent answer every request with HTTP/1.1, also where it fails."
            )
            return _problem("reply_unreachable", f"No reply from {endpoint}: {error}.", fix)
        headers = found.headers
        response = Response(found.status, headers.get("content-type", ""), found.body, headers.get("location", ""))
        return read(response, self._agent.response, needed=needed)


def _encoded(body: Json) -> tuple[str, bytes]:
    if isinstance(body, str):
        return "text/plain; charset=utf-8", body.encode("utf-8", "surrogatepass")
    return "application/json", json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _override(headers: dict[str, str], stronger: Mapping[str, str]) -> None:
    """Header names are case-insensitive: a stronger header takes the place of each spelling."""
    names = {name.lower() for name in stronger}
    for name in [name for name in headers if name.lower() in names]:
        del headers[name]
    headers.update(stronger)


def _name(name: str) -> bytes:
    if _HEADER_NAME.fullmatch(name) is None:
        raise HeaderError(f"The header name {name!r} has characters that no header name may have.")
    return name.encode("ascii")


def _value(name: str, value: str) -> bytes:
    if _NOT_IN_HEADER.search(value):
        raise HeaderError(f"The value of the header {name} has a line break or another control character.")
    return value.strip().encode("utf-8", "surrogatepass")


def _problem(code: str, text: str, fix: str = "") -> Reply:
    return Reply(problem=unverifiable(code, text, fix=fix))
