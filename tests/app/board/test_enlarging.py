"""Projector mode leaves two panels; one key lets the panel under the pointer fill the window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow, parametrize_few
from in_sight import all_have_drawn
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QAbstractSpinBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import PERSPECTIVES, projected_rows
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow

LECTURE_HALL = (1280, 720)
MOST = 2
NAMES = [row.name for row in PERSPECTIVES]


def in_sight(window: MainWindow) -> set[str]:
    return {panel.objectName() for panel in window.perspective.panels if panel.is_in_sight}


def shown(window: MainWindow) -> set[str]:
    return {panel.objectName() for panel in window.perspective.panels if panel.isVisible()}


@pytest.mark.parametrize("perspective", others_slow(NAMES, "train"))  # forms, and few panels
def test_projector_mode_leaves_two_panels_without_sideways_scrolling(
    window: MainWindow, read: Session, perspective: str, qtbot: QtBot
) -> None:
    window.resize(*LECTURE_HALL)
    window.show_perspective(perspective)
    before = shown(window)
    window.set_projector(True)
    qtbot.waitUntil(lambda: 1 <= len(in_sight(window)) <= MOST)
    assert len([row for row in projected_rows(perspective) if not row.tabbed]) <= MOST
    view = window.perspective
    qtbot.waitUntil(lambda: view.width() <= view.parentWidget().width())
    window.set_projector(False)
    qtbot.waitUntil(lambda: shown(window) == before)


def test_what_a_person_arranged_comes_back_after_projector_mode(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    toggle = next(item for item in window.perspective.toggle_actions if item.text() == "Surgery")
    toggle.trigger()
    before = shown(window)
    assert "surgery_view" not in before
    window.set_projector(True)
    qtbot.waitUntil(lambda: len(in_sight(window)) <= MOST)
    remembered = window.perspective.arrangement()
    window.set_projector(False)
    qtbot.waitUntil(lambda: shown(window) == before)
    again = Board("attention", read, remembered)
    qtbot.addWidget(again)
    again.show()
    assert {panel.objectName() for panel in again.panels if panel.is_in_sight} == before
    qtbot.waitUntil(lambda: all_have_drawn(again))


def test_the_panel_under_the_pointer_fills_the_window_until_escape(
    window: MainWindow, read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    before = shown(window)
    heads = next(panel for panel in window.perspective.panels if panel.objectName() == "heads_view")
    middle = heads.mapToGlobal(heads.rect().center())
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: middle))
    qtbot.keyClick(window, Qt.Key.Key_F9)
    qtbot.waitUntil(lambda: shown(window) == {"heads_view"})
    assert all(part.isHidden() for part in (window.header, window.prefix_bar, window.transport))
    qtbot.waitUntil(lambda: heads.width() > 0.9 * window.width())
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: shown(window) == before)
    assert not any(part.isHidden() for part in (window.header, window.prefix_bar))


def point_at(window: MainWindow, name: str, monkeypatch: pytest.MonkeyPatch) -> Panel:
    """The panel of this object name, with the pointer in its middle."""
    panel = next(panel for panel in window.perspective.panels if panel.objectName() == name)
    middle = panel.mapToGlobal(panel.rect().center())
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: middle))
    return panel


@parametrize_few(
    ("perspective", "name", "projector"),
    [
        ("inside", "picture_view", False),
        ("sample", "distribution_view", False),
        ("corpus", "texts_view", False),
        ("scale", "calculator_view", True),
    ],
)
def test_afterwards_every_panel_is_where_it_was(
    window: MainWindow,
    read: Session,
    perspective: str,
    name: str,
    projector: bool,
    drawn: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    """Also where panels have got other contents, and so other least sizes, since they were arranged."""
    window.resize(*LECTURE_HALL)
    window.show_perspective(perspective)
    window.set_projector(projector)
    drawn()

    def places() -> dict[str, QRect]:
        view = window.perspective
        return {
            panel.objectName(): QRect(panel.mapTo(view, QPoint(0, 0)), panel.size())
            for panel in view.panels
            if panel.is_in_sight
        }

    panels = list(window.perspective.panels)

    def parents() -> list[QWidget | None]:
        return [panel.parentWidget().parentWidget() for panel in panels]

    before, around = places(), parents()
    point_at(window, name, monkeypatch)
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: len(places()) == 1)
    assert parents() == around, "in another parent Qt would style each anew"
    assert window.perspective.updatesEnabled()
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: places() == before)
    drawn()
    assert places() == before


@pytest.mark.slow
def test_the_enlarged_matrix_fits_into_the_window(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    drawn: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    """With its strips beside it, also in a window that is a little lower than it once was."""
    window.resize(1280, 760)
    window.show_perspective("attention")
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(lambda: session.reading.current is not None)
    panel = point_at(window, "attention_view", monkeypatch)
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: panel.width() > 0.9 * window.width())
    drawn()
    window.resize(1280, 640)
    drawn()
    qtbot.waitUntil(lambda: window.perspective.height() <= window.perspective.parentWidget().height())


@pytest.mark.slow
def test_what_is_explained_stays_where_the_explanation_is_enlarged(
    window: MainWindow,
    session: Session,
    transformer_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    window.show_perspective("attention")
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat grass")
    qtbot.waitUntil(lambda: session.explanation.arithmetic is not None)
    explained = session.explanation.cell
    assert explained is not None
    assert explained[0] == "layers/0/attention/weights"
    point_at(window, "why_view", monkeypatch)
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: shown(window) == {"why_view"})
    assert session.explanation.cell == explained
    session.focus.choose_position(1)
    assert session.explanation.cell[0] == explained[0]
    assert session.explanation.cell[1][1] == 1, "the strongest of the word that is chosen now"
    window.toggle_enlarged()
    window.show_perspective("sample")
    assert session.explanation.suggestion is None or session.explanation.suggestion[0] != explained[0]


@pytest.mark.slow
def test_no_field_gets_the_focus_of_what_is_hidden(
    window: MainWindow, read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.show_perspective("sample")
    window.prefix_bar.edit.setFocus()
    point_at(window, "distribution_view", monkeypatch)
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: shown(window) == {"distribution_view"})
    assert not isinstance(window.focusWidget(), QLineEdit | QAbstractSpinBox)


@pytest.mark.slow
def test_going_elsewhere_brings_everything_back(window: MainWindow, read: Session, qtbot: QtBot) -> None:
    window.show_perspective("train")
    window.toggle_enlarged()
    qtbot.waitUntil(lambda: len(shown(window)) == 1)
    window.show_perspective("sample")
    assert not window.header.isHidden()
    window.show_perspective("train")
    qtbot.waitUntil(lambda: len(shown(window)) > MOST)


@pytest.mark.slow
def test_the_claim_names_the_word_that_is_looked_at_most(
    window: MainWindow, session: Session, transformer_run, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat grass")
    claim = window.findChild(QLabel, "attention_claim")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text.endswith("grass")
    )
    assert not claim.isVisible()
    window.set_projector(True)
    qtbot.waitUntil(claim.isVisible)
    weights = session.reading.current.trace["layers/0/attention/weights"].array[0]
    looked_at = session.reading.current.trace.tokens[int(weights[session.reading.position].argmax())]
    assert f">{looked_at} " in claim.text().replace("&lt;", "<")
    assert f"{100 * weights[session.reading.position].max():.1f}" in claim.text()


@pytest.mark.slow
def test_a_word_that_looks_at_itself_is_said_to(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat grass")
    window.set_projector(True)
    claim, matrix = window.findChild(QLabel, "attention_claim"), window.findChild(HeatmapView)
    qtbot.waitUntil(claim.isVisible)
    session.focus.choose_position(0)  # which can look nowhere else
    qtbot.waitUntil(lambda: "itself 100" in claim.text())
    assert "looks back" not in claim.text()
    assert not matrix._labels.few_columns, "they are few enough to be named"


@pytest.mark.slow
def test_where_the_claim_has_room_it_is_as_large_as_the_room_and_covers_no_cell(
    window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    window.resize(*LECTURE_HALL)
    window.show_perspective("attention")
    session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat")
    claim, matrix = window.findChild(QLabel, "attention_claim"), window.findChild(HeatmapView)
    window.set_projector(True)
    qtbot.waitUntil(claim.isVisible)

    def is_large() -> bool:
        cells = matrix.cell_rectangle(0, matrix.shape[1] - 1).right()
        left = claim.mapTo(window, QPoint(0, 0)).x() - matrix.mapTo(window, QPoint(0, 0)).x()
        usual = 3 * 17 * current_theme().scale  # three lines of what is said in ordinary type
        return left > cells and claim.height() > 1.5 * usual and claim.width() <= claim.parentWidget().width()

    qtbot.waitUntil(is_large)


@pytest.mark.slow
def test_what_stands_below_becomes_a_tab_where_both_would_be_too_low(
    window: MainWindow, read: Session, qtbot: QtBot
) -> None:
    window.resize(*LECTURE_HALL)
    window.show_perspective("compare")
    window.set_projector(True)
    view = window.perspective
    qtbot.waitUntil(lambda: in_sight(window) == {"compare_view"})
    qtbot.waitUntil(lambda: view.height() <= view.parentWidget().height())
    view.bring_forward("surprisal_view")
    qtbot.waitUntil(lambda: "surprisal_view" in in_sight(window))
    window.set_projector(False)
    window.set_projector(True)
    qtbot.waitUntil(lambda: in_sight(window) == {"compare_view"})
    window.resize(1920, 1300)
    qtbot.waitUntil(lambda: in_sight(window) == {"compare_view", "surprisal_view"})
    window.resize(*LECTURE_HALL)
    qtbot.waitUntil(lambda: in_sight(window) == {"compare_view"})


@pytest.mark.slow
def test_what_is_left_has_its_room_again_once_something_else_had_its_turn(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.resize(*LECTURE_HALL)
    window.show_perspective("autodiff")
    window.set_projector(True)
    view, both = window.perspective, {"graph_view", "tape_view"}
    qtbot.waitUntil(lambda: in_sight(window) == both)
    view.bring_forward("nudge_view")
    qtbot.waitUntil(lambda: "nudge_view" in in_sight(window))
    view.bring_forward("tape_forward")
    qtbot.waitUntil(lambda: in_sight(window) == both)
