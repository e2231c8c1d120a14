"""What an agent answered: an HTTP response read into the text that a spec speaks of, or why it has none."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evaluator.expectations.reason import Reason, unverifiable
from evaluator.harness.paths import PathError, walk
from evaluator.items import Json
from evaluator.language.spec import REPLY_KEYS

LARGEST: Final = 10_000_000
"""Bytes of a reply's body that are read at most."""

STREAM: Final = "text/event-stream"
STREAMED: Final = (
    "The reply is a stream of events (text/event-stream), whose pieces are not put together: its text is that of the "
    "whole stream. Let the agent answer spanbar without streaming, for example by a field of agent.request.body."
)

_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, whole. `body` is decompressed."""

    status: int
    content_type: str
    body: bytes
    location: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """Either the reply's text (None: it has none, and none is asked for), or why there is no reply."""

    text: str | None = None
    problem: Reason | None = None
    streamed: bool = False
    """The text is that of a stream of events, as it was sent."""


def read(response: Response, path: tuple[str, ...] | None, *, needed: bool) -> Reply:
    """The reply by the rules of the format. If it is not `needed`, any 2xx is one, with a text or without.

    `path` is `agent.response`, split. The problem's text holds what the agent sent, neither masked nor clipped.
    """
    problem = _status_problem(response)
    if problem is not None:
        return Reply(problem=problem)
    reply = _text_of(response, path)
    if reply.problem is not None:
        return reply if needed else Reply()
    return replace(reply, streamed=_media_type(response.content_type) == STREAM)


def _status_problem(response: Response) -> Reason | None:
    status = response.status
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return unverifiable(
            "reply_redirect",
            f"The agent answered {status} with Location {response.location or '(none)'}; redirects are not followed.",
            fix=f"Set agent.endpoint to {response.location}." if response.location else "",
        )
    body = _decoded(response)
    return unverifiable("reply_status", f"The agent answered {status}: {body.strip() or '(no body)'}")


def _text_of(response: Response, path: tuple[str, ...] | None) -> Reply:
    text = _decoded(response)
    if not text.strip():
        fix = "Let the agent put the text of its reply into the body, as text or as JSON."
        return _problem("reply_empty", f"The agent answered {response.status} with an empty body.", fix)
    try:
        value, is_json = _json_of(text, response.content_type)
    except (ValueError, RecursionError) as error:
        fix = "Let the agent answer with JSON, or say what it is in Content-Type, such as text/plain."
        return _problem("reply_invalid_json", f"The reply says it is JSON and is not ({error}): {text}", fix)
    if path is not None:
        if not is_json:
            return _problem(
                "reply_not_json_for_path",
                f"agent.response is {'.'.join(path)}, but the reply is no JSON: {text}",
                STREAMED
                if _media_type(response.content_type) == STREAM
                else "Remove agent.response to check the body as text, or let the agent answer with JSON.",
            )
        return _at_path(value, path)
    return _first_text(value, text) if is_json else Reply(text)


def _at_path(value: Json, path: tuple[str, ...]) -> Reply:
    try:
        found = walk(value, path)
    except PathError as problem:
        return _problem("reply_path", f"agent.response is {'.'.join(path)}, but {problem}.")
    if found is None:
        return _problem("reply_not_text", f"The reply's {'.'.join(path)} is null.")
    return Reply(_as_text(found))


def _first_text(value: Json, whole: str) -> Reply:
    if value is None:
        return _problem("reply_not_text", "The reply is JSON null.")
    if isinstance(value, str):
        return Reply(value)
    if not isinstance(value, Mapping):
        return Reply(whole)
    key = next((key for key in REPLY_KEYS if key in value), None)
    if key is None:
        return _problem(
            "reply_no_text_key",
            f"The reply has none of the keys {', '.join(REPLY_KEYS)}; it has {', '.join(map(str, value)) or 'none'}.",
            fix="Say where the text is: agent.response: path.to.the.text",
        )
    found = value[key]
    if found is None or isinstance(found, Mapping | list):
        kind = "null" if found is None else "an object" if isinstance(found, Mapping) else "a list"
        return _problem(
            "reply_not_text",
            f"The reply's {key} is {kind}, not a text.",
            fix=f"Say where the text is: agent.response: {key}.path.to.the.text",
        )
    return Reply(_as_text(found))


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json_of(text: str, content_type: str) -> tuple[Json, bool]:
    """The value and True if the reply is JSON. Raises ValueError if it only says so."""
    media_type = _media_type(content_type)
    if media_type == "application/json" or media_type.endswith("+json"):
        return json.loads(text), True
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, False
    return value, isinstance(value, dict)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _decoded(response: Response) -> str:
    named = _CHARSET.search(response.content_type)
    try:
        return response.body.decode(named.group(1) if named else "utf-8", "replace")
    except LookupError:
        return response.body.decode("utf-8", "replace")


def _problem(code: str, text: str, fix: str = "") -> Reply:
    return Reply(problem=unverifiable(code, text, fix=fix))
