"""A lecture in the window: its keys, what is prepared, the black screen, the notes, and saving scenes."""

import base64
import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import parametrize_few, walk_through
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model
from lmviz.app.look.theme import theme_switch
from lmviz.app.session.session import Session
from lmviz.app.widgets.text import typesetting
from lmviz.app.window import lectures
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.presenter import lasted_in_words
from lmviz.desktop.scene import Scene, SceneModel, SceneText, save_scene
from lmviz.inspection.tracing import trace
from lmviz.lectures.lecture import ShownPoll, ShownScene, ShownStep
from lmviz.lectures.reading import open_lecture, shipped_lectures
from lmviz.lessons.reading import read_lesson
from lmviz.readouts.direction import word_direction
from lmviz.text.corpus import Corpus, load_corpus
from tests.app.conftest import missing_panels

TEXT = """# Small
## One
scene: ./one.lmviz

The **first** note.
## Two
scene: ./two.lmviz
## Three
step: memory 1
## Four
poll: order
"""


@pytest.fixture
def small(tmp_path: Path, transformer_run: Path, lstm_run: Path) -> Path:
    """A lecture of four items, with the runs that it shows."""
    folder = tmp_path / "lecture"
    for run in (transformer_run, lstm_run):
        shutil.copytree(run, folder / run.name)
    one = Scene("attention", models=(SceneModel(path=transformer_run.name, step=1),), prefix="the cows eat")
    two = Scene("inside", models=(SceneModel(path=lstm_run.name, step=10**6),), prefix="the hens")
    save_scene(one, folder / "one.lmviz")
    save_scene(two, folder / "two.lmviz")
    (folder / "small.lecture").write_text(TEXT, encoding="utf-8")
    return folder / "small.lecture"


@pytest.fixture
def opened(window: MainWindow, session: Session, small: Path, qtbot: QtBot) -> MainWindow:
    """The window with the lecture open at its first item."""
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([small])
    return window


def press(window: QWidget, key: Qt.Key, qtbot: QtBot) -> None:
    qtbot.keyClick(window.focusWidget() or window, key)


def command(window: MainWindow, title: str) -> Callable[[], None]:
    return next(action for action in window.commands.all() if action.text() == title).trigger


def test_one_key_goes_on_and_another_back(opened: MainWindow, session: Session, qtbot: QtBot) -> None:
    assert (opened.perspective_name, session.library.model.family) == ("attention", "transformer")
    assert session.reading.prefix == "the cows eat"
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageDown, qtbot)
    assert (opened.perspective_name, session.library.model.family) == ("inside", "lstm")
    press(opened, Qt.Key.Key_PageDown, qtbot)
    assert (opened.perspective_name, session.lesson.lesson.name) == ("autodiff", "memory")
    assert opened.lessons.is_shown
    press(opened, Qt.Key.Key_PageDown, qtbot)
    assert (opened.perspective_name, session.polls.current.title) == ("polls", "Order")
    assert not opened.lessons.is_shown, "the lesson has gone with its item"
    press(opened, Qt.Key.Key_PageDown, qtbot)
    assert opened.lectures.number == 3, "it was the last"
    press(opened, Qt.Key.Key_PageUp, qtbot)
    assert session.lesson.lesson.name == "memory"
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageUp, qtbot)
    assert session.reading.prefix == "the hens"
    with qtbot.waitSignal(opened.scenes.shown):
        command(opened, "1 · One")()
    assert session.reading.prefix == "the cows eat"


@pytest.mark.slow
def test_a_perspective_that_is_left_does_not_bring_back_what_a_step_has_put_away(
    opened: MainWindow, qtbot: QtBot
) -> None:
    opened.lectures.go_to(2)
    board, needed = opened.perspective, set(opened.perspective.panels)
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageUp, qtbot)
    assert (opened.perspective_name, set(board.panels)) == ("inside", needed)
    opened.show_perspective("autodiff")
    assert set(board.panels) > needed


