"""gRPC, loaded so that it leaves alone what this process starts: `from collector.grpcio import grpc`.

An agent is forked, and becomes another program at once. What gRPC does at a fork, to go on in the child, now and then
ends the child before that (seen with 1.85: one start in thirty).
"""

import os
from typing import Final

_FORKS: Final = "GRPC_ENABLE_FORK_SUPPORT"

_before = os.environ.get(_FORKS)
os.environ[_FORKS] = "0"
try:
    import grpc
    import grpc.aio
finally:
    # It is read once, and is no business of the agents, which inherit the environment.
    if _before is None:
        del os.environ[_FORKS]
    else:
        os.environ[_FORKS] = _before

__all__ = ["grpc"]
