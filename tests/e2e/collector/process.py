"""The real Collectors as child processes: OpenTelemetry's own, built by scripts/collector, and rotel from PyPI."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tests.waiting import until

ROOT = Path(__file__).parents[3]
CONFIGURATIONS = sorted(path for path in (ROOT / "otel-config").glob("*.yaml") if path.name != "builder.yaml")


@cache
def collector_binary() -> Path:
    """Path of the Collector. The first call on a machine builds it, which takes minutes."""
    script = ROOT / "scripts" / "collector"
    built = subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True)
    return Path(built.stdout.strip())


@cache
def rotel_binary() -> Path:
    """Path of the program in the `rotel` package, which is installed without its executable bit."""
    spec = find_spec("rotel")
    assert spec is not None, "rotel is not installed; it is among the development dependencies"
    assert spec.origin is not None
    binary = Path(spec.origin).parent / "rotel-agent"
    binary.chmod(0o755)
    return binary


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Child:
    """A program that is started, killed and started again with the same ports and files."""

    command: list[str]
    environ: dict[str, str]
    log: Path
    directory: Path | None = None
    _process: "subprocess.Popen[bytes] | None" = None
    _log: "IO[bytes] | None" = None

    def spawn(self) -> None:
        self._log = self.log.open("ab")
        self._process = subprocess.Popen(
            self.command,
            env=os.environ | self.environ,
            cwd=self.directory,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send it `how` and wait until it is gone."""
        if self._process is None:
            return
        if self.running:
            self._process.send_signal(how)
        await until(lambda: not self.running)
        assert self._log is not None
        self._log.close()

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@dataclass
class Collector:
    """A Collector with one of the configurations of otel-config/."""

    configuration: str
    directory: Path
    environ: dict[str, str] = field(default_factory=dict)
    http_port: int = field(default_factory=free_port)
    grpc_port: int = field(default_factory=free_port)
    health_port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self._child = Child(
            [str(collector_binary()), "--config", str(ROOT / "otel-config" / self.configuration)],
            {
                "OTLP_GRPC": f"127.0.0.1:{self.grpc_port}",
                "OTLP_HTTP": f"127.0.0.1:{self.http_port}",
                "COLLECTOR_HEALTH": f"127.0.0.1:{self.health_port}",
                "QUEUE_DIRECTORY": str(self.directory / "queue"),
                **self.environ,
            },
            self.directory / "collector.log",
        )

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def grpc_url(self) -> str:
        return f"grpc://127.0.0.1:{self.grpc_port}"

    async def start(self) -> None:
        """Returns when it is healthy; raises AssertionError with what it said if it ends before."""
        self._child.spawn()
        await until(lambda: not self._child.running or self._healthy())
        assert self._child.running, self._child.said()

    async def stop(self) -> None:
        await self._child.end()

    async def kill(self) -> None:
        await self._child.end(signal.SIGKILL)

    def said(self) -> str:
        return self._child.said()

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


@dataclass
class Rotel:
    """rotel between agents and one OTLP/gRPC endpoint."""

    target: str
    directory: Path
    http_port: int = field(default_factory=free_port)
    grpc_port: int = field(default_factory=free_port)

    async def start(self) -> None:
        self._child = Child(
            [
                str(rotel_binary()),
                "start",
                *("--otlp-grpc-endpoint", f"127.0.0.1:{self.grpc_port}"),
                *("--otlp-http-endpoint", f"127.0.0.1:{self.http_port}"),
                *("--exporter", "otlp", "--otlp-exporter-endpoint", self.target),
                *("--otlp-exporter-protocol", "grpc", "--batch-timeout", "50ms"),
            ],
            {},
            self.directory / "rotel.log",
        )
        self._child.spawn()
        await until(lambda: not self._child.running or _listens(self.http_port))
        assert self._child.running, self._child.said()

    async def stop(self) -> None:
        await self._child.end()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Serving:
    """`spanbar serve` as a process that is killed and started again at the same ports."""

    behaviors: Path
    directory: Path
    options: tuple[str, ...] = ()
    http_port: int = field(default_factory=free_port)
    grpc_port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        ports = ["--http-port", str(self.http_port), "--grpc-port", str(self.grpc_port)]
        command = [str(Path(sys.executable).with_name("spanbar")), "serve", str(self.behaviors), *ports]
        self._child = Child([*command, *self.options], {}, self.directory / "serve.log", self.directory)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def grpc(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    async def start(self) -> None:
        """Returns when it is ready; raises AssertionError with what it said if it ends before."""
        self._child.spawn()
        await until(lambda: not self._child.running or self._ready())
        assert self._child.running, self._child.said()

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        await self._child.end(how)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False
