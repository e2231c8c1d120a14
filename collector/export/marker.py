"""The mark on what spanbar itself exports, so that it is never judged when it comes back by mistake."""

from typing import Final

from collector.telemetry import Resource, Scope

SCOPE_NAME: Final = "spanbar.results"
MARKER: Final = "spanbar.output"
"""On the resource and on the scope of everything exported, true: either alone is enough to know it by."""


def is_own_output(resource: Resource, scope: Scope) -> bool:
    """Whether telemetry of this resource and scope is a spanbar's results, of this process or of another."""
    return scope.name == SCOPE_NAME or scope.attributes.get(MARKER) is True or resource.attributes.get(MARKER) is True
