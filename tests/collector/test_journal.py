from pathlib import Path

import pytest

from collector.index import Index, Unit, UnitKey, UnitKind
from collector.journal import CAUSE, REMEMBERED, Journal, NoJournal
from evaluator.items import Change, Item, ItemKind


def served(path: Path, *sessions: str, job: str | None = None) -> Index:
    """A server's life: it has an item of each session, and then it is gone."""
    journal, index = Journal(path), Index()
    journal.follow(index)
    for number, session in enumerate(sessions):
        item = Item((b"t", b"s", number), ItemKind.EVENT, "e", session, job, None, number, None)
        index.apply([Change(None, item)])
    journal.close()
    return index


def unit(index: Index, id: str, kind: UnitKind = UnitKind.SESSION) -> Unit:
    return index.units[UnitKey(kind, id)]


def test_a_session_that_a_process_before_had_is_not_whole_in_the_next_one(tmp_path: Path) -> None:
    served(tmp_path / "j", "old")
    index = served(tmp_path / "j", "old", "new")
    assert (unit(index, "old").cut, unit(index, "new").cut) == (CAUSE, None)


def test_it_holds_over_several_restarts_and_for_jobs(tmp_path: Path) -> None:
    served(tmp_path / "j", "a", job="j")
    served(tmp_path / "j")
    index = served(tmp_path / "j", "b", job="j")
    # What the job had of its own, its sessions had too.
    assert (unit(index, "j", UnitKind.JOB).cut, unit(index, "b").cut) == (CAUSE, f"job j is not whole: {CAUSE}")


def test_ids_are_written_while_the_process_lives_and_once_each(tmp_path: Path) -> None:
    journal, index = Journal(tmp_path / "j"), Index()
    journal.follow(index)
    for number in range(3):
        index.apply([Change(None, Item((b"t", b"s", number), ItemKind.EVENT, "e", "s", None, None, number, None))])
    assert (tmp_path / "j").read_bytes() == b'["session","s"]\n'
    journal.close()


def test_a_line_that_was_cut_short_and_one_that_is_none_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b'["session","a"]\nnonsense\n["moon","b"]\n["session","c')
    index = served(tmp_path / "j", "a", "c")
    assert (unit(index, "a").cut, unit(index, "c").cut) == (CAUSE, None)
    assert (tmp_path / "j").read_bytes() == b'["session","a"]\n["session","c"]\n'


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    lines = [f'["session","{number}"]\n' for number in range(REMEMBERED + 2)]
    (tmp_path / "j").write_text("".join(lines))
    index = served(tmp_path / "j", "0", "2")
    assert (unit(index, "0").cut, unit(index, "2").cut) == (None, CAUSE)


def test_two_processes_cannot_share_one(tmp_path: Path) -> None:
    first = Journal(tmp_path / "j")
    with pytest.raises(BlockingIOError):
        Journal(tmp_path / "j")
    first.close()
    Journal(tmp_path / "j").close()


def test_an_id_may_be_any_text(tmp_path: Path) -> None:
    strange = 'line\nbreak "quoted" \u2028 é'
    served(tmp_path / "j", strange)
    assert unit(served(tmp_path / "j", strange), strange).cut == CAUSE


def test_a_journal_that_cannot_be_written_any_more_says_so(tmp_path: Path) -> None:
    journal, index = Journal(tmp_path / "j"), Index()
    journal.follow(index)
    journal.close()
    index.apply([Change(None, Item((b"t", b"s", 0), ItemKind.EVENT, "e", "s", None, None, 0, None))])
    assert journal.problem is not None
    assert "not noted any more" in journal.problem


@pytest.mark.parametrize("text", ["behaviors: []\n", "notes", "\n", '["session"]\n', '{"a": 1}\n["session","a"]\n'])
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "j").write_text(text)
    with pytest.raises(NoJournal, match="names no session or job"):
        Journal(tmp_path / "j")
    assert (tmp_path / "j").read_text() == text


@pytest.mark.parametrize("text", ["", '["ses', '["session","a', "\0\0\0"])
def test_a_journal_whose_first_line_was_cut_short_is_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "j").write_text(text)
    served(tmp_path / "j", "b")
    assert (tmp_path / "j").read_text() == '["session","b"]\n'
