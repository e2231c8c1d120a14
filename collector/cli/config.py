"""`--config FILE`: YAML whose keys are a verb's own options, so that every option can be in the file.

What is given on the command line or in the environment takes the place of what the file says. Paths in the file
are relative to the file.
"""

from pathlib import Path
from typing import Any

import click

from evaluator.language.composer import compose
from evaluator.language.document import Entry, ListNode, MapNode, Node, ScalarNode
from evaluator.language.problem import Problem, nearest


class BadConfig(click.ClickException):
    """A config file that cannot be used; each problem is a line."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """A callback for an eager `--config` option: makes the file's values the defaults of the other parameters."""
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadConfig(f"{path}: cannot be read: {error.strerror or error}") from error
    document = compose(data, str(path))
    problems = list(document.problems)
    known = {_key(each): each for each in ctx.command.params if each is not param and each.name is not None}
    values: dict[str, Any] = {}
    if isinstance(document.root, MapNode):
        for entry in document.root:
            if not str(entry.key.value).startswith("x-"):
                values.update(_value(entry, known, path, problems))
    elif document.root is not None and not (isinstance(document.root, ScalarNode) and document.root.value is None):
        problems.append(_problem(path, document.root, "wrong_type", f"must be a mapping of: {', '.join(known)}"))
    if problems:
        raise BadConfig("\n".join(map(str, problems)))
    ctx.default_map = {**(ctx.default_map or {}), **values}
    return path


def _key(param: click.Parameter) -> str:
    return (param.name or "").replace("_", "-")


def _value(entry: Entry, known: dict[str, click.Parameter], path: Path, problems: list[Problem]) -> dict[str, Any]:
    key = str(entry.key.value)
    param = known.get(key)
    if param is None:
        message = f"unknown key {key!r}; expected one of: {', '.join(known)}"
        problems.append(_problem(path, entry.value, "unknown_key", message, nearest(key, known)))
        return {}
    many = param.multiple if isinstance(param, click.Option) else param.nargs == -1
    nodes = entry.value.items if isinstance(entry.value, ListNode) and many else (entry.value,)
    found = [_scalar(node, param, path, problems) for node in nodes]
    return {param.name or "": found if many else found[0]}


def _scalar(node: Node, param: click.Parameter, path: Path, problems: list[Problem]) -> Any:
    if not isinstance(node, ScalarNode) or node.value is None:
        problems.append(_problem(path, node, "wrong_type", f"must be a single value, not {node.kind}"))
        return None
    if isinstance(node.value, bool):
        return node.value
    text = node.text
    if isinstance(param.type, click.Path):
        return str(path.parent / text)
    return text


def _problem(path: Path, node: Node, code: str, message: str, hint: str = "") -> Problem:
    return Problem(str(path), node.path, node.line, code, message, hint)