@pytest.mark.slow
def test_keys_go_on_from_a_field_that_is_typed_in(opened: MainWindow, qtbot: QtBot) -> None:
    assert opened.focusWidget() is not opened.prefix_bar.edit, "a clicker's dot would be typed"
    opened.prefix_bar.edit.setFocus()
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageDown, qtbot)
    assert opened.lectures.number == 1


@pytest.mark.slow
@walk_through("inside", "autodiff")
def test_a_clicker_goes_back_whatever_has_the_keys(
    opened: MainWindow,
    drawn: Callable[[], None],
    qtbot: QtBot,
    perspectives: tuple[str, ...],
) -> None:
    back, deaf = next(action for action in opened.commands.all() if action.text() == "Item before"), []
    pressed: list[None] = []
    back.triggered.connect(
        lambda: pressed.append(None)
    )  # at the first item it only says that it is the first
    for name in perspectives:
        opened.show_perspective(name)
        drawn()
        for widget in opened.findChildren(QWidget):
            if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
                widget.setFocus()
                before = len(pressed)
                press(opened, Qt.Key.Key_PageUp, qtbot)
                if len(pressed) == before:
                    deaf.append(f"{name}: {widget.objectName() or type(widget).__name__}")
    assert pressed
    assert deaf == []


def test_without_a_lecture_the_keys_are_those_of_tables(window: MainWindow, qtbot: QtBot) -> None:
    action = next(action for action in window.commands.all() if action.text() == "Next item")
    assert not action.isEnabled()
    press(window, Qt.Key.Key_B, qtbot)
    assert not window.lectures.is_black


@pytest.mark.slow
def test_the_next_item_is_prepared(
    window: MainWindow,
    session: Session,
    small: Path,
    answered: Callable[[], None],
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    prepare, asked = session.library.prepare, []
    monkeypatch.setattr(session.library, "prepare", lambda wanted: asked.append(prepare(wanted)))
    window.open_paths([small])
    qtbot.waitUntil(lambda: bool(asked))
    answered()
    assert [model.family for model in session.library.models] == ["transformer"], "it is not open yet"
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    press(window, Qt.Key.Key_PageDown, qtbot)
    assert session.library.model.family == "lstm", "although nothing is read"
    gate.set()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """How often equations were asked for, from before a lecture is `opened`: its next item may come soon."""
    times: list[bool] = []
    monkeypatch.setattr(typesetting, "load_in_background", lambda: times.append(True))
    return times


@pytest.mark.slow
def test_the_panels_of_the_next_item_are_made(asked: list[bool], opened: MainWindow, qtbot: QtBot) -> None:
    assert missing_panels(opened, "inside")
    qtbot.waitUntil(lambda: not missing_panels(opened, "inside"))
    assert asked, "or its equations would come after all else"
    assert missing_panels(opened, "autodiff"), "that comes after it"
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageDown, qtbot)
    qtbot.waitUntil(lambda: not missing_panels(opened, "autodiff"))


