"""What public models took to train in all, as bars, with those of which nobody outside knows it."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.figures import plain
from lmviz.app.widgets.kit.pointing import Words
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.looks.names import Names
from lmviz.scaling.compute import days_in_words, petaflop_days
from lmviz.scaling.public_models import TotalCompute, total_compute

UNKNOWN = "unknown"


class TotalComputePanel(Panel):
    """One bar for each model by year, in proportion; a click puts a model into the calculator."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._bars = named(BarsView(), "total_compute_bars")
        self._models = total_compute()
        self.add_card("Total compute", "petaflop/s-days", self._bars)
        self._bars.set_readout(self._read)
        self._bars.part_clicked.connect(self._choose)
        self.follow(session.scale.planned_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The petaflop/s-days of each model, NaN where they are not published."""
        return {"total compute": np.array([[_days(model)] for model in self._models])}

    def exported_names(self) -> Names:
        return Names([model.name for model in self._models], ["petaflop/s-days"])

    def recipe(self) -> str:
        """The same from Python."""
        return (
            "from lmviz.scaling.public_models import total_compute\n\n"
            "for model in total_compute():\n"
            "    print(model.year, model.name, model.operations)\n"
        )

    def refresh(self) -> None:
        chosen = self.session.scale.name
        self._bars.set_bars(
            [model.name for model in self._models],
            [0.0 if model.operations is None else model.operations for model in self._models],
            texts=[_text(model) for model in self._models],
            highlighted=[at for at, model in enumerate(self._models) if model.name == chosen],
            faded=[at for at, model in enumerate(self._models) if model.operations is None],
        )

    def _choose(self, index: int) -> None:
        model = self._models[index]
        if model.operations is not None:
            self.session.scale.load(model.name)

    def _read(self, index: int) -> Words:
        model = self._models[index]
        if model.operations is None:
            return f"{model.name} ({model.year})", [
                "neither its parameters nor its tokens are published",
                model.source,
            ]
        said = f"{plain(model.operations)} FLOP, {_text(model)} petaflop/s-days"
        return f"{model.name} ({model.year})", [said, "6 × parameters × tokens", model.source]


def _days(model: TotalCompute) -> float:
    return float("nan") if model.operations is None else petaflop_days(model.operations)


def _text(model: TotalCompute) -> str:
    return UNKNOWN if model.operations is None else days_in_words(_days(model))
