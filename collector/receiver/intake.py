"""The way of a request from its bytes to the sink, the same for every transport."""

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Final

from collector.receiver.decoded import Decoded, Malformed
from collector.telemetry import Batch

_LOG: Final = logging.getLogger("spanbar.receiver")


HELD_LIMIT: Final = 512 << 20
"""Bytes of all bodies together of which the rest is still to come, over OTLP/HTTP."""


class Signal(StrEnum):
    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


class Format(StrEnum):
    """How a body is written; the value is its media type."""

    PROTOBUF = "application/x-protobuf"
    JSON = "application/json"
    LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Received:
    """The body of an accepted request, decompressed and as it was sent."""

    signal: Signal
    content_type: str
    """The media type of its `Format`."""
    body: bytes


class Overloaded(Exception):
    """Raised by a sink that cannot take more at the moment: the client is told to try again."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds."""


class Reason(StrEnum):
    """Why a request is refused. Each transport has its own code for it."""

    MALFORMED = "malformed"
    TOO_LARGE = "too large"
    UNSUPPORTED = "unsupported"
    UNAUTHENTICATED = "unauthenticated"
    FOREIGN = "foreign"
    """A page of another site may have asked for it."""
    UNAVAILABLE = "unavailable"
    """Stopping or overloaded: the client should try again."""
    FAILED = "failed"


LOSING: Final = frozenset({Reason.MALFORMED, Reason.TOO_LARGE, Reason.UNSUPPORTED, Reason.FAILED})
"""What a client that may come in does not send again: what was in the request is lost."""


