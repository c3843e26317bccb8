"""Gradient descent on the small network: one step, and the path of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.network import OpenNetwork
from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.autodiff.learning import DescentStep, Direction, Parameters, Surface


class Descent(Part):
    """The rate, the path that steps have taken, and where on it the network stands.

    The path holds the parameters before the first step and after each one; whoever changes the network in
    another way begins a new path.
    """

    changed = Signal()

    def __init__(self, network: OpenNetwork, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._network = network
        self._rate = 0.1
        self._path: list[Parameters] = []
        self._taken: list[DescentStep] = []  # from each place on the path to the next
        self._place = 0
        self._is_moving = False
        self._directions: tuple[Direction, Direction] | None = None
        network.network_changed.connect(self._forget)
        network.computation_changed.connect(self._notice)

    @property
    def rate(self) -> float:
        """η, by which the gradient is multiplied."""
        return self._rate

    @property
    def loss(self) -> float:
        """The loss where the network stands."""
        return self._network.current.copy().forward().loss

    @property
    def path(self) -> tuple[Parameters, ...]:
        """The parameters along the path."""
        return tuple(self._path)

    @property
    def place(self) -> int:
        """Where on the path the network stands."""
        return self._place

    @property
    def step(self) -> DescentStep | None:
        """What one step would do now; None where nothing can be learned."""
        from lmviz.autodiff import descend

        net = self._network.current
        return descend(net, self._rate) if net.parameters else None

    @property
    def last(self) -> DescentStep | None:
        """The step that has led to where the network stands; None at the beginning of a path."""
        return self._taken[self._place - 1] if self._place else None

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The parameters that a surface can be drawn over."""
        from lmviz.autodiff.learning import directions

        return directions(self._network.current)

    @property
    def chosen(self) -> tuple[Direction, Direction] | None:
        """The two parameters of the surface: those chosen, or else those that move most."""
        from lmviz.autodiff.learning import steepest

        if self._directions is None:
            self._directions = steepest(self._network.current)
        return self._directions

    @property
    def surface(self) -> Surface | None:
        """The loss over the two parameters, around the path; None where there are no two."""
        from lmviz.autodiff import surface

        if self.chosen is None:
            return None
        return surface(self._network.current, *self.chosen, path=self._path)

    def choose_rate(self, rate: float) -> None:
        """Set η."""
        if rate != self._rate:
            self._rate = rate
            self.begun.emit()
            self.changed.emit()

    def choose_directions(self, across: Direction, up: Direction) -> None:
        """Draw the surface over two other parameters."""
        self.begun.emit()
        if across == up:
            self.failed.emit("A surface needs two different parameters: choose another one.")
            return
        self._directions = (across, up)
        self.changed.emit()

    def descend(self, steps: int = 1) -> None:
        """Take steps of gradient descent from where the network stands."""
        from lmviz.autodiff.learning import parameters_of, train

        net = self._network.current
        self.begun.emit()
        try:
            taken = list(train(net, self._rate, steps))
        except LmvizError as error:
            self.failed.emit(str(error))
            return
        before = self._path[: self._place + 1] or [parameters_of(net)]
        self._path = [*before, *(step.parameters for step in taken)]
        self._taken = [*self._taken[: self._place], *taken]
        self.go_to(len(self._path) - 1)

    def go_to(self, place: int) -> None:
        """Give the network the parameters of a place on the path."""
        if 0 <= place < len(self._path):
            self._place = place
            self._is_moving = True
            self._network.move_to(self._path[place])
            self._is_moving = False
            self.changed.emit()

    def _notice(self) -> None:
        """The network computes something else, but not because it stands elsewhere on the path."""
        if not self._is_moving:
            self._path, self._taken, self._place = [], [], 0
            self.begun.emit()
            self.changed.emit()

    def _forget(self) -> None:
        self._directions = None
