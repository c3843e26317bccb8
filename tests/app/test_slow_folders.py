"""Folders that answer late, vanish and return: the window goes on, says so, and loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import others_slow, parametrize_few
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from lmviz.app.board.exporting import choose_numbers, choose_picture
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session import work
from lmviz.app.session.session import Session
from lmviz.app.session.watched_runs import WatchedRuns
from lmviz.app.window.choosing import Choosing
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.results_dialog import ResultsDialog
from lmviz.desktop.scene import Scene, SceneModel, SceneText, save_scene
from lmviz.text.corpus_options import CorpusOptions
from lmviz.training.run import Run
from tests.app.slow_folders import SlowFolder

LESSON = "# Night\nnumber: 1\n\n## Begin\nperspective: corpus\nLook.\n"
LECTURE = "# Talk\n\n## First\npoll: ./own.poll\n"
POLL = "question: One or two?\nA: one\nB: two\nright: B\n"

NETWORK = "x = [1; 2]\nα = [0.5 -0.25]\na = linear(α, x)\n"
QUESTION = (
    "title: Who eats?\nmodels: *\ntext: the cows eat\nchanged: the hens eat\nmeasure: logit:corn-grass\n"
)
SCENE = Scene(
    text=SceneText(files=("farm.txt",), options=CorpusOptions(documents="line")),
    models=(SceneModel(path="run", step=2),),
    prefix="the hens",
)

OPENED: dict[str, Callable[[Session, MainWindow], bool]] = {
    "own.net": lambda session, window: session.network.title == "own",
    "own-question.txt": lambda session, window: session.contrast.other == "the hens eat",
    "own.lmviz": lambda session, window: session.reading.prefix == "the hens",
    "lesson.md": lambda session, window: session.lesson.lesson is not None,
    "talk.lecture": lambda session, window: window.lectures.lecture is not None,
    "own.poll": lambda session, window: session.polls.current.title == "own",
    "farm.txt": lambda session, window: session.text.corpus is not None,
    "run": lambda session, window: session.library.model is not None,
}


@pytest.fixture
def folder(
    tmp_path: Path,
    text_file: Path,
    make_run: Callable[..., Path],
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SlowFolder]:
    """One of everything that can be opened, beside a window that is ready."""
    place = tmp_path / "network drive"
    place.mkdir()
    for name, content in (
        ("lesson.md", LESSON),
        ("talk.lecture", LECTURE),
        ("own.poll", POLL),
        ("own.net", NETWORK),
        ("own-question.txt", QUESTION),
    ):
        (place / name).write_text(content, encoding="utf-8")
    save_scene(SCENE, place / "own.lmviz")
    shutil.copy(text_file, place / "farm.txt")
    shutil.copytree(make_run("ngram", 2, order=2), place / "run")
    qtbot.waitUntil(lambda: session.work.is_ready)
    monkeypatch.setattr(work, "BRIEFLY", 0.05)
    folder = SlowFolder(place, monkeypatch)
    yield folder
    folder.give_back()


@pytest.mark.parametrize("name", others_slow(OPENED, "talk.lecture", "run"))
def test_what_a_slow_folder_holds_is_waited_for_by_no_window(
    name: str, folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    folder.hold()
    window.open_paths([folder.path / name])
    assert not OPENED[name](session, window)
    qtbot.waitUntil(folder.was_asked.is_set)
    assert [job.name for job in session.work.jobs] == [f"Opening {name}"]
    folder.give_back()
    qtbot.waitUntil(lambda: OPENED[name](session, window))
    assert folder.waited == []


@pytest.mark.parametrize("name", others_slow(OPENED, "farm.txt", "own.net"))
def test_what_vanishes_while_it_is_opened_is_said_and_opens_once_it_is_back(
    name: str, folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    said: list[str] = []
    parts = (session, session.text, session.library, session.polls, session.network, session.contrast)
    for part in parts:
        getattr(part, "said" if part is session else "failed").connect(said.append)
    folder.hold()
    window.open_paths([folder.path / name])
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()
    qtbot.waitUntil(lambda: bool(said) and not session.work.jobs)
    assert name in said[0]
    assert not OPENED[name](session, window)
    folder.give_back()
    window.open_paths([folder.path / name])
    qtbot.waitUntil(lambda: OPENED[name](session, window))
    assert folder.waited == []


SAVED: dict[str, tuple[str, Callable[[Session, MainWindow], object]]] = {
    "a scene": ("own.lmviz", lambda session, window: window.commands.choosing.save_scene()),
    "a lecture": ("own.lecture", lambda session, window: window.lectures.save_scene()),
    "counts": ("own.csv", lambda session, window: control(window, "save_counts_button").click()),
    "a network": ("own.net", lambda session, window: session.network.save_file(Path(asked_for()))),
    "results": ("own.json", lambda session, window: save_results(window)),
    "a picture": ("own.png", lambda session, window: choose_picture(window.perspective.panels[0])),
    "numbers": ("own.npz", lambda session, window: choose_numbers(window.perspective.panels[0])),
}


def asked_for() -> str:
    return QFileDialog.getSaveFileName()[0]


def save_results(window: MainWindow) -> None:
    window.lessons.save_results()
    [dialog] = window.findChildren(ResultsDialog)
    dialog.findChild(QLineEdit, "results_student").setText("Ada")
    dialog.findChild(QAbstractButton, "results_save_button").click()


def control(window: MainWindow, name: str) -> QAbstractButton:
    found = window.find_control(name)
    assert isinstance(found, QAbstractButton)
    return found


@pytest.mark.parametrize("what", others_slow(SAVED, "a scene", "numbers"))
def test_what_is_saved_in_a_slow_folder_is_waited_for_by_no_window(
    what: str,
    folder: SlowFolder,
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, save = SAVED[what]
    out = folder.path / "out" / name
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(out), ""))
    if what == "results":
        window.lessons.start_tour()
    if what == "counts":
        session.polls.collect("A")
        qtbot.waitUntil(control(window, "save_counts_button").isEnabled)
    folder.hold()
    save(session, window)
    assert [job.name for job in session.work.jobs] == [f"Saving {name}"]
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.give_back()
    qtbot.waitUntil(lambda: not session.work.jobs)
    assert folder.waited == []
    assert out.is_file()


def test_own_lessons_in_a_slow_folder_are_listed_once_they_are_read(
    folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.settings.keep("own_lessons", [str(folder.path / "lesson.md")])
    folder.hold()
    window.lessons.toggle()
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.give_back()
    qtbot.waitUntil(lambda: not session.work.jobs)
    assert folder.waited == []


@pytest.mark.slow
def test_a_lesson_that_comes_late_takes_no_place(
    folder: SlowFolder, window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    here = tmp_path / "here.md"
    here.write_text(LESSON.replace("Night", "Day"), encoding="utf-8")
    folder.hold()
    window.open_lesson(folder.path / "lesson.md")
    window.open_lesson(here)
    qtbot.waitUntil(lambda: session.lesson.lesson is not None)
    folder.give_back()
    qtbot.waitUntil(lambda: not session.work.jobs)
    assert session.lesson.lesson.title == "Day"


@pytest.mark.slow
def test_snapshots_and_exports_wait_for_their_folder_beside_the_window(
    folder: SlowFolder,
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    session.reading.failed.connect(said.append)
    session.said.connect(said.append)
    session.library.open(folder.path / "run")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    first, out = session.library.model.snapshots[0], folder.path / "run.arpa"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(out), ""))
    folder.hold()
    session.library.choose_step(first)
    window.commands.choosing.save_model()
    assert [job.name for job in session.work.jobs] == ["Saving run.arpa"]
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()
    qtbot.waitUntil(lambda: bool(said) and not session.work.jobs and not session.reading.is_busy)
    folder.give_back()
    window.commands.choosing.save_model()
    qtbot.waitUntil(lambda: out.is_file())
    assert folder.waited == []


CHOSEN: dict[str, Callable[[Choosing, Path], object]] = {
    "a run of a list": lambda choosing, folder: choosing.open_run_in(folder),
    "a file of a checkpoint": lambda choosing, folder: choosing.open_checkpoint(),
    "a checkpoint to examine": lambda choosing, folder: choosing.examine_checkpoint(),
    "a base": lambda choosing, folder: choosing.open_with_base(folder / "adapter"),
}


@parametrize_few("what", CHOSEN, quick=2)
def test_what_is_chosen_in_a_slow_folder_is_waited_for_by_no_window(
    what: str,
    folder: SlowFolder,
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    session.said.connect(said.append)
    chosen = str(folder.path / "run" / "config.json")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (chosen, ""))
    folder.hold()
    CHOSEN[what](window.commands.choosing, folder.path)
    qtbot.waitUntil(folder.was_asked.is_set)
    assert [job.name.partition(" ")[0] for job in session.work.jobs] == ["Opening"]
    folder.lose()
    qtbot.waitUntil(lambda: not session.work.jobs)
    folder.give_back()
    for dialog in window.findChildren(QDialog):
        dialog.close()
    assert folder.waited == []


def test_a_run_that_another_program_changes_in_a_slow_folder_is_looked_at_beside_the_window(
    folder: SlowFolder, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    place = folder.path / "run"
    session.library.open(place)
    qtbot.waitUntil(lambda: session.library.model is not None)
    before = session.library.model.snapshots
    folder.hold()
    session.library.findChild(WatchedRuns).changed.emit(place)
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()  # while it is looked at
    qtbot.waitUntil(lambda: not session.work.is_busy(f"look again {place}"))
    assert session.library.model.snapshots == before, "what is known of it stays"
    folder.give_back()
    Run.open(place).rename("another")
    session.library.findChild(WatchedRuns).changed.emit(place)
    qtbot.waitUntil(lambda: session.library.model.name == "another")
    assert folder.waited == []


@pytest.fixture
def learning(
    folder: SlowFolder, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> Callable[[], Path]:
    """Opens a run in the folder that can be trained further, and reads with it."""

    def open_it() -> Path:
        place = folder.path / "learning"
        shutil.copytree(make_run("gru", 6, width=8), place)
        session.library.open(place)
        qtbot.waitUntil(lambda: session.library.model is not None)
        session.reading.set_prefix("the cows")
        qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
        return place

    return open_it


def test_a_run_in_a_slow_folder_is_shown_renamed_and_trained_by_a_window_that_waits_for_nothing(
    folder: SlowFolder,
    learning: Callable[[], Path],
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
) -> None:
    place = learning()
    folder.hold()
    window.show_perspective("train")
    session.training.step()
    session.library.refresh_snapshots(place)
    assert session.training.further_steps == 6, "what was known of it before"
    folder.give_back()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished")
    qtbot.waitUntil(lambda: session.library.model.snapshots[-1] == 7)
    folder.hold()
    session.training.step()
    session.library.rename(place, "another")
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.give_back()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished" and session.work.is_at_rest)
    assert Run.open(place).description.name == session.library.model.name == "another"
    assert session.library.model.snapshots[-1] == 8
    assert folder.waited == []


READ: dict[str, tuple[Callable[[Session, Path], object], Callable[[Session], bool]]] = {
    "its text": (
        lambda session, place: session.text.open_text_of(session.library.model),
        lambda session: session.text.corpus is not None,
    ),
    "a fork of it": (
        lambda session, place: session.race.fork(place, 6, {"steps": 8}),
        lambda session: len(session.race.lanes) == 1 and session.race.lanes[0].phase == "finished",
    ),
    "an example": (
        lambda session, place: (session.reading.set_prefix(""), session.fitting.want_example()),
        lambda session: session.reading.prefix != "",
    ),
}
"""What reads the text of the shown run, and what can be seen then."""


@pytest.mark.slow
@pytest.mark.parametrize("what", others_slow(READ, "its text"))
def test_whether_a_text_may_be_read_is_looked_up_beside_the_window(
    what: str, folder: SlowFolder, learning: Callable[[], Path], session: Session, qtbot: QtBot
) -> None:
    place, (ask, is_there) = learning(), READ[what]
    folder.hold()
    ask(session, place)
    qtbot.waitUntil(folder.was_asked.is_set)
    assert not is_there(session)
    folder.give_back()
    qtbot.waitUntil(lambda: is_there(session) and session.work.is_at_rest)
    assert folder.waited == []


@pytest.mark.slow
def test_a_text_that_comes_late_takes_the_place_of_none_opened_meanwhile(
    folder: SlowFolder,
    learning: Callable[[], Path],
    session: Session,
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    learning()
    other = tmp_path / "other.txt"
    other.write_text("another text\n" * 50, encoding="utf-8")
    folder.hold()
    session.text.open_text_of(session.library.model)
    session.text.open(other)
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    folder.give_back()
    qtbot.waitUntil(lambda: session.work.is_at_rest and not session.work.jobs)
    assert session.text.corpus.sources == (str(other),)


@pytest.mark.slow
def test_a_race_in_a_slow_folder_is_gone_on_with_once_it_answers(
    folder: SlowFolder,
    learning: Callable[[], Path],
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    session.race.fork(learning(), 6, {"steps": 100_000})
    qtbot.waitUntil(lambda: session.race.lanes[0].phase == "running")
    session.race.stop()
    qtbot.waitUntil(lambda: not session.race.is_active and session.work.is_at_rest)
    place = SlowFolder(session.race.lanes[0].folder, monkeypatch)
    place.hold()
    session.race.go_on()
    qtbot.waitUntil(place.was_asked.is_set)
    place.give_back()
    qtbot.waitUntil(lambda: session.race.lanes[0].phase == "running")
    session.race.stop()
    qtbot.waitUntil(lambda: not session.race.is_active)
    assert place.waited == []


@parametrize_few("when", ["before its first step", "while it goes on"])
def test_a_training_whose_folder_vanishes_says_so_and_goes_on_from_what_was_saved_once_it_is_back(
    when: str,
    folder: SlowFolder,
    learning: Callable[[], Path],
    session: Session,
    qtbot: QtBot,
) -> None:
    said: list[str] = []
    session.training.failed.connect(said.append)
    place = learning()
    saved = Run.open(place).snapshots()
    if when == "while it goes on":
        session.training.resume()
        session.training.pause()
        qtbot.waitUntil(lambda: session.training.state.phase == "paused")
    folder.hold()
    session.training.resume()
    qtbot.waitUntil(folder.was_asked.is_set)
    folder.lose()
    qtbot.waitUntil(lambda: not session.training.state.is_active and session.work.is_at_rest)
    assert len(said) == 1
    assert str(place) in said[0]
    assert session.library.model.snapshots == tuple(saved), "what was known of it can still be looked at"
    assert "was deleted or moved" in session.training.obstacle
    folder.give_back()
    assert Run.open(place).snapshots() == saved
    session.library.open(place)
    qtbot.waitUntil(lambda: session.training.can_resume)
    session.training.resume()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished")
    assert folder.waited == []


@pytest.mark.slow
def test_no_perspective_asks_a_slow_folder(
    folder: SlowFolder,
    learning: Callable[[], Path],
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
) -> None:
    learning()
    folder.hold()
    for name in (row.name for row in shown_perspectives()):
        window.show_perspective(name)
        for panel in window.perspective.panels:
            window.bring_in_front(panel.objectName())
            QApplication.processEvents()
    folder.give_back()
    qtbot.waitUntil(lambda: session.work.is_at_rest)
    assert folder.waited == []
