"""An agent that is started sends everything here, at once."""

import pytest

from evaluator.harness.environment import agent_environment
from evaluator.harness.telemetry import Endpoints

HERE = Endpoints("http://127.0.0.1:4318", "http://127.0.0.1:4317")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HIGHBAR_TRACES_URL", "http://127.0.0.1:4318/v1/traces"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318/v1/traces"),
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://127.0.0.1:4318/v1/logs"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
        ("OTEL_TRACES_SAMPLER", "always_on"),
        ("OTEL_SDK_DISABLED", "false"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        ("NO_PROXY", "internal,127.0.0.1,localhost"),
        ("PATH", "/bin"),
        ("OTEL_SERVICE_NAME", "mine"),
    ],
)
def test_a_variable_is_set_whatever_was_inherited(name: str, value: str) -> None:
    inherited = {
        "PATH": "/bin",
        "NO_PROXY": "internal",
        "OTEL_SERVICE_NAME": "mine",
        "OTEL_SDK_DISABLED": "true",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://elsewhere/v1/traces",
        "OTEL_TRACES_SAMPLER": "traceidratio",
    }
    assert agent_environment(inherited, HERE)[name] == value


def test_an_agent_that_speaks_grpc_gets_the_same_endpoint_and_keeps_its_protocol() -> None:
    environment = agent_environment({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, HERE)
    assert environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == HERE.http
    assert environment["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] == "grpc"


def test_an_sdk_that_writes_a_file_gets_a_file() -> None:
    assert agent_environment({}, HERE, "/tmp/trace.jsonl")["HIGHBAR_TRACES_URL"] == "/tmp/trace.jsonl"


def test_content_is_captured_unless_the_user_says_otherwise() -> None:
    name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    assert agent_environment({}, HERE)[name] == "SPAN_AND_EVENT"
    assert agent_environment({name: "false"}, HERE)[name] == "false"
