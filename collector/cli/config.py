"""`--config FILE`: YAML whose keys are a verb's own options, so that every option can be in the file.

What is given on the command line or in the environment takes the place of what the file says. Paths in the file
are relative to the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from evaluator.language.composer import compose
from evaluator.language.document import Entry, ListNode, MapNode, Node, ScalarNode
from evaluator.language.problem import Problem, nearest

_AS_BOOLEAN: Final = (click.types.BoolParamType, click.types.StringParamType)
"""The types of parameters that `true` and `false` may be values of."""


class BadConfig(click.ClickException):
    """A config file that cannot be used; each problem is a line."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


@dataclass(frozen=True, slots=True)
class Config:
    """What a config file gives the parameters of a command, by their names, and what is wrong with it."""

    values: Mapping[str, Any]
    problems: tuple[Problem, ...]


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """A callback for an eager `--config` option: makes the file's values the defaults of the other parameters."""
    if path is None:
        return None
    config = parse_config(path, options_of(ctx.command, param))
    if config.problems:
        raise BadConfig("\n".join(map(str, config.problems)))
    ctx.default_map = {**(ctx.default_map or {}), **config.values}
    return path


def options_of(command: click.Command, but: click.Parameter | None = None) -> dict[str, click.Parameter]:
    """The parameters of a command by their keys in a config file, without `--config` itself."""
    but = but or next((param for param in command.params if param.name == "config"), None)
    return {_key(each): each for each in command.params if each is not but and each.name is not None}


def parse_config(path: Path, known: dict[str, click.Parameter]) -> Config:
    """Read a config file for the parameters `known`. Raises `BadConfig` when it cannot be opened."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadConfig(f"{path}: cannot be read: {error.strerror or error}") from error
    document = compose(data, str(path))
    problems = list(document.problems)
    values: dict[str, Any] = {}
    if isinstance(document.root, MapNode):
        for entry in document.root:
            if not str(entry.key.value).startswith("x-"):
                values.update(_value(entry, known, path, problems))
    elif document.root is not None and not (isinstance(document.root, ScalarNode) and document.root.value is None):
        problems.append(_problem(path, document.root, "wrong_type", f"must be a mapping of: {', '.join(known)}"))
    return Config(values, tuple(problems))


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
    if isinstance(node.value, bool) and isinstance(param.type, _AS_BOOLEAN):
        return node.value
    text = node.text
    try:
        if isinstance(node.value, bool):
            param.type.fail(f"must be a {param.type.name}, not a boolean")
        param.type.convert(text, param, None)
    except click.BadParameter as error:
        problems.append(_problem(path, node, "bad_value", error.message))
    return str(path.parent / text) if isinstance(param.type, click.Path) else text


def _problem(path: Path, node: Node, code: str, message: str, hint: str = "") -> Problem:
    return Problem(str(path), node.path, node.line, code, message, hint)