@pytest.mark.slow
def test_a_lecture_that_loses_its_next_item_has_no_panel_of_it_made(
    opened: MainWindow, small: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(lectures, "SOON", 0)
    asked: list[str] = []
    monkeypatch.setattr(opened, "make_ready", lambda perspective: asked.append(perspective) or True)
    qtbot.waitUntil(lambda: bool(asked))
    small.write_text(TEXT[: TEXT.index("## Two")], encoding="utf-8")
    opened.lectures.renew(open_lecture(small, perspective_names()), set())
    asked.clear()
    qtbot.wait(5 * lectures.BETWEEN)  # in which an item that is not there was asked for
    assert not asked


@pytest.mark.slow
def test_the_text_of_the_next_item_is_read_once(
    opened: MainWindow,
    session: Session,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    def read(*given: object, **settings: object) -> Corpus:
        sources.append(given[0])
        turned.wait(1)  # as long as a large text takes: the page is turned meanwhile
        return load_corpus(*given, **settings)

    sources: list[object] = []
    turned = threading.Event()
    monkeypatch.setattr("lmviz.text.corpus.load_corpus", read)
    text = small.with_name("own.txt")
    text.write_text("the cow eats\n" * 9, encoding="utf-8")
    save_scene(Scene("corpus", text=SceneText(files=("own.txt",))), small.with_name("two.lmviz"))
    opened.open_paths([small])
    qtbot.waitUntil(lambda: len(sources) == 1)
    assert session.text.corpus is None
    press(opened, Qt.Key.Key_PageDown, qtbot)
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    assert sources == [str(text)]


@parametrize_few("key", [Qt.Key.Key_B, Qt.Key.Key_Period])
def test_the_screen_is_black_until_a_key_is_pressed(opened: MainWindow, key: Qt.Key, qtbot: QtBot) -> None:
    def is_black() -> bool:
        color = opened.grab().toImage().pixelColor(400, 300)
        return (color.red(), color.green(), color.blue()) == (0, 0, 0)

    press(opened, key, qtbot)
    assert is_black()
    opened.resize(opened.width() - 40, opened.height() - 20)
    assert opened.lectures._black.geometry() == opened.rect()
    press(opened, Qt.Key.Key_PageDown, qtbot)
    assert not is_black()
    assert opened.lectures.number == 0, "the picture comes back first"
    press(opened, key, qtbot)
    press(opened, Qt.Key.Key_X, qtbot)
    assert not is_black()


@pytest.mark.slow
def test_in_a_poll_b_is_an_answer(opened: MainWindow, session: Session, qtbot: QtBot) -> None:
    opened.lectures.go_to(3)
    session.polls.clear()
    press(opened, Qt.Key.Key_B, qtbot)
    assert session.polls.counts.get("B", 0) == 1
    assert not opened.lectures.is_black


@pytest.mark.slow
def test_notes_and_clock_stand_in_a_window_of_their_own(opened: MainWindow, qtbot: QtBot) -> None:
    def said(name: str) -> str:
        return notes.findChild(QLabel, f"presenter_{name}").text()

    command(opened, "Notes and clock")()
    notes = opened.findChild(QWidget, "presenter_window")
    assert notes.isWindow()
    assert notes.isVisible()
    assert (said("title"), said("notes"), said("place")) == ("One", "The **first** note.", "1 of 4")
    assert said("next") == "Next: Two"
    assert notes.focusWidget().objectName() == "presenter_forward", "a space goes on"
    assert "F5" in said("lasted")
    press(opened, Qt.Key.Key_F5, qtbot)
    qtbot.waitUntil(lambda: said("lasted").startswith("0:0"))
    with qtbot.waitSignal(opened.scenes.shown):
        qtbot.keyClick(notes, Qt.Key.Key_PageDown)
    assert (said("title"), said("place")) == ("Two", "2 of 4")
    qtbot.keyClick(notes, Qt.Key.Key_B)
    assert opened.lectures.is_black
    notes.close()
    assert opened.lectures.lecture is not None
    command(opened, "Notes and clock")()
    assert notes.isVisible()
    command(opened, "Leave the lecture")()
    assert not notes.isVisible()
    assert not opened.lectures.is_black


@pytest.mark.slow
def test_the_notes_say_how_far_behind_the_plan_one_is(
    opened: MainWindow, small: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    small.write_text(TEXT.replace("scene: ./one.lmviz", "scene: ./one.lmviz\nminutes: 2"), encoding="utf-8")
    opened.open_lecture(small)
    now = time.monotonic()
    command(opened, "Notes and clock")()
    notes = opened.findChild(QWidget, "presenter_window")
    assert notes.findChild(QLabel, "presenter_place").text() == "1 of 4 · 2 min"
    assert not notes.findChild(QLabel, "presenter_pace").isVisible(), "it has not begun"
    press(opened, Qt.Key.Key_F5, qtbot)
    assert notes.findChild(QLabel, "presenter_pace").text() == "on time"
    monkeypatch.setattr(time, "monotonic", lambda: now + 310)
    assert opened.lectures.pace == "3 minutes behind"
    notes.hide()
    notes.show()
    assert notes.findChild(QLabel, "presenter_pace").text() == "3 minutes behind"
    monkeypatch.undo()
    opened.lectures.go_to(1)
    assert opened.lectures.pace == "", "the second says no minutes"


@pytest.mark.slow
def test_giving_takes_the_projectors_type_and_the_whole_screen_and_gives_them_back(
    opened: MainWindow, qtbot: QtBot
) -> None:
    projector = next(action for action in opened.commands.all() if action.text() == "Projector mode")
    press(opened, Qt.Key.Key_F5, qtbot)
    assert theme_switch().projector
    assert projector.isChecked()
    assert opened.isFullScreen()
    assert opened.lectures.elapsed >= 0
    press(opened, Qt.Key.Key_F5, qtbot)
    assert not theme_switch().projector
    assert not projector.isChecked()
    assert not opened.isFullScreen()
    assert opened.lectures.elapsed is None
    assert not opened.settings.is_on("view/projector"), "nothing of it is kept"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "F5 gives the lecture, and begins to count"), (0.4, "0:00"), (725, "12:05"), (3725.9, "1:02:05")],
)
def test_how_long_it_has_lasted(seconds: float | None, words: str) -> None:
    assert lasted_in_words(seconds) == words


