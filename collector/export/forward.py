"""`--forward URL`: passes on what was received, byte for byte where the target takes it so."""

import os
from collections.abc import Mapping
from typing import Final

from collector.export.destination import Protocol, destination
from collector.export.otlp_json import request_from_json
from collector.export.sender import MEBIBYTE, Counts, Retrying, Sender
from collector.export.transport import PROTOBUF
from collector.receiver import Received
from collector.receiver.decoded import Malformed
from collector.receiver.intake import Format
from collector.receiver.otlp_json import parse_object

QUEUE_BYTES: Final = 64 * MEBIBYTE
"""How much may wait for the target; what comes when it is full is dropped, and counted."""


class Forwarder:
    """Passes received requests on to an OTLP endpoint. Belongs to one event loop; returns at once but for `close`.

    Bodies go out as they came in. Only gRPC, which has no JSON, gets JSON requests as protobuf. Trace-contract lines
    are not OTLP and are not passed on: they are counted in `unsendable`, as are requests that gRPC cannot carry.
    Raises `DestinationError` when `url` or a variable cannot be understood.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        retrying: Retrying | None = None,
        queue_bytes: int = QUEUE_BYTES,
    ) -> None:
        environ = os.environ if environ is None else environ
        target = destination(url, environ, headers=headers, option="--forward")
        self._sender = Sender(target, queue_bytes=queue_bytes, retrying=retrying)
        self.unsendable = 0
        self._unsendable_why = ""

    @property
    def name(self) -> str:
        """Where it passes requests on to, as shown to people."""
        return self._sender.destination.name

    @property
    def counts(self) -> Counts:
        """Requests by what became of them."""
        return self._sender.counts

    @property
    def problem(self) -> str | None:
        """One sentence about what was not delivered, or None."""
        parts = []
        if self.counts.lost:
            parts.append(f"{self.counts.lost} request(s) were not delivered: {self.counts.last_error}")
        if self.counts.rejected:
            parts.append(f"the target rejected {self.counts.rejected} record(s): {self.counts.last_error}")
        if self.unsendable:
            parts.append(f"{self.unsendable} request(s) could not be passed on: {self._unsendable_why}")
        return f"{self.name}: {'; '.join(parts)}" if parts else None

    async def start(self) -> None:
        """Raises `OSError` or `ssl.SSLError` when TLS files cannot be used."""
        await self._sender.start()

    def __call__(self, received: Received) -> None:
        signal, body, content_type = received.signal.value, received.body, received.content_type
        if content_type == Format.LINES:
            self._cannot_send("trace-contract lines are not OTLP")
            return
        endpoint = self._sender.destination.endpoints.get(signal)
        if content_type == Format.JSON and endpoint is not None and endpoint.protocol is Protocol.GRPC:
            try:
                body, content_type = request_from_json(signal, parse_object(body)), PROTOBUF
            except (Malformed, ValueError) as error:
                self._cannot_send(f"its JSON has no protobuf form, which gRPC needs: {error}")
                return
        self._sender.offer(signal, body, content_type)

    async def close(self, within: float) -> None:
        """Give what waits `within` seconds to be delivered; `counts` and `problem` then say what was not."""
        await self._sender.close(within)

    def _cannot_send(self, why: str) -> None:
        self.unsendable += 1
        self._unsendable_why = why
