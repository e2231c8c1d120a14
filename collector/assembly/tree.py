"""The tree of each trace, as far as its spans have arrived, and what spans take over from their ancestors.

A span knows its context once its ancestors are there; when one arrives late, its context flows down to the spans that
waited for it. What is known never changes (only what was unknown becomes known), so each span is visited a bounded
number of times and the cost of a span does not grow with its trace. The exception is a circle of parents: each of its
spans counts as a root once it is closed, and those below them lose what they had from it.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from collector.conventions.reading import Reading, Role
from collector.telemetry import Attributes
from evaluator.items import NotRecorded

if TYPE_CHECKING:
    from collector.assembly.plain import Plain

_HANGAR, _SESSION, _CONVERSATION = "hangar.session.id", "session.id", "gen_ai.conversation.id"
SESSION_KEYS: Final = (_HANGAR, _SESSION, _CONVERSATION)
"""In this order (SEMANTICS.md, section 1); for each the nearest: span, scope, resource, then ancestors."""
JOB_KEY: Final = "hangar.job.id"


_AGENTS: Final = frozenset({Role.AGENT, Role.WORKFLOW})


class Context(NamedTuple):
    """What a span has itself or from its ancestors. Each part is None until it is known."""

    hangar: str | None = None
    session: str | None = None
    conversation: str | None = None
    framework: str | None = None
    """The session by a key of the framework's own (corpus/CONVENTIONS.md, 5.1, step 9)."""
    job: str | None = None
    near: "Node | None" = None
    """The nearest ancestor that is a tool, model or agent span."""
    agent: "Node | None" = None
    """The nearest ancestor that is an agent or workflow span."""

    @property
    def said(self) -> str | None:
        """The session that telemetry names; None when it names none."""
        return self.hangar or self.session or self.conversation or self.framework


EMPTY: Final = Context()
SIGNIFICANT: Final = frozenset({Role.TOOL, Role.MODEL, Role.AGENT, Role.WORKFLOW})


class Node:
    """One span in its trace."""

    __slots__ = (
        "_down",
        "above",
        "agent_name",
        "children",
        "context",
        "fingerprint",
        "own",
        "owners",
        "role",
        "seen_in",
        "settled",
        "span_id",
        "trace_id",
    )

    def __init__(self, trace_id: bytes, span_id: bytes) -> None:
        self.trace_id = trace_id
        self.span_id = span_id
        self.role: Role | None = None
        self.context: Context = EMPTY
        self.own: Context = EMPTY
        """What it says itself."""
        self.settled = False
        """All its ancestors are there, so its context is final."""
        self.children: list[Node] | None = None
        """Kept only while the context can still change."""
        self.above: Node | None = None
        """Its parent, as long as that can still change its context."""
        self.fingerprint = 0
        """Tells it from another span with the same ids (see `Assembly`)."""
        self.owners: tuple[Any, ...] = ()
        """What makes items of this span; told when the context changes."""
        self.agent_name: str | None = None
        self.seen_in: str | None = None
        """The session under which it counts in `Visibility`."""
        self._down: tuple[Context, Context] | None = None
        """Its context, and what that is for its children: they share one."""

    @property
    def unique(self) -> bytes:
        """Tells the span apart from any other, of other traces too."""
        return self.span_id + self.trace_id

    def handed_down(self) -> Context:
        """The context that its children take over."""
        role = self.role
        if role not in SIGNIFICANT:
            return self.context
        context, down = self.context, self._down
        if down is None or down[0] is not context:
            agent = self if role in _AGENTS else context.agent
            down = self._down = context, context._replace(near=self, agent=agent)
        return down[1]


