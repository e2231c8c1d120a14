"""The service around the agent: POST /chat, with telemetry over OTLP."""

import os
from collections.abc import Awaitable, Callable
from uuid import uuid4

import uvicorn
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic import BaseModel, Field

# Where spans go is said by OTEL_EXPORTER_OTLP_ENDPOINT and its like, which spanbar sets; nothing here knows of it.
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)


class Message(BaseModel):
    message: str
    session: str = Field(default_factory=lambda: uuid4().hex)


def serve(answer: Callable[[str, str], Awaitable[str]]) -> None:
    """Serve `answer`, a coroutine function from a message and its session to a reply, on PORT (8731 if not set)."""
    app = FastAPI()

    @app.post("/chat")
    async def chat(body: Message) -> dict[str, str]:
        return {"reply": await answer(body.message, body.session)}

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    # Continues the trace that the incoming `traceparent` names: that is how spanbar knows whose calls these are.
    FastAPIInstrumentor.instrument_app(app, excluded_urls="health")
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8731")), log_level="warning")
