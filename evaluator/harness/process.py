"""The process of an agent that is started for a run."""

import asyncio
import contextlib
import ctypes
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from evaluator.harness import clock
from evaluator.harness.outcome import Stop

LOG_LINES: Final = 40
"""Lines of the end of an agent's log that are shown when it dies."""

FLUSH_SECONDS: Final = 5.0
"""What an agent gets between SIGTERM and SIGKILL, to send what it still holds."""

LOG_BYTES: Final = 64 << 20
"""What an agent's log may hold; of a longer one only the end is kept."""

KEPT_BYTES: Final = 1 << 20
"""How much of the end that is."""

LOG_CHECKED: Final = 0.5
"""Seconds between two looks at the size of the log."""


_running: Final[set[int]] = set()
"""The process groups of the agents that this process has started and not seen to their end."""


def kill_agents() -> None:
    """SIGKILL to every agent that runs, with all that it started, for who does not wait until they end by themselves.

    May be called by the event loop at any time. What waits for them (`AgentProcess.stop`) goes on.
    """
    for group in _running:
        _signal_group(group, signal.SIGKILL)


class StartError(Exception):
    """The agent does not run. `stop` says why."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.text)
        self.stop = stop


class AgentProcess:
    """A started agent, in a process group of its own. It runs in `folder`; what it prints goes to `log`.

    `on_dropped` is called once, when the log has become so long that its beginning was dropped.
    """

    def __init__(
        self, argv: Sequence[str], folder: Path, log: Path, on_dropped: Callable[[], None] = lambda: None
    ) -> None:
        self.argv = tuple(argv)
        self.folder = folder
        self.log = log
        self._process: asyncio.subprocess.Process | None = None
        self._on_dropped = on_dropped
        self._bounding: asyncio.Task[None] | None = None
        self._dropped = 0

    async def start(self, environment: Mapping[str, str]) -> None:
        """Start it without a shell. Raises StartError."""
        self._prepare_log()
        try:
            with self.log.open("ab") as output:
                self._process = await asyncio.create_subprocess_exec(
                    *self.argv,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                    env=dict(environment),
                    cwd=self.folder,
                    preexec_fn=_end_with_parent(),
                )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            text = f"agent.start: cannot run {self.argv[0]!r}: {reason}. Is it installed, and on the PATH?"
            raise StartError(Stop("start_not_found", text)) from None
        _running.add(self._process.pid)
        self._bounding = asyncio.create_task(self._bound_log())

    @property
    def exit_code(self) -> int | None:
        """The exit code if it has ended; minus the signal if one ended it."""
        return None if self._process is None else self._process.returncode

    async def ended(self, *, within: float) -> None:
        """Returns after `within` seconds, or when the process has ended, if that is sooner."""
        if self._process is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._process.wait()

    def output(self) -> str:
        """What it has printed: the end of it, if that is long."""
        try:
            return self._end_of_log().decode("utf-8", "replace")
        except OSError:
            return ""

    def tail(self) -> str:
        """The last lines of what it has printed."""
        return "\n".join(self.output().rstrip().splitlines()[-LOG_LINES:])

    async def stop(self) -> None:
        """SIGTERM to the whole group, `FLUSH_SECONDS` to end, SIGKILL to what is left of it."""
        process = self._process
        if self._bounding is not None:
            self._bounding.cancel()
        if process is None:
            return
        try:
            if _signal_group(process.pid, signal.SIGTERM):
                deadline = clock.ticks() + FLUSH_SECONDS
                await self.ended(within=FLUSH_SECONDS)
                # It may have left others of its group behind, which nothing tells of.
                for pause in backoff(longest=0.05):
                    if not _alive(process.pid) or clock.ticks() > deadline:
                        break
                    await asyncio.sleep(pause)
        finally:
            # Also when the waiting is cut short.
            _signal_group(process.pid, signal.SIGKILL)
            _running.discard(process.pid)
        await process.wait()

    async def _bound_log(self) -> None:
        """The agent writes to the file itself, and is never held up: the file is cut when it is found too long."""
        while True:
            await asyncio.sleep(LOG_CHECKED)
            with contextlib.suppress(OSError):
                self._cut_log()

    def _cut_log(self) -> None:
        size = self.log.stat().st_size
        if size <= LOG_BYTES:
            return
        first, kept = not self._dropped, self._end_of_log()
        self._dropped += size - len(kept)
        # Whoever writes does so at the end, wherever that is: the file was opened for appending.
        os.truncate(self.log, 0)
        with self.log.open("ab") as log:
            log.write(b"[spanbar: %d bytes of output were dropped here]\n" % self._dropped + kept)
        if first:
            self._on_dropped()

    def _end_of_log(self) -> bytes:
        with self.log.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - KEPT_BYTES))
            return log.read(KEPT_BYTES)

    def _prepare_log(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        ignore = self.log.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        self.log.write_bytes(b"")


_PR_SET_PDEATHSIG: Final = 1
"""prctl(2): the signal that a process gets when the thread that started it ends."""


def _end_with_parent() -> Callable[[], None] | None:
    """What the child does before it becomes the agent, so that it ends with this process even if that is killed.

    Only Linux has it. The function is looked up before the fork: nothing is loaded or allocated in the child.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    arguments = (_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)

    def ask() -> None:
        prctl(*arguments)

    return ask


def backoff(*, longest: float) -> Iterator[float]:
    """Pauses in seconds, from 3 ms up to `longest`, for asking again and again about what cannot call back."""
    return (min(0.003 * 1.3**count, longest) for count in itertools.count())


def log_path(folder: Path, spec: Path) -> Path:
    """A new `.highbar/logs/<spec>-<time>.log`."""
    name = spec.name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".highbar")
    for count in itertools.count(1):
        path = folder / ".highbar" / "logs" / f"{name}-{clock.stamp()}{'' if count == 1 else f'-{count}'}.log"
        if not path.exists():
            return path
    raise AssertionError("unreachable")


def _signal_group(group: int, number: int) -> bool:
    """Whether there was a process to send the signal to."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _alive(group: int) -> bool:
    """Whether a process of the group still runs. A zombie whose parent is gone does not."""
    if not _signal_group(group, 0):
        return False
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return True
    return any(_runs_in(process / "stat", group) for process in proc.glob("[0-9]*"))


def _runs_in(stat: Path, group: int) -> bool:
    try:
        state, _, of_group, *_ = stat.read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return False
    return int(of_group) == group and state not in "ZX"
