"""`--on-fail`: tells a command or a URL the moment a result is finally `fail`, so an agent at work can be stopped."""

import asyncio
import contextlib
import logging
import os
import shlex
import signal
from collections import deque
from tempfile import TemporaryFile
from typing import Any, Final

import httpx

from collector.index import Unit
from collector.live import views
from collector.live.encoding import encode
from evaluator.verdict import BehaviorResult, Result

AT_ONCE: Final = 4
WAITING: Final = 1_000
PATIENCE: Final = 10.0
"""s that a command or a request may take."""
COMPLAINT: Final = 500
"""Bytes of what a command that fails has printed which are logged."""

_log = logging.getLogger(__name__)

Payload = dict[str, Any]


class Alarm:
    """Delivers results as JSON: on a command's standard input, or as the body of a POST.

    At most `AT_ONCE` deliveries run and `WAITING` wait; what comes on top is dropped and counted. A delivery that
    fails or takes longer than `patience` seconds is logged and counted; it is not tried again. A command that takes
    longer is killed with all that it started; of one that ends, the exit code decides, and what it leaves in the
    background goes on.
    """

    def __init__(self, target: str, *, at_once: int = AT_ONCE, patience: float = PATIENCE) -> None:
        self.target = target
        self.delivered = 0
        self.failed = 0
        self.dropped = 0
        self._patience = patience
        self._waiting: deque[Payload] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._at_once = at_once
        self._client: httpx.AsyncClient | None = None
        self._argv = [] if is_url(target) else shlex.split(target)
        if not is_url(target) and not self._argv:
            raise ValueError("the command is empty")

    def heard(self, unit: Unit, outcome: BehaviorResult) -> None:
        """A listener of `Board`: rings for what is finally `fail`, whatever its severity."""
        if outcome.verdict.result is Result.FAIL and outcome.verdict.final:
            self.ring({"unit": views.unit_ref(unit), **views.result(outcome)})

    def ring(self, payload: Payload) -> None:
        if len(self._waiting) >= WAITING:
            self.dropped += 1
            _log.error("on-fail: %d deliveries are waiting; %s is not told", WAITING, payload["behavior"])
            return
        self._waiting.append(payload)
        self._fill()

    async def stop(self, within: float) -> None:
        """Let what is waiting be delivered for `within` seconds, then give up; what is left counts as dropped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._running:
                    await asyncio.wait(self._running)
        self.dropped += len(self._waiting)
        self._waiting.clear()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._at_once:
            task = asyncio.create_task(self._deliver(self._waiting.popleft()))
            self._running.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._fill()

    async def _deliver(self, payload: Payload) -> None:
        send = self._post if is_url(self.target) else self._run
        try:
            async with asyncio.timeout(self._patience):
                problem = await send(encode(payload))
        except TimeoutError:
            problem = f"took longer than {self._patience:g} s"
        except (OSError, httpx.HTTPError) as error:
            problem = str(error) or type(error).__name__
        except asyncio.CancelledError:
            self.failed += 1
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, those that wait are delivered
            _log.exception("on-fail: %s", self.target)
            problem = repr(error)
        if problem is None:
            self.delivered += 1
        else:
            self.failed += 1
            _log.error("on-fail: %s was not told of %s: %s", self.target, payload["behavior"], problem)

    async def _run(self, body: bytes) -> str | None:
        # Files and no pipes: what the command leaves in the background may hold them open, and is not waited for.
        with TemporaryFile() as given, TemporaryFile() as complaint:
            given.write(body)
            given.seek(0)
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=given,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=complaint,
                start_new_session=True,
            )
            try:
                await process.wait()
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
                raise
            if process.returncode == 0:
                return None
            complaint.seek(0)
            said = complaint.read(COMPLAINT).decode(errors="replace").strip()
            return f"exit code {process.returncode}: {said}"

    async def _post(self, body: bytes) -> str | None:
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._patience)
        response = await self._client.post(
            self.target, content=body, headers={"content-type": "application/json"}, follow_redirects=False
        )
        return None if response.is_success else f"answered {response.status_code}"


def is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))
