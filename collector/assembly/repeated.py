"""Spans whose ids have come before: sent again, or another span under an id that is taken.

Exporters send a span again when they are not sure that it arrived. An agent whose ids are not random may also give
two spans one id; each of them may be a call, so that the later one is taken in under an id of its own.
"""

import hashlib
from dataclasses import replace

from collector.assembly.executions import Execution
from collector.assembly.tree import Node
from collector.telemetry import Span


def fingerprint_of(span: Span) -> int:
    """A number that is the same for a span that is sent again: cheap, since it is made of every span."""
    return hash((span.name, span.start, span.end, len(span.attributes)))


def is_sent_again(known: Node, span: Span, fingerprint: int) -> bool:
    """Whether `span`, with the ids of a known one, is that one. The attributes of calls are compared too."""
    if known.fingerprint != fingerprint:
        return False
    owner = known.owners[0] if known.owners else None
    return not isinstance(owner, Execution) or owner.attributes == span.attributes


def with_derived_id(span: Span) -> Span:
    """The span under an id that its ids and content tell: the same whenever it comes again."""
    content = repr((span.span_id, span.name, span.start, span.end, sorted(span.attributes.items(), key=_key)))
    return replace(span, span_id=hashlib.blake2b(content.encode(errors="surrogatepass"), digest_size=8).digest())


def _key(attribute: tuple[str, object]) -> str:
    return attribute[0]
