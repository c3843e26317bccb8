"""A part of a look in its widget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, Generic, TypeVar

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import named
from lmviz.looks.parts import LookPart

P = TypeVar("P", bound=LookPart)
W = TypeVar("W", bound=QWidget)

DRAWN_BY = {
    "Answers": "answers:AnswersDrawing",
    "Bars": "bars:BarsDrawing",
    "Button": "controls:ButtonDrawing",
    "Picker": "controls:PickerDrawing",
    "CurveNames": "word_curves:CurveNamesDrawing",
    "Curves": "curves:CurvesDrawing",
    "Dots": "dots:DotsDrawing",
    "Field": "controls:FieldDrawing",
    "Firings": "firing_lines:FiringsDrawing",
    "Labels": "labels:LabelsDrawing",
    "Matrix": "matrix:MatrixDrawing",
    "Occurrences": "occurrences:OccurrencesDrawing",
    "OneLine": "words:OneLineDrawing",
    "PushedLines": "pushed_lines:PushedLinesDrawing",
    "Points": "dots:PointsDrawing",
    "SideBySide": "arranged:SideBySideDrawing",
    "Sized": "dots:SizedDrawing",
    "Shifts": "shifts:ShiftsDrawing",
    "SliderLine": "controls:SliderLineDrawing",
    "Space": "arranged:SpaceDrawing",
    "Stacked": "arranged:StackedDrawing",
    "Table": "table:TableDrawing",
    "WordBars": "word_bars:WordBarsDrawing",
    "WordCurves": "word_curves:WordCurvesDrawing",
    "Words": "words:WordsDrawing",
}
"""By the kind of a part the class that draws it, loaded when one is first drawn."""


class PartDrawing(Generic[P, W]):
    """A widget that is made once, and shows one part after the other.

    Subclasses `make` it, and `put` a part into it. What a signal of the widget calls, they find in `part`,
    the one that is shown now.
    """

    def __init__(self, part: P, inner: Sequence[QWidget]) -> None:
        self.part = part
        self._before: P | None = None
        self.widget = self.make(part, inner)
        named(self.widget, part.name)
        named(self.speaker, "", part.says)

    @abstractmethod
    def make(self, part: P, inner: Sequence[QWidget]) -> W:
        """The widget; `inner` are those of the parts that stand within it."""

    @property
    def speaker(self) -> QWidget:
        """What is read aloud: where the widget is a frame, what it holds."""
        return self.widget

    @abstractmethod
    def put(self, part: P) -> None:
        """Show a part, as far as it has `changed`."""

    def hold(self, part: P, inner: Sequence[QWidget]) -> None:
        """Have these widgets within it, in this order."""

    def show(self, part: P, inner: Sequence[QWidget], *, anew: bool) -> None:
        """Show a part: only what differs from the one before, or all of it `anew`."""
        self._before, self.part = None if anew else self._before, part
        self.hold(part, inner)
        if self._before is not None and self.changed("says"):
            named(self.speaker, "", part.says)
        if self._before is None or part != self._before:
            self.put(part)
        self._before = part

    def let_go(self) -> None:
        """Keep nothing of what answered a click or the pointer: the part is not in the look any more."""
        self.part, self._before = _without_answers(self.part), None

    def changed(self, *names: str) -> bool:
        """Whether any of some fields is not as it was shown before."""
        return self._before is None or self.part.differs(self._before, *names)


def _without_answers(part: P) -> P:
    """A part that nothing answers, nor anything within it."""
    kept: dict[str, Any] = {}
    for each in fields(part):
        value = getattr(part, each.name)
        if callable(each.default):
            kept[each.name] = each.default
        elif isinstance(value, LookPart):
            kept[each.name] = _without_answers(value)
        elif part.inner and value is part.inner:
            kept[each.name] = tuple(_without_answers(inner) for inner in part.inner)
    return replace(part, **kept)


def drawing_of(part: LookPart, inner: Sequence[QWidget]) -> PartDrawing[Any, Any]:
    """What draws a part from now on."""
    module, name = DRAWN_BY[type(part).__name__].split(":")
    made: type[PartDrawing[Any, Any]] = getattr(import_module(f"{__package__}.{module}"), name)
    return made(part, inner)
