"""Caches the common units of models with different tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmviz.app.session.opened_model import OpenedModel
from lmviz.decoding.shared_units import SharedUnits, shared_units


class UnitsCache:
    """The units of the models that were asked for last. Used in the reading thread alone."""

    def __init__(self) -> None:
        self._key: tuple[Path, ...] = ()
        self._units: SharedUnits | None = None

    def units(self, models: Sequence[OpenedModel]) -> SharedUnits:
        """Those of the models' tokenizers, in the same order."""
        key = tuple(model.folder for model in models)
        if self._units is None or key != self._key:
            self._key, self._units = key, shared_units([model.tokenizer for model in models])
        return self._units
