"""All numbers nudged together, modules checked one by one, and the fault that may be hidden in one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.network import OpenNetwork
from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.autodiff import Check, Network
    from lmviz.autodiff.sabotage import Sabotage


class ModuleChecks(Part):
    """The results of checks so far. While a fault is hidden, each check counts."""

    changed = Signal()

    def __init__(self, network: OpenNetwork, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._network = network
        self._results: dict[str, Check] = {}
        self._nudged: Check | None = None
        self._whole: Network | None = None
        self._hidden: Sabotage | None = None
        network.network_changed.connect(self._forget)
        network.computation_changed.connect(self._renew)

    @property
    def results(self) -> dict[str, Check]:
        """The modules that were checked, by name."""
        return self._results

    @property
    def nudged(self) -> Check | None:
        """What came of nudging every number; None before that, and once the numbers are others."""
        return self._nudged

    def nudge_all(self, eps: float) -> None:
        """Nudge every parameter by ±ε, and hold each slope against its gradient."""
        from lmviz.autodiff.checking import check_all

        self.begun.emit()
        try:
            self._nudged = check_all(self._network.current, eps)
        except LmvizError as error:
            self.failed.emit(str(error))
        else:
            self.changed.emit()

    @property
    def is_hiding(self) -> bool:
        """Whether a module is broken."""
        return self._hidden is not None

    @property
    def found(self) -> Sabotage | None:
        """The fault, once a check has failed."""
        hidden = self._hidden
        return hidden if hidden is not None and hidden.name in self._results else None

    def check(self, name: str) -> None:
        """Check one module alone."""
        from lmviz.autodiff import check_module

        self._results[name] = check_module(self._network.current, name)
        self.changed.emit()

    def check_all(self) -> None:
        """Check every module; while a fault is hidden, that is all it takes, and the longest way."""
        from lmviz.autodiff import check_module

        net = self._network.current
        self._results = {node.name: check_module(net, node.name) for node in net.tape.modules}
        self.changed.emit()

    def hide_fault(self, seed: int | None = None) -> None:
        """Break one module at random; the one that was broken before is whole again."""
        from lmviz.autodiff import sabotage

        self.begun.emit()
        self.mend()
        self._network.choose_slip(False)  # with which every module is wrong
        whole = self._network.current
        chosen = random.SystemRandom().randrange(2**31) if seed is None else seed
        try:
            broken, self._hidden = sabotage(whole, chosen)
        except LmvizError as error:
            self.failed.emit(str(error))
            return
        self._whole, self._results = whole, {}
        self._network.exchange(broken)

    def mend(self) -> None:
        """Make the broken module whole again; numbers stay as they are now."""
        from lmviz.autodiff.learning import inputs_of

        if self._whole is not None:
            broken = self._network.current
            mended = self._whole.copy(inputs_of(broken))
            for node in mended:
                node.held = broken[node.name].held
            self._whole = self._hidden = None
            self._network.exchange(mended)

    def _forget(self) -> None:
        self._whole = self._hidden = None

    def _renew(self) -> None:
        """Checks are of what is computed now; those that look for a fault are made anew, and count."""
        from lmviz.autodiff import check_module

        net = self._network.current
        self._results = {name: check_module(net, name) for name in self._results if self.is_hiding}
        self._nudged = None
        self.begun.emit()
        self.changed.emit()
