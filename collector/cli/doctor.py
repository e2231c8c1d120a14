"""`spanbar doctor`: sends one message and explains what arrived."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from collector.assembly import Assembly
from collector.cli.diagnosis import Examination, Finding
from collector.cli.endings import NothingRan
from collector.cli.explanation import Arrived, tell
from collector.cli.mapping_option import mapping_option
from collector.cli.run import Ports, load_specs, ports_for
from collector.cli.run_telemetry import RunTelemetry
from collector.cli.seen_items import SeenItems
from collector.export.printable import printable
from collector.index import Index
from collector.mapping import Claims
from collector.pipeline import Pipeline
from collector.telemetry import Batch
from evaluator.harness.run import run_specs
from evaluator.harness.specrun import Options
from evaluator.language.spec import Expect, Place, Spec, Suite, Test, Turn

SIGNS = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "yellow")}


@click.command()
@click.argument("spec", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--message", help="What to send. Default: the first message of the spec.")
@click.option("--http-port", type=click.IntRange(0, 65535), help="OTLP/HTTP port. Default: free; 4318 to attach.")
@click.option("--grpc-port", type=click.IntRange(0, 65535), help="OTLP/gRPC port. Default: none; 4317 to attach.")
@mapping_option
def doctor(
    spec: Path, message: str | None, http_port: int | None, grpc_port: int | None, mapping: Claims | None
) -> None:
    """Start (or attach to) the agent of SPEC, send it one message, and explain what arrived: whether spans come, how
    late, whether they continue the message's trace, which convention they follow, each tool call with where it was
    read, what is missing, and the line that fixes it.

    Exit codes: 0 tool calls of this agent can be tested; 1 something is in the way; 2 nothing could run.
    """
    (loaded,) = load_specs([spec], None)
    ports = ports_for([loaded], "127.0.0.1", http_port, grpc_port)
    findings = asyncio.run(_examine(_one_message(loaded, message), ports, mapping))
    sys.exit(1 if any(finding.ok is False for finding in findings) else 0)


def _one_message(spec: Spec, message: str | None) -> Spec:
    """The spec with one test, which waits for all there is to see and decides nothing by itself."""
    place = Place("doctor")
    trigger = message or spec.suites[0].tests[0].turns[0].trigger
    expect = Expect(None, False, False, ("spanbar.doctor",), None, place)
    test = Test((Turn(trigger, expect, None, place),), False, "doctor", 0, 1, None, (), place)
    return replace(spec, suites=(Suite("doctor", (test,), place),))


async def _examine(spec: Spec, ports: Ports, mapping: Claims | None) -> list[Finding]:
    console = Console(highlight=False)
    arrived, assembly, items = Arrived(), Assembly(mapping), SeenItems()
    examination = Examination(arrived)
    pipeline = _Noting(Index(), assembly, arrived)
    async with AsyncExitStack() as stack:
        telemetry = RunTelemetry(lambda: pipeline, host=ports.host, http_port=ports.http, grpc_port=ports.grpc)
        try:
            await telemetry.start()
        except OSError as error:
            raise NothingRan(f"cannot receive on {ports.host}: {error.strerror or error}") from error
        stack.push_async_callback(telemetry.stop)
        telemetry.watch(examination)
        telemetry.watch(items)
        trigger = spec.suites[0].tests[0].turns[0].trigger
        console.print(Text(f"\nSending {trigger!r} to {spec.agent.endpoint}", "bold"), soft_wrap=True)
        outcome = await run_specs(
            [spec], listener=examination, telemetry=telemetry, options=Options(environ=dict(os.environ))
        )
    if outcome.stops:
        raise NothingRan("\n".join(stop.text for stop in outcome.stops))
    findings = list(examination.findings(sum(each.call.status.happened for each in assembly.calls())))
    for finding in findings:
        _tell(console, finding)
    for notice in examination.notices:
        if notice.code != "undeclared":
            console.print(Text(f"  · {printable(notice.text)}", "yellow"), soft_wrap=True)
    tell(console, assembly, arrived, items)
    return findings


def _tell(console: Console, finding: Finding) -> None:
    sign, style = SIGNS[finding.ok]
    line = Text(f"  {sign} ", style)
    line.append(printable(finding.text), "" if finding.ok else style)
    console.print(line, soft_wrap=True)
    if finding.fix:
        console.print(Text(f"      fix: {printable(finding.fix)}", "bold"), soft_wrap=True)


class _Noting(Pipeline):
    """A pipeline that notes what arrives on its way."""

    def __init__(self, index: Index, assembly: Assembly, arrived: Arrived) -> None:
        super().__init__(index, assembly)
        self._arrived = arrived

    def receive(self, batch: Batch) -> None:
        self._arrived.take(batch)
        super().receive(batch)
