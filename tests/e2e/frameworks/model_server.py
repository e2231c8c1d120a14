"""The server of the scripted model: OpenAI Chat Completions and Responses, streamed or not, and Gemini.

`python model_server.py PORT`. What it decides depends on the messages alone, so one server serves many agents.
"""

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gemini
import observations
from rules import next_step


def text_of(content):
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [])


def since_user(entries):
    """The last user message, and the (name, text) of the tool results after it, of either API's message list."""
    said, results, names = "", [], {}
    for entry in entries:
        kind = entry.get("type")
        if entry.get("role") == "user" and text_of(entry.get("content")):
            said, results = text_of(entry["content"]), []
        for call in entry.get("tool_calls") or []:
            names[call["id"]] = call["function"]["name"]
        if kind == "function_call":
            names[entry["call_id"]] = entry["name"]
        if entry.get("role") == "tool":
            results.append((names.get(entry["tool_call_id"], ""), text_of(entry["content"])))
        if kind == "function_call_output":
            results.append((names.get(entry["call_id"], ""), str(entry["output"])))
    return said, results


def new_id(prefix):
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def chat_message(step):
    message = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [
            {"id": new_id("call"), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments in step.calls
        ]
    return message


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def chat_completion(request, step):
    reason = "tool_calls" if step.calls else "stop"
    return {
        "id": new_id("chatcmpl"),
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "message": chat_message(step), "finish_reason": reason, "logprobs": None}],
        "usage": USAGE,
    }


def chat_chunks(request, step):
    """One chunk a tool call, as the real API does."""
    message = chat_message(step)
    calls = message.pop("tool_calls", [])
    deltas = [message, *({"tool_calls": [{**call, "index": index}]} for index, call in enumerate(calls))]
    base = {"id": new_id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    for delta in deltas:
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if step.calls else "stop"
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": USAGE}


def response_output(step):
    if step.calls:
        return [
            {
                "type": "function_call",
                "id": new_id("fc"),
                "call_id": new_id("call"),
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for name, arguments in step.calls
        ]
    text = {"type": "output_text", "text": step.text, "annotations": [], "logprobs": []}
    return [{"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed", "content": [text]}]


def response(request, step):
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": request["model"],
        "output": response_output(step),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def response_events(request, step):
    whole = response(request, step)
    yield {
        "type": "response.created",
        "sequence_number": 0,
        "response": {**whole, "status": "in_progress", "output": []},
    }
    number = 1
    for index, item in enumerate(whole["output"]):
        for kind in ("response.output_item.added", "response.output_item.done"):
            yield {"type": kind, "sequence_number": number, "output_index": index, "item": item}
            number += 1
    yield {"type": "response.completed", "sequence_number": number, "response": whole}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.split("?")[0].endswith(":generateContent"):
            self.send("application/json", json.dumps(gemini.response(next_step(*gemini.conversation(request)))))
            return
        chat = self.path.endswith("/chat/completions")
        entries = request["messages"] if chat else request["input"]
        if isinstance(entries, str):
            entries = [{"role": "user", "content": entries}]
        step = next_step(*(observations.read(entries, text_of) or since_user(entries)))
        step = observations.answered(step, request)
        if not request.get("stream"):
            answer = chat_completion(request, step) if chat else response(request, step)
            self.send("application/json", json.dumps(answer))
            return
        if chat:
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chat_chunks(request, step)]
            self.send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]))
            return
        events = response_events(request, step)
        self.send("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def do_GET(self):
        self.send("application/json", '{"status": "ok"}')

    def send(self, content_type, body):
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
