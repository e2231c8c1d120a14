"""`spanbar serve` as its user starts it: a process of its own, on free ports."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import httpx

SPANBAR = str(Path(sys.executable).with_name("spanbar"))
STARTED = 60.0
"""s that only a broken start needs."""


class Server:
    """A running server. `log` has the lines of its standard error so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[str] = []
        self.url = ""
        self.grpc = ""
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def wait_until_started(self) -> None:
        while not self.grpc:
            try:
                line = self._lines.get(timeout=STARTED)
            except Empty:
                raise AssertionError(f"no word of the server for {STARTED} s: {self.log}") from None
            if line is None:
                raise AssertionError(f"the server ended: {''.join(self.log)}")
            if found := re.match(r"OTLP/HTTP +(\S+)", line):
                self.url = found[1]
            if found := re.match(r"OTLP/gRPC +(\S+)", line):
                self.grpc = found[1]

    def stop(self, *, patience: float = 30) -> int:
        """SIGTERM, and the exit code."""
        self.process.terminate()
        code = self.process.wait(patience)
        self._reader.join(patience)
        return code

    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(*arguments: object, http_port: int = 0, cwd: Path | None = None, **environ: str) -> Iterator[Server]:
    """A server that has started. It is killed at the end if it still runs."""
    ports = ["--http-port", str(http_port), "--grpc-port", "0"]
    process = subprocess.Popen(
        [SPANBAR, "serve", *map(str, arguments), *ports],
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **environ},
    )
    server = Server(process)
    try:
        server.wait_until_started()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def send(url: str, *spans: dict[str, Any], token: str | None = None) -> None:
    """POST spans as OTLP JSON. Raises if they are not accepted."""
    headers = {"authorization": f"Bearer {token}"} if token is not None else {}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    httpx.post(f"{url}/v1/traces", json=body, headers=headers, timeout=30).raise_for_status()


def span(number: int, name: str, session: str, *, trace: int = 1, at: int | None = None, **more: Any) -> Any:
    """A span of the hangar vocabulary; `more` are attributes, with `_` for the dots. `at` is ns."""
    time = at if at is not None else 1_700_000_000_000_000_000 + number * 1_000_000_000
    attributes = {"hangar.session.id": session, "hangar.seq": number}
    attributes |= {key.replace("_", "."): value for key, value in more.items()}
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(time),
        "endTimeUnixNano": str(time + 5_000_000),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
    }


def shell(number: int, command: str, session: str, **more: Any) -> Any:
    """A shell call; one that pushes has the op `git.push`."""
    made = span(number, "tool.call", session, hangar_tool_kind="shell", hangar_tool_input=command, **more)
    made["attributes"].append({"key": "gen_ai.tool.name", "value": {"stringValue": "bash"}})
    if "push" in command:
        value = {"arrayValue": {"values": [{"stringValue": "git.push"}]}}
        made["attributes"].append({"key": "hangar.shell.ops", "value": value})
    return made


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": str(value)}
