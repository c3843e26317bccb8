"""What the pictures of a model have in common: each is a page of the Picture panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from lmviz.app.panels.shared.offered_numbers import number_in_words
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import figure_of
from lmviz.inspection.names import title_of
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient


def nothing() -> None:
    """What a page does that has nothing to say."""


class Page(Protocol):
    """One way to draw a model. `widget` is made once and lies in the panel's stack."""

    widget: QWidget

    def fits(self, trace: Trace) -> bool:
        """Whether the picture can be drawn of this trace."""

    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        """What the card says on the left and on the right."""

    def addresses(self, trace: Trace) -> Sequence[str]:
        """The taps that are drawn."""

    def show(self, reading: Reading, position: int, ready: Callable[[], None] = nothing) -> None:
        """Draw a reading at a position, once what has to be computed for it is known; `ready` comes first."""

    def mark(self, reading: Reading) -> None:
        """Mark the stage one is at."""

    def forget(self) -> None:
        """Draw nothing: what was asked is no longer wanted."""


def at_word(reading: Reading, position: int) -> str:
    """The card's title: at which word."""
    return f"The whole model, at “{visible(reading.trace.tokens[position])}”"


def word(reading: Reading, id: int) -> str:
    """A token of the model's vocabulary, as it is shown."""
    return visible(reading.model.tokenizer.token(id))


def answer(reading: Reading, id: int) -> str:
    """An answer of the model, the next token or a label, as it is shown."""
    axis = reading.trace["probabilities"].axes[-1]
    return reading.trace.names(axis)[id] if axis == "label" else word(reading, id)


def aside_of(session: Session, reading: Reading, values: str) -> str:
    """What the card says at the right: `values`, or of what the gradient is that stands in their place."""
    gradients = session.gradients
    if gradients.current is None:
        return values
    return f"gradient of {number_in_words(gradients.of_reading(reading), reading)}"


def stage_of(trace: Trace, address: str) -> int:
    """The stage that makes a tap, or the one whose gradient is meant; −1 where none does."""
    address = Address.parse(address).value
    return next((number for number, stage in enumerate(trace.stages) if address in stage.results), -1)


def choose(session: Session, address: str, cell: Cell | None = None) -> None:
    """Go to the stage of a tap, and pin a cell of it."""
    reading = session.reading.current
    stage = -1 if reading is None else stage_of(reading.trace, address)
    if stage >= 0:
        session.focus.choose_stage(stage)
    if cell is not None:
        session.focus.choose_cell(cell)


def read_out(reading: Reading, cell: Cell, gradient: Gradient | None = None) -> tuple[str, list[str]]:
    """What the hover card says of a cell: its exact value, or that of its gradient, and where it is."""
    address, index = cell
    if not reading.has_cell(address, index):
        return "", []
    is_gradient = gradient is not None and Address.parse(address).is_gradient
    traced = gradient[address] if gradient is not None and is_gradient else reading.trace[address]
    return figure_of(address, float(traced.array[index])), [
        title_of(address),
        reading.cell_name(traced.axes, index),
    ]