class Refused(Exception):
    """A request that is not taken; nothing of it reached the sink."""

    def __init__(self, reason: Reason, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_after = retry_after
        """Seconds after which to try again; None: not at all."""
        self.batch: Batch | None = None
        """What was decoded of it, where that was done."""


@dataclass(slots=True)
class Counters:
    """What was received since the start."""

    requests: int = 0
    """Requests of every kind, refused ones included."""
    refused: int = 0
    spans: int = 0
    logs: int = 0
    records: int = 0
    """Accepted spans, log records and trace-contract records."""
    rejected: int = 0
    """Spans, log records and lines that were left out of an accepted request."""
    dropped_metrics: int = 0
    """Requests of metrics: accepted, and dropped."""
    losses: int = 0
    """Requests of traces or logs of which all or a part could not be taken, and will not come again."""
    bytes: int = 0
    """Of accepted bodies, after decompression."""
    misdirected: int = 0
    """Requests with OTLP to a path that takes none: an exporter was given the wrong endpoint."""
    misdirected_to: str = ""
    """The method and the path of the last of them, as it is shown."""


_DECODERS: Final = {
    (Signal.TRACES, Format.PROTOBUF): "protobuf.decode_traces",
    (Signal.TRACES, Format.JSON): "otlp_json.decode_traces_json",
    (Signal.TRACES, Format.LINES): "records.decode_lines",
    (Signal.LOGS, Format.PROTOBUF): "protobuf.decode_logs",
    (Signal.LOGS, Format.JSON): "otlp_json.decode_logs_json",
    (Signal.METRICS, Format.PROTOBUF): "protobuf.check_metrics",
    (Signal.METRICS, Format.JSON): "otlp_json.check_metrics_json",
}
"""What decodes a body. An agent sends in one format, and loading both takes long beside a short run."""


@cache
def _decoder(signal: Signal, body_format: Format) -> Callable[[bytes], Decoded]:
    module, _, function = _DECODERS[signal, body_format].partition(".")
    decode: Callable[[bytes], Decoded] = getattr(import_module(f"collector.receiver.{module}"), function)
    return decode


class Intake:
    """Decodes bodies, hands batches to the sink, and counts. Used in one event loop only."""

    def __init__(
        self,
        sink: Callable[[Batch], None],
        raw: Callable[[Received], None] | None = None,
        token: str | None = None,
        on_problem: Callable[[str], None] | None = None,
        on_loss: Callable[[str, Batch | None], None] | None = None,
        on_misdirected: Callable[[str], None] | None = None,
    ) -> None:
        self._sink = sink
        self._raw = raw
        self._on_problem = on_problem
        self._on_loss = on_loss
        self._on_misdirected = on_misdirected
        self._token = None if token is None else token.encode()
        self.counters = Counters()
        self.stopping = False
        self._held = 0
        """Bytes of bodies that are not whole."""

    @property
    def demands_token(self) -> bool:
        return self._token is not None

    def admit(self, authorization: str | bytes | None) -> None:
        """Count a request that begins. Raises `Refused` if it may not, or if no new ones are taken."""
        self.counters.requests += 1
        if self._token is not None:
            given = authorization.encode() if isinstance(authorization, str) else authorization or b""
            scheme, _, token = given.partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(token, self._token):
                raise self.refuse(
                    Reason.UNAUTHENTICATED, "a valid bearer token is required: Authorization: Bearer TOKEN"
                )
        if self.stopping:
            raise self.refuse(Reason.UNAVAILABLE, "the receiver is stopping", retry_after=1.0)

    def hold(self, size: int) -> None:
        """So many bytes more of a body have come. Raises `Refused` if all bodies together are too much."""
        if self._held + size > HELD_LIMIT:
            text = f"the requests that are being received have more than {HELD_LIMIT} bytes"
            raise self.refuse(Reason.UNAVAILABLE, text, retry_after=1.0)
        self._held += size

    def release(self, size: int) -> None:
        """So many bytes of a body are held no longer."""
        self._held -= size

    def refuse(self, reason: Reason, message: str, retry_after: float | None = None) -> Refused:
        """Count a refusal and return it, to be raised."""
        self.counters.refused += 1
        if self._on_problem is not None:
            self._on_problem(f"a request was refused: {message}")
        return Refused(reason, message, retry_after)

    def refused(self, signal: Signal, refused: Refused) -> None:
        """A request of this signal ends with a refusal: with it, what the client had to say may be lost."""
        if refused.reason in LOSING and signal is not Signal.METRICS:
            self._lose(str(refused), refused.batch)

    def misdirect(self, request: str) -> None:
        """Count a request with OTLP, shown as its method and path, that came where none is taken.

        Unless its path says that it has metrics, it may have been of anybody's calls: it is lost to all that is open.
        """
        if "metric" in request.lower():
            return
        self.counters.misdirected += 1
        self.counters.misdirected_to = request
        if self._on_misdirected is not None:
            self._on_misdirected(request)
        self._lose(f"a request came to {request}, where no telemetry is taken")

    def _lose(self, cause: str, batch: Batch | None = None) -> None:
        self.counters.losses += 1
        if self._on_loss is not None:
            self._on_loss(cause, batch)

    def take(self, signal: Signal, body_format: Format, body: bytes) -> Decoded:
        """Decode a whole body and hand it on. Raises `Refused`."""
        try:
            decoded = _decoder(signal, body_format)(body)
        except Malformed as malformed:
            raise self.refuse(Reason.MALFORMED, str(malformed)) from None
        except Exception as error:
            _LOG.exception("a request of %s could not be decoded", signal)
            raise self.refuse(Reason.FAILED, f"the request could not be decoded: {error!r}") from error
        batch = decoded.batch
        if batch.spans or batch.logs or batch.records:
            batch.size = len(body)
            self._hand_on(batch)
        if self._raw is not None:
            self._raw(Received(signal, body_format.value, body))
        self._count(signal, decoded, len(body))
        return decoded

    def _hand_on(self, batch: Batch) -> None:
        try:
            self._sink(batch)
        except Overloaded as overloaded:
            raise self.refuse(Reason.UNAVAILABLE, str(overloaded), overloaded.retry_after) from None
        except Exception as error:
            _LOG.exception("a batch of %d spans could not be taken", len(batch.spans))
            refused = self.refuse(Reason.FAILED, f"the batch could not be taken: {error!r}")
            refused.batch = batch
            raise refused from error

    def _count(self, signal: Signal, decoded: Decoded, size: int) -> None:
        counters = self.counters
        counters.spans += len(decoded.batch.spans)
        counters.logs += len(decoded.batch.logs)
        counters.records += len(decoded.batch.records)
        counters.rejected += decoded.rejected
        if decoded.rejected:
            more = f", and {decoded.rejected - 1} more" if decoded.rejected > 1 else ""
            problem = f"a part of a request of {signal} was rejected: {decoded.reason}{more}"
            if self._on_problem is not None:
                self._on_problem(problem)
            self._lose(problem)
        counters.dropped_metrics += signal is Signal.METRICS
        counters.bytes += size
