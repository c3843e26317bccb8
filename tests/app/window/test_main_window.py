"""The window as a whole: train, drop, break, close."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.command_palette import CommandPalette
from lmviz.app.window.dialogs import FaultReport
from lmviz.app.window.main_window import MainWindow
from lmviz.app.workers.faults import Faults
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

NAMES = [row.name for row in shown_perspectives()]

LONG = 20_000


def find(window: MainWindow, kind: type[QWidget], name: str) -> QWidget:
    found = window.findChild(kind, name)
    assert found is not None, name
    return found


def press(window: MainWindow, qtbot: QtBot, name: str) -> None:
    button = find(window, QPushButton, name)
    assert button.isEnabled(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_load_choose_train_pause_scrub_resume_stop(
    window: MainWindow, session: Session, text_file: Path, options: TrainingOptions, qtbot: QtBot
) -> None:
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_film_runs_through_all_snapshots_and_every_one_is_read(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    seen = []
    read.reading.changed.connect(lambda: seen.append(read.reading.current.step))
    film = window.transport.time.film_button
    window.transport.time.film.set_speed(2.0)
    film.click()
    qtbot.waitUntil(lambda: not film.isChecked() and not read.reading.is_busy, timeout=LONG)
    assert sorted(set(seen)) == list(read.library.model.snapshots)


@pytest.mark.slow
def test_the_palette_finds_and_runs_a_command(window: MainWindow, qtbot: QtBot) -> None:
    window.commands.show_palette()
    palette = window.findChild(CommandPalette)
    edit = palette.findChild(QLineEdit)
    qtbot.keyClicks(edit, "dark th")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert current_theme().name == "dark"
    window.set_theme("light")


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


@pytest.mark.slow
@pytest.mark.parametrize("perspective", others_slow(["polls", "scale", "autodiff"], "polls"))
def test_a_text_that_is_opened_where_nothing_shows_texts_brings_corpus_to_the_front(
    window: MainWindow, session: Session, text_file: Path, lstm_run: Path, perspective: str, qtbot: QtBot
) -> None:
    window.show_perspective(perspective)
    window.open_paths([lstm_run])
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert window.perspective_name == perspective  # the header says which model is open
    window.open_paths([text_file])
    assert window.perspective_name == "corpus"
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)


@pytest.mark.slow
def test_a_run_that_is_opened_alone_is_seen_with_an_example_of_its_text(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    window.open_paths([transformer_run])
    qtbot.waitUntil(lambda: window.perspective_name == "attention", timeout=LONG)
    qtbot.waitUntil(lambda: session.reading.current is not None and bool(session.reading.prefix))


@pytest.mark.slow
def test_a_run_whose_text_may_not_be_read_says_how_to_allow_it(
    window: MainWindow, session: Session, label_runs: dict[str, Path], qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    window.open_paths([label_runs["classifier"]])
    qtbot.waitUntil(lambda: window.perspective_name == "inside", timeout=LONG)
    qtbot.waitUntil(lambda: "outside its folder" in window.notice.sentence)
    assert session.reading.prefix == ""
    window.notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: bool(session.reading.prefix))


@pytest.mark.slow
def test_a_model_that_is_given_has_something_to_show_wherever_the_window_stands(
    window: MainWindow, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("sample")
    window.open_paths([lstm_run])
    qtbot.waitUntil(lambda: bool(session.reading.prefix))
    assert window.perspective_name == "sample"


@pytest.mark.slow
def test_a_text_that_is_opened_where_it_matters_leaves_the_perspective(
    window: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    window.open_paths([text_file])
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    assert window.perspective_name == "train"


def test_an_unexpected_exception_leaves_the_window_alive_and_is_said_once(
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
    assert "RuntimeError: a defect" in window.notice.sentence
    window.notice.findChild(QPushButton).click()
    [report] = window.findChildren(FaultReport)
    report.findChild(QPushButton, "copy_report_button").click()
    copied = QApplication.clipboard().text()
    assert "RuntimeError: a defect" in copied
    assert "broken" in copied
    faults.catch(*raised[0][:2], raised[0][2])
    assert window.notice.sentence == ""
    faults.catch(ValueError, ValueError("another"), None)
    assert "another" in window.notice.sentence
    window.prefix_bar.edit.setText("still alive")
    assert session.reading.prefix == "still alive"


@pytest.mark.parametrize("perspective", others_slow(NAMES, "polls"))
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


@pytest.mark.slow
def test_the_size_of_type_acts_at_once_and_is_remembered(
    window: MainWindow, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    before = window.prefix_bar.edit.height()
    [action] = [action for action in window.commands.all() if action.text() == "Type at 150 %"]
    action.trigger()
    qtbot.waitUntil(lambda: window.prefix_bar.edit.height() > before * 1.3)
    settings.write()
    theme_switch().set_type_size(100)
    another = MainWindow(Session(tmp_path / "others"), Settings(tmp_path / "settings.json"))
    qtbot.addWidget(another)
    assert theme_switch().type_size == 150
    another.session.close()


def test_projector_mode_enlarges(window: MainWindow) -> None:
    before = window.prefix_bar.edit.height()
    window.set_projector(True)
    assert theme_switch().projector
    QApplication.processEvents()
    assert window.prefix_bar.edit.height() > before * 1.2
    window.set_projector(False)


def test_a_window_that_is_closed_is_gone_before_threads_are_waited_for(
    window: MainWindow, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    close, seen = session.close, []
    monkeypatch.setattr(session, "close", lambda: (seen.append(window.isVisible()), close()))
    window.close()
    assert seen == [False]


@pytest.mark.slow
def test_the_home_of_a_user_whom_nobody_knows_is_no_fault(
    window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.failed) as caught:
        window.open_paths(["~nobody-has-this-name/farm.txt"])
    assert "~nobody-has-this-name" in caught.args[0]
