"""What was written down of the shown training: which curves and weights, how often, and by whom."""

from __future__ import annotations

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.widgets.base.figures import count
from lmviz.inspection.recipes.run import curves_recipe
from lmviz.looks.columns import Column
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import OneLine, Table, Words
from lmviz.training.spacing import spacing_in_words

EMPTY = "Open a run, or the checkpoints of a training of another program, to see what was kept of it."
MEASURED = {
    "loss": "loss",
    "validation_loss": "validation loss",
    "validation_accuracy": "validation accuracy",
    "own_loss": "loss on its own texts",
    "second_loss": "loss on the second text",
    "learning_rate": "learning rate",
    "gradient_norm": "gradient norm",
}
"""What the curves of a training are called."""

EXPECTED = ("loss", "validation_loss", "learning_rate", "gradient_norm")
"""Those of which it is said that they are lacking."""

SENTENCE = Words("recorded_sentence")
TABLE = Table("recorded_table", says="what was recorded, how often, and how many values", share=1)


class RecordedPanel(ShowingPanel):
    """A row for each curve and one for the weights; below, what is lacking, and how the training stands."""

    title = "Recorded"
    follows = ("training.changed", "library.model_changed", "library.models_changed")

    def look(self) -> Look:
        model = self.session.library.model
        if model is None or not model.snapshots:
            return Look((SENTENCE, TABLE), instead=EMPTY)
        curves = self.session.training.history_of(model).curves
        steps = {MEASURED[name]: np.asarray(curve.steps, dtype=np.int64) for name, curve in curves.items()}
        steps["weights"] = np.array(model.snapshots, dtype=np.int64)
        lacking = [MEASURED[name] for name in EXPECTED if name not in curves]
        gone = f", {len(model.gone)} of them gone" if model.gone else ""
        kind = "checkpoint" if model.run.was_trained_elsewhere else "snapshot"
        kept = f"{count(len(model.snapshots))} {kind}s" if len(model.snapshots) > 1 else f"one {kind}"
        said = (Inked(f"{model.name}: "), Inked(f"{kept}{gone}", True), Inked("."))
        standing = self.session.series.in_words if model.run.was_trained_elsewhere else ""
        columns = [
            Column("recorded", list(steps)),
            Column("how often", [spacing_in_words(each.tolist()) for each in steps.values()]),
            Column("values", np.array([len(each) for each in steps.values()]), count),
        ]
        return Look(
            (
                Words(SENTENCE.name, text=said),
                Table(TABLE.name, says=TABLE.says, share=1, columns=columns),
                OneLine("recorded_lacking", text=f"not recorded: {', '.join(lacking)}", shown=bool(lacking)),
                OneLine("recorded_standing", text=standing, shown=bool(standing)),
            ),
            aside=f"by {model.run.recorded_by}" if model.run.recorded_by else "",
            arrays=steps,
            recipe=curves_recipe([str(model.folder)]),
        )