@pytest.mark.slow
def test_what_is_shown_is_saved_as_the_scene_after_the_one_that_is_shown(
    opened: MainWindow, session: Session, small: Path, qtbot: QtBot
) -> None:
    for prefix in ("the dog", "the hens"):
        session.reading.set_prefix(prefix)
        command(opened, "Save as the next scene…")()
    assert opened.lectures.number == 2
    items = open_lecture(small, perspective_names()).items
    titles = ["One", "Attention: the dog", "Attention: the hens", "Two", "Three", "Four"]
    assert [item.title for item in items] == titles
    assert items[0].notes == "The **first** note."
    shown = items[1].shown
    assert isinstance(shown, ShownScene)
    assert shown.scene.prefix == "the dog"
    assert shown.scene.models == (SceneModel(path="transformer", step=1),)
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageDown, qtbot)
    assert opened.lectures.lecture.items[opened.lectures.number].title == "Two"
    opened.lectures.go_to(5)
    command(opened, "Save as the next scene…")()
    assert open_lecture(small, perspective_names()).items[-1].title.startswith("Polls")
    with qtbot.waitSignal(opened.scenes.shown):
        opened.lectures.go_to(1)
    assert session.reading.prefix == "the dog"


@pytest.mark.slow
def test_a_scene_keeps_surgery_along_a_direction(
    opened: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    model = session.library.model
    opened_model = open_model(model.folder, step=session.library.step)
    along = word_direction(opened_model, "hens", "layers/0/residual2")
    session.directions.apply(along.add(2.0))
    qtbot.waitUntil(lambda: len(session.reading.current.trace.interventions) == 1)
    changed = session.reading.current.trace["logits"].array.copy()
    assert not np.allclose(changed, trace(opened_model, session.reading.current.trace.ids)["logits"].array)
    command(opened, "Save as the next scene…")()
    with qtbot.waitSignal(opened.scenes.shown):
        press(opened, Qt.Key.Key_PageDown, qtbot)
    assert not session.surgery.interventions  # the next scene has none
    with qtbot.waitSignal(opened.scenes.shown):
        opened.lectures.go_to(1)
    [change] = session.surgery.interventions
    assert change.value == pytest.approx(2.0 * along.length * along.vector, abs=1e-6)
    qtbot.waitUntil(
        lambda: (
            session.reading.current.trace.interventions == (change,)
            and session.reading.current.trace["logits"].array.shape == changed.shape
        )
    )
    assert session.reading.current.trace["logits"].array == pytest.approx(changed, abs=1e-5)


@pytest.mark.slow
def test_a_lecture_that_was_written_to_meanwhile_keeps_what_was_written(
    opened: MainWindow, small: Path
) -> None:
    small.write_text(TEXT.replace("The **first** note.", "A note\n\nof three\n\nlines."), encoding="utf-8")
    command(opened, "Save as the next scene…")()
    items = open_lecture(small, perspective_names()).items
    assert items[0].notes == "A note\n\nof three\n\nlines."
    assert [item.title for item in items][2:] == ["Two", "Three", "Four"]


@pytest.mark.slow
def test_saving_begins_a_lecture_where_none_is_open(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: ("", ""))
    command(window, "Save as the next scene…")()
    assert window.lectures.lecture is None
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "mine"), ""))
    for count in (1, 2):
        command(window, "Save as the next scene…")()
        assert len(window.lectures.lecture.items) == count
    assert window.lectures.lecture.path == tmp_path / "mine.lecture"


