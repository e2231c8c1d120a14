"""A coding agent at work, a Collector, and a server: what it tells of a broken rule, everywhere at once.

`SPANBAR_SCENARIO_SECONDS` says for how long the agent works (default: 4). How soon each outlet tells is measured by
benchmarks/live_latency.py and no matter here.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.browser import CHROMIUM
from tests.e2e.outlets import EXAMPLE, Outlets, Told, outlets
from tests.e2e.test_coding_agent import BROKEN
from tests.waiting import until

SECONDS = os.environ.get("SPANBAR_SCENARIO_SECONDS", "4")
NEVER = "nothing is deleted recursively"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (scripts/tools installs it)"),
    pytest.mark.xdist_group("browser"),
]


async def work(collector_url: str) -> dict[str, str]:
    """Let the agent of the example work; its sessions, `good` or `bad`: every second one breaks rules."""
    environ = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector_url, "OTEL_BSP_SCHEDULE_DELAY": "50"}
    agent = await asyncio.create_subprocess_exec(
        *(sys.executable, EXAMPLE / "agent.py", "--seconds", SECONDS, "--bad", "2", "--pause", "40"),
        env=environ,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await agent.communicate()
    assert agent.returncode == 0
    return dict(line.split() for line in output.decode().splitlines())


async def test_a_broken_rule_is_told_everywhere_while_the_agent_works(tmp_path: Path) -> None:
    async with outlets(tmp_path) as found:
        sessions = await work(found.collector.http_url)
        bad = [session for session, kind in sessions.items() if kind == "bad"]
        assert bad
        assert len(bad) < len(sessions)
        await until(lambda: all(_is_over(found, session) for session in sessions))

        await _judged_as_they_are(found, sessions)
        for session in bad:
            await until(lambda session=session: found.spans(session, NEVER) and found.line(session, NEVER))
            await found.page.wait_for_function("key => key in window.cells", arg=f"{session}\n{NEVER}: fail, final")
            await until(lambda session=session: found.told(session, NEVER))
            _one_violation(found, session)
        _what_was_final_stayed(found, sessions)
        await _provisional_states_turned_final(found, sessions)


def _is_over(found: Outlets, session: str) -> bool:
    """The stream has said that the session is closed."""
    return any(
        unit["id"] == session and unit["state"] == "closed"
        for told in found.events
        if told.what[0] == "units"
        for unit in told.what[1]["units"]
    )


async def _judged_as_they_are(found: Outlets, sessions: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=found.server.url, timeout=30) as client:
        for session, kind in sessions.items():
            unit = (await client.get(f"/api/v1/sessions/{session}")).json()
            results = {each["behavior"]: each["result"] for each in unit["results"]}
            broken = {behavior for behavior, result in results.items() if result != "pass"}
            assert broken == (BROKEN if kind == "bad" else set()), (session, results)


def _one_violation(found: Outlets, session: str) -> None:
    """Every outlet says the same of it, once, and points at the same call."""
    (told,), (span,) = found.told(session, NEVER), found.spans(session, NEVER)
    finals = [each for each in found.results(session, NEVER) if each.what["final"]]
    assert {each.what["result"] for each in finals} == {"fail"}
    (evidence,) = told.what["evidence"]
    assert evidence["name"] == "Bash"
    assert [each["id"] for each in finals[0].what["evidence"]] == [evidence["id"]]
    attributes = dict(span.what.attributes)
    assert attributes["gen_ai.evaluation.score.label"] == "fail"
    assert attributes["spanbar.result.final"] is True
    (link,) = span.what.links
    assert evidence["id"] == f"{link.trace_id.hex()}.{link.span_id.hex()}"
    assert "fail" in _text(found.line(session, NEVER))


def _text(told: Told | None) -> str:
    assert told is not None
    return str(told.what)


def _what_was_final_stayed(found: Outlets, sessions: dict[str, str]) -> None:
    """Nothing that was final was ever something else again, unless it is marked as revised."""
    final: dict[tuple[str, str], str] = {}
    for told in found.events:
        name, data = told.what
        if name != "result" or data["unit"]["id"] not in sessions or not data["final"]:
            continue
        key = data["unit"]["id"], data["behavior"]
        assert final.setdefault(key, data["result"]) == data["result"] or data["revised"], data


async def _provisional_states_turned_final(found: Outlets, sessions: dict[str, str]) -> None:
    cells = await found.cells()
    labels: dict[str, Any] = {session: {} for session in sessions}
    for (session, label), at in cells.items():
        if session in labels:
            labels[session][label] = at
    seen_before = 0
    for session, kind in sessions.items():
        end = "pass, final" if kind == "good" else "fail, final"
        assert f"every push is approved right before it: {end}" in labels[session]
        before = labels[session].get("reads before it edits: passing, provisional")
        if before is not None:
            seen_before += 1
            assert before < labels[session]["reads before it edits: pass, final"]
    assert seen_before, "no provisional state was ever seen"
