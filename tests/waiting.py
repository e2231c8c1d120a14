"""Waiting for a condition, with a limit that only a broken test reaches."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], limit: float = 60) -> None:
    """Let the event loop go on until `condition()` is true. Raises TimeoutError after `limit` seconds."""
    async with asyncio.timeout(limit):
        while not condition():  # noqa: ASYNC110 - what is waited for may be in another process
            await asyncio.sleep(0.005)
