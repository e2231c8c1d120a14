"""Session hooks: what they return, how they fail, and that Python hooks live in a process of their own."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluator.harness.hooks import HookError, Hooks
from evaluator.harness.placeholders import Scope
from evaluator.language import parse_spec

SCOPE = Scope("ab12", "a test")


def hooks(folder: Path, setup: Any = None, teardown: Any = None, module: str = "", timeout: int = 20_000) -> Hooks:
    """The hooks of a spec in the folder, where `mine.py` has the source `module`."""
    (folder / "mine.py").write_text(module)
    session = {name: hook for name, hook in (("setup", setup), ("teardown", teardown)) if hook is not None}
    agent = {"endpoint": "http://127.0.0.1:1/", "timeout": timeout, "session": session}
    tests = [{"trigger": "go", "expect": {"response": {"contains": "ok"}}}]
    text = yaml.safe_dump({"agent": agent, "suites": [{"name": "S", "tests": tests}]})
    spec = parse_spec(text, Path("spec.highbar.yaml"), environ={})
    return Hooks(spec, folder, os.environ, folder / "logs" / "hooks.log")


PYTHON = {"python": "mine:setup"}


async def set_up(folder: Path, *arguments: Any, **named: Any) -> Any:
    running = hooks(folder, *arguments, **named)
    try:
        await running.load()
        return await running.setup(SCOPE)
    finally:
        await running.stop()


async def test_a_python_hook_meets_none_of_our_modules(tmp_path: Path) -> None:
    module = "import sys\ndef setup(ctx): return {'ours': [m for m in sys.modules if m.startswith('evaluator')]}\n"
    assert await set_up(tmp_path, PYTHON, module=module) == {"ours": []}


async def test_a_module_of_the_user_may_have_a_name_of_ours(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text("NAME = 'the user\\'s'\n")
    module = "import client\ndef setup(ctx): return {'client': client.NAME}\n"
    assert await set_up(tmp_path, PYTHON, module=module) == {"client": "the user's"}


async def test_what_a_hook_prints_is_no_answer(tmp_path: Path) -> None:
    module = "print('{}')\ndef setup(ctx):\n    print('{\"value\": 1}', flush=True)\n    return {'a': 2}\n"
    assert await set_up(tmp_path, PYTHON, module=module) == {"a": 2}
    assert "value" in (tmp_path / "logs" / "hooks.log").read_text()


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("def setup(ctx): return None", "NoneType"),
        ("def setup(ctx): return {'when': object()}", "'when'"),
        ("def setup(ctx): return {'n': float('nan')}", "'n'"),
        ("def setup(ctx): raise RuntimeError('no db')", "no db"),
        ("import sys\ndef setup(ctx): sys.exit('enough')", "enough"),
        ("import os\ndef setup(ctx): os._exit(3)", "ended its process"),
    ],
)
async def test_a_python_hook_that_fails_says_how(tmp_path: Path, module: str, said: str) -> None:
    with pytest.raises(HookError, match=said):
        await set_up(tmp_path, PYTHON, module=module)


async def test_a_hook_that_never_ends_is_ended_and_the_next_one_runs(tmp_path: Path) -> None:
    module = (
        "import time\ndef setup(ctx):\n    if ctx.test_id == 'slow':\n        time.sleep(600)\n    return {'a': 1}\n"
    )
    running = hooks(tmp_path, PYTHON, module=module, timeout=1500)
    with pytest.raises(HookError, match=r"did not end within agent\.timeout"):
        await running.setup(Scope("slow", "a test"))
    assert await running.setup(SCOPE) == {"a": 1}
    await running.stop()


@pytest.mark.parametrize("hook", ["mine:nope", "no_such_module:setup"])
async def test_a_hook_that_is_not_there_is_found_before_anything_starts(tmp_path: Path, hook: str) -> None:
    running = hooks(tmp_path, {"python": hook})
    with pytest.raises(HookError, match=hook):
        await running.load()
    await running.stop()


@pytest.mark.parametrize(
    ("command", "session"),
    [
        ("""echo '{"a": 1}'""", {"a": 1}),
        ("""printf 'starting\\n{"a": 1}\\n\\n'""", {"a": 1}),
        ("""printf '{\\n"a": 1\\n}\\n'""", {"a": 1}),
        ("""echo '{"id": "{{test.id}}"}'""", {"id": "ab12"}),
        # A process that it leaves behind, and that keeps its output open, is not waited for.
        ("""sh -c 'sleep 600 & echo {}; kill $!'""", {}),
    ],
)
async def test_a_command_prints_its_session(tmp_path: Path, command: str, session: dict[str, Any]) -> None:
    assert await set_up(tmp_path, command) == session


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("true", "printed nothing"),
        ("echo [1]", "must be a JSON object"),
        ("sh -c 'echo no database >&2; exit 3'", "exited with 3: no database"),
        ("no-such-command", "cannot run no-such-command"),
        ("""echo '{"headers": "a"}'""", "headers must be a mapping"),
    ],
)
async def test_a_command_that_fails_says_how(tmp_path: Path, command: str, said: str) -> None:
    with pytest.raises(HookError, match=said):
        await set_up(tmp_path, command)


async def test_a_teardown_is_given_the_session(tmp_path: Path) -> None:
    module = "def teardown(ctx, session): open('torn', 'w').write(f'{ctx.test_name} {session}')\n"
    running = hooks(tmp_path, teardown={"python": "mine:teardown"}, module=module)
    await running.teardown(Scope("ab12", "a test", {"a": 1}))
    await running.stop()
    assert (tmp_path / "torn").read_text() == "a test {'a': 1}"
