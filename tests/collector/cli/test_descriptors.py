import subprocess
import sys

import pytest

SHOWN = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 256))
from collector.cli.descriptors import raise_limit
raise_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_server_may_have_as_many_files_open_as_it_can_get() -> None:
    shown = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["256", "256"]
