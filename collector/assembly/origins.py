"""Origins: what spans themselves, their scopes and their resources say of where they belong."""

from collections.abc import Set

from collector.assembly import tree
from collector.assembly.derived import CHECKOUTS, checkouts
from collector.assembly.tree import EMPTY, Context, Node, OwnContexts, own_context, shared_context
from collector.conventions.reading import Reading
from collector.telemetry import LogRecord, Resource, Scope, Span


class Origins:
    """Neighbours mostly share a scope and a resource: what the last ones say is remembered."""

    __slots__ = ("_contexts", "_folders", "_shared")

    def __init__(self) -> None:
        self._shared: tuple[Scope | None, Context] = (None, EMPTY)
        self._contexts = OwnContexts()
        self._folders: tuple[Resource | None, tuple[str, ...]] = (None, ())
        """The last resource, and the checkouts that it names."""

    def context_of(self, span: Span) -> Context:
        """What the span says itself, or its scope or resource."""
        return self._contexts.of(span.attributes, None, self.shared_context(span))

    def own_context(self, span: Span, reading: Reading | None, marks: Set[str]) -> Context:
        """The same, and what its convention says. `marks` has those of its attributes that are in `tree.KEYS`."""
        context = self.shared_context(span)
        if (reading is not None and reading.session is not None) or not tree.KEYS.isdisjoint(marks):
            context = self._contexts.of(span.attributes, reading, context)
        return as_claimed(context, reading)

    def shared_context(self, span: Span) -> Context:
        """What its scope or resource says."""
        scope = span.scope
        if self._shared[0] is not scope:
            self._shared = (scope, shared_context(scope.attributes, span.resource.attributes))
        return self._shared[1]

    def folders_of(self, span: Span, marks: Set[str]) -> tuple[str, ...]:
        """The checkouts that the span names, or its resource."""
        resource = span.resource
        if not CHECKOUTS.isdisjoint(marks):
            return checkouts(span.attributes, resource.attributes)
        if self._folders[0] is not resource:
            self._folders = (resource, checkouts(resource.attributes))
        return self._folders[1]


def as_claimed(context: Context, reading: Reading | None) -> Context:
    """The context with the session and the job that a mapping says: its word is the user's own."""
    if reading is None or not reading.claimed:
        return context
    return context._replace(hangar=reading.session or context.hangar, job=reading.job or context.job)


def unread_log(log: LogRecord) -> Node:
    """A node for a log record that could not be read, by what it says itself of where it belongs."""
    node = Node(log.trace_id, b"")
    node.context = own_context(log.attributes, None, shared_context(log.scope.attributes, log.resource.attributes))
    node.settled = True
    return node
