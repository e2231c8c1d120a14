"""The exporters of real SDKs, over real connections: what they send is what is received."""

import asyncio
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from collector.receiver import Receiver
from collector.telemetry import KIND_SERVER, STATUS_ERROR, STATUS_UNSET, Batch, Span

HERE = Path(__file__).parent
CACHE = Path(__file__).parents[3] / ".cache"


class Collected:
    """A receiver that serves, and what arrived."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.receiver = Receiver(self.batches.append)

    @property
    def grpc_endpoint(self) -> str:
        return f"http://127.0.0.1:{self.receiver.grpc_port}"

    def span(self, name: str) -> Span:
        [found] = [span for batch in self.batches for span in batch.spans if span.name == name]
        return found


@asynccontextmanager
async def collecting() -> AsyncIterator[Collected]:
    collected = Collected()
    await collected.receiver.start()
    yield collected
    await collected.receiver.stop()


EXPORTERS: dict[str, Callable[[Collected], SpanExporter]] = {
    "gRPC": lambda c: GrpcSpanExporter(endpoint=c.grpc_endpoint, insecure=True),
    "gRPC, gzip": lambda c: GrpcSpanExporter(
        endpoint=c.grpc_endpoint, insecure=True, compression=grpc.Compression.Gzip
    ),
    "HTTP": lambda c: HttpSpanExporter(endpoint=c.receiver.traces_url),
    "HTTP, gzip": lambda c: HttpSpanExporter(endpoint=c.receiver.traces_url, compression=Compression.Gzip),
    "HTTP, deflate": lambda c: HttpSpanExporter(endpoint=c.receiver.traces_url, compression=Compression.Deflate),
}


@pytest.mark.parametrize("exporter", EXPORTERS.values(), ids=EXPORTERS)
async def test_spans_of_the_python_sdk_arrive(exporter: Callable[[Collected], SpanExporter]) -> None:
    def emit(collected: Collected) -> Any:
        provider = TracerProvider(resource=Resource.create({"service.name": "python"}))
        provider.add_span_processor(SimpleSpanProcessor(exporter(collected)))
        tracer = provider.get_tracer("an emitter", "1.2.3")
        with tracer.start_as_current_span("parent", kind=SpanKind.SERVER) as parent:
            attributes = {"text": "héllo", "integer": -(2**63), "double": 1.5, "yes": True, "texts": ["a", "b"]}
            with tracer.start_as_current_span("child", attributes=attributes) as child:
                child.add_event("an event", {"n": 1})
                child.add_link(parent.get_span_context(), {"why": "test"})
                child.set_status(Status(StatusCode.ERROR, "it failed"))
        provider.shutdown()
        return parent, child

    async with collecting() as collected:
        sent_parent, sent_child = await asyncio.to_thread(emit, collected)

    parent, child = collected.span("parent"), collected.span("child")
    assert parent.trace_id == child.trace_id == sent_parent.context.trace_id.to_bytes(16, "big")
    assert child.span_id == sent_child.context.span_id.to_bytes(8, "big")
    assert (parent.parent_id, child.parent_id) == (b"", parent.span_id)
    assert (parent.kind, parent.status, child.status) == (KIND_SERVER, STATUS_UNSET, STATUS_ERROR)
    assert (child.start, child.end, child.status_message) == (sent_child.start_time, sent_child.end_time, "it failed")
    assert dict(child.attributes) == {
        "text": "héllo",
        "integer": -(2**63),
        "double": 1.5,
        "yes": True,
        "texts": ["a", "b"],
    }
    assert [(event.name, dict(event.attributes)) for event in child.events] == [("an event", {"n": 1})]
    assert [(link.span_id, dict(link.attributes)) for link in child.links] == [(parent.span_id, {"why": "test"})]
    assert child.resource.attributes["service.name"] == "python"
    assert (child.scope.name, child.scope.version) == ("an emitter", "1.2.3")


@pytest.mark.parametrize("wire", ["gRPC", "HTTP"])
async def test_batches_of_the_python_sdk_arrive_whole(wire: str) -> None:
    def emit(collected: Collected) -> None:
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(EXPORTERS[wire](collected), max_queue_size=5000))
        tracer = provider.get_tracer("an emitter")
        for number in range(2000):
            tracer.start_span(str(number)).end()
        provider.shutdown()

    async with collecting() as collected:
        await asyncio.to_thread(emit, collected)

    assert [span.name for batch in collected.batches for span in batch.spans] == [str(n) for n in range(2000)]


@pytest.mark.parametrize("wire", ["gRPC", "HTTP"])
async def test_log_records_of_the_python_sdk_arrive(wire: str) -> None:
    def emit(collected: Collected) -> None:
        exporter: Any
        if wire == "gRPC":
            exporter = GrpcLogExporter(endpoint=collected.grpc_endpoint, insecure=True)
        else:
            exporter = HttpLogExporter(endpoint=f"{collected.receiver.http_url}/v1/logs")
        provider = LoggerProvider()
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        provider.get_logger("an emitter").emit(
            LogRecord(
                timestamp=7, event_name="gen_ai.choice", body={"message": {"n": [1, "two"]}}, attributes={"k": "v"}
            )
        )
        provider.shutdown()

    async with collecting() as collected:
        await asyncio.to_thread(emit, collected)

    [record] = [record for batch in collected.batches for record in batch.logs]
    assert (record.time, record.event_name, record.body) == (7, "gen_ai.choice", {"message": {"n": [1, "two"]}})
    assert dict(record.attributes) == {"k": "v"}


@pytest.fixture(scope="session")
def emit_script() -> Path:
    """The script that emits with the JavaScript SDK, next to the packages that it needs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    manifest = HERE / "javascript" / "package.json"
    folder = CACHE / f"opentelemetry-js-{hashlib.sha256(manifest.read_bytes()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # test processes that run side by side install once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "installed").exists():
            shutil.copy(manifest, folder)
            install = [npm, "install", "--no-audit", "--no-fund", "--no-progress"]
            done = subprocess.run(install, cwd=folder, check=False, timeout=600, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            (folder / "installed").touch()
        shutil.copy(HERE / "javascript" / "emit.mjs", folder)
    return folder / "emit.mjs"


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("wire", ["json", "proto"])
async def test_spans_of_the_javascript_sdk_arrive(emit_script: Path, wire: str, compression: str) -> None:
    async with collecting() as collected:
        process = await asyncio.create_subprocess_exec(
            "node", emit_script, wire, collected.receiver.traces_url, compression, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(process.communicate(), 120)

    assert process.returncode == 0
    trace_id, parent_id, child_id = output.decode().split()
    parent, child = collected.span("parent"), collected.span("child")
    assert parent.trace_id.hex() == child.trace_id.hex() == trace_id
    assert (parent.span_id.hex(), child.span_id.hex(), child.parent_id.hex()) == (parent_id, child_id, parent_id)
    assert (parent.kind, child.status, child.status_message) == (KIND_SERVER, STATUS_ERROR, "it failed")
    assert (child.start, child.end) == (1764500000223456789, 1764500001000000000)
    assert dict(child.attributes) == {
        "text": "héllo \U0001f600",
        "cut": "emoji \ufffd",
        "integer": 42,
        "large": 2**53 - 1,
        "double": 1.5,
        "yes": True,
        "texts": ["a", "b"],
        "numbers": [1, 2.5],
    }
    assert [(event.name, event.time, dict(event.attributes)) for event in child.events] == [
        ("an event", 1764500000323456789, {"n": 1})
    ]
    assert child.resource.attributes["service.name"] == "javascript"
    assert (child.scope.name, child.scope.version) == ("an emitter", "1.2.3")
