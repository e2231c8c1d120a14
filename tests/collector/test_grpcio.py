"""gRPC beside processes that are started."""

import os
import subprocess
import sys

STARTS = """
import asyncio, os, sys
from collector.grpcio import grpc

async def main():
    for _ in range(150):
        server = grpc.aio.server()
        server.add_insecure_port("127.0.0.1:0")
        await server.start()
        child = await asyncio.create_subprocess_exec(sys.argv[1], preexec_fn=lambda: None)
        assert await child.wait() == 0, child.returncode
        await server.stop(None)

print(os.environ.get("GRPC_ENABLE_FORK_SUPPORT"))
asyncio.run(main())
"""


def test_what_is_started_beside_a_grpc_server_runs_and_inherits_the_environment_as_it_was() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    command = [sys.executable, "-c", STARTS, "true"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
