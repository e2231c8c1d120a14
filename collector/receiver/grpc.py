"""OTLP/gRPC: the Export methods of the trace, logs and metrics services, on raw bytes."""

import math
from typing import Any, Final

from collector.grpcio import grpc
from collector.receiver.encoding import LIMIT
from collector.receiver.http import export_response
from collector.receiver.intake import Format, Intake, Reason, Refused, Signal
from collector.receiver.schema import RetryInfo, RpcStatus

IDLE: Final = 150.0
"""s without a request after which a connection is closed; within one, the client is asked whether it is there."""

_SERVICES: Final = {
    Signal.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Signal.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES: Final = {
    Reason.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.UNSUPPORTED: grpc.StatusCode.UNIMPLEMENTED,
    Reason.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.FOREIGN: grpc.StatusCode.PERMISSION_DENIED,
    Reason.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.FAILED: grpc.StatusCode.INTERNAL,
}


class GrpcServer:
    """Serves OTLP/gRPC in the running event loop; port 0 takes a free one."""

    def __init__(self, intake: Intake, host: str, port: int) -> None:
        self._intake = intake
        self.host = host
        self.port = port
        self._server: Any = None

    async def start(self) -> None:
        """Begin to listen. Raises `OSError` if the address cannot be had."""
        # gRPC inflates within the message limit by itself, and answers RESOURCE_EXHAUSTED past it.
        options = [
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", LIMIT),
            ("grpc.max_connection_idle_ms", round(IDLE * 1000)),
            ("grpc.keepalive_time_ms", round(IDLE * 1000)),
        ]
        server = grpc.aio.server(options=options)
        server.add_generic_rpc_handlers((_Services(self._intake),))
        host = f"[{self.host}]" if ":" in self.host else self.host
        try:
            self.port = server.add_insecure_port(f"{host}:{self.port}")
        except RuntimeError as error:
            raise OSError(f"cannot listen on {host}:{self.port}: {error}") from None
        await server.start()
        self._server = server

    async def stop(self, grace: float) -> None:
        """Take no new request; those under way have `grace` seconds to finish."""
        if self._server is not None:
            await self._server.stop(grace)
            self._server = None


class _Services(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, intake: Intake) -> None:
        self._methods = {
            f"/{service}/Export": grpc.unary_unary_rpc_method_handler(_exporter(intake, signal))
            for signal, service in _SERVICES.items()
        }

    def service(self, handler_call_details: Any) -> Any:
        return self._methods.get(handler_call_details.method)


def _exporter(intake: Intake, signal: Signal) -> Any:
    async def export(body: bytes, context: Any) -> bytes:
        try:
            intake.admit(_authorization(context) if intake.demands_token else None)
            return export_response(intake.take(signal, Format.PROTOBUF, body))
        except Refused as refused:
            intake.refused(signal, refused)
            code = _CODES[refused.reason]
            await context.abort(code, str(refused), _retry_info(refused, code.value[0]))
            raise  # abort has raised; this is for the type checker

    return export


def _authorization(context: Any) -> str | bytes | None:
    for key, value in context.invocation_metadata():
        if key == "authorization":
            found: str | bytes = value
            return found
    return None


def _retry_info(refused: Refused, code: int) -> tuple[tuple[str, bytes], ...]:
    """When to try again, as OTLP/gRPC has it: a RetryInfo among the details of the status."""
    if refused.retry_after is None:
        return ()
    fraction, seconds = math.modf(refused.retry_after)
    delay = RetryInfo(retry_delay={"seconds": int(seconds), "nanos": int(fraction * 1e9)})
    detail = {"type_url": "type.googleapis.com/google.rpc.RetryInfo", "value": delay.SerializeToString()}
    status = RpcStatus(code=code, message=str(refused), details=[detail])
    return (("grpc-status-details-bin", status.SerializeToString()),)
