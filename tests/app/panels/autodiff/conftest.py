"""The Autodiff perspective, as a person finds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from in_sight import all_have_drawn
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.look.theme import current_theme
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.diagrams.network_boxes import CELL_SIZE
from lmviz.app.widgets.diagrams.network_picture import NetworkPicture
from lmviz.app.widgets.diagrams.network_values import ValueCell


class Scene:
    """The Autodiff perspective, with what a person sees and does there."""

    def __init__(self, view: Board, session: Session, qtbot: QtBot) -> None:
        self.view, self.session, self._qtbot = view, session, qtbot

    def find(self, kind: type, name: str = "") -> QWidget:
        found = self.view.findChild(kind, name) if name else self.view.findChild(kind)
        assert found is not None, name
        return found

    def settle(self) -> None:
        self._qtbot.waitUntil(lambda: all_have_drawn(self.view))

    def click(self, name: str) -> None:
        button = self.find(QPushButton, name)
        assert button.isEnabled(), name
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.settle()

    @property
    def picture(self) -> NetworkPicture:
        return self.find(NetworkPicture)

    def place(self, name: str, index: tuple[int, ...], is_gradient: bool) -> QPoint:
        return self.picture.cell_rectangle(ValueCell(name, index, is_gradient)).center().toPoint()

    def read(self, name: str, index: tuple[int, ...] = (), *, gradient: bool = False) -> float:
        """The number that the card beside the pointer says."""
        QTest.mouseMove(self.picture, QPoint(1, 1))
        QTest.mouseMove(self.picture, self.place(name, index, gradient))
        card = self.view.window().findChild(HoverCard)
        assert card is not None
        assert card.isVisible()
        return float(card.title.replace("−", "-"))

    def drawn(self, name: str, index: tuple[int, ...] = (), *, gradient: bool = False) -> float:
        """The number that stands in a cell of the graph, which is large enough for it."""
        cell = ValueCell(name, index, gradient)
        figure = self.picture.figure(cell)
        room = self.picture.cell_rectangle(cell).width() / self.picture.zoom
        assert self.picture.is_readable
        assert metrics(CELL_SIZE, token=True).horizontalAdvance(figure) / current_theme().scale <= room
        return float(figure.replace("−", "-"))

    def panel(self, name: str) -> QWidget:
        return next(panel for panel in self.view.panels if panel.objectName() == name)


S = TypeVar("S", bound=Scene)


@contextmanager
def opened(kind: type[S], tmp_path: Path, qtbot: QtBot) -> Iterator[S]:
    """The perspective alone, on a session whose threads are never started."""
    session = Session(tmp_path / "runs")
    view = Board("autodiff", session)
    qtbot.addWidget(view)
    view.resize(1340, 780)
    view.show()
    scene = kind(view, session, qtbot)
    scene.settle()
    yield scene
    session.close()


@pytest.fixture
def scene(tmp_path: Path, qtbot: QtBot) -> Iterator[Scene]:
    with opened(Scene, tmp_path, qtbot) as scene:
        yield scene
