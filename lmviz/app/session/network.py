"""The small network of the Autodiff perspective: its text, its numbers and its tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically

if TYPE_CHECKING:
    from lmviz.app.session.work import Work
    from lmviz.autodiff import Fault, Network, ShippedNetwork
    from lmviz.autodiff.learning import Parameters

FIRST = "lecture"


class OpenNetwork(Part):
    """What is written, and the network that it was last read as.

    It needs no model, and a thread for files alone. `network_changed` follows another network,
    `numbers_changed` other numbers or another place on the tape, `text_changed` another text.
    `computation_changed` follows whatever makes it compute something else: another network, a number that is
    given or set by hand, a broken module.
    """

    network_changed = Signal()
    computation_changed = Signal()
    numbers_changed = Signal()
    text_changed = Signal()

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._network: Network | None = None
        self._text = ""
        self._title = ""
        self._faults: tuple[Fault, ...] = ()
        self._limit = 1.0
        self._changes = 0
        self._has_slip = False

    @property
    def current(self) -> Network:
        """The network; the net of the lecture before another is opened."""
        if self._network is None:
            from lmviz.autodiff import read, shipped_network  # not before the first paint

            first = shipped_network(FIRST)
            self._network, self._text, self._title = read(first.text).forward(), first.text, first.title
            self._measure()
        return self._network

    @property
    def text(self) -> str:
        """What is written, with the numbers of now; it may have faults that the network has not."""
        return self._text if self._network is not None else self.current.source

    @property
    def title(self) -> str:
        """What the network is called: as one that is shipped, or as its file; empty where it was written."""
        return self._title if self._network is not None else FIRST

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the text, line by line."""
        return self._faults

    @property
    def has_slip(self) -> bool:
        """Whether the gradients of all modules begin at 1, as on a slide that has it wrong."""
        return self._has_slip

    @property
    def changes(self) -> int:
        """How often the network or its numbers have changed, steps of the tape not counted."""
        return self._changes

    @property
    def shipped(self) -> tuple[ShippedNetwork, ...]:
        """The networks that come with lmviz."""
        from lmviz.autodiff import shipped_networks

        return shipped_networks()

    @property
    def largest_gradient(self) -> float:
        """The size of a gradient that has the strongest colour, the same throughout the sweep."""
        return self._limit

    def write(self, text: str) -> None:
        """Read a text; where it has faults, the network that was read before stays."""
        from lmviz.autodiff import read

        if text == self.text:
            return
        self._text, self._title = text, ""
        self.begun.emit()
        try:
            network = read(text)
        except LmvizError as error:
            self._faults = _faults_of(error)
            self.text_changed.emit()
            return
        self._faults = ()
        pushed, popped = self.current.tape.pushed, self.current.tape.popped
        was_complete, version = self.current.tape.is_complete, self.current.tape.version
        count = len(network.tape.modules)
        network.tape.version = version
        self._take_slip(network)
        network.tape.play(count if was_complete else min(pushed, count), 0)
        if network.tape.is_complete:
            network.tape.sweep(min(popped, count))
        self._use(network)

    def open_shipped(self, name: str) -> None:
        """Open one of the networks that come with lmviz."""
        from lmviz.autodiff import shipped_network

        found = shipped_network(name)
        self._open(found.text, found.title)

    def open_file(self, path: Path, then: Callable[[], object] = lambda: None) -> None:
        """Open a text file, and do something then; `failed` says what is wrong with it."""
        from lmviz.autodiff.files import read_text

        def take(text: str) -> None:
            try:
                self._open(text, path.stem)
            except LmvizError as error:
                self.failed.emit(str(error))
            else:
                then()

        self._work.open_file(path, lambda: read_text(path), take, self)

    def save_file(self, path: Path) -> None:
        """Write the text as it stands, faults included; `failed` says why it could not be."""

        def take_name(_: Path) -> None:
            if text == self.text:  # no other was written meanwhile
                self._title = path.stem
                self.text_changed.emit()

        text = self.text
        self._work.save_file(
            path, lambda: write_atomically(path, text.encode("utf-8")), take_name, self.failed.emit
        )

    def exchange(self, network: Network) -> None:
        """Put another network of the same text in the place of this one, at the same place on its tape."""
        tape = self.current.tape
        network.tape.version = tape.version
        self._take_slip(network)
        network.tape.play(tape.pushed, tape.popped)
        self._network = network
        self._renew()

    def push(self) -> None:
        """Compute the next module, or put back what was popped last."""
        tape = self.current.tape
        if tape.popped or not tape.is_complete:
            tape.push()
            self.numbers_changed.emit()

    def pop(self) -> None:
        """Take the last module off the tape and send its gradient back."""
        if len(self.current.tape):
            self.current.tape.pop()
            self.numbers_changed.emit()

    def run_forward(self) -> None:
        """Compute every value, with no gradient yet."""
        self.current.forward()
        self.numbers_changed.emit()

    def run_backward(self) -> None:
        """Compute every gradient."""
        self.current.backward()
        self.numbers_changed.emit()

    def rewind(self) -> None:
        """An empty tape."""
        self.current.tape.rewind()
        self.numbers_changed.emit()

    def choose_version(self, version: str) -> None:
        """Gather ("A") or scatter ("B")."""
        if version != self.current.tape.version:
            self.current.tape.version = version
            self.numbers_changed.emit()

    def choose_slip(self, has_slip: bool) -> None:
        """Have the gradients of all modules begin at 1, or at 0 again as they should."""
        from lmviz.autodiff.slip import begin_gradients_at

        if has_slip != self._has_slip:
            self._has_slip = has_slip
            begin_gradients_at(self.current, float(has_slip))
            self._renew()

    def stand_at(self, version: str, pushed: int, popped: int) -> None:
        """Bring the tape to where it has pushed and then popped so many, as far as the network goes."""
        tape = self.current.tape
        tape.version = version
        tape.play(min(pushed, len(tape.modules)), 0)
        if tape.is_complete:
            tape.sweep(min(popped, len(tape.modules)))
        self.numbers_changed.emit()

    def edit(self, name: str, index: Sequence[int], number: float) -> None:
        """Give one cell another number; all that follows is new."""
        self.begun.emit()
        try:
            self.current.edit(name, index, number)
        except LmvizError as error:
            self.failed.emit(str(error))
            return
        self._renew()

    def release(self, name: str) -> None:
        """Have a value computed again that was set by hand."""
        self.current.release(name)
        self._renew()

    def move_to(self, parameters: Parameters) -> None:
        """Give the parameters other numbers, by name."""
        from lmviz.autodiff import move_to

        move_to(self.current, parameters)
        self._renew()

    def _open(self, text: str, title: str) -> None:
        from lmviz.autodiff import read

        self._text, self._title, self._has_slip = text, title, False
        self.begun.emit()
        try:
            network = read(text).forward()
        except LmvizError as error:
            self._faults = _faults_of(error)
            self.text_changed.emit()
            return
        self._faults = ()
        self._use(network)

    def _use(self, network: Network) -> None:
        self._network = network
        self._measure()
        self.text_changed.emit()
        self.network_changed.emit()
        self.computation_changed.emit()
        self.numbers_changed.emit()

    def _renew(self) -> None:
        """Other numbers: in the text as well, unless something is being written that cannot be read yet."""
        self._measure()
        if not self._faults and self.current.text != self._text:
            self._text = self.current.text
            self.text_changed.emit()
        self.computation_changed.emit()
        self.numbers_changed.emit()

    def _take_slip(self, network: Network) -> None:
        """Have another network of the same text begin its gradients as this one does."""
        from lmviz.autodiff.slip import begin_gradients_at

        if self._has_slip:
            begin_gradients_at(network, 1.0)

    def _measure(self) -> None:
        from lmviz.autodiff.gradient_scale import largest_gradient

        self._limit = largest_gradient(self.current)
        self._changes += 1


def _faults_of(error: LmvizError) -> tuple[Fault, ...]:
    """What is wrong with a text, where it cannot be read."""
    from lmviz.base.faults import Fault, FaultyText

    return error.faults if isinstance(error, FaultyText) else (Fault(0, str(error)),)