@pytest.mark.slow
def test_a_lecture_that_came_with_lmviz_is_not_written_to(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shipped"
    shutil.copytree(shipped_lectures()[0].parent, folder)
    path = folder / shipped_lectures()[0].name
    monkeypatch.setattr("lmviz.lectures.reading.shipped_lectures", lambda: (path,))
    before = {each: each.read_bytes() for each in folder.iterdir()}
    window.open_lecture(path)
    asked = iter(("", str(tmp_path / "mine")))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (next(asked), ""))
    command(window, "Save as the next scene…")()
    assert window.lectures.lecture.path == path
    command(window, "Save as the next scene…")()
    assert window.lectures.lecture.path == tmp_path / "mine.lecture"
    assert (len(window.lectures.lecture.items), window.lectures.number) == (1, 0)
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.slow
def test_the_shipped_lecture_stands_in_the_list_of_lessons(window: MainWindow, qtbot: QtBot) -> None:
    window.lessons.toggle()

    def lectures() -> list[QAbstractButton]:
        rows = window.lessons.side.findChildren(QAbstractButton)
        return [row for row in rows if row.accessibleName().startswith("Lecture")]

    qtbot.waitUntil(lambda: len(lectures()) == 1)
    [lecture] = lectures()
    assert lecture.accessibleName() == "Lecture · From counting to attention, 10 items"
    qtbot.mouseClick(lecture, Qt.MouseButton.LeftButton)
    assert window.lectures.lecture.path == shipped_lectures()[0]
    assert not window.lessons.is_shown


def test_a_lecture_is_dropped_and_what_is_wrong_with_it_is_said(
    window: MainWindow, small: Path, qtbot: QtBot
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(small))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    with qtbot.waitSignal(window.scenes.shown):
        window.dropEvent(QDropEvent(QPointF(9, 9), copy, data, left, none))
    assert window.lectures.lecture.title == "Small"
    small.write_text(TEXT.replace("memory 1", "memory 99"), encoding="utf-8")
    window.open_paths([small])
    assert "Line 9: A machine with memory has steps 1 to" in window.notice.sentence
    assert window.lectures.lecture is not None, "the one that was open stays"


@pytest.mark.slow
@pytest.mark.parametrize("path", shipped_lectures(), ids=lambda path: path.stem)
def test_a_shipped_lecture_is_given_from_beginning_to_end(
    path: Path,
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    record_property: Callable[[str, object], None],
    qtbot: QtBot,
) -> None:
    session.said.connect(pytest.fail)
    session.work.any_failed.connect(pytest.fail)
    window.open_lecture(path)
    items = window.lectures.lecture.items
    assert len(items) == 10
    for number, item in enumerate(items):
        if number:
            begun = time.perf_counter()
            press(window, Qt.Key.Key_PageDown, qtbot)
        assert window.lectures.number == number
        match item.shown:
            case ShownScene(_, scene):
                models = [model.sample for model in scene.models]
                qtbot.waitUntil(
                    lambda scene=scene, models=models: (
                        session.reading.prefix == scene.prefix
                        and (not models or session.library.model.folder.name == models[0])
                        and len(session.comparison.chosen) == max(0, len(models) - 1)
                    )
                )
                assert window.perspective_name == scene.perspective
            case ShownStep(lesson, step):
                assert (session.lesson.lesson.name, session.lesson.number) == (lesson.name, step)
            case ShownPoll(poll):
                assert session.polls.current.title == poll.title
        drawn()
        if number:
            record_property(f"milliseconds to item {number + 1}", round((time.perf_counter() - begun) * 1000))
        assert item.notes


