"""A card that draws a look, as it is said of the tokens that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import column, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.looks.arranged import arrange
from lmviz.app.widgets.looks.part_drawing import PartDrawing, drawing_of
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, LookPart, Picker


class LookCard(Card):
    """`LookCard(title, noun)`: `show_look(look)` draws a look, and nothing else; `look` is what is drawn.

    Looks speak of words. `noun` gives what a token is called of which the next look speaks, "word",
    "character" or "token": of characters it is said so, and what is quoted or named stays.
    The widget of a part is made when the part first comes, and stays: a part is known again by its name, or
    else as the first, second … of its kind. What equals what is drawn already is left as it is. The title
    stands there where a look has none; where there is no room for all of the head beside it, some gives way.
    """

    def __init__(self, title: str, noun: Callable[[], str], parent: QWidget | None = None) -> None:
        parts = column()
        super().__init__(title, "", sheet(parts), parent)
        self.look = Look()
        self._usual_title, self._noun = title, noun
        self._parts = parts
        self._controls: FittingRow | None = None  # made when a look first has some
        self._drawings: dict[str, PartDrawing[Any, Any]] = {}

    def show_look(self, look: Look) -> None:
        """Draw another look, or the same with something moved."""
        noun = self._noun()
        if noun == "character":
            from lmviz.app.widgets.looks.look_of_units import look_of_units  # the first paint does without

            look = look_of_units(look, self._usual_title, noun)
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
        drawn = _Drawn(anew)
        controls = self._fill_head(look.head, drawn)
        arrange(self._parts, look.parts, [self._widget(part, drawn) for part in look.parts])
        for key, drawing in self._drawings.items():
            if drawing.widget not in controls:  # of which some may have to give way
                _show(drawing.widget, drawing.widget in drawn.shown)
            if key not in drawn.keys:
                drawing.let_go()
        self.set_placeholder(look.instead)

    def _fill_head(self, parts: Sequence[LookPart], drawn: _Drawn) -> list[QWidget]:
        """Have what is in sight of the head beside the title; the widgets of it."""
        widgets = [self._widget(part, drawn) for part in parts]
        shown = [part for part in parts if part.shown]
        controls = [widget for part, widget in zip(parts, widgets, strict=True) if part.shown]
        for widget in widgets:
            if widget not in controls and widget.parentWidget() is None:  # whoever looks for it finds it
                widget.setParent(self)
                widget.hide()
        if self._controls is None:
            if not controls:
                return []
            self._controls = FittingRow((), ())
            self.set_control(self._controls)
        self._controls.hold(controls, [controls[place] for place in _giving_way(shown)])
        self._fit_control()
        return controls

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


def _giving_way(head: Sequence[LookPart]) -> list[int]:
    """The places of those that give way where there is little room, the first one first: buttons, then
    pickers from the last on. The first of what is chosen stays, or a button where there is nothing else."""
    buttons = [place for place, part in enumerate(head) if isinstance(part, Button)]
    pickers = [place for place, part in enumerate(head) if isinstance(part, Picker)]
    giving_way = [*buttons, *reversed(pickers)]
    return giving_way[:-1] if len(giving_way) == len(head) else giving_way


def _show(widget: QWidget, shown: bool) -> None:
    if widget.isHidden() == shown:
        widget.setVisible(shown)
