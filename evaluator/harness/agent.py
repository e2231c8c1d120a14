"""The agent of a spec: started and stopped for it, or attached to."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from evaluator.harness import clock
from evaluator.harness.client import AgentClient
from evaluator.harness.environment import agent_environment
from evaluator.harness.masking import Masking
from evaluator.harness.outcome import Notice, Stop
from evaluator.harness.ports import accepts, address, listener
from evaluator.harness.process import LOG_LINES, AgentProcess, StartError, backoff, log_path
from evaluator.harness.telemetry import Telemetry, TraceFile
from evaluator.language.spec import Agent, Spec

FILE_ONLY: Final = "highbar: could not write a trace record to"
"""What highbar's SDK prints as soon as it is set up, if `HIGHBAR_TRACES_URL` is a URL: it can only write a file."""


ENDING: Final = 0.2
"""Seconds that an agent which has closed its connection has to be seen to end."""


class RunningAgent:
    """`trace_files` are followed from `begin` to `stop`. `checks_calls`: some test of the spec is about calls."""

    def __init__(
        self,
        spec: Spec,
        client: AgentClient,
        telemetry: Telemetry,
        masking: Masking,
        notify: Callable[[Notice], None],
        *,
        folder: Path,
        environ: Mapping[str, str],
        checks_calls: bool,
    ) -> None:
        self.trace_files: list[TraceFile] = []
        self._spec = spec
        self._client = client
        self._telemetry = telemetry
        self._masking = masking
        self._notify = notify
        self._folder = folder
        self._environ = environ
        self._checks_calls = checks_calls
        self._process: AgentProcess | None = None
        self._temporary: Path | None = None

    @property
    def _agent(self) -> Agent:
        return self._spec.agent

    async def begin(self) -> str:
        """Start the agent and wait until it is ready, or find it. Returns how, as a clause. Raises StartError."""
        if self._agent.start is None:
            return await self._attach()
        await self._refuse_taken_port()
        await self._start(self._agent.start, None)
        if self._process is not None and FILE_ONLY in self._process.output():
            await self._start_again_with_file(self._agent.start)
        return f"started, {self._ready_by}"

    @property
    def log(self) -> str:
        """The path of the log of the agent that was started, as a text; "" of one that was attached to."""
        if self._process is None:
            return ""
        path = self._process.log
        return self._text(str(path.relative_to(self._folder) if path.is_relative_to(self._folder) else path))

    async def state(self, gone: bool) -> str:
        """Sentences about a started agent: that it has ended, with the end of its log, or where the log is.

        `gone`: it looks as if it were; a process that ends closes its connections a moment before.
        """
        process = self._process
        if process is None:
            return ""
        if gone:
            await process.ended(within=ENDING)
        if process.exit_code is None:
            return f"The agent's log is {self.log}." if process.output() else ""
        return f"The agent has ended with exit code {process.exit_code}. {self._log_tail(process)}"

    async def stop(self) -> None:
        """Stop what was started, take in what it still sends, and follow its files no longer."""
        try:
            if self._process is not None:
                await self._process.stop()
        finally:
            for file in self.trace_files:
                await file.stop()
            if self._temporary is not None:
                import shutil

                shutil.rmtree(self._temporary, ignore_errors=True)

    async def _attach(self) -> str:
        await self._telemetry.serve()
        traces = self._agent.traces
        if traces is not None and traces != "otlp" and self._checks_calls:
            path = self._folder / traces
            if not path.exists():
                raise StartError(
                    Stop(
                        "traces_missing",
                        f"agent.traces: there is no file {traces}. Start the agent so that it writes its trace "
                        "there, or set traces: otlp and let it export to spanbar.",
                    )
                )
            self.trace_files.append(self._telemetry.follow(path, from_end=True))
        health = self._agent.health
        if health is not None:
            status = await self._client.healthy(health)
            if status != 200:
                found = "does not answer" if status is None else f"answers {status}, not 200"
                raise StartError(Stop("attach_health", self._text(f"agent.health: {health} {found}. Is it running?")))
        elif not await accepts(self._agent.endpoint):
            host, port = address(self._agent.endpoint)
            text = f"Nothing listens at {host}:{port} (agent.endpoint). Start the agent first, or set agent.start."
            raise StartError(Stop("attach_unreachable", self._text(text)))
        return "attached"

    async def _refuse_taken_port(self) -> None:
        if not await accepts(self._agent.endpoint):
            return
        host, port = address(self._agent.endpoint)
        who = listener(port)
        text = (
            f"Port {port} of {host} is taken already{f' by {who}' if who else ''}, so messages would not reach the "
            "agent that is started. Stop what listens there, or remove agent.start to test it as it is."
        )
        raise StartError(Stop("port_in_use", self._text(text)))

    async def _start(self, argv: tuple[str, ...], trace_file: str | None) -> None:
        log = log_path(self._folder, self._spec.path)
        process = self._process = AgentProcess(argv, self._folder, log, lambda: self._log_was_cut(log))
        await process.start(agent_environment(self._environ, self._telemetry.endpoints, trace_file))
        await self._telemetry.serve()
        await self._until_ready(process)

    def _log_was_cut(self, log: Path) -> None:
        text = f"The agent prints so much that only the end of it is kept in its log, {log}."
        self._notify(Notice("log_cut", text))

    async def _start_again_with_file(self, argv: tuple[str, ...]) -> None:
        if self._process is not None:
            await self._process.stop()
        # What makes folders and removes them takes long to load, and few agents need one.
        import tempfile

        self._temporary = Path(tempfile.mkdtemp(prefix="spanbar-"))
        path = self._temporary / "trace.jsonl"
        path.touch()
        self.trace_files.append(self._telemetry.follow(path, from_end=False))
        await self._start(argv, str(path))
        text = "The agent's SDK can only write a trace file: it was started once more with one, which is followed."
        self._notify(Notice("trace_file", text))

    async def _until_ready(self, process: AgentProcess) -> None:
        deadline = clock.ticks() + self._agent.startup_timeout / 1000
        for pause in backoff(longest=0.1):
            if process.exit_code is not None:
                raise StartError(self._exited(process))
            found = await self._answer()
            if found is None:
                return
            if clock.ticks() > deadline:
                raise StartError(self._not_ready(process, found))
            await process.ended(within=pause)

    async def _answer(self) -> str | None:
        """None when the agent is ready; else what was found instead."""
        health = self._agent.health
        if health is None:
            host, port = address(self._agent.endpoint)
            return None if await accepts(self._agent.endpoint) else f"nothing listens at {host}:{port}"
        status = await self._client.healthy(health)
        if status == 200:
            return None
        return f"{health} does not answer" if status is None else f"{health} answers {status}, not 200"

    def _exited(self, process: AgentProcess) -> Stop:
        code = process.exit_code
        hint = " If it went to the background, start it yourself and remove agent.start." if code == 0 else ""
        text = f"agent.start: the agent ended with exit code {code} before it was ready.{hint}"
        return Stop("agent_exited", f"{self._text(text)} {self._log_tail(process)}")

    def _not_ready(self, process: AgentProcess, found: str) -> Stop:
        text = f"agent.start: after startup_timeout, {self._agent.startup_timeout} ms, {found}."
        return Stop("startup_timeout", f"{self._text(text)} {self._log_tail(process)}")

    def _log_tail(self, process: AgentProcess) -> str:
        tail = process.tail()
        if not tail:
            return f"It printed nothing ({process.log})."
        return f"The last {LOG_LINES} lines of {process.log}:\n{self._text(tail)}"

    @property
    def _ready_by(self) -> str:
        return "ready at its health URL" if self._agent.health is not None else "its port accepts"

    def _text(self, text: str) -> str:
        return self._masking.text(text)
