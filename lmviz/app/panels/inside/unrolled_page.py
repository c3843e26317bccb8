"""The picture of a recurrent model: the whole model at one word, and below it the states of all words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.inside.unrolled_side import (
    DECODER,
    ENCODER,
    UnrolledSide,
    end_of,
    recurrent_layers,
)
from lmviz.app.panels.inside.whole_model_page import WholeModelPage
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.building import column, row, sheet
from lmviz.app.widgets.base.growing_canvas import MOST_GROWTH
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_handover import HandedOn, UnrolledHandover
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.inspection.whole_model import WholeModel

SHARE_BELOW = 0.42  # of the height at most, for the states of all words where they are drawn larger
LEAST_BELOW = 0.8  # of what they need, without which the lecture hall sees the whole model alone
CONTEXT = "context"
GAP = 16  # pixels between the states of an encoder and those of its decoder


class _Both(QWidget):
    """Two areas, one above the other: the lower one gets what it needs, where the upper one can spare it."""

    def __init__(self, above: QWidget, below: QScrollArea, least_above: Callable[[], QSize]) -> None:
        super().__init__()
        self._below, self._least_above, self._needed = below, least_above, 0
        self._gap = column((above, 1), below, on=self).spacing()

    def set_needed(self, height: int) -> None:
        """How high the lower one is as a whole."""
        self._needed = height + self._below.horizontalScrollBar().sizeHint().height()
        self.share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.share()

    def share(self) -> None:
        """Share the height that there is."""
        spare = self.height() - self._least_above().height() - self._gap
        is_of_use = spare >= LEAST_BELOW * self._needed or not theme_switch().projector
        self._below.setVisible(is_of_use)
        grown = round(min(MOST_GROWTH * self._needed, SHARE_BELOW * self.height()))
        self._below.setFixedHeight(max(min(self._needed, spare), grown, self.height() // 3, 1))


class UnrolledPage(WholeModelPage):
    """Above the whole model at the shown word, below it the network unrolled over the text.

    Of a model that translates, the encoder stands at the left, over the source, and the decoder begins where
    it ends.
    """

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        session = panel.session
        self._sides = (UnrolledSide(session), UnrolledSide(session, ENCODER), UnrolledSide(session, DECODER))
        self._row = sheet(row(*(side.view for side in self._sides), gap=GAP))
        self._handover = UnrolledHandover(self._sides[1].view, self._sides[2].view, self._row)
        self._area = scrolling(self._row, sideways=True)
        self._area.horizontalScrollBar().rangeChanged.connect(lambda: self._bring_into_sight())
        self._lit: UnrolledSide | None = None
        self._both = _Both(self.widget, self._area, self.view.minimumSizeHint)
        self.widget = self._both

    @property
    def views(self) -> tuple[UnrolledView, ...]:
        """The pictures of a text alone, of an encoder and of a decoder; empty for a model without."""
        return tuple(side.view for side in self._sides)

    @property
    def unrolled(self) -> UnrolledView:
        """The picture of the recurrence over the text that is typed."""
        text, _, decoder = self._sides
        return decoder.view if decoder.view.layers else text.view

    def fits(self, trace: Trace) -> bool:
        """Whether it is a recurrence over layers."""
        return any(side.fits(trace) for side in self._sides)

    def forget(self) -> None:
        super().forget()
        self._lit = None
        for side in self._sides:
            side.forget()

    def _draw(self, reading: Reading, found: WholeModel) -> None:
        for side in self._sides:
            is_part = side.fits(reading.trace)
            side.view.setVisible(is_part)
            if is_part:
                side.show(reading)
            else:
                side.forget()
        self._connect(reading.trace)
        self._both.set_needed(max(view.sizeHint().height() for view in self.views if view.layers))
        super()._draw(reading, found)
        self._both.share()

    def _connect(self, trace: Trace) -> None:
        """Lead from each state that an encoder hands on to the one that its decoder begins with."""
        encoder, decoder = (recurrent_layers(trace, place) for place in (ENCODER, DECODER))
        begun = {Address.parse(rows[0]).layer: number for number, rows in enumerate(decoder)}
        ending = {operand for stage in trace.stages if stage.at_end for operand in stage.operands}
        handed_on = [
            HandedOn(number, end_of(trace, state), begun[Address.parse(state).layer])
            for number, (state, *_) in enumerate(encoder)
            if state in ending and Address.parse(state).layer in begun
        ]
        self._handover.set_ways(handed_on, has_context=CONTEXT in trace)

    def mark(self, reading: Reading) -> None:
        super().mark(reading)
        self._light(reading, self._session.reading.position)

    def _light(self, reading: Reading, position: int) -> None:
        self._lit = None
        for side in self._sides:
            if not side.fits(reading.trace):
                continue
            is_encoder = side is self._sides[1]
            at = source_position(self._session) if is_encoder else position
            if side.light(reading, at) or (not is_encoder and self._lit is None):
                self._lit = side
        self._bring_into_sight()

    def _bring_into_sight(self) -> None:
        """Scroll to the lit cell, and again once the picture has the width that it needs."""
        if self._lit is not None:
            place = self._lit.view.cell_rectangle(*self._lit.lit).center().toPoint()
            there = self._lit.view.mapTo(self._row, QPoint(place))
            self._area.ensureVisible(there.x(), there.y(), 180, 60)
