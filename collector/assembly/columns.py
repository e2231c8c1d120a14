"""Columns: from the attributes of spans, span events and log records to items (SEMANTICS.md, section 6)."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from collector.telemetry import Attributes
from evaluator.items import Call, CallStatus, Item, ItemKind, Json

APPROVAL: Final = "approval"
TEST_RUN: Final = "test.run"
DIFF_FILES: Final = "diff.files"
DIFF_KEY: Final = "hangar.diff.files"

TOOL_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Bash", "BashOutput", "KillShell", "KillBash", "shell", "local_shell"), "shell"),
    **dict.fromkeys(("run_shell_command", "run_in_terminal", "exec_command", "container.exec"), "shell"),
    **dict.fromkeys(("shell_command", "write_stdin", "PowerShell", "powershell", "bash", "runCommand"), "shell"),
    **dict.fromkeys(("run_terminal_cmd", "run_terminal_command", "execute_command", "run_command", "exec"), "shell"),
    **dict.fromkeys(("terminal", "run_shell", "shell_exec", "execute_shell", "execute_shell_command"), "shell"),
    **dict.fromkeys(("execute_bash", "run_bash", "run_bash_command", "bash_command", "Shell", "Terminal"), "shell"),
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), "edit"),
    **dict.fromkeys(("apply_patch", "write_file", "replace", "str_replace_based_edit_tool", "edit_file"), "edit"),
    **dict.fromkeys(("create_file", "createFile", "replace_string_in_file", "insert_edit_into_file"), "edit"),
    **dict.fromkeys(("Read", "NotebookRead", "read_file", "read_many_files", "view_image", "readFile"), "read"),
    **dict.fromkeys(("Grep", "Glob", "LS", "search_file_content", "glob", "list_directory", "grep_search"), "search"),
    **dict.fromkeys(("WebFetch", "WebSearch", "web_fetch", "google_web_search", "web_search", "webfetch"), "web"),
    **dict.fromkeys(("Skill", "activate_skill"), "skill"),
    **dict.fromkeys(("TodoWrite", "ExitPlanMode", "EnterPlanMode", "update_plan", "write_todos"), "plan"),
}
"""The kind of a tool by its name, where coding agents agree on names. Any other is `other`."""

OTHER_KIND: Final = "other"

COLUMN_KEYS: Final = (
    *("hangar.seq", "hangar.turn", "hangar.tool.kind", "hangar.shell.ops", "hangar.file.repo_path", "hangar.file.op"),
    *("hangar.tool.input", "hangar.tool.output", "hangar.mcp.server", "hangar.mcp.tool", "gen_ai.skill.name"),
    *("hangar.test.trusted", "hangar.test.total", "hangar.test.complete"),
)
KEYS: Final = frozenset(COLUMN_KEYS)
"""The attributes that columns of a tool call come from. A span with none of them has only what its call says."""

# Looking a member up in its enum is slow before Python 3.12.
_TOOL, _EVENT, _APPROVAL = ItemKind.TOOL, ItemKind.EVENT, ItemKind.APPROVAL
_new: Final = tuple.__new__
HAPPENED: Final = {CallStatus.OK: "ok", CallStatus.ERROR: "error"}


class Place(NamedTuple):
    """Where an item belongs, and its id."""

    id: tuple[Any, ...]
    session: str | None
    job: str | None
    turn: int | None = None
    """The turn of the span that an event is on; its own comes first."""


def tool_item(place: Place, call: Call, attributes: Attributes, kind: str | None, has_columns: bool = True) -> Item:
    """The item of a call that happened. `kind` is the tool's kind where its convention says it; `has_columns` is
    false for a span that has none of `KEYS`."""
    name, server, tool = call.name, None, None
    if name.startswith("mcp__"):
        kind = "mcp"
        server, _, tool = name[5:].partition("__")
        tool = tool or None
    elif kind == "mcp":
        tool = name
    elif kind is None:
        kind = TOOL_KINDS.get(name, OTHER_KIND)
    status = HAPPENED[call.status]
    item_id, session, job, _ = place
    started = call.started
    if not has_columns:
        return Item._make(
            (
                *(item_id, _TOOL, name, session, job, None, started, None, kind, (), None, None, None, None, status),
                *(server, tool, None, None, None, None, None, attributes, call),
            )
        )
    seq, turn, said_kind, ops, path, op, given, output, said_server, said_tool, skill, trusted, total, complete = map(
        attributes.get, COLUMN_KEYS
    )
    return _new(
        Item,
        (
            item_id,
            _TOOL,
            name,
            session,
            job,
            seq if seq.__class__ is int else integer(seq),
            started,
            turn if turn.__class__ is int else integer(turn),
            kind if said_kind is None else text(said_kind) or kind,
            () if ops is None else texts(ops),
            path if path.__class__ is str else text(path),
            None if op is None else text(op),
            given if given.__class__ is str else text(given),
            output if output.__class__ is str else text(output),
            status,
            server if said_server is None else text(said_server) or server,
            tool if said_tool is None else text(said_tool) or tool,
            None if skill is None else text(skill),
            trusted,
            total,
            complete,
            None,
            attributes,
            call,
        ),
    )


def happening_item(place: Place, name: str, time: int, attributes: Attributes) -> Item:
    """The item of an event, a test run or an approval; a name or a status makes it an approval."""
    get = attributes.get
    approval = get("hangar.approval.status")
    kind = _EVENT
    if name == APPROVAL or (approval is not None and name.endswith(APPROVAL)):
        kind = _APPROVAL
        name, status = APPROVAL, approval
    elif name == TEST_RUN:
        status = first(attributes, "hangar.test.status", "test.suite.run.status", "hangar.status")
    else:
        status = get("hangar.status")
    turn = integer(get("hangar.turn"))
    return Item(
        place.id,
        kind,
        name,
        place.session,
        place.job,
        integer(get("hangar.seq")),
        time,
        place.turn if turn is None else turn,
        text(get("hangar.tool.kind")),
        texts(get("hangar.shell.ops")),
        text(get("hangar.file.repo_path")),
        text(get("hangar.file.op")),
        text(get("hangar.tool.input")),
        text(get("hangar.tool.output")),
        text(status),
        text(get("hangar.mcp.server")),
        text(get("hangar.mcp.tool")),
        text(get("gen_ai.skill.name")),
        get("hangar.test.trusted"),
        get("hangar.test.total"),
        get("hangar.test.complete"),
        None,
        attributes,
        None,
    )


def diff_item(place: Place, files: tuple[str, ...], time: int, attributes: Attributes) -> Item:
    """The `diff.files` item of the delivered files."""
    turn = integer(attributes.get("hangar.turn"))
    return Item(
        place.id,
        _EVENT,
        DIFF_FILES,
        place.session,
        place.job,
        integer(attributes.get("hangar.seq")),
        time,
        place.turn if turn is None else turn,
        paths=files,
        attributes=attributes,
    )


def approval_item(place: Place, call: Call, attributes: Attributes, status: str) -> Item:
    """The approval of a call that was held, or only asked for."""
    return Item(
        place.id,
        _APPROVAL,
        APPROVAL,
        place.session,
        place.job,
        integer(attributes.get("hangar.seq")),
        call.started,
        integer(attributes.get("hangar.turn")),
        ops=texts(attributes.get("hangar.shell.ops")),
        status=status,
        attributes=attributes,
        call=call,
    )


def first(attributes: Attributes, *keys: str) -> Json:
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value
    return None


def integer(value: Json) -> int | None:
    """An integer, also one that came as a whole float; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def text(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def texts(value: Json) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(str(element) for element in value) if isinstance(value, list | tuple) else ()
