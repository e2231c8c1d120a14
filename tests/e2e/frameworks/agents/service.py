"""What the framework agents have in common: a FastAPI service that exports over OTLP. Runs in their environments."""

import os

import uvicorn
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic import BaseModel

ORDERS = {"1042": "in transit", "1043": "delivered"}

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)


class Message(BaseModel):
    message: str


class RefundRefused(Exception):
    """What the failing tool raises."""


def get_order(order_id: str) -> dict[str, str]:
    """Look an order up."""
    return {"order_id": order_id, "status": ORDERS.get(order_id, "not found")}


def cancel_order(order_id: str) -> dict[str, str]:
    """Cancel an order."""
    return {"order_id": order_id, "status": "cancelled"}


def refund_order(order_id: str, amount: float) -> dict[str, str]:
    """Refund an order."""
    raise RefundRefused(f"order {order_id} cannot be refunded")


def delete_account() -> dict[str, str]:
    """Delete the customer's account."""
    return {"status": "deleted"}


def serve(answer):
    """Serve `answer`, a coroutine function from message to reply, on the port that PORT names."""
    app = FastAPI()

    @app.post("/chat")
    async def chat(body: Message) -> dict[str, str]:
        return {"reply": await answer(body.message)}

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    FastAPIInstrumentor.instrument_app(app, excluded_urls="health")
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
