import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDockWidget,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.next_word import NextWordPanel
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.command_palette import CommandPalette
from lmviz.app.window import commands
from lmviz.app.window.dialogs import FaultReport, KeyboardMap
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.perspective_view import PerspectiveView
from lmviz.app.workers.faults import Faults
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

LONG = 20_000


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def press(window: MainWindow, qtbot: QtBot, name: str) -> None:
    button = find(window, QPushButton, name)
    assert button.isEnabled(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_what_is_typed_becomes_tokens_and_a_distribution(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    edit = find(window, QLineEdit, "prefix_edit")
    edit.clear()
    with qtbot.waitSignal(read.reading.changed):
        qtbot.keyClicks(edit, "the hens see")
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    assert read.reading.current.trace.tokens == ("⟨start⟩", "the", "hens", "see")
    panel = next(panel for panel in window.perspective.panels if isinstance(panel, NextWordPanel))
    qtbot.waitUntil(lambda: panel.distribution is not None)
    assert panel.distribution.probabilities.sum() == pytest.approx(1)
    qtbot.waitUntil(
        lambda: (
            panel.distribution.logits.tolist()
            == pytest.approx(read.reading.current.trace["logits"].array[-1])
        )
    )


def test_unknown_words_are_marked_and_said(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    find(window, QLineEdit, "prefix_edit").setText("the <zebra> eats")
    said = find(window, QLabel, "prefix_info").text()
    assert "zebra" in said
    assert "&lt;" in said
    assert "unknown" in said


def test_return_writes_a_line_break(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    edit.setText("the cows")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert read.reading.prefix == "the cows\n"


def test_keys_step_and_escape_releases(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Left)
    assert read.focus.position == 2
    qtbot.keyClick(window, Qt.Key.Key_Right)
    assert read.focus.position == 3
    qtbot.keyClick(window, Qt.Key.Key_Down)
    assert read.focus.stage == 1
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not read.focus.is_position_pinned


def test_typing_keeps_its_keys(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    edit = find(window, QLineEdit, "prefix_edit")
    edit.setFocus()
    qtbot.keyClicks(edit, " now")
    qtbot.keyClick(edit, Qt.Key.Key_Left)
    assert edit.text() == "the cows eat now"
    assert not read.focus.is_position_pinned
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    assert read.focus.stage == 1, "a line has no use for these, so they walk the stages"


def test_load_choose_train_pause_scrub_resume_stop(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.training.set_plan("lstm", FAMILIES["lstm"].configuration(width=8), options)
    press(window, qtbot, "train_button")
    qtbot.waitUntil(
        lambda: session.training.state.phase == "running" and session.library.model is not None, timeout=LONG
    )
    qtbot.waitUntil(lambda: len(session.library.model.snapshots) > 2, timeout=LONG)
    press(window, qtbot, "pause_button")
    qtbot.waitUntil(lambda: session.training.state.phase == "paused")
    find(window, QWidget, "snapshot_slider").setValue(1)
    assert session.library.step == session.library.model.snapshots[1]
    press(window, qtbot, "step_button")
    qtbot.waitUntil(lambda: find(window, QPushButton, "train_button").text() == "Resume")
    press(window, qtbot, "train_button")
    qtbot.waitUntil(lambda: session.training.state.phase == "running")
    press(window, qtbot, "stop_button")
    qtbot.waitUntil(lambda: session.training.state.phase == "stopped")
    assert session.library.step == session.library.model.snapshots[1], "scrubbing holds"


def test_training_without_a_text_says_so_beside_the_button(window: MainWindow, qtbot: QtBot) -> None:
    press(window, qtbot, "train_button")
    notice = window.transport.notice
    assert "no text" in notice.sentence
    notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: window.session.text.corpus is not None, timeout=LONG)
    assert window.session.text.corpus.name == "stories"
    assert not notice.sentence


def test_closing_in_mid_training_stops_it(
    session: Session, settings: Settings, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> None:
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(lambda: session.training.state.phase == "running", timeout=LONG)
    folder = session.training.state.folder
    window.close()
    assert (folder / "resume" / "state.safetensors").is_file()


def test_the_film_runs_through_all_snapshots_and_every_one_is_read(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    seen = []
    read.reading.changed.connect(lambda: seen.append(read.reading.current.step))
    film = window.transport.time.film_button
    film.click()
    qtbot.waitUntil(lambda: not film.isChecked() and not read.reading.is_busy, timeout=10_000)
    assert sorted(set(seen)) == list(read.library.model.snapshots)


@pytest.mark.parametrize("number", range(1, len(shown_perspectives()) + 1))
def test_every_perspective_opens_from_the_keyboard(
    window: MainWindow, read: Session, qtbot: QtBot, number: int
) -> None:
    qtbot.keyClick(window, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
    assert window.perspective.name == shown_perspectives()[number - 1].name
    assert window.perspective.panels


def test_the_palette_finds_and_runs_a_command(window: MainWindow, qtbot: QtBot) -> None:
    window.commands.show_palette()
    palette = window.findChild(CommandPalette)
    edit = palette.findChild(QLineEdit)
    qtbot.keyClicks(edit, "dark th")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert current_theme().name == "dark"
    window.set_theme("light")


def test_every_command_has_a_name_and_no_two_share_their_keys(window: MainWindow) -> None:
    actions = [action for action in window.commands.all() if not action.shortcut().isEmpty()]
    keys = [action.shortcut().toString() for action in actions]
    assert len(keys) == len(set(keys))


def test_dropped_files_are_opened_by_what_they_are(
    window: MainWindow, session: Session, text_file: Path, lstm_run: Path, qtbot: QtBot
) -> None:
    dropped = QMimeData()
    snapshot = lstm_run / "snapshots" / "000006.safetensors"
    dropped.setUrls([QUrl.fromLocalFile(str(path)) for path in (text_file, snapshot)])
    window.dropEvent(
        QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            dropped,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    qtbot.waitUntil(
        lambda: session.text.corpus is not None and session.library.model is not None, timeout=LONG
    )
    assert session.text.corpus.name == "farm"
    assert session.library.model.folder == lstm_run.resolve()
    assert window.settings.recent == [snapshot, text_file]


def test_an_unexpected_exception_leaves_the_window_alive_and_is_shown_once(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    faults = Faults()
    faults.happened.connect(window.show_fault)

    def broken() -> None:
        raise RuntimeError("a defect")

    session.writing.sampling_changed.connect(broken)
    with qtbot.captureExceptions() as raised:
        session.writing.set_sampling(temperature=0.5)
    for _ in range(2):
        faults.catch(*raised[0][:2], raised[0][2])
    reports = window.findChildren(FaultReport)
    assert len(reports) == 1
    reports[0].findChild(QPushButton, "copy_report_button").click()
    copied = QApplication.clipboard().text()
    assert "RuntimeError: a defect" in copied
    assert "broken" in copied
    window.prefix_bar.edit.setText("still alive")
    assert session.reading.prefix == "still alive"


def test_what_was_open_is_offered_again(
    window: MainWindow, read: Session, settings: Settings, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    read.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: read.text.corpus is not None)
    read.library.choose_step(3)
    window.show_perspective("attention")
    window.close()

    later = Session(tmp_path / "runs")
    again = MainWindow(later, Settings(tmp_path / "settings.json"))
    qtbot.addWidget(again)
    later.start()
    try:
        assert again.perspective.name == "attention"
        again.beginning.welcome(tmp_path)
        assert "farm.txt" in again.notice.sentence
        again.notice.findChild(QPushButton).click()
        qtbot.waitUntil(
            lambda: later.text.corpus is not None and later.reading.current is not None, timeout=LONG
        )
        assert (later.reading.prefix, later.library.step) == ("the cows eat", 3)
        assert later.text.corpus.options.documents == "line"
    finally:
        later.close()


def test_a_session_that_was_killed_in_mid_training_is_offered_again_and_trains_on(
    window: MainWindow,
    session: Session,
    options: TrainingOptions,
    text_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(
        lambda: session.library.model is not None and session.training.state.progress.step > 20, timeout=LONG
    )
    folder = session.training.state.folder
    qtbot.waitUntil(
        lambda: Settings(tmp_path / "settings.json").last_session.training == str(folder), timeout=LONG
    )
    killed = tmp_path / "killed"  # as the files were at that moment; the training itself goes on
    shutil.copytree(folder, killed)
    copied = tmp_path / "killed.json"
    copied.write_text((tmp_path / "settings.json").read_text().replace(str(folder), str(killed)))
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)

    later = Session(tmp_path / "runs")
    again = MainWindow(later, Settings(copied))
    qtbot.addWidget(again)
    later.start()
    try:
        again.beginning.welcome(tmp_path)
        assert "killed" in again.notice.sentence
        again.notice.findChild(QPushButton).click()
        qtbot.waitUntil(lambda: "stopped at step" in again.notice.sentence, timeout=LONG)
        assert later.library.step == later.library.model.snapshots[-1], (
            "what was followed live is followed again"
        )
        held = later.library.step
        again.notice.findChild(QPushButton).click()
        qtbot.waitUntil(
            lambda: later.training.state.progress is not None and later.training.state.progress.step > held,
            timeout=LONG,
        )
        assert later.training.state.folder == killed
    finally:
        later.close()


def test_an_offer_that_was_not_taken_up_is_made_again(
    window: MainWindow, settings: Settings, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.keep("last/sources", str(text_file))
    window.close()
    assert Settings(tmp_path / "settings.json").last_session.sources == (str(text_file),)


def test_the_arrangement_is_remembered_and_can_be_reset(
    window: MainWindow, session: Session, settings: Settings, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    [action] = [action for action in window.perspective.toggle_actions if action.text() == "Next word"]
    action.trigger()
    shown = len(window.perspective.panels)
    window.close()
    again = MainWindow(session, settings)
    qtbot.addWidget(again)
    again.show()
    again.show_perspective("train")
    assert len(again.perspective.panels) == shown
    again.reset_arrangement()
    assert len(again.perspective.panels) == shown + 1


def test_more_room_goes_to_the_panels_in_the_middle_until_somebody_arranges_them(
    window: MainWindow, qtbot: QtBot
) -> None:
    def widths() -> dict[str, int]:
        return {panel.objectName(): panel.width() for panel in window.perspective.panels}

    window.show_perspective("train")
    usual = widths()
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: widths()["loss_view"] < usual["loss_view"] - 200)
    narrow = widths()
    window.resize(2200, 1200)
    qtbot.waitUntil(lambda: widths()["loss_view"] > narrow["loss_view"] + 900)
    assert widths()["plan_view"] < 340
    window.toggle_rearranging()
    dock = window.findChild(QDockWidget, "dock_plan")
    heads = [window.findChild(QDockWidget, f"dock_{name}") for name in ("plan", "loss", "next_word")]
    window.perspective.resizeDocks(heads, [700, 900, 340], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: dock.width() > 650)
    later = PerspectiveView("train", window.session, window.perspective.arrangement())
    qtbot.addWidget(later)
    later.resize(window.perspective.size())
    later.show()
    # Panels draw at the end of the turn in which the room is shared out, or later.
    qtbot.waitUntil(lambda: all(panel.is_up_to_date for panel in later.panels))
    assert later.findChild(QDockWidget, "dock_plan").width() > 650, "what a person has chosen stays"


@pytest.mark.parametrize("perspective", [row.name for row in shown_perspectives()])
def test_every_control_has_a_name_for_assistive_tools(
    window: MainWindow,
    read: Session,
    transformer_run: Path,
    text_file: Path,
    perspective: str,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    read.text.open(text_file, documents="line")
    read.library.open(transformer_run)
    qtbot.waitUntil(lambda: read.text.corpus is not None and len(read.library.models) == 2, timeout=LONG)
    window.show_perspective(perspective)
    drawn()
    reachable = [
        item
        for item in window.findChildren(QWidget)
        if item.isVisible() and item.focusPolicy() & Qt.FocusPolicy.TabFocus and _is_shown(item)
    ]
    assert len(reachable) > 12
    nameless = [item for item in reachable if not (item.accessibleName() or _words_on(item))]
    assert not nameless, [(type(item).__name__, item.objectName()) for item in nameless]


def _words_on(control: QWidget) -> str:
    return control.text() if isinstance(control, (QAbstractButton, QLabel)) else ""


def _is_shown(widget: QWidget) -> bool:
    """Whether it is ours, and not behind another tab. Qt makes parts such as the edit of a spin box."""
    above = widget
    while above is not None and not isinstance(above, Panel):
        above = above.parentWidget()
    return not widget.objectName().startswith("qt_") and (above is None or above.is_in_sight)


def test_the_keyboard_map_names_every_key_that_anything_listens_to(window: MainWindow) -> None:
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    told = " ".join(label.text() for label in shown.findChildren(QLabel)).lower()
    sources = (path for path in Path(commands.__file__).parents[1].rglob("*.py") if path.name != "demo.py")
    listened = {name for path in sources for name in re.findall(r"Key\.Key_(\w+)", path.read_text("utf-8"))}
    words = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "Enter": "return", "Escape": "esc"}
    words |= {"PageUp": "page up", "PageDown": "page down"}
    assert {"N", "Space", "Home", "Return"} <= listened
    keys = re.split(r"[\s,+]+", told)
    missing = {
        key for key in listened if words.get(key, key.lower()) not in [*keys, *map(" ".join, pairwise(keys))]
    }
    assert not missing
    for action in window.commands.all():
        if not action.shortcut().isEmpty():
            assert action.shortcut().toString(QKeySequence.SequenceFormat.NativeText).lower() in told


def test_the_keyboard_map_fits_into_a_small_window(window: MainWindow) -> None:
    window.resize(860, 560)
    window.commands.show_keyboard_map()
    [shown] = window.findChildren(KeyboardMap)
    assert shown.height() < window.height()


def test_projector_mode_enlarges(window: MainWindow) -> None:
    before = window.prefix_bar.edit.height()
    window.set_projector(True)
    assert theme_switch().projector
    QApplication.processEvents()
    assert window.prefix_bar.edit.height() > before * 1.2
    window.set_projector(False)
