"""The scripted agent of the conformance cases: `python agent.py SCRIPT PORT [--own-traces]`.

It answers messages as the script says and sends its calls as OTLP spans, by hand and with plain sockets, because
some hundred of these processes are started. With `--own-traces` it does not carry on the traceparent that it is sent,
as an agent without context propagation: only attributes then say whose a span is.
"""

import json
import os
import signal
import socket
import sys
import threading
import time


def new_id(size):
    return os.urandom(size).hex()


class Exporter:
    """Posts spans to the receiver, one request a call, and waits for its answer."""

    def __init__(self, url):
        authority, _, path = url.removeprefix("http://").partition("/")
        host, _, port = authority.partition(":")
        self.address, self.host, self.path = (host, int(port)), authority, "/" + path

    def spans(self, spans):
        if spans:
            body = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "agent"}, "spans": spans}]}]}
            self.post(json.dumps(body).encode(), "application/json")

    def post(self, body, content_type):
        with socket.create_connection(self.address) as connection:
            head = f"POST {self.path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: {content_type}\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            while connection.recv(65536):
                pass


class Message:
    """A request, and whose it is."""

    def __init__(self, body, headers, method, script, own_traces):
        self.body, self.headers, self.method = body, headers, method
        self.arrived = time.time_ns()
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = None
        self.text = self.find(script.get("message_at", "body:message"))
        self.context = {key: self.find(source) for key, source in script.get("context", {}).items()}
        self.context = {key: value for key, value in self.context.items() if value is not None}
        parts = headers.get("traceparent", "").split("-")
        carried = len(parts) == 4 and not own_traces
        self.trace, self.parent = (parts[1], parts[2]) if carried else (new_id(16), "")
        self.span = new_id(8)

    def find(self, source):
        kind, _, name = source.partition(":")
        if kind == "body":
            value = self.json
            for step in filter(None, name.split(".")):
                if isinstance(value, list):
                    value = value[int(step)] if step.isdigit() and int(step) < len(value) else None
                else:
                    value = value.get(step) if isinstance(value, dict) else None
            return value
        if kind == "header":
            return self.headers.get(name.lower())
        return {"value": name, "raw": self.body.decode(), "method": self.method}[kind]


