"""Log records in the assembly: what identifies one, and the exceptions that they report of spans."""

from hashlib import blake2b

from collector.telemetry import LogRecord


def log_id(log: LogRecord) -> bytes:
    """What tells a log record apart, for it has no id: one that says the same, of the same span and time, is the same
    one, delivered again."""
    content = repr((log.span_id, log.time, log.event_name, log.body, sorted(log.attributes.items(), key=_by_key)))
    return b"log" + blake2b(content.encode(), digest_size=12).digest()


def raised_in(log: LogRecord) -> tuple[str, str] | None:
    """Type and message of the exception that a log record reports; None when it reports none."""
    kind, message = log.attributes.get("exception.type"), log.attributes.get("exception.message")
    if kind is None and message is None:
        return None
    return str(kind or ""), str(message or "")


def _by_key(pair: tuple[str, object]) -> str:
    return pair[0]
