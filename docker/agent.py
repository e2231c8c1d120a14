"""The agent of compose.yaml: no LLM, a coding agent's sessions as OpenTelemetry spans, one after another.

It exports to OTEL_EXPORTER_OTLP_ENDPOINT. Most sessions test before they push; now and then one does not, or deletes.
"""

import argparse
import random
import time

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

STEPS = {
    "read": {"gen_ai.tool.name": "Read", "hangar.tool.kind": "read"},
    "edit": {"gen_ai.tool.name": "Edit", "hangar.tool.kind": "edit"},
    "push": {"gen_ai.tool.name": "Bash", "hangar.tool.kind": "shell", "hangar.shell.ops": ["git.push"]},
    "delete": {"gen_ai.tool.name": "Bash", "hangar.tool.kind": "shell", "hangar.shell.ops": ["delete"]},
}


def script(chance: random.Random) -> list[str]:
    """What one session does, by the names of its steps."""
    steps = ["read", "edit", "edit", "test", "push"]
    match chance.randrange(6):
        case 0:
            steps.remove("test")
        case 1:
            steps.insert(3, "delete")
        case 2:
            steps.remove("read")
    return [*steps, "end"]


def work(tracer: Tracer, session: str, steps: list[str], pause: float) -> None:
    with tracer.start_as_current_span("session", attributes={"session.id": session}) as root:
        for seq, step in enumerate(steps):
            place = {"session.id": session, "hangar.seq": seq}
            if step == "end":
                root.add_event("session.end", place)
            elif step == "test":
                with tracer.start_as_current_span("test.run", attributes=place | {"hangar.test.status": "passed"}):
                    time.sleep(pause)
            else:
                with tracer.start_as_current_span("tool.call", attributes=place | STEPS[step]):
                    time.sleep(pause)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, help="end after so many; without it, never")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds that each step takes")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    provider = TracerProvider()
    # Spans go out as they end: a verdict cannot be earlier than the span that decides it.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=200))
    chance = random.Random(arguments.seed)
    number = 0
    while arguments.sessions is None or number < arguments.sessions:
        work(provider.get_tracer("coding-agent"), f"session-{number}", script(chance), arguments.pause)
        number += 1
    provider.shutdown()


if __name__ == "__main__":
    main()
