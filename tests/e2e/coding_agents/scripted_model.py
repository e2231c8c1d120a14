"""A scripted model for coding agents: Anthropic's Messages, OpenAI's Responses, Gemini's generateContent; streamed.

Each step is the calls that the model asks for next, the last one is a text. Which step it is, is how many results of
tools came after the last prompt.
"""

import json
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any
from uuid import uuid4

Call = tuple[str, dict[str, Any]]


class ScriptedModel:
    """Serves at `url` while it is entered."""

    def __init__(self, steps: Sequence[Sequence[Call]]) -> None:
        handler = type("Handler", (_Handler,), {"steps": tuple(steps)})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    steps: Sequence[Sequence[Call]] = ()

    def do_GET(self) -> None:
        self._send("application/json", "{}")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        request = json.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self._events(_anthropic(request, self._calls(_results(request["messages"], "tool_result"), request)))
        elif path.endswith("/responses"):
            done = [each for each in request["input"] if each.get("type") == "function_call_output"]
            self._events(_openai(request, self._calls(len(done), request)))
        elif "enerateContent" in path:
            done = _results(request["contents"], "functionResponse")
            answer = json.dumps(_gemini(self._calls(done, request)))
            streamed = "stream" in path
            self._send(
                "text/event-stream" if streamed else "application/json", f"data: {answer}\n\n" if streamed else answer
            )
        else:
            self._send("application/json", '{"input_tokens": 1}')

    def _calls(self, done: int, request: dict[str, Any]) -> Sequence[Call]:
        return self.steps[done] if request.get("tools") and done < len(self.steps) else ()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().strip(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _events(self, events: Iterator[dict[str, Any]]) -> None:
        self._send("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def _send(self, content_type: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep the output of the tests clean."""


def _results(messages: Sequence[dict[str, Any]], mark: str) -> int:
    """How many messages carry results of tools."""
    parts = (message.get("content") or message.get("parts") for message in messages)
    return sum(
        any(part.get("type") == mark or mark in part for part in found)
        for found in parts
        if isinstance(found, list)
    )  # fmt: skip


def _anthropic(request: dict[str, Any], calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": request["model"]}
    yield {
        "type": "message_start",
        "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
    }
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (
            {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(arguments)},
        )
        for name, arguments in calls
    ]
    for index, (block, delta) in enumerate(
        blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})]
    ):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _openai(request: dict[str, Any], calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{uuid4().hex}",
            "call_id": f"call_{uuid4().hex}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for name, arguments in calls
    ]
    text = {"type": "output_text", "text": "done", "annotations": []}
    items = items or [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    whole = {"id": f"resp_{uuid4().hex}", "object": "response", "created_at": 1, "model": request["model"]}
    yield {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {
        "type": "response.completed",
        "response": {**whole, "status": "completed", "output": items, "usage": usage},
    }


def _gemini(calls: Sequence[Call]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    content = {"role": "model", "parts": parts or [{"text": "done"}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    }
