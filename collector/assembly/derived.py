"""Derived columns: what the arguments of a call say of it where its telemetry has no column for that.

The ops of shell commands, and the paths of files relative to the checkout. Where nobody can tell, the column is a
`NotRecorded` with the reason, never a guess.
"""

import re
from collections.abc import Iterable, Mapping
from posixpath import normpath
from typing import Final

from collector.conventions import hangar
from collector.telemetry import Attributes
from evaluator.items import Item, Json, NotRecorded

CHECKOUT_KEYS: Final = ("hangar.checkout", "workspace.host_paths", "process.working_directory")
"""Where the checkout is: of the record, or its resource. The first is what users set, the second Claude Code's."""
CHECKOUTS: Final = frozenset(CHECKOUT_KEYS)
DERIVED_KINDS: Final = frozenset({"shell", "edit", "read"})

UNTOLD: Final = NotRecorded("what the command does is not told by its text")
NO_COMMAND: Final = NotRecorded("its arguments have no command that is known as one")
SEVERAL: Final = NotRecorded("the patch changes several files")
NO_CHECKOUT: Final = NotRecorded(
    "where the checkout is, that the file may be in, is not known",
    "OTEL_RESOURCE_ATTRIBUTES=hangar.checkout=/path/of/the/checkout",
)

_COMMANDS: Final = ("command", "cmd", "full_command", "script", "code", "commandLine")
_PATHS: Final = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "target_file", "filename", "file")
_PATCHES: Final = ("input", "patch")
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_WITHOUT_COMMAND: Final = frozenset({"BashOutput", "KillShell", "KillBash", "TaskOutput"})
"""Shell tools that look after commands which other calls have started."""
_NO_BASH: Final = frozenset({"powershell", "pwsh"})


def checkouts(*sources: Attributes) -> tuple[str, ...]:
    """The folders that are checkouts, as the first of `sources` that names any says."""
    for attributes in sources:
        for key in CHECKOUT_KEYS:
            value = attributes.get(key)
            if isinstance(value, str) and value:
                return (value,)
            if isinstance(value, list | tuple) and value:
                return tuple(str(folder) for folder in value)
    return ()


def derived(item: Item, folders: Iterable[str] = ()) -> Item:
    """A call of one of `DERIVED_KINDS`, with the columns that its arguments tell."""
    call = item.call
    if call is None or (call.convention == hangar.NAME and isinstance(call.args, NotRecorded)):
        # Who speaks hangar's vocabulary leaves a column out where there is nothing to say.
        return item
    if item.tool_kind == "shell":
        return item if item.ops else item._replace(ops=shell_ops(call.name, call.args))
    if item.path is not None or call.convention == hangar.NAME:
        return item
    return item._replace(path=repo_path(call.args, folders))


def shell_ops(name: str, args: Mapping[str, Json] | NotRecorded) -> tuple[str, ...] | NotRecorded:
    """The ops of a call of a shell tool."""
    if name in _WITHOUT_COMMAND:
        return ()
    if isinstance(args, NotRecorded):
        return args
    if not args:
        return ()
    command = next((args[key] for key in _COMMANDS if key in args), None)
    if isinstance(command, NotRecorded):
        return command
    # Loading the parser of bash takes as long as a short test run, and most agents have no shell.
    from collector.shell import ops_of, ops_of_words

    found = None
    if isinstance(command, str) and name.lower() not in _NO_BASH:
        found = ops_of(command)
    elif isinstance(command, list) and all(isinstance(word, str) for word in command):
        found = ops_of_words(command)
    elif command is None:
        return NO_COMMAND
    return UNTOLD if found is None else found


def repo_path(args: Mapping[str, Json] | NotRecorded, folders: Iterable[str]) -> str | NotRecorded | None:
    """The path of the file that a call names, relative to the checkout; None where it names none, or one outside."""
    if isinstance(args, NotRecorded):
        return args
    patch = next((args[key] for key in _PATCHES if isinstance(args.get(key), str)), None)
    if patch is not None and (files := _PATCHED.findall(patch)):
        return _relative(files[0], folders) if len(set(files)) == 1 else SEVERAL
    said = next((args[key] for key in _PATHS if key in args), None)
    if isinstance(said, NotRecorded):
        return said
    if not isinstance(said, str) or not said:
        return None
    return _relative(said, folders)


def _relative(said: str, folders: Iterable[str]) -> str | NotRecorded | None:
    path = normpath(said.replace("\\", "/"))
    if not _is_absolute(path):
        return None if path.startswith("../") else path
    known = False
    for folder in folders:
        known = True
        root = normpath(folder.replace("\\", "/"))
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return None if known else NO_CHECKOUT


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or path[1:3] == ":/"
