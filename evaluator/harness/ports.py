"""TCP ports of agents: whether one accepts, and which process has it."""

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_LISTENING: Final = "0A"


def address(url: str) -> tuple[str, int]:
    """The host and port of an http(s) URL."""
    parts = urlsplit(url)
    default = 443 if parts.scheme.lower() == "https" else 80
    return parts.hostname or "", parts.port or default


async def accepts(url: str, seconds: float = 1.0) -> bool:
    """Whether something accepts connections at the host and port of `url`."""
    host, port = address(url)
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def listener(port: int) -> str | None:
    """`name (pid N)` of the process that listens on a port of this machine, if /proc tells."""
    inodes = {inode for table in ("tcp", "tcp6") for inode in _listening(Path("/proc/net") / table, port)}
    if not inodes:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(_target(link) in inodes for link in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
        except OSError:
            # Another user's process, or one that has ended by now.
            continue
    return None


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        # Closed by now.
        return ""


def _listening(table: Path, port: int) -> set[str]:
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return set()
    return {
        f"socket:[{row[9]}]" for row in rows if row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port
    }
