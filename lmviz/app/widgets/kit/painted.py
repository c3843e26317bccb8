"""The one place in which a widget is painted: what fails there becomes a sentence where the picture stood."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPaintEvent

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.workers.faults import sentence_for

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as _Widget
else:
    _Widget = object

SIZE, MARGIN = 11.5, 4.0


class Painted(_Widget):
    """Stands before a widget among the bases of a class, which says in `paint` what it looks like.

    Only this class has a painter of a widget, and for no longer than the block of its `with`. An exception
    keeps the frames that it passed, and PySide6 keeps the last exception: a painter in one of them that was
    still at work would be destroyed after the surface that it painted on, which ends the process.
    """

    _unpainted: tuple[str, str] | None = None  # what failed the last time, and the sentence about it

    def begin(self) -> Painter:
        """The painter with which `paint` is called."""
        return Painter(self)

    @abstractmethod
    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        """Draw the widget, or the part of it that the event asks for."""

    def paintEvent(self, event: QPaintEvent) -> None:
        try:
            with self.begin() as painter:
                self.paint(painter, event)
            self._unpainted = None
        except Exception as fault:
            self._report(fault)
            with self.begin() as painter:
                self._write_sentence(painter)

    @property
    def painting_fault(self) -> str:
        """The sentence that stands in the place of the picture; empty while there is a picture."""
        return "" if self._unpainted is None else self._unpainted[1]

    def _report(self, fault: Exception) -> None:
        """Report a fault, unless it is that of the last time: a widget may be painted many times a second."""
        if self._unpainted is None or self._unpainted[0] != repr(fault):
            self._unpainted = repr(fault), sentence_for(fault, "Drawing this picture")

    def _write_sentence(self, painter: Painter) -> None:
        """Write the sentence, or what of it has room, over whatever had been drawn."""
        theme, area = current_theme(), QRectF(self.rect())
        margin = MARGIN * theme.scale
        painter.fillRect(area, theme.surface)
        painter.write(
            area.adjusted(margin, 0, -margin, 0),
            self.painting_fault,
            theme.warning,
            SIZE,
            where=CENTRED | Qt.TextFlag.TextWordWrap,
        )
