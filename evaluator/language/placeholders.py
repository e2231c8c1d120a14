"""What may stand between `{{` and `}}` where, checked when a spec is loaded."""

from dataclasses import replace
from typing import Final

from evaluator.language.document import Node, ScalarNode, scalars
from evaluator.language.problem import nearest
from evaluator.language.review import Review, quoted
from evaluator.language.templates import Placeholder, placeholders

MESSAGE: Final = "message"
TEST: Final = ("test.id", "test.name")
SESSION: Final = "session"


class Allowed:
    """The placeholders that one place of a spec may use, and why it may not use others."""

    def __init__(self, *names: str, session: bool = False, why_no_session: str = "") -> None:
        self.names = names
        self.session = session
        self.why_no_session = why_no_session

    def complaint(self, placeholder: Placeholder) -> tuple[str, str] | None:
        """(what is wrong with it, what was probably meant), None when it is allowed."""
        name, path = placeholder.name, placeholder.path
        if ".".join(path) in self.names:
            return None
        if path[:1] == (SESSION,):
            if len(path) == 1:
                return "'{{session}}' needs a path into what setup returned, such as {{session.id}}", ""
            if self.session:
                return None
            return f"'{{{{{name}}}}}' is not available here: {self.why_no_session}", ""
        if name in (MESSAGE, *TEST):
            return f"'{{{{{name}}}}}' is not available here; there is {self}", ""
        hint = nearest(name, self.names)
        return f"unknown placeholder '{{{{{name}}}}}'; there is {self}", hint and f"{{{{{hint}}}}}"

    def __str__(self) -> str:
        names = [f"{{{{{name}}}}}" for name in self.names]
        return ", ".join([*names, "{{session.<path>}}"] if self.session else names)


def check(review: Review, node: Node, allowed: Allowed) -> None:
    """Check every text of a tree but its keys."""
    for scalar in scalars(node):
        if isinstance(scalar.value, str):
            check_text(review, scalar, scalar.value, allowed)


def check_text(review: Review, node: ScalarNode, text: str, allowed: Allowed, *, step: str = "") -> None:
    """Check one text, `text`, of the value `node`. `step` is where in it, `[1]` for the second word of a command."""
    node = replace(node, path=node.path + step)
    rest = text
    for placeholder in placeholders(text):
        rest = rest.replace(placeholder.text, "", 1)
        complaint = allowed.complaint(placeholder)
        if complaint is None:
            continue
        message, hint = complaint
        if placeholder.text not in node.text and placeholder.name not in node.text:
            # It came out of an environment variable, whose value must not be shown.
            message, hint = f"{quoted(node)} has an unknown placeholder once the variables are filled in", ""
        review.problem(node, "bad_placeholder", message, hint=hint)
    if "{{" in rest:
        review.warn(node, f"{quoted(node)} has '{{{{' without '}}}}' and is sent as it is; there is {allowed}")


def uses(node: Node, name: str) -> bool:
    """Whether any text of a tree has the placeholder of that name."""
    texts = (scalar.value for scalar in scalars(node) if isinstance(scalar.value, str))
    return any(placeholder.name == name for text in texts for placeholder in placeholders(text))


def check_trigger(review: Review, node: ScalarNode, text: str, *, first: bool) -> None:
    """Check the templates of a trigger. `first`: no turn comes before it, so there is nothing to name."""
    rest = text
    for placeholder in placeholders(text):
        rest = rest.replace(placeholder.text, "", 1)
        path = placeholder.path
        if path[:1] != ("previous",) or len(path) == 1:
            hint = "; earlier calls are {{previous.function_calls[0].result}} and the like"
            review.warn(node, f"'{placeholder.text}' is no template and is sent as it is{hint}")
        elif first:
            message = f"'{placeholder.text}' can never have a value: no turn comes before this one"
            review.problem(node, "bad_placeholder", message)
        elif path[1] != "function_calls":
            message = f"'{placeholder.text}' will have no value: previous has function_calls only"
            review.warn(node, message)
        elif len(path) > 2 and not path[2].isdecimal():
            review.warn(
                node, f"'{placeholder.text}' will have no value: write function_calls[0], with the call's number"
            )
    if "{{" in rest:
        review.warn(node, "'{{' without '}}' is no template and is sent as it is")


def refuse(review: Review, node: Node, where: str) -> None:
    """Note `{{` in any text of a tree where there are no templates. `where` names the place."""
    for scalar in scalars(node):
        if isinstance(scalar.value, str) and "{{" in scalar.value:
            message = f"{quoted(scalar)} has '{{{{', and templates work in triggers only, not in {where}"
            review.problem(scalar, "template_not_allowed", message)