def attribute(key, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return {"key": key, "value": {"stringValue": text}}


def expand(garbage):
    for token, make in (("@DIGITS:", lambda n: "7" * n), ("@DEEP:", lambda n: "[" * n + "]" * n)):
        while token in garbage:
            before, _, rest = garbage.partition(token)
            number, _, after = rest.partition("@")
            garbage = before + make(int(number)) + after
    return garbage.encode()


class Agent:
    def __init__(self, script, exporter, own_traces):
        self.script, self.exporter, self.own_traces = script, exporter, own_traces
        self.instrumented = script.get("instrumented", True)
        self.times, self.count, self.previous = {}, 0, None
        self.lock = threading.Lock()
        if self.instrumented:
            self.introduce()

    def introduce(self):
        declares = self.script.get("declares")
        if declares is not None:
            tools = [{"type": "function", "name": name} for name in declares]
            now = time.time_ns()
            attributes = [attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.tool.definitions", tools)]
            self.exporter.spans([span("chat", new_id(16), new_id(8), "", (now, now), attributes)])
        if "trace_preamble" in self.script:
            self.exporter.post(self.script["trace_preamble"].encode(), "application/x-ndjson")

    def behaviour(self, text):
        when = self.script["when"]
        key = text if text in when else "*"
        if key not in when:
            return None
        with self.lock:
            at = self.times[key] = self.times.get(key, -1) + 1
        return when[key][min(at, len(when[key]) - 1)]

    def handle(self, message, connection):
        behaviour = self.behaviour(message.text if isinstance(message.text, str) else "*")
        with self.lock:
            self.count += 1
        if behaviour is None:
            return respond(connection, 404, "text/plain", b"the script has no such message")
        calls = behaviour.get("calls", [])
        if self.instrumented:
            if "trace_garbage" in behaviour:
                self.exporter.post(expand(behaviour["trace_garbage"]), "application/x-ndjson")
            self.exporter.spans([self.call(message, call) for call in calls if not call.get("late_ms")])
            for call in calls:
                if call.get("late_ms"):
                    timer = threading.Timer(call["late_ms"] / 1000, self.late, [message, call])
                    timer.daemon = True
                    timer.start()
        self.reply(message, behaviour["reply"], connection)
        if self.instrumented and behaviour.get("turn", True):
            trace, parent, context = self.owner(message, behaviour.get("turn_tag", "own"))
            own = trace == message.trace
            # A server span that is the agent's as well: that calls would have been seen is shown by it.
            operation = attribute("gen_ai.operation.name", "invoke_agent")
            attributes = [operation, *(attribute(*item) for item in context.items())]
            times = (message.arrived, time.time_ns())
            self.exporter.spans(
                [
                    span(
                        "POST /chat",
                        trace,
                        message.span if own else new_id(8),
                        parent if own else "",
                        times,
                        attributes,
                        2,
                    )
                ]
            )
        self.previous = message
        return None

    def late(self, message, call):
        self.exporter.spans([self.call(message, {**call, "start_ms": 0, "end_ms": 1}, time.time_ns())])

    def owner(self, message, tag):
        """Trace, parent and attributes of a span that says it belongs to `tag`."""
        if tag == "own":
            return message.trace, message.parent, message.context
        if tag == "previous" and self.previous is not None:
            return self.previous.trace, self.previous.parent, self.previous.context
        if isinstance(tag, dict):
            return new_id(16), "", tag
        return new_id(16), "", dict.fromkeys(message.context, "nobody's") if tag == "foreign" else {}

    def call(self, message, call, start=None):
        trace, parent, context = self.owner(message, call.get("tag", "own"))
        if trace == message.trace:
            parent = message.span if self.script["when"] and self.turn_of(message) else parent
        start = start or message.arrived
        times = (start + round(call.get("start_ms", 0) * 1e6), start + round(call.get("end_ms", 1) * 1e6))
        attributes = [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", call["name"]),
            attribute("gen_ai.tool.call.arguments", json.dumps(call.get("args", {}))),
            attribute("gen_ai.tool.call.result", json.dumps(call.get("result"))),
            *(attribute(*item) for item in context.items()),
        ]
        made = span(f"execute_tool {call['name']}", trace, new_id(8), parent, times, attributes)
        if call.get("error"):
            error = call["error"]
            made["status"] = {"code": 2, "message": error if isinstance(error, str) else json.dumps(error)}
        return made

    def turn_of(self, message):
        key = message.text if message.text in self.script["when"] else "*"
        return all(behaviour.get("turn", True) for behaviour in self.script["when"][key])

    def reply(self, message, reply, connection):
        time.sleep(reply.get("delay_ms", 0) / 1000)
        if reply.get("close"):
            return
        status, content_type, extra = (
            reply.get("status", 200),
            reply.get("type", "text/plain"),
            reply.get("headers", {}),
        )
        if "json" in reply:
            body, content_type = json.dumps(reply["json"]).encode(), "application/json"
        elif "echo" in reply:
            value = self.count if reply["echo"] == "count" else message.find(reply["echo"])
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            body, content_type = json.dumps({"reply": text}).encode(), "application/json"
        elif "bytes_hex" in reply:
            body = bytes.fromhex(reply["bytes_hex"])
        elif "repeat" in reply:
            body = reply["repeat"].encode() * reply["times"]
        else:
            body = reply["raw"].encode()
        respond(connection, status, content_type, body, extra, reply.get("trickle_ms", 0) / 1000)


def span(name, trace, span_id, parent, times, attributes, kind=1):
    return {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
        "attributes": attributes,
    }


def respond(connection, status, content_type, body, headers=None, pause=0.0):
    lines = [
        f"HTTP/1.1 {status} X",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    pieces = [body[at : at + 1] for at in range(len(body))] if pause else [body]
    for piece in pieces:
        connection.sendall(piece)
        time.sleep(pause)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        # A header that comes twice is joined, as HTTP has it: to send one twice is seen in an echo.
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, path, _ = first.split(" ", 2)
    return method, path, headers, body


def serve(agent, connection, health_status):
    with connection:
        try:
            request = read_request(connection)
            if request is None:
                return
            method, path, headers, body = request
            if path == "/health":
                respond(connection, health_status, "text/plain", b"")
                return
            agent.handle(Message(body, headers, method, agent.script, agent.own_traces), connection)
        except OSError:
            # The client is gone: it cancelled the request, or looked only whether the port accepts.
            return


def main():
    path, port = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        script = json.load(file)
    if script.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "exit_at_start" in script:
        print("agent gives up: no config", flush=True)
        sys.exit(script["exit_at_start"])
    if script.get("never_ready"):
        signal.pause()
    agent = Agent(script, Exporter(os.environ["HIGHBAR_TRACES_URL"]), "--own-traces" in sys.argv)
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(
            target=serve, args=(agent, connection, script.get("health_status", 200)), daemon=True
        ).start()


if __name__ == "__main__":
    main()
