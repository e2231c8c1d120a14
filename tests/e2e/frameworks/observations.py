"""The dialect of smolagents: calls and results are told to the model in plain text, and the answer is a tool call."""

import ast

from rules import Step

TASK = "New task:\n"
ANSWER = "final_answer"


def read(entries, text_of):
    """The last task, and the (name, text) of the tool results after it; None if the conversation has no task."""
    said, asked, results = None, [], []
    for entry in entries:
        text = text_of(entry.get("content"))
        if entry.get("role") == "user" and TASK in text:
            said, results = text.split(TASK)[-1], []
        elif text.startswith("Calling tools:\n"):
            asked = [call["function"]["name"] for call in ast.literal_eval(text.split("\n", 1)[1])]
        elif text.startswith(("Observation:\n", "Error:\n")):
            results += [(name, text) for name in asked]
    return None if said is None else (said, results)


def answered(step, request):
    """The step, its text given to the tool that ends a run if the request offers that."""
    offered = {tool.get("function", tool).get("name") for tool in request.get("tools") or []}
    if step.calls or ANSWER not in offered:
        return step
    return Step(calls=[(ANSWER, {"answer": step.text})])
