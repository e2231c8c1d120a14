"""A connection that speaks HTTP/1.1 with OTLP in it: requests are decoded and answered as their last byte arrives.

Live telemetry is one small request after another, where a server for applications costs more than what it serves. A
request for anything but OTLP is passed on, with its connection, to such a server.
"""

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, cast

import httptools

from collector.receiver.connections import QUIET, QUIET_WITHIN, Connections
from collector.receiver.http import Answer, Export, OtlpHttp, not_found
from collector.receiver.intake import Reason
from collector.receiver.target import asked, signal_of

HEAD_LIMIT: Final = 1 << 16
"""Bytes that the head of a request may have, and what comes behind a piece of its body and is none of it."""

LINGER: Final = 30.0
"""s for which a client that has its answer may go on to send the request."""

LINGER_BYTES: Final = 256 << 20
"""Bytes that it may send then. Most clients read no answer before all is sent: a reset would hide it from them."""

_LOG: Final = logging.getLogger("spanbar.receiver")
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_INVALID: Final = Answer(HTTPStatus.BAD_REQUEST, b"text/plain; charset=utf-8", b"This is no HTTP/1.1 request.\n", [])
_LONG_HEAD: Final = Answer(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    b"text/plain; charset=utf-8",
    b"The head of the request has more than %d bytes.\n" % HEAD_LIMIT,
    [],
)
_LONG_BODY: Final = f"more than {HEAD_LIMIT} bytes of the request are its trailers, or extensions of a chunk"
_FAILED: Final = Answer(
    HTTPStatus.INTERNAL_SERVER_ERROR, b"text/plain; charset=utf-8", b"See the server's log.\n", []
)

Elsewhere = Callable[[], asyncio.Protocol]
"""Makes the protocol that serves what is not OTLP."""


class _TooLong(Exception):
    """The head of a request, or what comes with its body, is over the limit."""


