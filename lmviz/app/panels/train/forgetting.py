"""What learning costs: how much each run has forgotten when it had learned so much."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.train.tuned_runs import names_of, runs_of_one_base
from lmviz.inspection.recipes.run import curves_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Curves, OneLine
from lmviz.training.forgetting import Forgetting, same_gain

EMPTY = (
    "Train an opened model further: what it learns of the new text is drawn here against what it forgets of "
    "texts that it wrote itself before."
)


class ForgettingPanel(ShowingPanel):
    """A plane: learned of the text to the right, forgotten upwards; each run that began with one model."""

    title = "What learning costs"
    follows = ("training.changed", "library.models_changed", "library.model_changed", "text.changed")

    def look(self) -> Look:
        runs = self._runs()
        if not runs:
            return Look(instead=EMPTY)
        gain = same_gain(list(runs.values()))
        curves, arrays, said = [], {}, []
        for place, (name, found) in enumerate(runs.items()):
            learned, forgotten = found.path()
            curves.append(PlotCurve(name, learned, forgotten, place, 2.2 if place == 0 else 1.6))
            arrays[name] = np.column_stack([found.steps, found.learned, found.forgotten])
            at = None if gain is None else found.forgotten_at(gain)
            if at is not None:
                said.append(f"{at:.2f} with {name}")
        sentence = next(iter(runs.values())).sentence
        if gain is not None and len(said) > 1:
            sentence = f"For {gain:.2f} learned, forgotten: {'; '.join(said)}."
        marks = [] if gain is None or len(runs) < 2 else [(gain, "same gain")]
        return Look(
            (
                OneLine(text=sentence),
                Curves(
                    "forgetting_plot",
                    curves=curves,
                    x_name="learned, nats",
                    y_name="forgotten, nats",
                    possible=((-np.inf, np.inf), (-np.inf, np.inf)),
                    marks=marks,
                ),
            ),
            aside="its own text, written before",
            arrays=arrays,
            recipe=curves_recipe([str(self._folders[name]) for name in runs]),
        )

    _folders: dict[str, object] = {}

    def _runs(self) -> dict[str, Forgetting]:
        """What the open runs that began as the shown one has learned and forgotten, the shown one first."""
        found: dict[str, Forgetting] = {}
        self._folders = {}
        models = runs_of_one_base(self.session.library)
        for name, model in zip(names_of(models), models, strict=True):
            history = self.session.training.history_of(model)
            held_out, own = history.validation_loss, history.own_loss
            path = Forgetting.between((held_out.steps, held_out.values), (own.steps, own.values))
            if path is not None and len(path.steps) > 1:
                found[name], self._folders[name] = path, model.folder
        return found
