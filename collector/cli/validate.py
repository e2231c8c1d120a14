"""`spanbar validate`: is there anything wrong with these files?"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from collector.cli.garbage import no_collection
from collector.cli.specs import BEHAVIORS_PATTERN, MAPPING_PATTERN, SPEC_PATTERN, find
from collector.mapping import read_mapping
from evaluator.language import Problem, SpecProblems, read_spec
from evaluator.language.behaviors import read_behaviors
from evaluator.language.composer import compose
from evaluator.language.document import ListNode, MapNode, Node, ScalarNode


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found in one file: what it holds, or its problems."""

    path: Path
    holds: str
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    named: tuple[Path, ...] = ()
    """The files that a spec or a config names: their problems are told as well."""


@click.command()
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--runs", type=click.IntRange(1), help="Check min_pass as `spanbar run --runs N` would.")
@click.pass_context
@no_collection()
def validate(context: click.Context, paths: tuple[Path, ...], runs: int | None) -> None:
    """Check test specs, behavior files, mappings and configs of serve. Nothing is run.

    Every problem of every file is shown with its place. DIR means all *.highbar.yaml, *.behaviors.yaml and
    *.mapping.yaml in it; without any name, specs/ is looked through. Exit code: 0 all valid, 2 not.
    """
    console = Console(highlight=False, soft_wrap=True)
    findings = list(_all_findings(find(paths, SPEC_PATTERN, BEHAVIORS_PATTERN, MAPPING_PATTERN), runs))
    for found in findings:
        _show(console, found)
    problems = sum(len(found.problems) for found in findings)
    console.print(_summary(findings, problems), style="red" if problems else "green")
    context.exit(2 if problems else 0)


def _all_findings(paths: Sequence[Path], runs: int | None) -> Iterable[Findings]:
    """The findings of each file, and of the files that they name, each file once."""
    waiting = list(paths)
    done: set[Path] = set()
    while waiting:
        path = waiting.pop(0)
        if path.absolute() not in done:
            done.add(path.absolute())
            found = examine(path, runs)
            waiting += found.named
            yield found


def examine(path: Path, runs: int | None = None) -> Findings:
    """Read one file. It is a behavior file when its top-level key is `behaviors`, a mapping when that is `mapping`,
    a config of `serve` when it names such files or has options of that, else a test spec."""
    try:
        kind = _kind(path)
        if kind == "behaviors":
            return Findings(path, _count(len(read_behaviors(path)), "behavior"))
        if kind == "serve":
            return _config(path)
        if kind == "mapping":
            return Findings(path, _count(len(read_mapping(path)), "rule"))
        spec = read_spec(path, environ=os.environ, runs=runs)
    except SpecProblems as error:
        return Findings(path, "", error.problems)
    tests = [test for suite in spec.suites for test in suite.tests]
    named = tuple(dict.fromkeys(_as_named(file) for test in tests for file in test.behaviors))
    holds = f"{_count(len(spec.suites), 'suite')}, {_count(len(tests), 'test')}"
    return Findings(path, holds, warnings=spec.warnings, named=named)


def _config(path: Path) -> Findings:
    """A config file of `spanbar serve`, and the files that it names."""
    # Loading a server takes long beside reading other files.
    from collector.cli.config import options_of, parse_config
    from collector.cli.serve import serve

    config = parse_config(path, options_of(serve))
    named = [*config.values.get("behaviors", ()), config.values.get("mapping")]
    holds = f"{_count(len(config.values), 'option')} of spanbar serve"
    return Findings(path, holds, config.problems, named=tuple(_as_named(Path(file)) for file in named if file))


def _kind(path: Path) -> str:
    """What kind of file this is by its top-level keys: `behaviors`, `mapping`, `serve`, or "" for a test spec."""
    try:
        data = path.read_bytes()
    except OSError:
        return ""  # read_spec says why it cannot be read
    kinds = [kind for kind in ("behaviors", "mapping") if kind.encode() in data]
    unlike = not kinds and b"suites" not in data and b"agent" not in data
    root = compose(data, str(path)).root if kinds or unlike else None
    if not isinstance(root, MapNode) or root.get("agent") is not None or root.get("suites") is not None:
        return ""
    found = next((kind for kind in kinds if root.get(kind) is not None), "")
    if any(_names_files(root.get(kind)) for kind in kinds) or (not found and _has_options(root)):
        return "serve"
    return found


def _names_files(node: Node | None) -> bool:
    """Whether a node is the name of a file, or a list of them: so a config names what other files hold."""
    items = node.items if isinstance(node, ListNode) else (node,)
    return bool(items) and all(isinstance(item, ScalarNode) and isinstance(item.value, str) for item in items)


def _has_options(root: MapNode) -> bool:
    from collector.cli.config import options_of
    from collector.cli.serve import serve

    options = options_of(serve)
    return any(str(entry.key.value) in options for entry in root)


def _as_named(file: Path) -> Path:
    """A path as short as the user would write it."""
    try:
        return file.relative_to(Path.cwd())
    except ValueError:
        return file


def _show(console: Console, found: Findings) -> None:
    unicode = not console.options.ascii_only
    if found.problems:
        mark = "✗" if unicode else "x"
        console.print(f"[red]{mark}[/red] {escape(str(found.path))}: {_count(len(found.problems), 'problem')}")
    else:
        mark = "✓" if unicode else "ok"
        console.print(f"[green]{mark}[/green] {escape(str(found.path))}: {found.holds}")
    for problem in found.problems:
        console.print(f"  {escape(str(problem))}")
    for warning in found.warnings:
        console.print(f"  [yellow]warning[/yellow] {escape(warning)}")


def _summary(findings: Sequence[Findings], problems: int) -> str:
    files = _count(len(findings), "file")
    if not problems:
        return f"{files} valid"
    invalid = sum(1 for found in findings if found.problems)
    return f"{_count(problems, 'problem')} in {invalid} of {files}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
