"""Which cell and which module of the small network one looks at, and the arithmetic of the cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.network import OpenNetwork
from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.models.arithmetic import Arithmetic


class NetworkCell(NamedTuple):
    """A cell of a value, or of its gradient."""

    name: str
    place: tuple[int, ...]
    is_gradient: bool


class NetworkFocus(Part):
    """What is pointed at and what is pinned; a pinned cell stays while the tape moves."""

    cell_changed = Signal()
    module_changed = Signal()

    def __init__(self, network: OpenNetwork, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._network = network
        self._pinned: NetworkCell | None = None
        self._hovered: NetworkCell | None = None
        self._module = ""
        network.network_changed.connect(self._forget)

    @property
    def pinned(self) -> NetworkCell | None:
        """The cell that was clicked."""
        return self._pinned if self._is_there(self._pinned) else None

    @property
    def shown(self) -> NetworkCell:
        """The cell that is pointed at or pinned; else the strongest of what the sweep reached last."""
        hovered = self._hovered if self._is_there(self._hovered) else None
        return hovered or self.pinned or self._strongest()

    @property
    def nudged(self) -> NetworkCell:
        """The shown cell; for the output, unless a person looks at that, a number that is given."""
        from lmviz.autodiff.strongest import cell_to_nudge

        shown, net = self.shown, self._network.current
        is_looked_at = shown in (self._hovered, self.pinned)
        if is_looked_at or shown.name != net.output.name:
            return shown
        return NetworkCell(*cell_to_nudge(net), is_gradient=False)

    @property
    def module(self) -> str:
        """The value that is pointed at, in the text, in the graph or on the tape; empty for none."""
        return self._module

    @property
    def arithmetic(self) -> Arithmetic | None:
        """The arithmetic of the shown cell; None for numbers that are given."""
        cell = self.shown
        return self._network.current.explain(cell.name, cell.place, gradient=cell.is_gradient)

    def hover_cell(self, cell: NetworkCell | None) -> None:
        """Look at a cell without pinning it."""
        if cell != self._hovered:
            self._hovered = cell
            self.cell_changed.emit()

    def choose_cell(self, cell: NetworkCell) -> None:
        """Pin a cell; one that is pinned already is released."""
        self._pinned = None if cell == self._pinned else cell
        self.cell_changed.emit()

    def release(self) -> None:
        """Pin nothing."""
        if self._pinned is not None:
            self._pinned = None
            self.cell_changed.emit()

    def hover_module(self, name: str) -> None:
        """Point at a value and all that stands for it."""
        if name != self._module:
            self._module = name
            self.module_changed.emit()

    def _is_there(self, cell: NetworkCell | None) -> bool:
        net = self._network.current
        return cell is not None and cell.name in net and len(cell.place) == len(net[cell.name].shape)

    def _strongest(self) -> NetworkCell:
        from lmviz.autodiff.strongest import strongest_cell

        return NetworkCell(*strongest_cell(self._network.current))

    def _forget(self) -> None:
        self._pinned = self._hovered = None
        self._module = ""
        self.cell_changed.emit()