class Connection(asyncio.Protocol):
    """Reads requests with llhttp and writes an answer to each before the next is read."""

    def __init__(self, otlp: OtlpHttp, connections: Connections, elsewhere: Elsewhere | None) -> None:
        self._otlp = otlp
        self._connections = connections
        self._elsewhere = elsewhere
        self._parser = httptools.HttpRequestParser(self)
        self._transport = cast(asyncio.Transport, None)
        self._begun = False
        """Whether the first byte of a request has come that is not answered or not whole."""
        self._start = b""
        """The begin of a request line, until it shows whether the request is for OTLP."""
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._head_size = 0
        """Bytes of the names and values that were read since the head began, or the body."""
        self._bodiless = 0
        """Bytes that came since the request began, or since the last piece of its body."""
        self._export: Export | None = None
        self._in_head = True
        self._last = False
        """No further request is read."""
        self._lingering: asyncio.TimerHandle | None = None
        """What ends the wait for the client's end, while all that still comes is let go."""
        self._let_go = 0
        self._quiet = 0
        """Sweeps since the last byte."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._connections.open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        if self._export is not None:
            self._export.cut_off()
            self._export = None
        if self._lingering is not None:
            self._lingering.cancel()
        self._leave()

    def pause_writing(self) -> None:
        """The client does not read its answers: it shall not send more."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        self._quiet = 0
        if self._lingering is not None:
            self._let_go += len(data)
            if self._let_go > LINGER_BYTES:
                self._transport.abort()
            return
        if self._elsewhere is not None and not self._begun:
            self._start += data
            signal, known = asked(self._start)
            if not known and len(self._start) <= HEAD_LIMIT:
                return
            data, self._start = self._start, b""
            if signal is None:
                self._hand_over(self._elsewhere(), data)
                return
        self._bodiless += len(data)
        self._feed(data)
        if self._bodiless > HEAD_LIMIT:
            self._refuse(self._too_long())

    def shut_down(self) -> None:
        """Close now, or once the request that is under way is answered."""
        self._last = True
        if self not in self._connections.under_way:
            self._transport.close()

    def end_if_idle(self) -> None:
        self._quiet += 1
        if self._quiet >= (QUIET_WITHIN if self._begun else QUIET):
            # Not `close`: an export that has begun is lost, and a client that reads no answer would hold it open.
            self._last = True
            self._transport.abort()

    def close(self) -> None:
        """End it. An export that is under way gets no answer, and is sent again elsewhere."""
        self._last = True
        if self._export is not None:
            self._export.drop()
            self._export = None
        self._transport.close()

    @property
    def _method(self) -> str:
        return self._parser.get_method().decode("ascii")

    # What the parser calls:

    def on_message_begin(self) -> None:
        self._begun = self._in_head = True
        self._target = b""
        self._headers = {}
        self._head_size = 0

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._measure(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._measure(len(name) + len(value))
        # Trailers say nothing that the server has to know (RFC 9110, 6.5.1).
        if self._in_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._in_head, self._head_size = False, 0
        if self._last or self._parser.should_upgrade():
            return
        signal = signal_of(self._target)
        if signal is None:
            if self._elsewhere is not None:
                # It came in one piece with the request before it. Clients send such a request once more.
                self.close()
                return
            path = self._target.partition(b"?")[0].decode("latin-1")
            self._answer(self._otlp.misdirected(self._method, path, self._headers) or not_found(path))
            return
        begun = self._otlp.begin(signal, self._method, self._headers)
        if isinstance(begun, Answer):
            self._answer(begun)
            return
        self._export = begun
        self._connections.began(self)
        if self._headers.get(b"expect", b"").lower() == b"100-continue" and self._parser.get_http_version() == "1.1":
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._bodiless = 0
        if self._export is not None and (early := self._export.add(body)) is not None:
            self._answer(early)

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade():
            return
        self._begun = False
        if self._export is not None:
            self._answer(self._export.answer())
        self._in_head, self._bodiless, self._target = True, 0, b""

    def _feed(self, data: bytes) -> None:
        while not self._last or self._export is not None:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                if self._parser.get_method() != b"CONNECT":
                    data = self._without_offer() + data[upgrade.args[0] :]
                    self._parser = httptools.HttpRequestParser(self)
                    continue
                self._refuse(_INVALID)
            except httptools.HttpParserCallbackError as error:
                if isinstance(error.__context__, _TooLong):
                    self._refuse(self._too_long())
                else:
                    _LOG.error("a request could not be served", exc_info=error.__context__ or error)
                    self._refuse(_FAILED)
            except httptools.HttpParserError as error:
                self._refuse(self._unreadable(str(error)))
            return

    def _without_offer(self) -> bytes:
        """The head that was read, without its offer to speak another protocol (the HTTP client of the JDK makes one).

        The parser stops at an offer, and would take the body for that protocol. Only HTTP/1.1 is spoken here.
        """
        head = [
            b"%s %s HTTP/%s" % (self._parser.get_method(), self._target, self._parser.get_http_version().encode())
        ]
        head += [b"%s: %s" % header for header in self._headers.items() if header[0] != b"upgrade"]
        return b"\r\n".join([*head, b"\r\n"])

    def _measure(self, size: int) -> None:
        self._head_size += size
        if self._head_size > HEAD_LIMIT:
            raise _TooLong

    def _too_long(self) -> Answer:
        if self._export is not None:
            return self._export.refusal(self._otlp.intake.refuse(Reason.TOO_LARGE, _LONG_BODY))
        self._lose_head(Reason.TOO_LARGE, f"the head of a request has more than {HEAD_LIMIT} bytes")
        return _LONG_HEAD

    def _unreadable(self, why: str) -> Answer:
        if self._export is not None:
            text = f"the body cannot be read to its end: {why}"
            return self._export.refusal(self._otlp.intake.refuse(Reason.MALFORMED, text))
        self._lose_head(Reason.MALFORMED, f"the head of a request cannot be read: {why}")
        return _INVALID

    def _lose_head(self, reason: Reason, why: str) -> None:
        # One that ends behind its head was answered by that, and is no further loss.
        if self._in_head and not self._last:
            self._otlp.head_lost(signal_of(self._target), self._method, self._headers, reason, why)

    def _refuse(self, answer: Answer) -> None:
        """Answer what cannot be read on, and end the connection."""
        if self._export is not None or not self._last:
            self._last = True
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        self._export = None
        status, content_type, body, headers = answer
        keep = not self._last and self._parser.should_keep_alive() and self._parser.get_http_version() == "1.1"
        keep = keep and (b"connection", b"close") not in headers
        pieces = [b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode())]
        if content_type:
            pieces.append(b"content-type: %s\r\ncontent-length: %d\r\n" % (content_type, len(body)))
        pieces += [b"%s: %s\r\n" % header for header in headers if header[0] != b"connection"]
        pieces.append(b"\r\n" if keep else b"connection: close\r\n\r\n")
        if self._parser.get_method() != b"HEAD":
            pieces.append(body)
        self._transport.write(b"".join(pieces))
        self._connections.ended(self)
        if not keep:
            self._end()

    def _end(self) -> None:
        """Close behind an answer, once the client has sent what it was asked to."""
        if self._begun and self._transport.can_write_eof() and not self._transport.is_closing():
            self._last = True
            self._transport.write_eof()
            self._lingering = asyncio.get_running_loop().call_later(LINGER, self._transport.abort)
        else:
            self.close()

    def _hand_over(self, protocol: asyncio.Protocol, data: bytes) -> None:
        self._leave()
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(data)

    def _leave(self) -> None:
        self._connections.open.discard(self)
        self._connections.ended(self)
