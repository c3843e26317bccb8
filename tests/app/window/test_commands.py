"""Commands that cannot act now are not offered, neither in the menus nor in the palette."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from benches.exporting import choose
from covering import parametrize_few
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QMenu
from pytestqt.qtbot import QtBot

from lmviz.api.training import sample_models
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.command_palette import CommandPalette, command_text
from lmviz.app.window.commands import TERMS
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.other_words import OF_PERSPECTIVES, OF_SAMPLES
from lmviz.families import FAMILIES
from lmviz.inspection.interventions import scale
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

LONG = 30_000
WHILE_TRAINING = {"Pause training", "Stop training"}
OF_INTERVENTIONS = {"Undo change", "Redo change", "Remove all changes"}
OF_A_MODEL = {"Continue training", "Follow training live", "Play training like a film"}


@pytest.fixture
def offered(window: MainWindow) -> Callable[[], set[str]]:
    """The names of the commands that can be chosen."""
    return lambda: {action.text() for action in window.commands.all() if action.isEnabled()}


def test_without_a_model_and_a_training_there_is_nothing_to_stop(offered: Callable[[], set[str]]) -> None:
    assert not offered() & (WHILE_TRAINING | OF_INTERVENTIONS | OF_A_MODEL)
    assert {"Train", "One training step", "Quit"} <= offered()


def test_what_a_training_can_be_told_depends_on_how_it_stands(
    session: Session,
    offered: Callable[[], set[str]],
    text_file: Path,
    options: TrainingOptions,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(
        lambda: session.training.trains_shown_model and session.training.state.phase == "running",
        timeout=LONG,
    )
    assert offered() >= {*WHILE_TRAINING, "Follow training live"}
    assert not offered() & {"Train", "Continue training"}
    session.training.pause()
    qtbot.waitUntil(lambda: session.training.state.phase == "paused", timeout=LONG)
    assert offered() >= {"Train", "Continue training", "Stop training"}
    assert "Pause training" not in offered()
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)
    assert not offered() & {*WHILE_TRAINING, "Follow training live"}
    assert offered() >= {"Train", "Continue training", "Play training like a film"}


@pytest.mark.slow
def test_where_the_race_is_steered_a_step_is_offered_only_while_it_is_under_way(
    window: MainWindow,
    session: Session,
    offered: Callable[[], set[str]],
    text_file: Path,
    options: TrainingOptions,
    qtbot: QtBot,
) -> None:
    assert "One training step" in offered()
    window.show_perspective("race")
    assert "One training step" not in offered()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.work.is_ready)
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
    session.race.add()
    session.race.go_on()
    qtbot.waitUntil(lambda: session.race.is_active)
    assert "One training step" in offered()
    session.race.stop()
    qtbot.waitUntil(lambda: not session.race.is_active)
    assert "One training step" not in offered()
    window.show_perspective("corpus")
    assert "One training step" in offered()


@pytest.mark.slow
def test_there_is_only_something_to_undo_after_an_intervention(
    session: Session, offered: Callable[[], set[str]], lstm_run: Path, qtbot: QtBot
) -> None:
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert not offered() & OF_INTERVENTIONS
    session.surgery.add(scale("logits", 0.5))
    assert offered() & OF_INTERVENTIONS == {"Undo change", "Remove all changes"}
    session.surgery.undo()
    assert offered() & OF_INTERVENTIONS == {"Redo change"}


@pytest.mark.parametrize(
    ("look", "is_training", "every"),
    [
        ("dark", True, 8),
        *(
            pytest.param(look, is_training, 1, marks=pytest.mark.slow)
            for look in ("light", "dark", "projector")
            for is_training in (False, True)
        ),
    ],
)
@pytest.mark.usefixtures("nothing_outside")
def test_every_command_that_is_offered_can_be_chosen(
    window: MainWindow,
    session: Session,
    text_file: Path,
    lstm_run: Path,
    look: str,
    is_training: bool,
    every: int,
    qtbot: QtBot,
) -> None:
    session.text.open(text_file, documents="line")
    session.library.open(lstm_run)
    qtbot.waitUntil(
        lambda: session.text.corpus is not None and session.library.model is not None, timeout=LONG
    )
    session.reading.set_prefix("the cows")
    window.set_theme("dark" if look == "dark" else "light")
    window.set_projector(look == "projector")
    failed: list[str] = []
    session.work.any_failed.connect(failed.append)
    if is_training:
        session.training.start(
            "rnn", FAMILIES["rnn"].configuration(width=8), TrainingOptions(batch=2, length=8)
        )
        qtbot.waitUntil(lambda: session.training.state.phase == "running", timeout=LONG)
    left_out = {"Quit", "Train", "One training step", "Continue training", "Stop training"}
    names = [command_text(action) for action in window.commands.all()]
    for name in names[::every]:
        action = next((action for action in window.commands.all() if command_text(action) == name), None)
        if action is None or not action.isEnabled() or action.menu() is not None or name in left_out:
            continue
        action.trigger()
        QApplication.processEvents()
        window.set_projector(look == "projector")
    assert window.isVisible()
    assert not [sentence for sentence in failed if "did not expect" in sentence]
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


def shown_menu() -> QMenu:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_what_is_shown_is_exported_by_keys(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    picture = tmp_path / "picture.png"
    choose(picture, monkeypatch)

    def go_to(name: str) -> None:
        menu = shown_menu()
        qtbot.waitUntil(lambda: bool(menu.actions()))
        while menu.activeAction() is None or menu.activeAction().text() != name:
            qtbot.keyClick(menu, Qt.Key.Key_Down)

    file = next(menu for menu in window.header.menu_bar.findChildren(QMenu) if menu.title() == "&File")
    file.popup(window.mapToGlobal(window.rect().topLeft()))
    go_to("Export")
    qtbot.keyClick(file, Qt.Key.Key_Right)
    export = shown_menu()
    lines = [action.text() for action in export.actions() if not action.isSeparator()]
    assert lines[:4] == ["Pictures", "Tables of numbers", "Python code", "Pages"]
    assert len(lines) == 6
    go_to("Pictures")
    qtbot.keyClick(export, Qt.Key.Key_Right)
    go_to("Poll…")
    qtbot.keyClick(shown_menu(), Qt.Key.Key_Return)
    qtbot.waitUntil(picture.exists)


@pytest.mark.slow
def test_recent_runs_are_offered_by_their_titles(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, offered: Callable[[], set[str]]
) -> None:
    named = lstm_run.parent / "2025-11-21-033511-lstm"
    shutil.copytree(lstm_run, named)
    Run.open(named).rename("the first that rhymes")
    for path in (text_file, named / "snapshots" / "000006.safetensors"):
        window.settings.add_recent(path)
    assert {"Open farm.txt", "Open the first that rhymes"} <= offered()
    (named / "run.json").write_text("{", encoding="utf-8")
    assert f"Open {named.name}" in offered()


def found_by(window: MainWindow, typed: str) -> list[str]:
    """What the palette lists for some letters."""
    window.commands.show_palette()
    palette = window.findChild(CommandPalette)
    QTest.keyClicks(palette.findChild(QLineEdit), typed)
    found = palette.findChild(QListView).model()
    names = [found.index(row).data() for row in range(found.rowCount())]
    palette.close()
    return names


@pytest.mark.slow
def test_the_palette_finds_own_runs_and_texts(
    window: MainWindow, session: Session, lstm_run: Path, text_file: Path, qtbot: QtBot
) -> None:
    shutil.copytree(lstm_run, session.training.runs_folder / "that-rhymes")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    title = session.text.own[0].title
    assert f"Read text {title}" in found_by(window, title)
    assert any(name.startswith("Open run ") for name in found_by(window, "that-rhymes"))


@pytest.mark.slow
def test_induction_leads_to_heads_and_to_the_sample_model_that_has_them(window: MainWindow) -> None:
    found = found_by(window, "induction")
    assert "Induction heads over training: what each head does" in found
    assert "Open sample model echo-transformer" in found


def test_other_words_are_of_what_there_is() -> None:
    assert set(OF_SAMPLES) == set(sample_models())
    assert set(OF_PERSPECTIVES) <= {perspective.name for perspective in PERSPECTIVES}


@parametrize_few(("title", "panel"), [(title, panel) for title, _, panel in TERMS], quick=2)
def test_a_term_of_the_field_leads_to_the_panel_that_shows_it(
    window: MainWindow, qtbot: QtBot, title: str, panel: str
) -> None:
    next(action for action in window.commands.all() if action.text() == title).trigger()
    qtbot.waitUntil(lambda: window.find_control(panel) is not None, timeout=LONG)


def test_the_terms_of_the_field_are_offered(offered: Callable[[], set[str]]) -> None:
    names = "\n".join(offered()).casefold()
    for term in (
        "ablation",
        "activation patching",
        "hook",
        "induction head",
        "logit lens",
        "residual stream",
    ):
        assert term in names
