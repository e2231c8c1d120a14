"""An agent that takes 20 ms and makes one call: `python quick_agent.py PORT`.

If `HIGHBAR_TRACES_URL` is a URL it posts OTLP spans there, else it appends trace-contract records to that file. It
writes how long each message took it, in ms, to `agent.ms`. Plain sockets and threads: it starts at once.
"""

import json
import os
import socket
import sys
import threading
import time

WORK = 0.020
TARGET = os.environ["HIGHBAR_TRACES_URL"]
CALL = {"order_id": "1042"}


def post(spans):
    authority, _, path = TARGET.removeprefix("http://").partition("/")
    host, _, port = authority.partition(":")
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "agent"}, "spans": spans}]}]}).encode()
    head = f"POST /{path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while connection.recv(65536):
            pass


def span(name, ids, times, attributes, kind=1):
    return {
        "traceId": ids[0],
        "spanId": ids[1],
        "parentSpanId": ids[2],
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


class File:
    """What highbar's SDK writes."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.write({"type": "hello", "sdk": "quick-agent", "pid": os.getpid()})
        self.write({"type": "tools", "names": ["get_order"]})

    def write(self, record):
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"v": 1, "ts": time.time(), **record}) + "\n")

    def call(self, headers, started, ended):
        context = {"test": headers.get("x-highbar-test", "")}
        times = {"started_at": started / 1e9, "ended_at": ended / 1e9}
        self.write({"type": "tool", "fn": "get_order", "args": CALL, "result": "done", **times, "context": context})
        self.write({"type": "turn", "context": context})

    def handled(self, headers, started, ended):
        pass


class Spans:
    """What an instrumented agent exports, span by span: its call, and after the reply its server span."""

    def __init__(self):
        self.entries = {}

    def call(self, headers, started, ended):
        _, trace, parent, _ = headers["traceparent"].split("-")
        entry = os.urandom(8).hex()
        self.entries[parent] = entry
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_order",
            "gen_ai.tool.call.arguments": json.dumps(CALL),
            "gen_ai.tool.call.result": '"done"',
        }
        post([span("execute_tool get_order", (trace, os.urandom(8).hex(), entry), (started, ended), attributes)])

    def handled(self, headers, started, ended):
        _, trace, parent, _ = headers["traceparent"].split("-")
        post([span("POST /chat", (trace, self.entries.pop(parent), parent), (started, ended), {}, 2)])


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return first.split(" ")[1], headers


def serve(connection, record, log):
    with connection:
        request = read_request(connection)
        if request is None:
            return
        path, headers = request
        began, started = time.perf_counter(), time.time_ns()
        if path != "/health":
            time.sleep(WORK)
            record.call(headers, started, time.time_ns())
        body = json.dumps({"reply": "done"}).encode()
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        if path != "/health":
            log.write(f"{(time.perf_counter() - began) * 1000:.3f}\n")
            log.flush()
            record.handled(headers, started, time.time_ns())


def main():
    record = Spans() if TARGET.startswith("http") else File(TARGET)
    with open("agent.ms", "w", encoding="utf-8") as log:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, record, log), daemon=True).start()


if __name__ == "__main__":
    main()
