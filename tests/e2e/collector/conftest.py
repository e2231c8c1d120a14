from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.collector.process import Collector
from tests.e2e.collector.spanbar import Spanbar

StartSpanbar = Callable[[], Awaitable[Spanbar]]
StartCollector = Callable[..., Awaitable[Collector]]


@pytest.fixture
async def start_spanbar() -> AsyncIterator[StartSpanbar]:
    """Starts a spanbar, or what stands for a tracing backend."""
    started: list[Spanbar] = []

    async def start() -> Spanbar:
        spanbar = Spanbar()
        await spanbar.start()
        started.append(spanbar)
        return spanbar

    yield start
    for spanbar in started:
        await spanbar.stop()


@pytest.fixture
async def start_collector(tmp_path: Path) -> AsyncIterator[StartCollector]:
    """Starts the real Collector with a configuration of otel-config/ and these environment variables."""
    started: list[Collector] = []

    async def start(configuration: str, **environ: Any) -> Collector:
        directory = tmp_path / f"collector-{len(started)}"
        directory.mkdir()
        collector = Collector(configuration, directory, {key: str(value) for key, value in environ.items()})
        started.append(collector)
        await collector.start()
        return collector

    yield start
    for collector in started:
        await collector.kill()