@pytest.mark.slow
def test_a_bundle_is_saved_dropped_and_opened_elsewhere(
    opened: MainWindow,
    session: Session,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "class"), ""))
    with qtbot.waitSignal(opened.student_files.packed):
        command(opened, "Save a bundle for students…")()
    command(opened, "Leave the lecture")()
    for model in session.library.models:
        session.library.close(model)
    shutil.rmtree(small.parent)
    with qtbot.waitSignal(opened.scenes.shown):
        opened.open_paths([tmp_path / "class.lmvizbundle"])
    unpacked = tmp_path / "data" / "bundles"
    assert opened.lectures.lecture.path.is_relative_to(unpacked)
    assert session.library.model.folder.is_relative_to(unpacked)
    assert opened.settings.recent[0] == tmp_path / "class.lmvizbundle"
    (tmp_path / "class.lmvizbundle").write_bytes(b"PK and nothing more")
    opened.open_paths([tmp_path / "class.lmvizbundle"])
    qtbot.waitUntil(lambda: "is not a bundle, or was cut short" in opened.notice.sentence)
    assert opened.lectures.lecture is not None


@pytest.mark.slow
def test_a_lesson_of_ones_own_is_a_bundle_as_well(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "class"), ""))
    (tmp_path / "own.md").write_text("# Own\n## A\nperspective: sample\n\nSay.\n", encoding="utf-8")
    assert not window.student_files.can_pack
    window.open_paths([tmp_path / "own.md"])
    with qtbot.waitSignal(window.student_files.packed):
        command(window, "Save a bundle for students…")()
    session.lesson.leave()
    with qtbot.waitSignal(window.student_files.unpacked):
        window.open_paths([tmp_path / "class.lmvizbundle"])
    assert session.lesson.lesson.title == "Own"
    assert session.lesson.lesson.folder.is_relative_to(tmp_path / "data")


@pytest.mark.slow
def test_a_lesson_is_saved_as_pages_for_a_web_server(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    site = tmp_path / "site"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *given: str(site))
    (tmp_path / "own.md").write_text("# Own\n## A\nperspective: sample\n\nSay.\n", encoding="utf-8")
    assert not window.student_files.can_save_pages
    window.open_paths([tmp_path / "own.md"])
    with qtbot.waitSignal(window.student_files.packed):
        command(window, "Save pages for a web server…")()
    assert {path.name for path in site.iterdir()} == {"index.html", "01-a.html", "own.lmvizbundle"}


def save_handout(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> str:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(path), ""))
    monkeypatch.setattr("lmviz.app.window.handout.LOOK_EVERY", 10)
    command(window, "Save a handout…")()
    assert not window.student_files.can_make_handout, "one at a time"
    qtbot.waitUntil(lambda: window.student_files.can_make_handout)
    return path.read_text("utf-8") if path.suffix == ".html" else ""


