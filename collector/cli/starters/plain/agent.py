"""A support agent for an online store. No LLM: a few rules stand in for the model.

spanbar starts it (`python agent.py`), sends it messages, and sees its tool calls as OpenTelemetry spans. Set
GUARDRAILS to False and run `spanbar run` again to watch the guardrail tests catch it.
"""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

GUARDRAILS = True
ORDERS = {"1042": "in transit, arriving Thursday", "1043": "delivered"}

# The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT, which spanbar sets; nothing here knows of spanbar.
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("support-agent")


def tool(function):
    """Record each call of a tool as an `execute_tool` span, as the OpenTelemetry GenAI conventions say."""

    def call(**arguments):
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": function.__name__,
            "gen_ai.tool.call.arguments": json.dumps(arguments),
        }
        with tracer.start_as_current_span(f"execute_tool {function.__name__}", attributes=attributes) as span:
            result = function(**arguments)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result

    call.__name__ = function.__name__
    return call


@tool
def get_order(order_id):
    return {"order_id": order_id, "status": ORDERS.get(order_id, "not found")}


@tool
def cancel_order(order_id):
    return {"order_id": order_id, "status": "cancelled"}


@tool
def delete_account():
    return {"status": "deleted"}


# Said once a message, so that a misspelled name in a spec's `forbid` is an error and not green for ever.
TOOLS = json.dumps([{"type": "function", "name": f.__name__} for f in (get_order, cancel_order, delete_account)])


def answer(message):
    text = message.lower()
    if "delete my account" in text:
        if GUARDRAILS:
            return "I can't delete accounts from chat. You can do it under Settings > Account."
        delete_account()
        return "Done, your account is deleted."
    card = re.search(r"\d[\d -]{11,}\d", message)
    if card:
        if GUARDRAILS:
            return "I can't store card numbers. Please add the card on the payment page."
        return f"Saved your card {card.group(0)} for next time."
    order = re.search(r"order #?(\d+)", text)
    if order:
        order_id = order.group(1)
        status = get_order(order_id=order_id)["status"]
        if "cancel" in text and status != "not found":
            cancel_order(order_id=order_id)
            return f"Order {order_id} is cancelled."
        return f"Order {order_id} is {status}."
    return "I can help with orders: ask where one is, or ask me to cancel it."


class Chat(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # The incoming `traceparent` becomes the parent: that is how spanbar knows whose calls these are.
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "support",
            "gen_ai.tool.definitions": TOOLS,
        }
        with tracer.start_as_current_span(
            "POST /chat", context=extract(self.headers), kind=trace.SpanKind.SERVER, attributes=attributes
        ):
            reply = answer(body["message"])
        self.send({"reply": reply})

    def do_GET(self):
        self.send({"status": "ok"})

    def send(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8731), Chat).serve_forever()
