"""Controls that keep their value while a wheel passes over them: what lies around them scrolls instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider, QSpinBox, QWidget

if TYPE_CHECKING:
    _Control = QWidget
else:
    _Control = object


class _Steady(_Control):
    """Before a control of Qt's among the bases of a class: the wheel turns it only while it has the focus."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # and the wheel does not give it the focus

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


SPARE = 2
"""Pixels that Qt adds to the ink of the longest value, at every size of type."""


class ComboBox(_Steady, QComboBox):
    """`ComboBox(parent=None)`: one of several values. Its list is as wide as the longest of them.

    Qt cuts what is longer than the control in its middle, where the names of a family differ.
    """

    _measured: tuple[object, int] = (None, 0)  # for what, and how many pixels are missing

    def sizeHint(self) -> QSize:
        """As Qt's, and wide enough for the longest value in large type as well."""
        return self._with_room(super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        return self._with_room(super().minimumSizeHint())

    def _with_room(self, hint: QSize) -> QSize:
        """The hint and what it lacks: Qt measures the ink of the values, and shows how far they advance."""
        if self.sizeAdjustPolicy() == self.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon:
            return hint  # it may be as narrow as it is
        values = self.count(), hint.toTuple(), self.font().key()
        if values != self._measured[0]:
            self._measured = values, self._missing()
        return hint + QSize(self._measured[1], 0)

    def _missing(self) -> int:
        words, values = self.fontMetrics(), [self.itemText(place) for place in range(self.count())]
        ink = max((words.boundingRect(value).width() for value in values), default=0)
        return max(max(map(words.horizontalAdvance, values), default=0) - ink - SPARE, 0)

    def showPopup(self) -> None:
        from PySide6.QtWidgets import QStyle  # not before the first paint: it has 400 names

        view = self.view()
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, view)
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * view.frameWidth() + bar)
        super().showPopup()


UNKNOWN = "…"


class SpinBox(_Steady, QSpinBox):
    """`SpinBox(parent=None)`: a whole number; `set_known(False)` shows none until somebody wants to type one.

    Its value is the same either way.
    """

    _is_known = True

    @property
    def is_known(self) -> bool:
        """Whether the number can be read."""
        return self._is_known

    def set_known(self, known: bool) -> None:
        """Show the number, or that it is not known yet."""
        if known != self._is_known:
            self._is_known = known
            self._show_number()

    def textFromValue(self, value: int) -> str:
        return super().textFromValue(value) if self._is_known or self.hasFocus() else UNKNOWN

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self._is_known:
            self._show_number()
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if not self._is_known:
            self._show_number()

    def _show_number(self) -> None:
        self.lineEdit().setText(self.textFromValue(self.value()))


class DoubleSpinBox(_Steady, QDoubleSpinBox):
    """`DoubleSpinBox(parent=None)`: a number with decimals."""


class Slider(_Steady, QSlider):
    """`Slider(orientation, parent=None)`: a place on a line."""
