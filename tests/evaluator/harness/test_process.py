"""Processes of agents: started, watched, and stopped with everything they started."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from evaluator.harness import process as process_module
from evaluator.harness.ports import accepts, address, listener
from evaluator.harness.process import AgentProcess, StartError, log_path
from tests.waiting import until


def started(folder: Path, program: str) -> AgentProcess:
    return AgentProcess([sys.executable, "-c", program], folder, log_path(folder, Path("agent.highbar.yaml")))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""
FLUSHING = """
import signal, sys, time
def flush(number, frame):
    print("flushed", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, flush)
print("ready", flush=True)
time.sleep(600)
"""

STARTS_AND_IS_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from evaluator.harness.process import AgentProcess
async def main():
    agent = AgentProcess([sys.executable, "-c", "import time; time.sleep(600)"], Path({folder!r}), Path({log!r}))
    await agent.start(os.environ)
    print(agent._process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


async def test_what_the_agent_started_is_stopped_with_it(tmp_path: Path) -> None:
    agent = started(tmp_path, PARENT)
    await agent.start(os.environ)
    await until(lambda: agent.output().strip())
    child = int(agent.output())
    assert alive(child)
    await agent.stop()
    await until(lambda: not alive(child))


async def test_an_agent_has_time_to_send_what_it_holds(tmp_path: Path) -> None:
    agent = started(tmp_path, FLUSHING)
    await agent.start(os.environ)
    await until(lambda: "ready" in agent.output())
    await agent.stop()
    assert "flushed" in agent.output()
    assert agent.exit_code == 0


async def test_an_agent_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "FLUSH_SECONDS", 0.05)
    agent = started(tmp_path, STUBBORN)
    await agent.start(os.environ)
    await until(lambda: "ready" in agent.output())
    await agent.stop()
    assert agent.exit_code == -9


async def test_agents_that_are_killed_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "FLUSH_SECONDS", 600)
    agent = started(tmp_path, STUBBORN)
    await agent.start(os.environ)
    await until(lambda: "ready" in agent.output())
    stopping = asyncio.create_task(agent.stop())
    await asyncio.sleep(0)
    process_module.kill_agents()
    await asyncio.wait_for(stopping, 60)
    assert agent.exit_code == -9
    assert process_module._running == set()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")
async def test_an_agent_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = STARTS_AND_IS_KILLED.format(log=str(tmp_path / "logs" / "a.log"), folder=str(tmp_path))
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    output, _ = await parent.communicate()
    assert parent.returncode == -9
    await until(lambda: not alive(int(output)))


async def test_a_log_that_grows_without_end_is_cut_and_its_end_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "LOG_BYTES", 10_000)
    monkeypatch.setattr(process_module, "KEPT_BYTES", 1_000)
    monkeypatch.setattr(process_module, "LOG_CHECKED", 0.01)
    told: list[str] = []
    log = tmp_path / "logs" / "a.log"
    program = "import time\nprint('x' * 20_000)\nprint('the end', flush=True)\ntime.sleep(600)"
    agent = AgentProcess([sys.executable, "-c", program], tmp_path, log, lambda: told.append("cut"))
    await agent.start(os.environ)
    await until(lambda: told and agent.tail().endswith("the end"))
    await agent.stop()
    assert log.stat().st_size < 2_000
    assert log.read_text().startswith("[spanbar: ")


async def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    agent = AgentProcess(["no-such-command"], tmp_path, tmp_path / "logs" / "a.log")
    with pytest.raises(StartError, match="no-such-command") as raised:
        await agent.start(os.environ)
    assert raised.value.stop.code == "start_not_found"


async def test_the_end_of_the_log_is_kept_and_no_log_is_committed(tmp_path: Path) -> None:
    agent = started(tmp_path, "print(*range(100), sep='\\n')")
    await agent.start(os.environ)
    await agent.ended(within=60)
    assert agent.tail().splitlines() == [str(number) for number in range(60, 100)]
    assert (agent.log.parent / ".gitignore").read_text() == "*\n"


def test_two_logs_of_one_second_do_not_share_a_file(tmp_path: Path) -> None:
    first = log_path(tmp_path, Path("a.highbar.yaml"))
    first.parent.mkdir(parents=True)
    first.touch()
    assert log_path(tmp_path, Path("a.highbar.yaml")) != first


async def test_who_listens_on_a_port_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert await accepts(f"http://127.0.0.1:{port}/chat")
        found = listener(port)
    assert found is not None
    assert f"(pid {os.getpid()})" in found
    assert not await accepts(f"http://127.0.0.1:{port}/chat")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://host:8000/a", ("host", 8000)),
        ("http://host/a", ("host", 80)),
        ("HTTPS://host", ("host", 443)),
        ("http://[::1]:9/", ("::1", 9)),
    ],
)
def test_the_port_of_a_url(url: str, found: tuple[str, int]) -> None:
    assert address(url) == found
