"""The changes made to a model, each with a switch, what it does alone, and a button that takes it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter

BAR, LEAST_BAR, TITLE = 80, 20, 110
"""Pixels at scale 1; where there is less room, only the number stands beside the title."""


@dataclass(frozen=True)
class ListedChange:
    """One change: what it is called, and whether it is switched on."""

    title: str
    is_on: bool


class ChangeList(QWidget):
    """`ChangeList()`: `set_changes(changes)`; `set_effects(word, before, alone, together)`.

    Effects are the probability of one word without any change, with each alone, and with all that are
    switched on. Signals: `toggled(int)`, `removed(int)`.
    """

    toggled = Signal(int)
    removed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self._caption = MutedLine(right=True)
        self._together = _Row(-1)
        self._together.set_change(ListedChange("together", True))
        self._column = column(self._caption, self._together, STRETCH, on=self, gap=4)
        self.set_effects("", 0.0, (), 0.0)

    @property
    def effects(self) -> tuple[float | None, ...]:
        """What each change does alone, and then all together; None where it is not known."""
        return tuple(listed.share for listed in (*self._rows, self._together))

    def set_changes(self, changes: Sequence[ListedChange]) -> None:
        """List changes, in the order in which they were made."""
        while len(self._rows) > len(changes):
            gone = self._rows.pop()
            gone.hide()
            gone.deleteLater()
        while len(self._rows) < len(changes):
            added = _Row(len(self._rows))
            added.toggled.connect(self.toggled)
            added.removed.connect(self.removed)
            self._column.insertWidget(1 + len(self._rows), added)
            self._rows.append(added)
        for listed, change in zip(self._rows, changes, strict=True):
            listed.set_change(change)

    def set_effects(self, word: str, before: float, alone: Sequence[float], together: float) -> None:
        """Say what became of a word; without one nothing is said."""
        known = bool(word) and len(alone) == len(self._rows) > 0
        self._caption.setVisible(known)
        self._together.setVisible(known and len(self._rows) > 1)
        self._caption.set_text(f"“{word}” with this change alone, was {percentage(before)}" if known else "")
        for place, listed in enumerate(self._rows):
            listed.set_effect(before, alone[place] if known else None)
        self._together.set_effect(before, together if known else None)


class _Row(QWidget):
    """One line of the list; the number −1 is that of all together, which has no buttons."""

    toggled = Signal(int)
    removed = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        self._title = MutedLine(is_name=True)
        self._effect = _Effect()
        said = row((self._title, 1), self._effect, on=self, gap=8)
        self._switch: Switch | None = None
        if number >= 0:
            self._switch = Switch("change_switch", "switch this change off or on")
            self._switch.clicked.connect(lambda: self.toggled.emit(number))
            said.insertWidget(0, self._switch)
            self._remove = named(QToolButton(), "remove_change_button", "remove this change", role="icon")
            self._remove.setToolTip("Remove this change")
            self._remove.clicked.connect(lambda: self.removed.emit(number))
            said.addWidget(self._remove)
            theme_switch().theme_changed.connect(self._adopt_theme)
            self._adopt_theme()

    @property
    def share(self) -> float | None:
        return self._effect.share

    def set_change(self, change: ListedChange) -> None:
        self._title.set_text(change.title)
        wanted = self._title.sizeHint().width()
        self._title.setMinimumWidth(min(wanted, round(TITLE * current_theme().scale)))
        if self._switch is not None:
            self._switch.setChecked(change.is_on)
            self._switch.setAccessibleName(f"{change.title}: on or off")

    def set_effect(self, before: float, alone: float | None) -> None:
        self._effect.set_shares(before, alone)

    def _adopt_theme(self) -> None:
        theme = current_theme()
        self._remove.setIcon(icon("controls/close", theme.muted_text))
        size = round(12 * theme.scale)
        self._remove.setIconSize(QSize(size, size))


class _Effect(Canvas):
    """A bar from nothing to what a word had, filled as far as it has now; and the number."""

    def __init__(self) -> None:
        super().__init__()
        self._before = 0.0
        self.share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_shares(self, before: float, share: float | None) -> None:
        self._before, self.share = before, share
        self.setVisible(share is not None)
        self.setAccessibleName("" if share is None else percentage(share))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(self._figure + self.length(BAR)), round(self.length(20)))

    def minimumSizeHint(self) -> QSize:
        return QSize(round(self._figure), round(self.length(20)))

    @property
    def _figure(self) -> float:
        """How wide the number can become."""
        return metrics(12).horizontalAdvance("100.0 %") + self.length(4)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        if self.share is None:
            return
        area = QRectF(self.rect())
        painter.write(area, percentage(self.share), size=12, where=AT_RIGHT)
        full = self.width() - self._figure - self.length(4)
        if full < self.length(LEAST_BAR):
            return
        largest = max(self._before, self.share, 1e-300)
        bar = QRectF(0, self.height() / 2 - self.length(5), full, self.length(10))
        painter.ghost(QRectF(bar.left(), bar.top(), full * self._before / largest, bar.height()))
        filled = QRectF(bar.left(), bar.top(), max(full * self.share / largest, self.length(1)), bar.height())
        painter.box(filled, self.theme.key, radius=2)
