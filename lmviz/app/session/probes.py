"""Probes that were fitted to the shown model: what *Probe* found last, for the panels that read by it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import Moment
    from lmviz.readouts.probing import Probes


@dataclass(frozen=True, eq=False)
class FittedProbes:
    """Probes, what they are `of` in words ("the labels of trees"), and `at` which places they learned.

    `code` is the lines of Python that fit them to `model`, none where there are no such lines.
    """

    probes: Probes
    of: str
    at: str
    code: tuple[str, ...] = ()


class OpenProbes(Part):
    """The newest probes of labels of each model and step.

    `changed` follows when some are known anew; `wanted` says that they are to be fitted, where a person does
    that.
    """

    changed = Signal()
    wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[tuple[tuple[Path, str], int], FittedProbes] = {}

    def of(self, moment: Moment) -> FittedProbes | None:
        """Those of a model at a step; None where none have been fitted."""
        model, step = moment
        return self._known.get((model.identity, step))

    def keep(self, moment: Moment, fitted: FittedProbes) -> None:
        """Read states by these, until others are fitted to the same model at that step."""
        model, step = moment
        self._known[model.identity, step] = fitted
        self.changed.emit()

    def ask_for(self) -> None:
        """Have that shown where probes are fitted."""
        self.wanted.emit()
