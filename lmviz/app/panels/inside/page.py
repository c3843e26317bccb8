"""What the pictures of a model have in common: each is a page of the Picture panel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from PySide6.QtWidgets import QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.offered_numbers import number_in_words
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import figure_of
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.kit.picture import Picture, Spot
from lmviz.inspection.names import title_of
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient
    from lmviz.models.model import Model


Found = TypeVar("Found")
View = TypeVar("View", bound=Picture)


class Page(Generic[Found, View]):
    """One way to draw a model: asks for what it draws of a reading at a position, and keeps it.

    `view` is the picture, and `widget`, made once, what lies in the panel's stack.
    """

    key: ClassVar[Key]
    """Under which it asks."""

    def __init__(self, panel: Panel, view: View) -> None:
        self._panel, self._session, self.view = panel, panel.session, view
        self.widget: QWidget = scrolling(view)
        self._drawn: tuple[Reading, Found] | None = None
        view.set_readout(self._read_out)
        view.part_hovered.connect(self._hover)
        view.part_clicked.connect(self._choose)

    @property
    def shown(self) -> Found | None:
        """What is drawn."""
        return None if self._drawn is None else self._drawn[1]

    def question(self, reading: Reading, position: int, about: object = None) -> Question[Reading, Found]:
        """What has to be computed for a reading at a position, and drawn `about` what else is shown of it."""
        return Question(self.key, reading, self._work(reading, position), (position, about))

    def show(
        self,
        question: Question[Reading, Found],
        ready: Callable[[], None] = lambda: None,
        drawn: Callable[[], None] = lambda: None,
    ) -> None:
        """Draw the answer to a question, once it is known: `ready` comes before, `drawn` after that."""
        reading = question.subject

        def take(found: Found) -> None:
            ready()
            self._drawn = reading, found
            self._draw(reading, found)
            self.mark(reading)
            drawn()

        self._panel.ask(question, take)

    def forget(self) -> None:
        """Draw nothing: what was asked is no longer wanted."""
        self._panel.silence(self.key)
        self._drawn = None
        self._draw_nothing()

    @abstractmethod
    def fits(self, trace: Trace) -> bool:
        """Whether the picture can be drawn of this trace."""

    @abstractmethod
    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        """What the card says on the left and on the right."""

    @abstractmethod
    def addresses(self, trace: Trace) -> Sequence[str]:
        """The taps that are drawn."""

    def remark(self, reading: Reading) -> str:
        """What stands out in what is drawn, as a sentence; empty where nothing does."""
        return ""

    @abstractmethod
    def mark(self, reading: Reading) -> None:
        """Mark the stage one is at."""

    @abstractmethod
    def _work(self, reading: Reading, position: int) -> Callable[[Model], Found]:
        """What finds what is to be drawn, in the reading thread."""

    @abstractmethod
    def _draw(self, reading: Reading, found: Found) -> None:
        """Draw what was found."""

    @abstractmethod
    def _draw_nothing(self) -> None:
        """Draw an empty picture."""

    @abstractmethod
    def _cell_at(self, spot: Spot | None) -> Cell | None:
        """The cell of the trace that a spot shows."""

    @abstractmethod
    def _choose(self, spot: Spot) -> None:
        """Go to what was clicked."""

    @abstractmethod
    def _read_out(self, spot: Spot) -> tuple[str, Sequence[str]]:
        """What the hover card says of a spot."""

    def _hover(self, spot: Spot | None) -> None:
        self._session.focus.hover_cell(self._cell_at(spot))


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
