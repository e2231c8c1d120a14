"""The items are the same for every order, batching and repetition of the same telemetry."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.telemetry import Batch, Span
from tests.collector.telemetry import agent, assembled, chat, span, tool

TRACES = [bytes([number]) * 16 for number in (1, 2, 3)]
NAMES = st.sampled_from(["lookup", "refund"])
CALL_IDS = st.sampled_from([None, "call-1", "call-2"])
ARGS = st.sampled_from([None, {}, {"id": 1}, {"id": 2}])
RESULTS = st.sampled_from([None, "done", {"error": "no"}])
SESSIONS = st.sampled_from([{}, {}, {}, {"session.id": "s"}, {"gen_ai.conversation.id": "c"}, {"hangar.job.id": "j"}])


@st.composite
def one_span(draw: Any, number: int, trace: bytes, parent: bytes) -> Span:
    where = {"trace": trace, "id": number.to_bytes(8, "big"), "parent": parent}
    where["at"] = draw(st.integers(1, 12))
    more = draw(SESSIONS)
    name, args, result, call_id = draw(NAMES), draw(ARGS), draw(RESULTS), draw(CALL_IDS)
    match draw(
        st.sampled_from(["tool", "tool", "openinference", "adk", "mcp", "chat", "chat", "agent", "http", "hangar"])
    ):
        case "tool":
            return tool(name, args, result, call_id=call_id, more=more, **where)
        case "openinference":
            attributes = {"openinference.span.kind": "TOOL", "tool.name": name}
            attributes |= {} if args is None else {"input.value": json.dumps(args)}
            return span(name, attributes | ({} if result is None else {"output.value": "done"}) | more, **where)
        case "adk":
            held = draw(st.sampled_from([None, {"error": "This tool call requires confirmation"}]))
            return tool(name, args, held, call_id=call_id, more=more | {"gcp.vertex.agent.event_id": "e"}, **where)
        case "mcp":
            return span(
                f"tools/call {name}", {"mcp.method.name": "tools/call", "gen_ai.tool.name": name} | more, **where
            )
        case "chat":
            asks = draw(st.lists(st.tuples(NAMES, ARGS, CALL_IDS), max_size=2))
            shows = draw(st.lists(st.tuples(st.sampled_from(["call-1", "call-2"]), RESULTS), max_size=2))
            return chat(asks, shows, more=more, **where)
        case "agent":
            return agent(more=more, **where)
        case "hangar":
            events = draw(st.sampled_from([(), (), [("steer", {"hangar.seq": 3})]]))
            said = draw(st.sampled_from([{}, {}, {"gen_ai.tool.call.id": "call-1"}, {"hangar.session.id": "s"}]))
            given = {} if args is None else {"hangar.tool.input": json.dumps(args)}
            attributes = {"gen_ai.tool.name": name, "hangar.turn": 1} | given | said | more
            return span("tool.call", attributes, events=events, **where)
    return span("GET /", more, kind=2, **where)


@st.composite
def telemetry(draw: Any, *, circles: bool = False) -> list[Span]:
    """Spans of a few traces. With `circles` they may be each other's parents."""
    spans: list[Span] = []
    total = draw(st.integers(1, 14))
    for number in range(total):
        trace = draw(st.sampled_from(TRACES[:1] if circles else TRACES))
        elders = [each.span_id for each in spans if each.trace_id == trace]
        if circles:
            elders = [each.to_bytes(8, "big") for each in range(1, total + 1)]
        parent = draw(st.sampled_from([b"", b"absent!!", *elders]))
        spans.append(draw(one_span(number + 1, trace, parent)))
    return spans


@settings(max_examples=300, deadline=None)
@given(telemetry(), st.randoms(use_true_random=False))
def test_the_items_do_not_depend_on_order_batching_or_repetition(spans: list[Span], random: Any) -> None:
    whole = assembled(Batch(spans=spans))
    pieces = [Batch(spans=[each]) for each in spans + random.sample(spans, len(spans) // 2)]
    random.shuffle(pieces)
    assert assembled(*pieces) == whole
    cut = random.randint(0, len(spans))
    assert assembled(Batch(spans=spans[cut:]), Batch(spans=spans[:cut])) == whole


@settings(max_examples=200, deadline=None)
@given(telemetry(circles=True), st.randoms(use_true_random=False))
def test_the_items_do_not_depend_on_order_where_spans_are_each_other_s_parents(
    spans: list[Span], random: Any
) -> None:
    whole = assembled(Batch(spans=spans))
    pieces = [Batch(spans=[each]) for each in spans]
    random.shuffle(pieces)
    assert assembled(*pieces) == whole
