"""The picture of a recurrent model: the whole model at one word, and below it the states of all words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from lmviz.app.panels.inside.page import answer, choose, read_out, stage_of
from lmviz.app.panels.inside.whole_model_page import WholeModelPage
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_values import (
    BACKWARD,
    FORWARD,
    UnrolledCell,
    UnrolledLayer,
    UnrolledRow,
)
from lmviz.inspection.views import answer_at, likeliest_answers
from lmviz.models.tap import GRADIENT
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.session.reading import Reading
    from lmviz.inspection.gradient import Gradient
    from lmviz.inspection.trace import Trace
    from lmviz.inspection.whole_model import WholeModel

SHORT = {"hidden": "h", "cell": "c", "forget": "f", "input": "i", "output": "o", "candidate": "c̃"}
SHORT |= {"reset": "r", "update": "z", "preactivation": "a"}
"""The letters of the equations."""


class _Both(QWidget):
    """Two areas, one above the other: the lower one gets what it needs, where the upper one can spare it."""

    def __init__(self, above: QWidget, below: QScrollArea, least_above: Callable[[], QSize]) -> None:
        super().__init__()
        self._below, self._least_above, self._needed = below, least_above, 0
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._gap = column.spacing()
        column.addWidget(above, 1)
        column.addWidget(below)

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
        self._below.setFixedHeight(max(min(self._needed, spare), self.height() // 3, 1))


class UnrolledPage(WholeModelPage):
    """Above the whole model at the shown word, below it the network unrolled over the text."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        self.unrolled = UnrolledView()
        self.unrolled.set_readout(self._read_out_unrolled)
        self.unrolled.cell_clicked.connect(self._choose_unrolled)
        self.unrolled.cell_hovered.connect(self._hover_unrolled)
        self._area = scrolling(self.unrolled, sideways=True)
        self._area.horizontalScrollBar().rangeChanged.connect(lambda: self._bring_into_sight())
        self._lit = (0, 0)
        self._reading: Reading | None = None
        self._gradient: Gradient | None = None  # what is drawn in the place of values
        self._both = _Both(self.widget, self._area, self.view.minimumSizeHint)
        self.widget = self._both

    def fits(self, trace: Trace) -> bool:
        """Whether it is a recurrence over layers."""
        return bool(recurrent_layers(trace))

    def forget(self) -> None:
        super().forget()
        self._reading = self._gradient = None
        self.unrolled.set_network([], [])

    def show(self, reading: Reading, position: int) -> None:
        super().show(reading, position)
        gradient = self._session.gradients.current
        if reading is not self._reading or gradient is not self._gradient:
            self._reading, self._gradient = reading, gradient
            self._unroll(reading)
        self._light(reading, position)

    def mark(self, reading: Reading) -> None:
        super().mark(reading)
        self._light(reading, self._session.reading.position)

    def _take(self, reading: Reading, found: WholeModel) -> None:
        super()._take(reading, found)
        self._both.share()

    def _unroll(self, reading: Reading) -> None:
        trace, layers = reading.trace, recurrent_layers(reading.trace)
        predictions = []
        for position in range(len(trace.tokens)) if "position" in trace["probabilities"].axes else ():
            (likeliest,) = likeliest_answers(trace, position, 1)
            share = float(answer_at(trace, position)[likeliest])
            predictions.append(f"{answer(reading, likeliest)} {percentage(share)}")
        ways = [direction_of(trace, rows[0]) for rows in layers]
        directions = ways if BACKWARD in ways else [""] * len(layers)
        numbers = [int(rows[0].split("/")[1]) + 1 for rows in layers]
        names = [f"layer {number}" if numbers[-1] > 1 else "" for number in numbers]
        self.unrolled.set_network(
            [visible(token) for token in trace.tokens],
            [
                UnrolledLayer(
                    names[number],
                    tuple(self._row(trace, address) for address in rows),
                    directions[number],
                    self._wave(rows),
                )
                for number, rows in enumerate(layers)
            ],
            predictions,
        )
        self._both.set_needed(self.unrolled.sizeHint().height())

    def _row(self, trace: Trace, address: str) -> UnrolledRow:
        """A value of a layer, or its gradient."""
        name, traced = address.split("/")[-1], trace[address]
        letter, gradient = SHORT.get(name, name), self._gradient
        if gradient is None or address not in gradient:
            return UnrolledRow(letter, traced.array, traced.scale)
        array = gradient[address].array
        return UnrolledRow(f"∂{letter}", array, "signed", is_gate=traced.scale == "share")

    def _wave(self, rows: list[str]) -> np.ndarray | None:
        """The size of the gradient that goes back along a layer: along its cell where it has one."""
        from lmviz.inspection.reach import reach

        if self._gradient is None:
            return None
        along = next((address for address in rows if address.endswith("/cell")), rows[0])
        norms = reach(self._gradient, along).norms
        return norms / (norms.max() or 1.0)

    def _light(self, reading: Reading, position: int) -> None:
        stage, layers = reading.trace.stages[self._session.focus.stage], recurrent_layers(reading.trace)
        lit = [number for number, rows in enumerate(layers) if rows[0].startswith(stage.place + "/")]
        layer = lit[0] if lit else (len(layers) - 1 if stage.place == "output" else -1)
        self.unrolled.set_current(position, layer)
        self._lit = position, max(0, layer)
        self._bring_into_sight()

    def _bring_into_sight(self) -> None:
        """Scroll to the lit cell, and again once the picture has the width that it needs."""
        place = self.unrolled.cell_rectangle(*self._lit).center()
        self._area.ensureVisible(round(place.x()), round(place.y()), 180, 60)

    def _address(self, cell: UnrolledCell) -> str:
        assert self._reading is not None
        address = recurrent_layers(self._reading.trace)[cell.layer][max(0, cell.row)]
        is_gradient = cell.unit >= 0 and self._gradient is not None and address in self._gradient
        return GRADIENT + address if is_gradient else address

    def _hover_unrolled(self, cell: UnrolledCell | None) -> None:
        """Preview the position, and where the pointer is over a number also that."""
        self._session.focus.hover_position(None if cell is None else cell.position)
        is_number = cell is not None and cell.unit >= 0 and self._reading is not None
        self._session.focus.hover_cell(
            (self._address(cell), (cell.position, cell.unit)) if is_number and cell is not None else None
        )

    def _choose_unrolled(self, cell: UnrolledCell) -> None:
        """Pin the position, and the number that was clicked; or go to the stage of the hidden state."""
        self._session.focus.choose_position(cell.position)
        if self._reading is None:
            return
        address = self._address(cell)
        place = self._reading.trace.stages[self._session.focus.stage].place
        if cell.unit >= 0:
            choose(self._session, address, (address, (cell.position, cell.unit)))
        elif stage_of(self._reading.trace, address) >= 0 and not address.startswith(place + "/"):
            choose(self._session, address)

    def _read_out_unrolled(self, cell: UnrolledCell) -> tuple[str, list[str]]:
        if self._reading is None or cell.unit < 0:
            return "", []
        return read_out(self._reading, (self._address(cell), (cell.position, cell.unit)), self._gradient)


def direction_of(trace: Trace, address: str) -> str:
    """Which way the recurrence that makes a state goes, as its stages say."""
    place = trace.stages[stage_of(trace, address)].place
    shifts = {shift for stage in trace.stages if stage.place == place for shift in stage.shifts}
    return BACKWARD if 1 in shifts else FORWARD


def recurrent_layers(trace: Trace) -> list[list[str]]:
    """The values of each layer of a recurrence, its hidden state first; none for other models."""
    layers: list[list[str]] = []
    for address in trace.arrays:
        stage = stage_of(trace, address)
        is_state = stage >= 0 and trace.stages[stage].by_position and address.endswith("/hidden")
        if is_state and trace.stages[stage].place.startswith("layers/"):
            place = trace.stages[stage].place + "/"
            cells = [at for at in trace.arrays if at.startswith(place) and at.endswith("/cell")]
            gates = [
                at
                for at in trace.arrays
                if at.startswith(place) and trace[at].scale == "share" and at != address
            ]
            layers.append([address, *cells, *gates])
    return layers
