"""OTLP/HTTP beside an ASGI application, on the connections that a browser or another client of the application opens.

An exporter's connections do not come here: `Connection` serves them.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from collector.receiver.http import PATHS, Answer, Export, OtlpHttp
from collector.receiver.intake import Signal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class OtlpApp:
    """The ASGI application: OTLP on its paths, `app` on all others.

    `in_flight` are the tasks that handle an OTLP request at the moment.
    """

    def __init__(self, otlp: OtlpHttp, app: ASGIApp) -> None:
        self._otlp = otlp
        self._app = app
        self.in_flight: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        signal = PATHS.get(scope["path"]) if scope["type"] == "http" else None
        if signal is None:
            misdirected = self._misdirected(scope) if scope["type"] == "http" else None
            await (self._app(scope, receive, send) if misdirected is None else _respond(send, misdirected))
            return
        task = asyncio.current_task()
        assert task is not None
        self.in_flight.add(task)
        try:
            await self._export(signal, scope, receive, send)
        finally:
            self.in_flight.discard(task)

    def _misdirected(self, scope: Scope) -> Answer | None:
        return self._otlp.misdirected(scope["method"], scope["path"], dict(scope["headers"]))

    async def _export(self, signal: Signal, scope: Scope, receive: Receive, send: Send) -> None:
        begun = self._otlp.begin(signal, scope["method"], dict(scope["headers"]))
        try:
            answer = await _received(begun, receive) if isinstance(begun, Export) else begun
        finally:
            if isinstance(begun, Export):
                begun.drop()
        if answer is not None:
            await _respond(send, answer)


async def _received(export: Export, receive: Receive) -> Answer | None:
    """The answer when the body is whole or too large; None if the client went away before."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            export.cut_off()
            return None
        answer = export.add(message.get("body", b""))
        if answer is not None or not message.get("more_body"):
            return answer or export.answer()


async def _respond(send: Send, answer: Answer) -> None:
    status, content_type, body, headers = answer
    about_body = [(b"content-type", content_type), (b"content-length", b"%d" % len(body))] if content_type else []
    await send({"type": "http.response.start", "status": int(status), "headers": about_body + headers})
    await send({"type": "http.response.body", "body": body})
