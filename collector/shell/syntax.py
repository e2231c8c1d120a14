"""Syntax: the text of a command line -> the simple commands in it (tree-sitter's grammar of bash)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

Word = str | None
"""A word of a command; None where it is only known when the command runs (`$X`, `$(...)`)."""

MAX_LENGTH: Final = 100_000
"""Bytes. What is longer is not looked at: it does not parse, as far as anyone here can tell."""
_MAX_DEPTH: Final = 200
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
"""Such a character behind a brace makes tree-sitter-bash 0.25 read memory that is not its own (its issue 337)."""

_STATIC: Final = frozenset(
    {"word", "number", "raw_string", "ansi_c_string", "string", "concatenation", "file_descriptor"}
)
_ASSIGNMENTS: Final = frozenset({"variable_assignment", "variable_assignments"})


class Unreadable(ValueError):
    """The text is no bash that the grammar knows, or too deep or too long."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. `words` are its name and arguments, without assignments and redirections."""

    words: tuple[Word, ...]
    piped: bool = False
    """Its standard input is the output of another command."""
    script: Word = ""
    """Its standard input, where the command line itself holds it (a here-document); "" where it does not."""


@dataclass(slots=True)
class Script:
    """The simple commands of a command line, in the order of the text, and the functions that it defines."""

    commands: list[Command]
    functions: dict[str, list[Command]]
    """The commands of the body of each function. They run only where the function is called."""
    aliases: dict[str, str] = field(default_factory=dict)
    """The text of each alias."""


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def read(text: str) -> Script:
    """Take a command line apart. Raises Unreadable. Characters outside the BMP are U+FFFD in its words."""
    data = _ASTRAL.sub("\ufffd", text).encode("utf-8", "surrogatepass")
    if len(data) > MAX_LENGTH:
        raise Unreadable(f"longer than {MAX_LENGTH} bytes")
    root = _parser().parse(data).root_node
    if root.has_error:
        raise Unreadable("no bash that the grammar knows")
    script = Script([], {})
    _collect(root, script, script.commands, piped=False, stdin="", depth=0)
    return script


def _collect(node: Node, script: Script, commands: list[Command], *, piped: bool, stdin: Word, depth: int) -> None:
    """Add the commands in `node`; `piped` and `stdin` say what their standard input is."""
    if depth > _MAX_DEPTH:
        raise Unreadable(f"more than {_MAX_DEPTH} levels deep")
    match node.type:
        case "comment" | "heredoc_start" | "heredoc_end":
            return
        case "function_definition":
            _define(node, script, depth)
            return
        case "pipeline":
            for position, child in enumerate(node.named_children):
                _collect(
                    child, script, commands, piped=piped or position > 0, stdin=stdin if position == 0 else "",
                    depth=depth + 1,
                )  # fmt: skip
            return
        case "redirected_statement":
            _redirected(node, script, commands, piped=piped, stdin=stdin, depth=depth)
            return
        case "command" | "declaration_command" | "unset_command":
            words = tuple(_words(node))
            if words:
                given = _herestring(node)
                commands.append(Command(words, piped, stdin if given == "" else given))
    for child in node.named_children:
        _collect(child, script, commands, piped=piped and node.type != "command", stdin=stdin, depth=depth + 1)


def _define(node: Node, script: Script, depth: int) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        raise Unreadable("a function without a name or a body")
    inner: list[Command] = []
    _collect(body, script, inner, piped=False, stdin="", depth=depth + 1)
    script.functions[_text(name)] = inner


def _redirected(node: Node, script: Script, commands: list[Command], *, piped: bool, stdin: Word, depth: int) -> None:
    body = node.child_by_field_name("body")
    for redirect in node.children_by_field_name("redirect"):
        if redirect.type == "heredoc_redirect":
            stdin = _heredoc(redirect)
            # `cat <<EOF | bash`: the rest of the pipeline is part of the redirection in this grammar.
            for child in redirect.named_children:
                if child.type in ("pipeline", "command", "list"):
                    _collect(child, script, commands, piped=True, stdin="", depth=depth + 1)
        elif redirect.type == "herestring_redirect":
            stdin = _value(redirect.named_children[-1])
        for inner in redirect.named_children:
            if inner.type not in ("pipeline", "command", "list"):
                _collect(inner, script, commands, piped=False, stdin="", depth=depth + 1)
    if body is not None:
        _collect(body, script, commands, piped=piped, stdin=stdin, depth=depth + 1)


def _heredoc(redirect: Node) -> Word:
    body = next((child for child in redirect.named_children if child.type == "heredoc_body"), None)
    if body is None:
        return ""
    # Expansions in the body are its children; without any it stands for itself.
    dynamic = any(child.type not in ("heredoc_content",) for child in body.named_children)
    return None if dynamic else _text(body)


def _herestring(command: Node) -> Word:
    """What `command <<< TEXT` is given to read; "" without that."""
    for child in command.named_children:
        if child.type == "herestring_redirect":
            return _value(child.named_children[-1])
    return ""


def _words(command: Node) -> Iterator[Word]:
    if command.type != "command":
        yield _text(command).split(maxsplit=1)[0]
        return
    for child in command.named_children:
        if child.type == "command_name":
            yield _value(child.named_children[0]) if child.named_children else _text(child)
        elif child.type not in _ASSIGNMENTS and "redirect" not in child.type:
            yield _value(child)


def _value(node: Node) -> Word:
    """The text that a word stands for; None where it has a part that only running it tells."""
    match node.type:
        case "word":
            text = _text(node)
            # Braces and globs may expand to anything; a name or subcommand made of them is not known.
            return None if any(mark in text for mark in "{}") and "," in text else _unescaped(text)
        case "number" | "file_descriptor":
            return None if node.named_children else _text(node)
        case "raw_string":
            return _text(node)[1:-1]
        case "ansi_c_string":
            text = _text(node)[2:-1]
            return None if "\\" in text else text
        case "string":
            inner = node.named_children
            if any(child.type != "string_content" for child in inner):
                return None
            return _unescaped(_text(node)[1:-1], only='"\\$`\n')
        case "concatenation":
            parts = [_value(child) for child in node.named_children]
            return None if any(part is None for part in parts) else "".join(part or "" for part in parts)
    return None


def _unescaped(text: str, only: str = "") -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    letters = iter(text)
    for letter in letters:
        if letter != "\\":
            out.append(letter)
            continue
        following = next(letters, "")
        if only and following not in only:
            out.append("\\")
        if following != "\n":
            out.append(following)
    return "".join(out)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogatepass")
