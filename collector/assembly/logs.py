"""Log records in the assembly: what identifies one, where it is kept, and the exceptions that they report."""

from hashlib import blake2b
from typing import Final

from collector.assembly.tree import Context, shared_context
from collector.telemetry import LogRecord

OUTSIDE: Final = b"outside of traces: "
"""Begins the name of what log records outside of any trace are kept in; no trace has so long an id."""

NOBODYS: Final = OUTSIDE
"""Where those are that name neither a session nor a job: no unit is judged by them."""


def part_of(context: Context) -> bytes:
    """Where a log record outside of any trace is kept: with those of its session, else of its job."""
    if context.said is not None:
        return part_named("session", context.said)
    return NOBODYS if context.job is None else part_named("job", context.job)


def part_named(kind: str, id: str) -> bytes:
    """Where the log records outside of any trace of a session or a job are kept."""
    return OUTSIDE + f"{kind} {id}".encode("utf-8", "surrogatepass")


def log_id(log: LogRecord) -> bytes:
    """What tells a log record apart, for it has no id: one that says the same, of the same span and time, is the same
    one, delivered again. Whose it is, its scope and resource say too."""
    shared = shared_context(log.scope.attributes, log.resource.attributes)
    attributes = sorted(log.attributes.items(), key=_by_key)
    content = repr((log.span_id, log.time, log.event_name, log.body, attributes, shared))
    return b"log" + blake2b(content.encode(), digest_size=12).digest()


def raised_in(log: LogRecord) -> tuple[int, str, str] | None:
    """Time, type and message of the exception that a log record reports; None when it reports none."""
    kind, message = log.attributes.get("exception.type"), log.attributes.get("exception.message")
    if kind is None and message is None:
        return None
    return log.time, str(kind or ""), str(message or "")


def _by_key(pair: tuple[str, object]) -> str:
    return pair[0]
