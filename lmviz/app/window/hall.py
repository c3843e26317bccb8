"""The window in front of a room: only what an item of the lecture needs, and where one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.widgets.base.building import STRETCH, row
from lmviz.app.widgets.base.plain import Label

if TYPE_CHECKING:
    from lmviz.lectures.lecture import LectureItem

SIZE = 12.0  # of the type at the edge, at scale 1
TRAINED_IN = ("train", "race")
"""The perspectives that are about a training, whose buttons and figures they need."""


class LectureEdge(QFrame):
    """`LectureEdge()`: `tell(title, place)` says at the lower edge which item is shown; hidden until then."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lecture_edge")
        self._title = Label(name="lecture_edge_title", role="muted")
        self._place = Label(name="lecture_edge_place", role="muted")
        row(self._title, STRETCH, self._place, on=self, gap=12, margins=(16, 1, 16, 3))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self.hide()

    def tell(self, title: str, place: str) -> None:
        """Say another item, and that it is "3 of 10"."""
        self._title.setText(title)
        self._place.setText(place)

    def _adopt_theme(self) -> None:
        for label in (self._title, self._place):
            give_font(label, current_theme().font(SIZE))
            label.setAlignment(Qt.AlignmentFlag.AlignVCenter)


class Hall:
    """Puts the header, the rail and the transport away while a lecture is given, unless its item needs them.

    `parts` are these, the transport last; `edge` says in their place which item is shown.
    """

    def __init__(self, parts: Sequence[QWidget], edge: LectureEdge) -> None:
        self._parts, self._edge = tuple(parts), edge
        self._is_open = False

    def show(self, item: LectureItem, place: str) -> None:
        """Leave only what an item needs."""
        self._is_open = True
        names, transport = _controls_of(item), self._parts[-1]
        is_trained = bool({each.perspective for each in item.layers} & set(TRAINED_IN))
        for part in self._parts:
            holds = any(part.findChild(QWidget, name) is not None for name in names)
            part.setVisible(holds or (part is transport and is_trained))
        self._edge.tell(item.title, place)
        self._edge.show()

    def leave(self) -> None:
        """Bring all back."""
        if self._is_open:
            self._is_open = False
            for part in self._parts:
                part.show()
            self._edge.hide()


def _controls_of(item: LectureItem) -> set[str]:
    """The object names of the controls that a step speaks of."""
    from lmviz.lectures.lecture import ShownStep

    if not isinstance(item.shown, ShownStep):
        return set()
    step = item.shown.step
    return {name for name in (step.control, *(task.control for task in step.tasks)) if name}
