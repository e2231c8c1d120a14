"""Git: what a command line of git does to the repository."""

from collections.abc import Sequence
from typing import Final

_WITH_VALUE: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
)
"""Options before the command whose value may be the next word."""

_NAMES: Final = """
    add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph
    commit-tree config count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export
    fast-import fetch filter-branch filter-repo fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc
    get-tar-commit-id grep gui hash-object help hook index-pack init init-db instaweb interpret-trailers lfs log
    ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree
    mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed
    pull push quiltimport range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore
    rev-list rev-parse revert rm send-email shortlog show show-branch show-index show-ref sparse-checkout stage
    stash status stripspace submodule subtree svn switch symbolic-ref tag unpack-file unpack-objects update-index
    update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree write-tree
    bugreport diagnose last-modified replay refs repo backfill send-pack scalar
"""
_COMMANDS: Final = frozenset(_NAMES.split())
"""Any other is an alias, or a program of the user's, and may do anything."""

_ALIASING: Final = "alias."


def ops(arguments: Sequence[str | None]) -> tuple[str, ...] | None:
    """The ops of `git ARGUMENTS`; None where the words do not tell."""
    position = 0
    while position < len(arguments):
        word = arguments[position]
        if word is None:
            return None
        if not word.startswith("-"):
            break
        if word in ("--version", "--help", "-h", "-v", "--html-path", "--man-path"):
            return ()
        if word in _WITH_VALUE:
            value = arguments[position + 1] if position + 1 < len(arguments) else ""
            if word == "-c" and (value is None or value.startswith(_ALIASING)):
                return None
            position += 1
        position += 1
    return () if position >= len(arguments) else _command(arguments[position] or "", arguments[position + 1 :])


def _command(command: str, rest: Sequence[str | None]) -> tuple[str, ...] | None:
    if command not in _COMMANDS:
        return None
    if "--help" in rest or "-h" in rest:
        return ()
    match command:
        case "push":
            return _push(rest)
        case "send-pack":
            return () if "--dry-run" in rest else ("git.push",)
        case "subtree" | "lfs":
            first = next((word for word in rest if word is None or not word.startswith("-")), "")
            return None if first is None else ("git.push",) if first == "push" else ()
        case "commit":
            return () if "--dry-run" in rest else ("git.commit",)
        case "rm":
            return () if _dry(rest) or "--cached" in rest else ("delete",)
        case "clean":
            return () if _dry(rest) else ("delete",)
        case "submodule" if "foreach" in rest:
            return None
        case "rebase" if any(word is None or word in ("-x", "--exec") or word.startswith("--exec=") for word in rest):
            return None
        case "bisect" if "run" in rest:
            return None
    return ()


def _push(rest: Sequence[str | None]) -> tuple[str, ...] | None:
    if _dry(rest):
        return ()
    opens = any(
        word is not None and word.removeprefix("--push-option=").removeprefix("-o").startswith("merge_request.create")
        for word in rest
    )
    return ("git.push", "pr.open") if opens else ("git.push",)


def _dry(rest: Sequence[str | None]) -> bool:
    """Whether `--dry-run` or `-n` is given, also among other letters (`-fdn`)."""
    return any(
        word is not None and (word == "--dry-run" or (word[:1] == "-" and word[:2] != "--" and "n" in word[1:]))
        for word in rest
    )
