"""What holds for all tests."""

import os

import pytest

# Tests load gRPC before the package does, which sees to this itself (collector/grpcio.py).
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")


@pytest.fixture(scope="session", autouse=True)
def _state_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Servers that tests start keep their journals away from those of this machine's user."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
