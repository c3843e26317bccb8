"""A card that draws a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtWidgets import QBoxLayout, QWidget

from lmviz.app.widgets.base.building import column, row, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.looks.arranged import arrange
from lmviz.app.widgets.looks.part_drawing import PartDrawing, drawing_of
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart


class LookCard(Card):
    """`LookCard(title)`: `show_look(look)` draws a look, and nothing else; `look` is what is drawn.

    The widget of a part is made when the part first comes, and stays: a part is known again by its name, or
    else as the first, second … of its kind. What equals what is drawn already is left as it is. The title
    stands there where a look has none.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        parts = column()
        super().__init__(title, "", sheet(parts), parent)
        self.look = Look()
        self._usual_title = title
        self._parts, self._controls = parts, row()
        self._drawings: dict[str, PartDrawing[Any, Any]] = {}

    def show_look(self, look: Look) -> None:
        """Draw another look, or the same with something moved."""
        self.look = look
        self._draw()

    def widget_of(self, name: str) -> QWidget:
        """The widget of a part that a look has had."""
        return self._drawings[name].widget

    def adopt_theme(self) -> None:
        super().adopt_theme()
        self._draw(anew=True)  # inks are other colours

    def _draw(self, *, anew: bool = False) -> None:
        look = self.look
        self.set_title(look.title or self._usual_title)
        self.set_aside(look.aside, look.aside_tip)
        if look.head and self._controls.parentWidget() is None:
            self.set_control(sheet(self._controls))
        drawn = _Drawn(anew)
        self._fill(self._controls, look.head, drawn)
        self._fill(self._parts, look.parts, drawn)
        for key, drawing in self._drawings.items():
            _show(drawing.widget, drawing.widget in drawn.shown)
            if key not in drawn.keys:
                drawing.let_go()
        self.set_placeholder(look.instead)

    def _fill(self, layout: QBoxLayout, parts: Sequence[LookPart], drawn: _Drawn) -> None:
        arrange(layout, parts, [self._widget(part, drawn) for part in parts])

    def _widget(self, part: LookPart, drawn: _Drawn) -> QWidget:
        """The widget of a part, with what stands within it."""
        key = part.name or drawn.next_of(type(part).__name__)
        inner = [self._widget(each, drawn) for each in part.inner]
        if key not in self._drawings:
            self._drawings[key] = drawing_of(part, inner)
        drawing = self._drawings[key]
        drawn.keys.add(key)
        drawing.show(part, inner, anew=drawn.anew)
        if part.shown:
            drawn.shown.add(drawing.widget)
        return drawing.widget


@dataclass
class _Drawn:
    """What has been drawn of a look so far: which widgets are in sight, and the nameless parts, counted."""

    anew: bool
    keys: set[str] = field(default_factory=set)
    shown: set[QWidget] = field(default_factory=set)
    nameless: Counter[str] = field(default_factory=Counter)

    def next_of(self, kind: str) -> str:
        """By what the next part of a kind is known that has no name."""
        self.nameless[kind] += 1
        return f"{kind} {self.nameless[kind]}"


def _show(widget: QWidget, shown: bool) -> None:
    if widget.isHidden() == shown:
        widget.setVisible(shown)
