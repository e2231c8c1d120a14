"""Spans of HTTP, database, messaging and RPC instrumentations are no calls of an agent's tools."""

import pytest
from opentelemetry.semconv._incubating.attributes import (
    db_attributes,
    http_attributes,
    messaging_attributes,
    rpc_attributes,
)
from opentelemetry.semconv.attributes import error_attributes, server_attributes, url_attributes

from collector.assembly import Assembly
from collector.telemetry import Batch, Span
from tests.collector.telemetry import items_of, span

SPANS = [
    span(
        "POST",
        {
            http_attributes.HTTP_REQUEST_METHOD: "POST",
            url_attributes.URL_FULL: "u",
            http_attributes.HTTP_RESPONSE_STATUS_CODE: 200,
        },
        kind=3,
    ),
    span(
        "POST /chat",
        {http_attributes.HTTP_REQUEST_METHOD: "POST", http_attributes.HTTP_ROUTE: "/chat", "http.status_code": 500},
        kind=2,
        status=2,
    ),
    span("GET", {"http.method": "GET", "http.url": "u", error_attributes.ERROR_TYPE: "timeout"}, kind=3, status=2),
    span("POST /chat http send", {"asgi.event.type": "http.response.body"}),
    span(
        "SELECT orders",
        {
            db_attributes.DB_SYSTEM_NAME: "postgresql",
            db_attributes.DB_QUERY_TEXT: "SELECT 1",
            db_attributes.DB_OPERATION_NAME: "SELECT",
        },
        kind=3,
    ),
    span("get", {"db.system": "redis", "db.statement": "GET tool"}, kind=3),
    span(
        "execute_tool",
        {db_attributes.DB_SYSTEM_NAME: "postgresql", db_attributes.DB_STORED_PROCEDURE_NAME: "execute_tool"},
        kind=3,
    ),
    span(
        "send orders",
        {
            messaging_attributes.MESSAGING_SYSTEM: "kafka",
            messaging_attributes.MESSAGING_OPERATION_NAME: "send",
            messaging_attributes.MESSAGING_DESTINATION_NAME: "orders",
        },
        kind=4,
    ),
    span(
        "process orders",
        {messaging_attributes.MESSAGING_SYSTEM: "rabbitmq", messaging_attributes.MESSAGING_OPERATION_TYPE: "process"},
        kind=5,
    ),
    span(
        "Tools/Call",
        {rpc_attributes.RPC_SYSTEM: "grpc", rpc_attributes.RPC_SERVICE: "Tools", rpc_attributes.RPC_METHOD: "Call"},
        kind=3,
    ),
    span("dns.lookup", {server_attributes.SERVER_ADDRESS: "localhost", "tool.name": "dig"}),
    span("embeddings m", {"gen_ai.operation.name": "embeddings"}, kind=3),
    span("execute_task tools", {"traceloop.span.kind": "task", "gen_ai.operation.name": "execute_task"}),
    span("tools", {"openinference.span.kind": "CHAIN", "input.value": "{}"}),
    span("search", {"openinference.span.kind": "RETRIEVER", "input.value": "q"}),
]


@pytest.mark.parametrize("shown", SPANS, ids=lambda shown: shown.name)
def test_a_span_of_anything_else_yields_nothing(shown: Span) -> None:
    assert items_of(shown) == []
    assembly = Assembly()
    assembly.add(Batch(spans=[shown]))
    assert assembly.calls() == []
    assert assembly.ignored() == []


def test_all_of_them_together_yield_nothing() -> None:
    assert items_of(*SPANS) == []
