"""An agent that goes on working after it has answered: `python agent.py PORT EXPORT ENTRY CONTENT`.

A message is `WHAT after N`: N ms after its reply, in a thread of its own, the agent calls the tool WHAT (`nothing`
calls none). With `WHAT during N` it calls the tool N ms into a reply that takes 5 s. Spans are made and exported by
the OpenTelemetry SDK. EXPORT: `single` (one by one, as they end), `batch`, `twice` (every request is sent again, as
after a lost answer) or `split` (each span of a batch in a request of its own, the last first). ENTRY: `entry` or
`none`, a server span or not. CONTENT: `content` or `none`, arguments and results or not.

`GET /late` says how long after its reply the tool WHAT was exported, in ms, or `null` if it has not been yet.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult

TOOLS = [{"type": "function", "name": "lookup"}, {"type": "function", "name": "delete_account"}]


class Exporting(SpanExporter):
    """Exports in one of the ways, and notes when calls were exported."""

    def __init__(self, way: str, note: "Notes") -> None:
        self._exporter = OTLPSpanExporter()
        self._way = way
        self._notes = note

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        requests = [[span] for span in reversed(spans)] if self._way == "split" else [spans]
        for request in requests * 2 if self._way == "twice" else requests:
            result = self._exporter.export(request)
            if result is not SpanExportResult.SUCCESS:
                print("an export failed", flush=True)
        if any(span.name == "execute_tool delete_account" for span in spans):
            self._notes.exported = time.monotonic()
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class Notes:
    replied = 0.0
    exported: float | None = None


class Agent(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, export: str, entry: str, content: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.notes = Notes()
        self.entry, self.content = entry == "entry", content == "content"
        provider = TracerProvider()
        processor = SimpleSpanProcessor if export in ("single", "twice") else BatchSpanProcessor
        provider.add_span_processor(processor(Exporting(export, self.notes)))
        self.tracer = provider.get_tracer("agent")

    def call(self, tool: str, seconds: float, parent: context.Context) -> None:
        time.sleep(seconds)
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if self.content:
            attributes |= {"gen_ai.tool.call.arguments": '{"id": "1042"}', "gen_ai.tool.call.result": '"done"'}
        self.tracer.start_span(f"execute_tool {tool}", parent, attributes=attributes).end()

    def model(self, parent: context.Context) -> None:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": json.dumps(TOOLS)}
        self.tracer.start_span("chat", parent, attributes=attributes).end()


class Handler(BaseHTTPRequestHandler):
    server: Agent

    def do_GET(self) -> None:
        notes = self.server.notes
        late = None if notes.exported is None else (notes.exported - notes.replied) * 1000
        self.answer(json.dumps(late))

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["message"]
        parent = propagate.extract(self.headers)
        agent, entry = self.server, None
        if agent.entry:
            entry = agent.tracer.start_span("POST /chat", parent, kind=trace.SpanKind.SERVER)
            parent = trace.set_span_in_context(entry, parent)
        agent.model(parent)
        tool, when, number = message.split()
        agent.call("lookup", 0, parent)
        calling = threading.Thread(target=agent.call, args=(tool, int(number) / 1000, parent), daemon=True)
        if tool != "nothing" and when == "during":
            calling.start()
            time.sleep(5)
        if tool != "nothing":
            agent.notes.replied, agent.notes.exported = time.monotonic(), None
        self.answer(json.dumps({"reply": "done"}))
        if tool != "nothing" and when == "after":
            calling.start()
        if entry is not None:
            entry.end()

    def answer(self, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None: ...


if __name__ == "__main__":
    os.environ.setdefault("OTEL_SERVICE_NAME", "background-agent")
    Agent(int(sys.argv[1]), *sys.argv[2:]).serve_forever()
