"""The text that is open."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session


def test_a_newer_corpus_silences_the_one_that_is_still_being_read(
    session: Session, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    slow = tmp_path / "slow.txt"
    slow.write_text("a b c d e f g h\n" * 200_000, encoding="utf-8")
    names: list[str] = []
    session.text.changed.connect(lambda: names.append(session.text.corpus.name))
    finished: list[object] = []
    session.work.job_finished.connect(finished.append)
    session.text.open(slow, documents="line")
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: len(finished) == 2)
    assert names == ["farm"]


def test_a_corpus_that_was_overtaken_does_not_end_the_reading_of_the_newer_one(
    session: Session, gate: threading.Event, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.text import corpus, preview

    gates, whole = {"older": threading.Event(), "newer": gate}, corpus.load_corpus(text_file)
    monkeypatch.setattr(preview, "look", lambda *_, **__: None)
    monkeypatch.setattr(corpus, "load_corpus", lambda source, **_: gates[source].wait() and whole)
    session.text.open("older")
    session.text.open("newer")
    with qtbot.waitSignal(session.work.job_finished):
        gates["older"].set()
    assert session.text.is_opening
    with qtbot.waitSignal(session.text.changed):
        gate.set()
    assert not session.text.is_opening


def test_a_place_beyond_the_text_is_its_last(session: Session, text_file: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file)
    session.text.choose_place(10**9)
    assert session.text.place == len(session.text.corpus.training) - 1
    session.text.choose_place(-3)
    assert session.text.place == 0


def test_a_whole_disk_that_was_dropped_is_given_up_at_once(session: Session, qtbot: QtBot) -> None:
    """It takes minutes to look through; and it has no name of its own."""
    session.text.open("/")
    [job] = session.work.jobs
    assert job.name == "Reading /"
    with qtbot.waitSignal(session.work.job_finished):
        job.cancel()
    assert not session.text.is_opening


def test_two_files_that_are_one_text_are_told_from_the_first_alone(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "pairs.en").write_text("a red car\na blue house\n" * 20, encoding="utf-8")
    (tmp_path / "pairs.de").write_text("ein rotes Auto\nein blaues Haus\n" * 20, encoding="utf-8")
    for target in (None, tmp_path / "pairs.de"):
        with qtbot.waitSignal(session.text.changed):
            session.text.open(tmp_path / "pairs.en", documents="line", target=target)
    assert [own.title for own in session.text.own] == ["pairs", "pairs (en, de)"]
