"""Whatever a panel shows can leave the window: picture, numbers, and Python that gives the same numbers."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.exporting import LONG, choose, shown
from covering import others_slow, parametrize_few
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMenu,
    QPlainTextEdit,
)
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.api.training import train
from lmviz.app.board.exporting import choose_numbers, choose_picture, copy_recipe, fill_export_menu
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.part import Part
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.interventions import zero
from lmviz.inspection.trace import Trace
from lmviz.text.corpus import load_corpus

NAMES = [perspective.name for perspective in PERSPECTIVES]


@pytest.fixture
def panels(window: MainWindow, read: Session, qtbot: QtBot) -> dict[str, object]:
    """The panels of Inside on a small LSTM, a stage and a cell chosen."""
    window.show_perspective("inside")
    read.focus.choose_stage(2)
    read.focus.choose_cell(("layers/0/input", (1, 3)))
    found = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: found["why_view"].shown is not None, timeout=LONG)
    qtbot.waitUntil(lambda: found["state_view"].view.address == "layers/0/input", timeout=LONG)
    return found


@pytest.fixture
def trace(panels: dict[str, object], read: Session) -> Trace:
    """What the panels show, computed anew without the window: by the model in the run's folder."""
    return lmviz.trace(lmviz.open_model(read.library.model.folder), read.reading.prefix)


@pytest.fixture
def computed(trace: Trace) -> np.ndarray:
    """(position, unit) The tap that is chosen."""
    return trace["layers/0/input"].array


def test_a_picture_of_a_panel(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    choose(tmp_path / "state.png", monkeypatch)
    choose_picture(panels["state_view"])
    image = QImage(str(tmp_path / "state.png"))
    assert (image.width(), image.height()) == (
        2 * panels["state_view"].width(),
        2 * panels["state_view"].height(),
    )


def test_the_numbers_of_a_panel(
    panels: dict[str, object],
    trace: Trace,
    computed: np.ndarray,
    tmp_path: Path,
    monkeypatch,
    qtbot: QtBot,
) -> None:
    choose(tmp_path / "state.csv", monkeypatch)
    choose_numbers(panels["state_view"])
    with (tmp_path / "state.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[1:] == list(trace.tokens), "the words stand above their columns"
    assert [row[0] for row in rows][:2] == ["unit 1", "unit 2"]
    table = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_allclose(table, computed.T, rtol=1e-5)
    toast = panels["state_view"].window().findChild(Toast)
    assert toast.isVisible()
    assert "state.csv" in toast.text()
    qtbot.mouseClick(toast, Qt.MouseButton.LeftButton)
    assert not toast.isVisible()


@pytest.mark.slow
def test_a_name_is_offered_that_is_made_of_the_words_of_the_title(
    panels: dict[str, object], monkeypatch
) -> None:
    offered = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: offered.append(given[2]) or ("", ""))
    panels["state_view"].findChild(Card).set_title("Surprisal over the text, bits")
    choose_picture(panels["state_view"])
    assert offered == ["surprisal-over-the-text-bits.png"]


@pytest.mark.slow
def test_several_arrays_are_offered_as_npz(panels: dict[str, object], tmp_path: Path, monkeypatch) -> None:
    offered = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: offered.append(given[2]) or ("", ""))
    choose_numbers(panels["state_view"])
    choose_numbers(panels["why_view"])
    assert [Path(name).suffix for name in offered] == [".csv", ".npz"]


@parametrize_few(("name", "bound"), [("state_view", "values"), ("why_view", "equation")])
def test_the_python_of_a_panel_gives_what_it_shows(
    panels: dict[str, object], computed: np.ndarray, name: str, bound: str
) -> None:
    copy_recipe(panels[name])
    scope: dict[str, object] = {}
    exec(QGuiApplication.clipboard().text(), scope)
    if bound == "values":
        np.testing.assert_allclose(scope["values"], computed.T, rtol=1e-5)  # (unit, position), as it is drawn
    else:
        assert f"{computed[1, 3]:.2f}".lstrip("0") in scope["equation"]


