"""Executions: tool spans, and the layers of one call that they show.

A tool span below a tool span of the same name, with no agent or model span between, is a layer of the same call
(corpus/CONVENTIONS.md, 5.1, step 6). The outermost layer is the call; the inner ones only fill its gaps.
"""

from dataclasses import dataclass
from typing import Any

from collector.assembly.columns import Place, tool_item
from collector.assembly.owners import NO_ITEMS, session_of
from collector.assembly.tree import Node
from collector.conventions.reading import ToolFacts
from collector.telemetry import Attributes
from evaluator.items import Call, Item


@dataclass(slots=True, eq=False)
class Execution:
    """One tool span. `outer` is the layer around it, `inner` are those in it, once they are known."""

    node: Node
    item_id: tuple[Any, ...]
    facts: ToolFacts
    convention: str
    started: int
    ended: int
    attributes: Attributes
    outer: "Execution | None" = None
    inner: "list[Execution] | None" = None
    emitted: tuple[Item, ...] = NO_ITEMS

    def items(self) -> tuple[Item, ...]:
        facts = self.facts
        if self.outer is not None or facts.phantom or not facts.status.happened:
            return NO_ITEMS
        context = self.node.context
        session = session_of(context, self.node.trace_id)
        return (tool_item(Place(self.item_id, session, context.job), self.call(), self.attributes, facts.kind),)

    def call(self) -> Call:
        facts, node = self.facts, self.node
        agent = node.context.agent
        return Call(
            facts.name,
            facts.args,
            facts.result,
            facts.error,
            self.started,
            self.ended,
            facts.call_id,
            facts.status,
            self.convention,
            facts.source,
            None if agent is None else agent.agent_name,
            node.trace_id,
            node.span_id,
        )
