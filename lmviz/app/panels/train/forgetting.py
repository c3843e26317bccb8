"""What learning costs: how much each run has forgotten when it had learned so much."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.session.opened_model import OpenedModel
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
        library = self.session.library
        shown = library.model
        models = [model for model in library.models if model != shown]
        models = [*([shown] if shown is not None else []), *models]
        tuned = [model for model in models if model.description.tuned_from is not None]
        found: dict[str, Forgetting] = {}
        self._folders = {}
        for model in tuned:
            if _base(model) != _base(tuned[0]):
                continue
            history = self.session.training.history_of(model)
            held_out, own = history.validation_loss, history.own_loss
            path = Forgetting.between((held_out.steps, held_out.values), (own.steps, own.values))
            if path is not None and len(path.steps) > 1:
                name = self._name(model)
                name = name if name not in found else f"{name}, {model.name}"
                found[name], self._folders[name] = path, model.folder
        return found

    def _name(self, model: OpenedModel) -> str:
        """What was learned, and at which rate: the two decide."""
        tuning = model.description.tuning
        layers = int(model.description.configuration.get("layers", 0))
        rate = model.description.training.get("learning_rate", 0.0)
        return f"{tuning.in_words(layers) if tuning is not None else model.name}, rate {rate:g}"


def _base(model: OpenedModel) -> object:
    """What two runs must share to be compared: the model that they began with, and the text."""
    said = model.description.tuned_from
    return None if said is None else (said["fingerprint"], model.description.fingerprint)