class Trace:
    """The spans of one trace by id, and those that wait for a parent."""

    __slots__ = (
        "circle",
        "framed",
        "has_tools",
        "id",
        "messages",
        "nodes",
        "plain",
        "plain_sessions",
        "raised",
        "speaks",
        "unanswered",
        "unasked",
        "unheard",
        "unseen",
        "waiting",
    )

    def __init__(self, trace_id: bytes) -> None:
        self.id = trace_id
        """The one object that all its spans have as their trace id."""
        self.has_tools = False
        """A tool span is there, so tool spans can be seen."""
        self.speaks = False
        """A span shows that tool calls can be seen: one of a tool or an agent, or a model's with its messages."""
        self.unheard: dict[Node, NotRecorded] = {}
        """Model spans that ask for tools, and do not say for which."""
        self.framed = False
        """A span of a framework that runs agents is there: a tool that it ran would have a span."""
        self.unseen: NotRecorded | None = None
        """Why a span does not show which tools were called."""
        self.unasked = False
        """Its first span is there, and is no server's: the agent runs for no request. A request's span ends last, so
        that it is no use to wait for one."""
        self.unanswered: list[Any] = []
        """Tool spans without a result, of a framework that may have held them."""
        self.messages: list[Any] = []
        """What models were asked in this trace."""
        self.raised: dict[bytes, tuple[int, str, str]] = {}
        """Time, type and message of the last exception that log records report, by the span that they are of."""
        self.nodes: dict[bytes, Node] = {}
        self.plain: dict[bytes, Plain] = {}
        """Spans that have no node, since nothing else speaks of them."""
        self.plain_sessions: set[str] = set()
        """What telemetry says of the sessions of those; "" where it says nothing."""
        self.waiting: dict[bytes, list[Node]] = {}
        self.circle: list[Node] = []
        """The spans that the last one that was placed made each other's parents."""

    def place(self, node: Node, parent_id: bytes) -> list[Node]:
        """Put a new span with its own context into the tree. Returns the other nodes whose context changed.

        A span that is its own parent counts as a root, and so does each of a circle of parents.
        """
        self.nodes[node.span_id] = node
        node.own = node.context
        if not parent_id or parent_id == node.span_id:
            node.settled = True
        else:
            parent = self.nodes.get(parent_id)
            if parent is None:
                self.waiting.setdefault(parent_id, []).append(node)
            elif self._is_below(parent, node):
                return self._untie(node, parent)
            else:
                node.context = merged(node.context, parent.handed_down())
                node.settled = parent.settled
                if not node.settled:
                    _adopt(parent, node)
        orphans = self.waiting.pop(node.span_id, None)
        if orphans is None:
            return []
        if not node.settled:
            node.children = orphans
        for orphan in orphans:
            orphan.above = node
        return _flow(node, orphans)

    def _untie(self, node: Node, parent: Node) -> list[Node]:
        """Make a root of each span in the circle that `node` closes. Returns the other nodes in it and below it."""
        circle = self.circle = [node, parent]
        while (above := circle[-1].above) is not None:
            circle.append(above)
        node.children = self.waiting.pop(node.span_id)
        for orphan in node.children:
            orphan.above = node
        for each in circle:
            each.context, each.settled, each.above = each.own, True, None
        changed, pending = circle[1:], circle.copy()
        while pending:
            each = pending.pop()
            children, each.children = each.children or (), None
            down = each.handed_down()
            for child in children:
                if child.above is not None:  # it is not in the circle
                    child.context, child.settled, child.above = merged(child.own, down), True, None
                    changed.append(child)
                    pending.append(child)
        return changed

    def _is_below(self, node: Node, above: Node) -> bool:
        """Whether `node` comes to be below `above` with those that wait for that."""
        orphans = self.waiting.get(above.span_id)
        if orphans is None or node.settled:
            return False
        while node.above is not None:
            node = node.above
        return any(orphan is node for orphan in orphans)


def _adopt(parent: Node, child: Node) -> None:
    child.above = parent
    if parent.children is None:
        parent.children = [child]
    else:
        parent.children.append(child)


def _flow(source: Node, children: list[Node]) -> list[Node]:
    """Hand the context of `source` down to `children` and theirs. Returns those that it changed."""
    changed: list[Node] = []
    pending = [(source, children)]
    while pending:
        parent, below = pending.pop()
        down, settled = parent.handed_down(), parent.settled
        for child in below:
            context = merged(child.context, down)
            if context is not child.context:
                child.context = context
                changed.append(child)
            elif not settled:
                continue
            child.settled = settled
            if child.children:
                pending.append((child, child.children))
            if settled:
                child.children = child.above = None
    return changed


def merged(own: Context, above: Context) -> Context:
    """`own`, with what it lacks from `above`; `own` itself when that adds nothing."""
    if above is EMPTY or own == above:
        return own
    if own is EMPTY:
        return above
    context = Context._make(mine if mine is not None else theirs for mine, theirs in zip(own, above, strict=True))
    return own if context == own else context


KEYS: Final = frozenset((*SESSION_KEYS, JOB_KEY))


def own_context(attributes: Attributes, reading: Reading | None, shared: Context) -> Context:
    """What a span or log record says itself; `shared` is what its scope and resource say."""
    get = attributes.get
    hangar, session, conversation, job = get(_HANGAR), get(_SESSION), get(_CONVERSATION), get(JOB_KEY)
    framework = reading.session if reading is not None else None
    if hangar is None and session is None and conversation is None and job is None and framework is None:
        return shared
    own = Context(_text(hangar), _text(session), _text(conversation), framework, _text(job))
    return merged(own, shared)


class OwnContexts:
    """The contexts of spans themselves. Neighbours mostly say the same, and share one."""

    __slots__ = ("_context", "_said", "_shared")

    def __init__(self) -> None:
        self._said: tuple[Any, ...] = ()
        self._shared = self._context = EMPTY

    def of(self, attributes: Attributes, reading: Reading | None, shared: Context) -> Context:
        """The same as `own_context`."""
        get = attributes.get
        framework = reading.session if reading is not None else None
        said = get(_HANGAR), get(_SESSION), get(_CONVERSATION), get(JOB_KEY), framework
        if said == self._said and shared is self._shared:
            return self._context
        context = own_context(attributes, reading, shared)
        # Only texts: a session 1 equals a session True, and is another one.
        if all(value is None or value.__class__ is str for value in said):
            self._said, self._shared, self._context = said, shared, context
        return context


def shared_context(scope: Attributes, resource: Attributes) -> Context:
    """What a scope and its resource say, for all their spans."""
    found = EMPTY
    for attributes in (scope, resource):
        if attributes:
            hangar, session, conversation, job = (_text(attributes.get(key)) for key in (*SESSION_KEYS, JOB_KEY))
            found = merged(found, Context(hangar, session, conversation, None, job))
    return found


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)
