"""Session hooks: `setup` before the first message of an execution, `teardown` after its last."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from evaluator.harness.placeholders import Scope, fill_text
from evaluator.items import Json
from evaluator.language.spec import Agent, CommandHook, PythonHook, Spec

_LONGEST_LINE: Final = 64 * 1024 * 1024
_STDERR_LINES: Final = 10


class HookError(Exception):
    """A hook failed. The message says which, and how."""


class Hooks:
    """The hooks of one spec. Python hooks run in a worker process, one at a time."""

    def __init__(self, spec: Spec, folder: Path, environ: Mapping[str, str], log: Path) -> None:
        """`folder` is where they run; what Python hooks print goes to `log`."""
        self._agent = spec.agent
        self._path = spec.path
        self._folder = folder
        self._environ = dict(environ)
        self._worker = _Worker(spec.agent, folder, self._environ, log)

    async def load(self) -> None:
        """Import the Python hooks. Raises HookError if one cannot be."""
        await self._worker.load()

    async def setup(self, scope: Scope) -> Mapping[str, Json]:
        """What `{{session...}}` stands for; an empty mapping without a hook. Raises HookError."""
        hook = self._agent.setup
        if hook is None:
            return {}
        if isinstance(hook, PythonHook):
            session: Json = await self._worker.call("setup", context=self._context(scope))
        else:
            session = _last_object(await self._command("setup", hook, scope))
        if "headers" in session and not isinstance(session["headers"], Mapping):
            raise HookError("session.setup: headers must be a mapping of header names to values")
        return dict(session)

    async def teardown(self, scope: Scope) -> None:
        """Raises HookError."""
        hook = self._agent.teardown
        if isinstance(hook, PythonHook):
            await self._worker.call("teardown", context=self._context(scope), session=dict(scope.session))
        elif hook is not None:
            await self._command("teardown", hook, scope)

    async def stop(self) -> None:
        await self._worker.stop()

    def _context(self, scope: Scope) -> dict[str, str]:
        return {"test_id": scope.test_id, "test_name": scope.test_name, "spec_path": str(self._path)}

    async def _command(self, which: str, hook: CommandHook, scope: Scope) -> str:
        """What the command printed. It runs without a shell, in a process group of its own. Raises HookError."""
        argv = [fill_text(argument, scope) for argument in hook.argv]
        # Loading it takes long beside a short run without commands.
        import tempfile

        # Files, not pipes: a process that the command leaves behind may keep a pipe open for ever.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = await self._run(which, argv, output, errors)
            printed, complaint = _text(output), _text(errors)
        if code != 0:
            end = "\n".join(complaint.strip().splitlines()[-_STDERR_LINES:])
            raise HookError(f"session.{which}: {argv[0]} exited with {code}{': ' + end if end else ''}")
        return printed

    async def _run(self, which: str, argv: Sequence[str], output: IO[bytes], errors: IO[bytes]) -> int:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                cwd=self._folder,
                env=self._environ,
            )
        except (OSError, ValueError) as error:
            raise HookError(f"session.{which}: cannot run {argv[0]}: {error}") from None
        try:
            async with asyncio.timeout(self._agent.timeout / 1000):
                return await process.wait()
        except TimeoutError:
            raise HookError(
                f"session.{which}: {argv[0]} did not end within agent.timeout, {self._agent.timeout} ms"
            ) from None
        finally:
            if process.returncode is None:
                _kill_group(process.pid)
                await process.wait()


class _Worker:
    """The process that Python hooks live in; it is started anew after a timeout."""

    def __init__(self, agent: Agent, folder: Path, environ: Mapping[str, str], log: Path) -> None:
        hooks = {"setup": agent.setup, "teardown": agent.teardown}
        self._hooks = {which: hook for which, hook in hooks.items() if isinstance(hook, PythonHook)}
        self._timeout = agent.timeout / 1000
        self._folder = folder
        self._environ = environ
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def load(self) -> None:
        if self._hooks:
            async with self._turn:
                await self._start()

    async def call(self, which: str, **arguments: Json) -> Json:
        async with self._turn:
            if self._process is None:
                await self._start()
            return await self._ask(which, {"do": "call", "hook": which, **arguments})

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                _kill_group(process.pid)
            await process.wait()

    async def _start(self) -> None:
        source = Path(__file__).with_name("hook_worker.py").read_text("utf-8")
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", source),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                cwd=self._folder,
                env=self._environ,
                limit=_LONGEST_LINE,
            )
        for which, hook in self._hooks.items():
            request = {"do": "load", "hook": which, "module": hook.module, "function": hook.function}
            await self._ask(which, request)

    async def _ask(self, which: str, request: Mapping[str, Json]) -> Json:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise HookError(f"session.{which}: the process of the Python hooks is gone; its output is in {self._log}")
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            async with asyncio.timeout(self._timeout):
                line = await process.stdout.readline()
        except TimeoutError:
            await self.stop()
            raise HookError(
                f"session.{which}: {self._named(which)} did not end within agent.timeout, {self._timeout * 1000:g} ms"
            ) from None
        except asyncio.CancelledError:
            # The answer would be taken for that of the next request.
            await self.stop()
            raise
        except OSError:
            line = b""
        if not line:
            await self.stop()
            raise HookError(f"session.{which}: {self._named(which)} ended its process; its output is in {self._log}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise HookError(f"session.{which}: {self._named(which)}: {answer['problem']}")
        return answer["value"]

    def _named(self, which: str) -> str:
        hook = self._hooks[which]
        return f"{hook.module}:{hook.function}"


def _last_object(printed: str) -> dict[str, Json]:
    """The JSON object that the whole output is, or else its last line that is not blank."""
    lines = [line for line in printed.splitlines() if line.strip()]
    if not lines:
        raise HookError("session.setup printed nothing; its last line must be a JSON object, {} for none")
    for text in (lines[-1], printed):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise HookError(f"session.setup: its last line must be a JSON object, and is {lines[-1][:200]!r}")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
