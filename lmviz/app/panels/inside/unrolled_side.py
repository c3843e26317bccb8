"""One recurrence of a model, unrolled over the text that it reads: a translator has two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.page import answer, choose, read_out, stage_of
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.diagrams.unrolled import UnrolledView
from lmviz.app.widgets.diagrams.unrolled_values import (
    BACKWARD,
    FORWARD,
    UnrolledCell,
    UnrolledLayer,
    UnrolledRow,
)
from lmviz.base.counting import numbered
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import answer_at, likeliest_answers
from lmviz.models.address import SIDES, Address, gradient_of
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient

ENCODER, DECODER = SIDES
PICTURE = "picture"
SHORT = {"hidden": "h", "cell": "c", "forget": "f", "input": "i", "output": "o", "candidate": "c̃"}
SHORT |= {"reset": "r", "update": "z", "preactivation": "a"}
"""The letters of the equations."""


class UnrolledSide:
    """`UnrolledSide(session, place)`: the layers whose addresses begin with `place`, over their text."""

    def __init__(self, session: Session, place: str = "") -> None:
        self._session, self._place = session, place
        self.view = UnrolledView()
        self.view.set_readout(self._read_out)
        self.view.part_clicked.connect(self._choose)
        self.view.part_hovered.connect(self._hover)
        self.lit = (0, 0)
        self._reading: Reading | None = None
        self._gradient: Gradient | None = None  # what is drawn in the place of values

    def fits(self, trace: Trace) -> bool:
        """Whether the model has such layers."""
        return bool(recurrent_layers(trace, self._place))

    def forget(self) -> None:
        """Draw nothing."""
        self._reading = self._gradient = None
        self.view.set_network([], [])
        self.view.set_picture(())

    def show(self, reading: Reading) -> None:
        """Draw a reading, or the gradient of it."""
        gradient = self._session.gradients.current
        if reading is not self._reading or gradient is not self._gradient:
            self._reading, self._gradient = reading, gradient
            self._unroll(reading)

    def light(self, reading: Reading, position: int) -> bool:
        """Light the cell at a position, of the layer of the stage; whether the stage is one of this side."""
        stage, layers = reading.trace.stages[self._session.focus.stage], self._layers(reading.trace)
        lit = [number for number, rows in enumerate(layers) if Address.parse(rows[0]).is_in(stage.place)]
        is_last = stage.place == "output" and self._place != ENCODER
        layer = lit[0] if lit else (len(layers) - 1 if is_last else -1)
        self.view.set_current(position, layer)
        self.lit = position, max(0, layer)
        return bool(lit)

    def _layers(self, trace: Trace) -> list[list[str]]:
        return recurrent_layers(trace, self._place)

    def _unroll(self, reading: Reading) -> None:
        trace, layers = reading.trace, self._layers(reading.trace)
        is_answering = self._place != ENCODER and "position" in trace["probabilities"].axes
        predictions = []
        for position in range(len(trace.tokens)) if is_answering else ():
            (likeliest,) = likeliest_answers(trace, position, 1)
            share = float(answer_at(trace, position)[likeliest])
            predictions.append(f"{answer(reading, likeliest)} {percentage(share)}")
        read_at = [read_positions(trace, rows[0]) for rows in layers]
        ways = [direction_of(trace, rows[0]) for rows in layers]
        directions = ways if BACKWARD in ways else [""] * len(layers)
        numbers = [Address.parse(rows[0]).layer or 0 for rows in layers]
        names = [f"layer {numbered(number)}" if numbers[-1] else "" for number in numbers]
        read = trace.sequences[SOURCE if self._place == ENCODER else TEXT]
        is_encoder, is_of_text = self._place == ENCODER, "position" not in trace["probabilities"].axes
        if is_of_text:  # one answer, above the last position that it is read from
            last = frozenset([len(read) - 1])
            ends = [at or last for at, number in zip(read_at, numbers, strict=True) if number == numbers[-1]]
            (likeliest,) = likeliest_answers(trace, -1, 1)
            share = float(answer_at(trace, -1)[likeliest])
            predictions = [""] * max(map(max, ends)) + [f"{answer(reading, likeliest)} {percentage(share)}"]
        if is_encoder:  # what is handed on where it ends leaves at the side
            read_at = [None if at is None else frozenset() for at in read_at]
        self.view.set_network(
            [visible(token) for token in read.tokens],
            [
                UnrolledLayer(
                    names[number],
                    tuple(self._row(trace, address) for address in rows),
                    directions[number],
                    self._wave(rows),
                    read_at[number],
                )
                for number, rows in enumerate(layers)
            ],
            predictions,
            is_read_whole=is_encoder or is_of_text,
            is_gathered=is_encoder or is_of_text,
        )
        pixels = trace[PICTURE].array if PICTURE in trace else ()
        self.view.set_picture([value > 0.5 for value in pixels])

    def _row(self, trace: Trace, address: str) -> UnrolledRow:
        """A value of a layer, or its gradient."""
        name, traced = Address.parse(address).name, trace[address]
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
        along = next((address for address in rows if Address.parse(address).name == "cell"), rows[0])
        norms = reach(self._gradient, along).norms
        return norms / (norms.max() or 1.0)

    def _address(self, cell: UnrolledCell) -> str:
        assert self._reading is not None
        address = self._layers(self._reading.trace)[cell.layer][max(0, cell.row)]
        is_gradient = cell.unit >= 0 and self._gradient is not None and address in self._gradient
        return gradient_of(address) if is_gradient else address

    def _hover(self, cell: UnrolledCell | None) -> None:
        """Preview the position, or the place of the source, and the number that the pointer is over."""
        at, is_source = None if cell is None else cell.position, self._place == ENCODER
        self._session.focus.hover_source(at if is_source else None)
        is_there = cell is not None and not is_source and self._has_position(cell)
        self._session.focus.hover_position(at if is_there else None)
        is_number = cell is not None and cell.unit >= 0 and self._reading is not None
        self._session.focus.hover_cell(
            (self._address(cell), (cell.position, cell.unit)) if is_number and cell is not None else None
        )

    def _choose(self, cell: UnrolledCell) -> None:
        """Pin the position, or the place of the source, and the number that was clicked.

        Where none was, go to the stage of the hidden state.
        """
        if self._place == ENCODER:
            self._session.focus.choose_source(cell.position)
        elif self._has_position(cell):
            self._session.focus.choose_position(cell.position)
        if self._reading is None:
            return
        address = self._address(cell)
        place = self._reading.trace.stages[self._session.focus.stage].place
        if cell.unit >= 0:
            choose(self._session, address, (address, (cell.position, cell.unit)))
        elif stage_of(self._reading.trace, address) >= 0 and not Address.parse(address).is_in(place):
            choose(self._session, address)

    def _has_position(self, cell: UnrolledCell) -> bool:
        """Whether the text that is typed has the position of a cell; a source may be longer."""
        return self._reading is not None and cell.position < len(self._reading.trace)

    def _read_out(self, cell: UnrolledCell) -> tuple[str, list[str]]:
        if self._reading is None or cell.unit < 0:
            return "", []
        return read_out(self._reading, (self._address(cell), (cell.position, cell.unit)), self._gradient)


def direction_of(trace: Trace, address: str) -> str:
    """Which way the recurrence that makes a state goes, as its stages say."""
    place = trace.stages[stage_of(trace, address)].place
    shifts = {shift for stage in trace.stages if stage.place == place for shift in stage.shifts}
    return BACKWARD if 1 in shifts else FORWARD


def read_positions(trace: Trace, address: str) -> frozenset[int] | None:
    """At which positions anything but its next step reads the state of a recurrence; None for all."""
    found, own = set[int](), trace.stages[stage_of(trace, address)]
    for stage in trace.stages:
        if stage.at_end and address in stage.operands:
            found.add(end_of(trace, address))
        elif address in stage.operands and not (stage.by_position and stage.place == own.place):
            joined = [result for result in stage.results if Address.parse(result).name == "joined"]
            readers = {operand for other in trace.stages if not other.at_end for operand in other.operands}
            if not joined or readers.intersection(joined):
                return None
    return frozenset(found)


def end_of(trace: Trace, address: str) -> int:
    """The position at which the recurrence of a state ends."""
    return 0 if direction_of(trace, address) == BACKWARD else trace[address].shape[0] - 1


def recurrent_layers(trace: Trace, side: str = "") -> list[list[str]]:
    """The values of each layer of a recurrence, its hidden state first; none for other models.

    With a `side` those of an encoder or a decoder.
    """
    layers: list[list[str]] = []
    for address, at in zip(trace.arrays, map(Address.parse, trace.arrays), strict=True):
        stage = stage_of(trace, address)
        is_state = stage >= 0 and trace.stages[stage].by_position and at.name == "hidden"
        if is_state and at.side == side and at.layer is not None:
            own = [other for other in trace.arrays if Address.parse(other).is_in(trace.stages[stage].place)]
            cells = [other for other in own if Address.parse(other).name == "cell"]
            gates = [other for other in own if trace[other].scale == "share" and other != address]
            layers.append([address, *cells, *gates])
    return layers