@pytest.mark.slow
def test_a_handout_of_a_lecture_has_what_is_shown_and_asked_and_no_notes(
    opened: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    theme_switch().set_choice("dark")
    opened.lectures.go_to(1)
    said = save_handout(opened, tmp_path / "out.html", monkeypatch, qtbot)
    assert theme_switch().choice == "dark"
    assert not theme_switch().projector
    assert opened.lectures.number == 1, "where one was"
    qtbot.waitUntil(lambda: session.reading.prefix == "the hens")
    titles = re.findall(r"<h2>(.*?)</h2>", said)
    assert titles == ["One", "Two", "Three", "Four"]
    assert "first</b> note" not in said
    one, two, three, four = said.split("<section>")[1:]
    assert all("data:image/svg+xml" in each for each in (one, two, three))
    assert "“the cows eat”" in one
    assert "frame.srcdoc" in one
    assert "frame.srcdoc" not in four
    assert "step 1:" in one
    assert session.polls.current.title not in titles
    assert "What is h after the third number" in three
    assert four.count("☐") == len(session.polls.all[0].filled)
    save_handout(opened, tmp_path / "out.pdf", monkeypatch, qtbot)
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_the_answers_are_a_sheet_of_their_own(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    for ending in ("html", "pdf"):
        path = tmp_path / f"answers.{ending}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given, path=path: (str(path), ""))
        command(opened, "Save the answers…")()
        qtbot.waitUntil(path.exists)
    said = (tmp_path / "answers.html").read_text("utf-8")
    assert "<h2>3. Three</h2>" in said
    assert "What is h after the third number" in said
    assert "<h2>1. One</h2>" not in said, "nothing is asked there"
    assert (tmp_path / "answers.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_a_handout_draws_what_a_step_is_about_and_not_what_its_task_is_done_with(
    opened: MainWindow, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opened.resize(1100, 700)  # which has no room for both in the type of the projector
    small.write_text("# Small\n## One\nstep: memory 1\n", encoding="utf-8")
    opened.open_paths([small])
    said = save_handout(opened, tmp_path / "out.html", monkeypatch, qtbot)
    [drawing] = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", said)
    # without markup: a typeface that lacks the index has it written on its own
    written = re.sub(r"<[^>]*>|\s", "", base64.b64decode(drawing).decode())
    assert "x₁" in written, "the graph, in front of the tape"


TWO_TABS = """# Tabs
## One
perspective: attention
control: attention_view
open: model stories-transformer
open: prefix One day, she put the
do: look
control: every_head_view
until: prefix is never

Look.
"""


@pytest.mark.slow
def test_a_handout_brings_what_a_step_is_about_in_front_of_what_its_task_is_done_with(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.resize(900, 600)
    window.lessons.open(read_lesson(TWO_TABS, perspective_names()))
    reading = window.session.reading
    qtbot.waitUntil(lambda: reading.current is not None and not reading.is_busy)
    qtbot.waitUntil(lambda: window.find_control("every_head_view") is not None)
    said = save_handout(window, tmp_path / "out.html", monkeypatch, qtbot)
    drawn = re.findall(r'<img alt="([^"]*)"', said)
    assert any("Layer 1, head 1" in each for each in drawn)


@pytest.mark.slow
def test_a_handout_draws_the_models_that_are_compared(
    window: MainWindow, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    models = tuple(SceneModel(path=run.name) for run in small.parent.iterdir() if run.is_dir())
    scene = Scene("compare", models=models, compared=(True,), prefix="the cows eat")
    save_scene(scene, small.parent / "one.lmviz")
    small.write_text("# Small\n## One\nscene: ./one.lmviz\n", encoding="utf-8")
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([small])
    said = save_handout(window, tmp_path / "out.html", monkeypatch, qtbot)
    assert any("What follows “eat”" in each for each in re.findall(r'<img alt="([^"]*)"', said))


@pytest.mark.slow
def test_a_handout_says_its_language_and_marks_what_comes_with_lmviz(
    window: MainWindow, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    (small.parent / "own.poll").write_text("question: Welche?\nA: a\nB: b\nright: A\n", encoding="utf-8")
    (small.parent / "own.md").write_text("# Eigene\nlanguage: de\n\n## A\n\nSagen.\n", encoding="utf-8")
    items = ("poll: ./own.poll", "poll: order", "step: ./own.md 1", "step: memory 1")
    text = "# Klein\nlanguage: de\n" + "".join(f"## Eines\n{item}\n" for item in items)
    small.write_text(text, encoding="utf-8")
    window.open_paths([small])
    said = save_handout(window, tmp_path / "out.html", monkeypatch, qtbot)
    assert '<html lang="de">' in said
    marked = ['<div lang="en">' in each for each in said.split("<section>")[1:]]
    assert marked == [False, True, False, True]


@pytest.mark.slow
def test_a_handout_of_a_lesson_has_all_of_its_steps(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    text = "# Two\n## A\n\nSay.\n## B\nquestion: Why?\nanswer: 1\n\nAsk.\n"
    lesson = read_lesson(text, perspective_names())
    window.lessons.open(lesson)
    said = save_handout(window, tmp_path / "out.html", monkeypatch, qtbot)
    assert re.findall(r"<h2>(.*?)</h2>", said) == ["A", "B"]
    assert said.count('class="line"') == 3
    assert session.lesson.number == 0


@pytest.mark.slow
def test_closing_the_window_stops_a_handout(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "out.pdf"), ""))
    command(opened, "Save a handout…")()
    opened.close()
    assert not (tmp_path / "out.pdf").exists()
