"""The service around the agent: POST /chat."""

import os
from collections.abc import Awaitable, Callable
from uuid import uuid4

import uvicorn
from fastapi import FastAPI
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from pydantic import BaseModel, Field
from telemetry import provider


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
    FastAPIInstrumentor.instrument_app(app, tracer_provider=provider, excluded_urls="health")
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8731")), log_level="warning")