def test_what_cannot_be_written_is_a_sentence(
    panels: dict[str, object], read: Session, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    choose(tmp_path / "state.bmp", monkeypatch)
    choose_picture(panels["state_view"])
    assert "bmp" in panels["state_view"].complaint


@pytest.mark.slow
def test_the_menu_offers_only_what_there_is(panels: dict[str, object]) -> None:
    menu = QMenu()
    fill_export_menu(menu, panels["surgery_view"])
    assert [action.isEnabled() for action in menu.actions()] == [True, False, False, False]


@pytest.mark.slow
def test_the_terms_of_a_number_add_up_to_it_again(panels: dict[str, object], computed: np.ndarray) -> None:
    arrays = panels["why_view"].exported_arrays()
    groups = [array for name, array in arrays.items() if name.startswith("terms/")]
    for group in groups:
        np.testing.assert_allclose(group[:, :-1].prod(axis=1), group[:, -1])
    argument = sum(group[:, -1].sum() for group in groups)
    assert 1 / (1 + np.exp(-argument)) == pytest.approx(computed[1, 3], rel=1e-5), "a gate's sigmoid"
    assert arrays["value"][0] == pytest.approx(computed[1, 3], rel=1e-5)


class Taken(QObject):
    """Opens the export menu of every panel, and takes all that it offers."""

    def __init__(self, panels: list[Panel]) -> None:
        super().__init__()
        self.panels, self.times = panels, 0

    @Slot()
    def take(self) -> None:
        self.times += 1
        for panel in self.panels:
            menu = QMenu()
            fill_export_menu(menu, panel)
            _, numbers, recipe, page = (action.isEnabled() for action in menu.actions())
            assert numbers == bool(panel.drawn_arrays())
            assert recipe == bool(panel.drawn_recipe())
            assert page == (numbers or bool(panel.drawn_results()))


@pytest.mark.slow
@pytest.mark.parametrize("perspective", others_slow(NAMES, "inside"))
def test_what_is_drawn_can_be_taken_along_in_the_midst_of_every_change(
    window: MainWindow,
    session: Session,
    text_file: Path,
    transformer_run: Path,
    tmp_path: Path,
    perspective: str,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    letters = load_corpus(text_file, documents="line", tokenizer="characters")
    train("gru", letters, tmp_path / "letters", steps=1, batch=2, length=8, width=8)
    panels = shown(window, perspective).values()
    taken = Taken(list(panels))
    for part in session.findChildren(Part):
        for name in dir(type(part)):
            if name.endswith("changed"):
                # At the beginning of the next turn, before any panel has drawn what is new.
                getattr(part, name).connect(taken.take, Qt.ConnectionType.QueuedConnection)
    session.text.open(text_file, documents="line", tokenizer="characters")
    session.library.open(tmp_path / "letters")
    qtbot.waitUntil(
        lambda: session.text.corpus is not None and session.library.model is not None, timeout=LONG
    )
    session.reading.set_prefix("the cows eat grass\nthe hens")
    drawn()
    session.focus.choose_cell(("logits", (4, 2)))
    session.comparison.choose([(session.library.model, session.library.model.snapshots[0])])
    session.writing.set_sampling(top_k=3)
    session.surgery.add(zero("embedding", position=2))
    drawn()
    session.reading.set_prefix("the")
    session.library.choose_step(session.library.model.snapshots[0])
    QApplication.processEvents()
    session.reading.set_prefix("")
    drawn()
    session.reading.set_prefix("the cows")
    session.library.open(transformer_run)  # of fewer tokens, and other taps
    qtbot.waitUntil(lambda: len(session.library.models) == 2, timeout=LONG)
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy, timeout=LONG)
    session.text.open(text_file, documents="line")
    session.library.choose(session.library.models[0])
    session.library.close(session.library.models[0])
    drawn()
    session.library.close(session.library.models[0])
    drawn()
    assert taken.times > 20


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_outside")
def test_a_right_click_on_the_text_of_a_sample_offers_to_export_it(
    window: MainWindow, read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    panel = shown(window, "train")["live_sample_view"]
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()), timeout=LONG)
    asked: list[object] = []
    monkeypatch.setattr("lmviz.app.board.exporting.fill_export_menu", lambda menu, of: asked.append(of))
    page = panel.findChild(QPlainTextEdit).viewport()
    place = page.rect().center()
    right = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(page, QContextMenuEvent(right, place, page.mapToGlobal(place)))
    assert asked == [panel]


CONTROLS = {
    *("plan_view", "tuning_view", "texts_view", "surgery_view", "guess_view", "real_view"),
    *("autodiff_editor_view", "tape_view", "poll_view"),
}
"""Panels of forms, lists and games, which draw no numbers of a model."""


@pytest.mark.parametrize("perspective", others_slow(NAMES, "inside"))
def test_every_panel_with_numbers_exports_them_and_none_fails_without_any(
    window: MainWindow, perspective: str
) -> None:
    for name, panel in shown(window, perspective).items():
        if perspective not in ("autodiff", "scale", "polls"):  # where there are always numbers
            assert panel.exported_arrays() == {}, name
            assert panel.recipe() == "", name
        own = [
            getattr(type(panel), part) is not getattr(Panel, part) for part in ("exported_arrays", "recipe")
        ]
        assert all(own) or name in CONTROLS, name
