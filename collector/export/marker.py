"""The mark on what spanbar itself exports, so that it is never judged when it comes back by mistake."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Final

from collector.telemetry import Batch, LogRecord, Resource, Scope, Span

SCOPE_NAME: Final = "spanbar.results"
MARKER: Final = "spanbar.output"
"""On the resource and on the scope of everything exported, true: either alone is enough to know it by."""


def is_own_output(resource: Resource, scope: Scope) -> bool:
    """Whether telemetry of this resource and scope is a spanbar's results, of this process or of another."""
    return scope.name == SCOPE_NAME or scope.attributes.get(MARKER) is True or resource.attributes.get(MARKER) is True


def without_own_output(batch: Batch) -> Batch:
    """The batch without the results of any spanbar; itself if there are none in it, as there hardly ever are."""
    if not _has_own_output(batch):
        return batch
    return replace(
        batch,
        spans=[span for span in batch.spans if not is_own_output(span.resource, span.scope)],
        logs=[log for log in batch.logs if not is_own_output(log.resource, log.scope)],
    )


def _has_own_output(batch: Batch) -> bool:
    resource: Resource | None = None
    scope: Scope | None = None
    everything: Iterable[Span | LogRecord] = chain(batch.spans, batch.logs)
    for each in everything:
        # Telemetry of one scope comes together and shares it: one look for each.
        if each.scope is not scope or each.resource is not resource:
            resource, scope = each.resource, each.scope
            if is_own_output(resource, scope):
                return True
    return False
