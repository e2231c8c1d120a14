import click
import pytest
from click.testing import CliRunner

from collector.cli import Verbs, main


def test_a_verb_that_is_interrupted_before_it_has_begun_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def loading(group: Verbs, context: click.Context, name: str) -> click.Command:
        raise KeyboardInterrupt

    monkeypatch.setattr(Verbs, "get_command", loading)
    ended = CliRunner().invoke(main, ["run"])
    assert (ended.exit_code, ended.stderr) == (130, "interrupted\n")
