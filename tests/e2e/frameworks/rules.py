"""The scripted model of the framework agents: a few rules decide what a model would. Imported in their environments.

A conversation comes in as the last thing the user said and the results of the tools called since; what comes out is
the calls to make next, or the answer.
"""

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """What the model does next: calls tools, in parallel if several, or answers."""

    calls: list = field(default_factory=list)
    text: str = ""


def next_step(said, results):
    """`said`: the user's last message. `results`: [(tool name, result text)] since then, in order."""
    text = said.lower()
    numbers = re.findall(r"\d+", text)
    done = [name for name, _ in results]
    if "compare" in text:
        if not done:
            return Step(calls=[("get_order", {"order_id": number}) for number in numbers])
        return Step(text=f"Compared {' and '.join(numbers)}.")
    if "refund" in text:
        if not done:
            return Step(calls=[("refund_order", {"order_id": numbers[0], "amount": 19.99})])
        return Step(text=f"The refund of {numbers[0]} failed.")
    if "cancel" in text:
        if not done:
            return Step(calls=[("get_order", {"order_id": numbers[0]})])
        if done == ["get_order"]:
            return Step(calls=[("cancel_order", {"order_id": numbers[0]})])
        return Step(text=f"Order {numbers[0]} is cancelled.")
    if "order" in text and numbers:
        if not done:
            return Step(calls=[("get_order", {"order_id": numbers[0]})])
        return Step(text=f"Order {numbers[0]} is in transit.")
    if "delete my account" in text:
        if not done:
            return Step(calls=[("delete_account", {})])
        deleted = "'deleted'" in results[0][1] or '"deleted"' in results[0][1]
        return Step(text="Your account is gone." if deleted else "Your account stays.")
    return Step(text="I can help with orders.")
