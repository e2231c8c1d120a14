"""The environment of an agent that is started: how it is told to send its telemetry here, all of it and at once."""

from collections.abc import Mapping
from typing import Final

from evaluator.harness.telemetry import Endpoints

TRACES_URL: Final = "HIGHBAR_TRACES_URL"

_SIGNALS: Final = ("TRACES", "LOGS", "METRICS")

_AT_ONCE: Final = {
    "OTEL_SDK_DISABLED": "false",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_TRACES_SAMPLER": "always_on",
    "OTEL_PROPAGATORS": "tracecontext,baggage",
    # 1 ms is the shortest delay that SDKs accept; the queues hold a burst of calls without loss.
    "OTEL_BSP_SCHEDULE_DELAY": "1",
    "OTEL_BSP_MAX_QUEUE_SIZE": "65536",
    "OTEL_BLRP_SCHEDULE_DELAY": "1",
    "OTEL_BLRP_MAX_QUEUE_SIZE": "65536",
    "OTEL_EXPORTER_OTLP_INSECURE": "true",
}

_UNLESS_SET: Final = {
    # Without it, instrumentations of the OTel project leave out the arguments and results of tool calls.
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
    "PYTHONUNBUFFERED": "1",
}


def agent_environment(
    inherited: Mapping[str, str], endpoints: Endpoints, trace_file: str | None = None
) -> dict[str, str]:
    """The inherited environment with `HIGHBAR_TRACES_URL` and the `OTEL_*` variables of the OTel specification.

    `trace_file`: for an agent whose SDK can only write a file. The protocol is `http/protobuf`, unless the inherited
    environment names one: the endpoint takes OTLP/gRPC as well.
    """
    protocol = inherited.get("OTEL_EXPORTER_OTLP_PROTOCOL") or "http/protobuf"
    exporting = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoints.http, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    for signal in _SIGNALS:
        name = f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"
        exporting[name] = inherited.get(name) or protocol
        path = "" if exporting[name] == "grpc" else f"/v1/{signal.lower()}"
        exporting[f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"] = endpoints.http + path
    return {
        **_UNLESS_SET,
        **inherited,
        **_AT_ONCE,
        **exporting,
        **_past_proxies(inherited),
        TRACES_URL: trace_file or endpoints.traces,
    }


def _past_proxies(inherited: Mapping[str, str]) -> dict[str, str]:
    """Exporters send through a proxy if the environment names one; nothing of this machine is behind it."""
    local = "127.0.0.1,localhost"
    before = {name: inherited.get(name, "") for name in ("NO_PROXY", "no_proxy")}
    return {name: f"{value},{local}" if value else local for name, value in before.items()}
