"""A timeline of the stages of a computation: drag, play, or step with the keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.icons import pixmap
from lmviz.app.widgets.base.canvas import metrics, once
from lmviz.app.widgets.kit.painter import CENTRED, Painter
from lmviz.app.widgets.kit.pointing import Pointed

HEIGHT = 46
LINE = 14
BUTTON = 30
STOP = 4.5
NAME_SIZE = 11.5
PACE = 1200


class StageTimeline(Pointed[int]):
    """`StageTimeline()`: `set_stages(titles, places=())` shows stages, those of one place close together;
    `set_stage(index)` moves there silently; `stage` is where one is.

    `play(pace)` walks on, one stage each `pace` milliseconds, and stops at the end; `pause()`;
    `playing`. `set_backward(True)` has it walk from the last stage to the first, as gradients go.
    Signals: `stage_chosen(int)`, `playing_changed(bool)`.
    Left and Right step, Home and End jump, Space plays and pauses.
    """

    stage_chosen = Signal(int)
    playing_changed = Signal(bool)

    nowhere = -1
    usual, least = (420, HEIGHT), (160, HEIGHT)

    def __init__(self) -> None:
        super().__init__()
        self._titles: tuple[str, ...] = ()
        self._places: tuple[str, ...] = ()
        self._shares: tuple[float, ...] = ()
        self._stage = 0
        self._is_backward = False
        self._dragging = False
        self._clock = QTimer(self)
        self._clock.timeout.connect(self._walk)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("stages")

    def set_stages(self, titles: Sequence[str], places: Sequence[str] = ()) -> None:
        """Show stages by title; `places` says for each where in the model it is (a change leaves a gap)."""
        same = tuple(titles) == self._titles and tuple(places) == self._places
        self._titles, self._places = tuple(titles), tuple(places)
        if not same:
            self.pause()
            self._shares = _spread(len(titles), self._places)
            self._stage = min(self._stage, max(0, len(titles) - 1))
            self._hovered = -1
            self._describe()
            self.update()

    def set_stage(self, index: int) -> None:
        """Stand at a stage, without a signal."""
        if 0 <= index < len(self._titles) and index != self._stage:
            self._stage = index
            self._describe()
            self.update()

    @property
    def stage(self) -> int:
        """Where one is."""
        return self._stage

    @property
    def playing(self) -> bool:
        """Whether it is playing."""
        return self._clock.isActive()

    def set_backward(self, backward: bool) -> None:
        """Walk back from the last stage while playing, or on from the first again."""
        if backward != self._is_backward:
            self._is_backward = backward
            self.pause()
            self.update()

    def play(self, pace: int = PACE) -> None:
        """Play, from the start when at the end."""
        if len(self._titles) < 2:
            return
        if self._stage == self._end:
            self._choose(len(self._titles) - 1 - self._end)
        self._clock.start(pace)
        self.playing_changed.emit(True)
        self.update()

    def pause(self) -> None:
        """Stay where one is."""
        if self._clock.isActive():
            self._clock.stop()
            self.playing_changed.emit(False)
            self.update()

    def stop_place(self, index: int) -> QPointF:
        """Where a stage stands on the line."""
        start, end = self.length(BUTTON + 12), self.width() - self.length(12)
        return QPointF(start + (end - start) * self._shares[index], self.length(LINE))

    @property
    def _end(self) -> int:
        """The stage at which playing stops."""
        return 0 if self._is_backward else len(self._titles) - 1

    def _walk(self) -> None:
        self._choose(self._stage + (-1 if self._is_backward else 1))
        if self._stage == self._end:
            self.pause()

    def _choose(self, index: int) -> None:
        index = min(max(index, 0), len(self._titles) - 1)
        if self._titles and index != self._stage:
            self.set_stage(index)
            self.stage_chosen.emit(index)

    def _describe(self) -> None:
        title = self._titles[self._stage] if self._titles else "none"
        self.setAccessibleDescription(f"stage {self._stage + 1} of {len(self._titles)}: {title}")

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self._draw_button(painter)
        if self._titles:
            self._draw_line(painter)
            self._draw_name(painter)
        self.draw_focus(painter)

    def _button(self) -> QRectF:
        side = self.length(BUTTON - 4)
        return QRectF(self.length(1), self.length(LINE) - side / 2, side, side)

    def _draw_button(self, painter: Painter) -> None:
        theme, place = self.theme, self._button()
        painter.box(place, theme.surface, theme.line, radius=6)
        side = round(self.length(16))
        color = theme.text if len(self._titles) > 1 else theme.faint_text
        name = "transport/pause" if self.playing else "transport/play"
        picture = pixmap(name, color, side, self.devicePixelRatioF())
        painter.drawPixmap(place.center() - QPointF(side / 2, side / 2), picture)

    def _draw_line(self, painter: Painter) -> None:
        theme, places = self.theme, [self.stop_place(index) for index in range(len(self._titles))]
        for index in range(1, len(places)):
            passed = index > self._stage if self._is_backward else index <= self._stage
            painter.line(places[index - 1], places[index], theme.accent if passed else theme.line, 3)
        room = min((places[i].x() - places[i - 1].x() for i in range(1, len(places))), default=100.0)
        for index, place in enumerate(places):
            passed = index >= self._stage if self._is_backward else index <= self._stage
            fill, edge = (theme.accent, theme.accent) if passed else (theme.surface, theme.strong_line)
            size = min(STOP, room * 0.36 / theme.scale) * (1.25 if index == self._hovered else 1)
            painter.dot(place, size, fill, edge, 1.5)
        painter.dot(places[self._stage], 7, theme.surface, theme.accent, 3)

    def _draw_name(self, painter: Painter) -> None:
        """The title of the stage, or of the one under the pointer, below its place on the line."""
        theme, shown = self.theme, self._hovered if self._hovered >= 0 else self._stage
        title, measure = self._titles[shown], metrics(NAME_SIZE, bold=True)
        width = measure.horizontalAdvance(title) + 2
        left = min(max(self.stop_place(shown).x() - width / 2, 0), self.width() - width)
        ink = theme.accent if shown == self._stage else theme.muted_text
        area = QRectF(left, self.length(LINE + 12), width, self.length(18))
        painter.write(area, title, ink, NAME_SIZE, bold=True, where=CENTRED)

    def _nearest(self, place: QPointF) -> int:
        """The nearest stage."""
        return int(np.argmin(np.abs(self._stops() - place.x()))) if self._titles else -1

    @once
    def _stops(self) -> np.ndarray:
        """How far from the left the stages stand, (stage,)."""
        return np.array([self.stop_place(index).x() for index in range(len(self._titles))])

    def index_at(self, place: QPointF) -> int:
        return self.nowhere if self._button().contains(place) else self._nearest(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self._choose(self._nearest(event.position()))
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if self._button().contains(event.position()):
            self.pause() if self.playing else self.play()
            return
        self.pause()
        self._dragging = True
        self._choose(self._nearest(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragging = False

    def hideEvent(self, event: QHideEvent) -> None:
        self.pause()
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._titles) - 1
        targets: dict[int, int] = {
            Qt.Key.Key_Left: self._stage - 1,
            Qt.Key.Key_Right: self._stage + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if event.key() == Qt.Key.Key_Space:
            self.pause() if self.playing else self.play()
        elif event.key() in targets:
            self._choose(targets[event.key()])
        else:
            super().keyPressEvent(event)


def _spread(count: int, places: Sequence[str]) -> tuple[float, ...]:
    """Where each of `count` stages stands between 0 and 1, with a double step where the place changes."""
    changed = [index < len(places) and places[index] != places[index - 1] for index in range(1, count)]
    along = [0, *accumulate(2 if gap else 1 for gap in changed)]
    return tuple(step / max(1, along[-1]) for step in along[:count])
