"""The header's menus: the model that is shown, and those that stand beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.api.training import open_model, train
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import short
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.open_model import RenameDialog
from lmviz.text.corpus import load_corpus


@pytest.fixture
def two(read: Session, transformer_run: Path, qtbot: QtBot) -> Session:
    """The session with the LSTM and the Transformer open; the Transformer is looked into."""
    read.library.open(transformer_run)
    qtbot.waitUntil(lambda: len(read.library.models) == 2)
    return read


@pytest.fixture
def offered(window: MainWindow) -> Callable[[str], dict[str, QAction]]:
    """Call it with a button's name to open its menu: the entries by their words."""
    opened: list[QMenu] = []

    def show(button: str) -> dict[str, QAction]:
        menu = window.findChild(QPushButton, button).menu()
        menu.popup(QPoint(0, 0))
        opened.append(menu)
        return {action.text(): action for action in menu.actions() if action.text()}

    yield show
    for menu in opened:
        menu.close()


def test_the_button_says_which_model_is_looked_into(window: MainWindow, two: Session) -> None:
    button = window.findChild(QPushButton, "model_picker")
    assert button.text().startswith("Transformer · 1 layer · ")
    two.library.choose(two.library.models[0])
    assert button.text().startswith("LSTM · ")
    for model in two.library.models:
        two.library.close(model)
    assert button.text() == "no model yet"
    assert not window.findChild(QPushButton, "compare_picker").isEnabled()


@pytest.mark.slow
def test_of_a_counted_model_it_says_how_many_n_grams_there_are_at_the_shown_step(
    window: MainWindow,
    session: Session,
    offered: Callable[[str], dict[str, QAction]],
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    text, run = tmp_path / "squares.txt", tmp_path / "counted"
    text.write_text("\n".join(f"line {number} says {number * number}" for number in range(100)))
    session.permission.allow([str(text)])
    train("ngram", load_corpus(text, documents="line"), run, steps=6, order=5)
    counted = {step: open_model(run, step=step).parameter_count() for step in (1, 2, 6)}
    words = {f"n-gram · order 5 · {short(count)}": step for step, count in counted.items()}
    assert len(words) == 3
    button, library = window.findChild(QPushButton, "model_picker"), session.library
    untrue: list[str] = []

    def check() -> None:
        said = button.text().lower()
        if said != "n-gram · order 5" and words.get(said) != library.step:
            untrue.append(f"{said} at step {library.step}")

    library.open(run)
    qtbot.waitUntil(lambda: library.model is not None)
    for changed in (library.step_changed, library.models_changed):
        changed.connect(check)
    for step in (6, 1, 2):
        library.choose_step(step)
        qtbot.waitUntil(lambda step=step: words.get(button.text().lower()) == step)
        assert any(short(counted[step]) in entry for entry in offered("model_picker"))
    assert not untrue


def test_its_menu_chooses_among_the_open_models_and_closes_one(
    two: Session, offered: Callable[[str], dict[str, QAction]]
) -> None:
    lstm, transformer = two.library.models
    found = offered("model_picker")
    [choose] = [action for words, action in found.items() if words.startswith("lstm")]
    assert any(words.startswith("transformer") for words in found)
    choose.trigger()
    assert two.library.model == lstm
    offered("model_picker")["Close lstm"].trigger()
    assert two.library.models == (transformer,)
    assert two.library.model == transformer
    assert not any(words.startswith("lstm") for words in offered("model_picker"))


@pytest.mark.slow
def test_an_entry_is_about_the_model_that_it_names(
    window: MainWindow, two: Session, offered: Callable[[str], dict[str, QAction]]
) -> None:
    first, second = two.library.models
    entries = offered("model_picker")
    two.library.choose(first)  # as a training does that shows its model, while the menu is open
    entries[f"Rename {second.name}…"].trigger()
    dialog = window.findChild(RenameDialog)
    assert dialog is not None
    assert dialog.findChild(QLineEdit).text() == second.name
    dialog.reject()
    entries[f"Close {second.name}"].trigger()
    assert two.library.models == (first,)


@pytest.mark.slow
def test_its_menu_asks_which_run_to_open(
    two: Session, offered: Callable[[str], dict[str, QAction]], window: MainWindow, qtbot: QtBot
) -> None:
    [choose] = [action for words, action in offered("model_picker").items() if words.startswith("Open")]
    with qtbot.waitSignal(window.header.open_model_wanted):
        choose.trigger()
    [dialog] = [found for found in window.findChildren(QDialog) if found.isVisible()]
    dialog.close()


@pytest.mark.slow
def test_models_are_ticked_to_stand_beside_it(
    window: MainWindow, two: Session, offered: Callable[[str], dict[str, QAction]]
) -> None:
    lstm, _ = two.library.models
    button = window.findChild(QPushButton, "compare_picker")
    assert button.text() == "compare with…"
    assert not offered("compare_picker")["lstm"].isChecked()
    offered("compare_picker")["lstm"].trigger()
    assert two.comparison.chosen == ((lstm, lstm.snapshots[-1]),)
    assert button.text() == "compare with 1"
    assert offered("compare_picker")["lstm"].isChecked()
    offered("compare_picker")["lstm"].trigger()
    assert two.comparison.chosen == ()
    assert button.text() == "compare with…"


@pytest.mark.slow
def test_a_moment_can_be_held_on_to(two: Session, offered: Callable[[str], dict[str, QAction]]) -> None:
    two.library.choose(two.library.models[0])
    two.library.choose_step(1)
    model, step = two.library.moment
    offered("compare_picker")[f"Compare with {model.name} as of step {step}"].trigger()
    assert two.comparison.chosen == ((model, step),)
    two.library.choose_step(model.snapshots[-1])
    assert two.comparison.moments == ((model, step), (model, model.snapshots[-1]))


@pytest.mark.slow
def test_a_sample_model_is_opened_beside_the_only_one(
    read: Session,
    offered: Callable[[str], dict[str, QAction]],
    transformer_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    monkeypatch.setattr(
        "lmviz.api.training.sample_models", lambda: (str(transformer_run), read.library.model.name)
    )
    beside, moment = offered("compare_picker")["Open a sample model beside it"], read.library.moment
    [sample] = beside.menu().actions()
    sample.trigger()
    qtbot.waitUntil(lambda: len(read.library.models) == 2)
    beside_it = read.library.models[1]
    assert beside_it.folder == transformer_run.resolve()
    assert read.library.moment == moment
    assert read.comparison.chosen == ((beside_it, beside_it.snapshots[-1]),)


@pytest.mark.slow
def test_the_button_on_the_right_opens_the_palette(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.header.palette_wanted):
        qtbot.mouseClick(window.findChild(QPushButton, "palette_button"), Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_the_model_is_named_by_its_family_where_there_is_no_room(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    button = window.findChild(QPushButton, "model_picker")
    assert " · " in button.text()
    window.set_projector(True)
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: button.text() == "LSTM")
    assert "layer" in button.toolTip()
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: " · " in button.text())
