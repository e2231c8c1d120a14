"""Runners: command lines that run tests.

Only what surely runs tests counts, since "the tests were run" is what behaviors ask for: listing or collecting them,
a help text and a dry run do not.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from collector.shell.syntax import Word

_RUNNERS: Final = """
    pytest pytest-3 py.test tox nox unittest nosetests nose2 trial stestr jest vitest mocha ava jasmine tap qunit
    rspec phpunit pest ctest bats cucumber behave robot ginkgo gotestsum cargo-nextest minitest
"""
_ALWAYS: Final = frozenset(_RUNNERS.split())
"""Programs that do nothing else."""

_COMMANDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(commands.split())
    for name, commands in {
        "cargo": "test t nextest",
        "go": "test",
        "make": "test tests check",
        "gmake": "test tests check",
        "just": "test tests check",
        "task": "test tests check",
        "rake": "test spec",
        "mvn": "test verify integration-test",
        "mvnw": "test verify integration-test",
        "gradle": "test check",
        "gradlew": "test check",
        "dotnet": "test",
        "swift": "test",
        "xcodebuild": "test",
        "bazel": "test",
        "bazelisk": "test",
        "buck2": "test",
        "pants": "test",
        "mix": "test",
        "sbt": "test",
        "lein": "test",
        "stack": "test",
        "cabal": "test",
        "zig": "test",
        "flutter": "test",
        "dart": "test",
        "deno": "test",
        "meson": "test",
        "ninja": "test",
        "hatch": "test",
        "rye": "test",
        "rails": "test spec",
        "composer": "test",
        "playwright": "test",
        "cypress": "run",
        "artisan": "test",
        "tap": "run",
    }.items()
}
"""Programs that run tests with one of these words among their commands and targets."""

_SCRIPTS: Final = frozenset({"npm", "yarn", "pnpm", "bun", "turbo", "nx", "lerna", "wireit"})
"""Programs that run the scripts of a package."""
_RUNNING: Final = frozenset({"run", "run-script", "workspace", "workspaces", "exec", "dlx", "foreach"})

_OPTIONS: Final = """
    --help --version --collect-only --co --no-run --dry-run --listTests --list-tests --list --fixtures --markers
    --just-print --recon --showConfig -V -h --listenvs --listenvs-all --list-sessions --show-only -list
"""
_NO_RUN: Final = frozenset(_OPTIONS.split())
"""With one of these options nothing is run."""
_LISTING: Final[Mapping[str, frozenset[str]]] = {
    "tox": frozenset({"-l", "-a", "list", "config", "devenv", "exec", "l", "c", "d"}),
    "nox": frozenset({"-l"}),
    "ctest": frozenset({"-N"}),
    "vitest": frozenset({"list", "init"}),
}
"""What makes a runner run nothing, as its first argument."""
_INTERPRETERS: Final = ("python", "pypy")
_WITH_VALUE: Final = frozenset({"-C", "-f", "-j", "-w", "--filter", "--prefix", "--cwd", "--workspace", "-F", "-p"})


def runs_tests(name: str, arguments: Sequence[Word]) -> bool:
    """Whether the command runs tests. `name` is without its folder."""
    if any(argument in _NO_RUN for argument in arguments):
        return False
    if name in _ALWAYS:
        return not arguments or arguments[0] not in _LISTING.get(name, ())
    if name in ("-m", "py") or name.startswith(_INTERPRETERS):
        return _module(name, arguments)
    if name in _SCRIPTS:
        return _script(arguments)
    if name in ("make", "gmake") and any(_has_letter(argument, "n") for argument in arguments):
        return False
    commands = _COMMANDS.get(name)
    return commands is not None and any(word in commands for word in _plain(arguments)[: _reach(name)])


def _reach(name: str) -> int | None:
    """How many words may be the command: of most programs the first is, build tools take many targets."""
    several = (
        "make",
        "gmake",
        "just",
        "task",
        "rake",
        "mvn",
        "mvnw",
        "gradle",
        "gradlew",
        "ninja",
        "sbt",
        "xcodebuild",
    )
    return None if name in several else 1


def _module(name: str, arguments: Sequence[Word]) -> bool:
    """`python -m pytest`, `python manage.py test`, and what a wrapper leaves of `coverage run -m pytest`."""
    words = ["-m", *arguments] if name == "-m" else list(arguments)
    for position, word in enumerate(words):
        if word == "-m":
            module = words[position + 1] if position + 1 < len(words) else None
            rest = words[position + 2 :]
            if module == "coverage" and rest[:1] == ["run"]:
                return _module("python", rest[1:])
            return module is not None and (module in _ALWAYS or (module == "django" and "test" in rest))
        if word is None or word == "-c":
            return False
        if not word.startswith("-"):
            script = word.rsplit("/", 1)[-1]
            return (
                script in ("manage.py", "setup.py") and "test" in words[position + 1 :]
            ) or script == "runtests.py"
    return False


def _script(arguments: Sequence[Word]) -> bool:
    """`npm test`, `npm run test:unit`, `yarn workspace web test`, `pnpm exec vitest`."""
    words = _plain(arguments)
    for position, word in enumerate(words):
        if word is None:
            return False
        if word in ("test", "t", "tst") or word.startswith("test:"):
            return True
        if word in ("exec", "dlx", "x"):
            inner = words[position + 1 : position + 2]
            return bool(inner) and inner[0] is not None and runs_tests(inner[0], words[position + 2 :])
        if word in _ALWAYS:
            return True
        if word not in _RUNNING and not (position and words[position - 1] == "workspace"):
            return False
    return False


def _plain(arguments: Sequence[Word]) -> list[Word]:
    """The arguments that are no options, nor the values of some that take one."""
    plain: list[Word] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument is not None and argument.startswith("-"):
            if argument == "--":
                break
            skip = argument in _WITH_VALUE
        elif argument is None or "=" not in argument:
            plain.append(argument)
    return plain


def _has_letter(argument: Word, letter: str) -> bool:
    return argument is not None and argument[:1] == "-" and argument[:2] != "--" and letter in argument[1:]
