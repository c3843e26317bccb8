"""What every head does, on random words said twice, and when in the training it began to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.export import COUNTED, Names
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.steady import ComboBox
from lmviz.app.widgets.kit.axes import SHARE
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.plot_curve import PlotCurve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.session import Session
    from lmviz.circuits.head_scores import HeadScores
    from lmviz.models.model import Model

QUESTION = "heads over time"
NO_MODEL = "Open or train a Transformer to see what each of its heads does."
WHERE = {
    "previous": "the word before",
    "first": "the first token",
    "duplicate": "the same word, said before",
    "induction": "the word that followed last time",
}
ROLES = {"previous": "query", "first": "muted_text", "duplicate": "value", "induction": "key"}
WORDS, ROWS = 16, 4
"""So many random words are said twice, in so many texts."""

JUMP = 0.1
"""By so much a score has to rise from one snapshot to the next for that to be said."""


class HeadsOverTimePanel(Panel):
    """A map of all heads by one score at the shown step, and of the chosen head all scores over the training.

    Scores are shares of attention on random words said twice, never on what is typed.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("heads_over_time_view")
        self._scores: dict[int, HeadScores] = {}
        self._model: OpenedModel | None = session.library.model
        self._asked: tuple[OpenedModel, int] | None = None
        self._score = ComboBox()
        self._score.setObjectName("head_score_picker")
        self._score.setAccessibleName("what heads are coloured by")
        self._score.addItems(list(WHERE))
        self._score.setCurrentText("induction")
        self._said = Label()
        self._said.setObjectName("heads_sentence")
        self._said.setWordWrap(True)
        self._map = HeatmapView()
        self._map.setObjectName("heads_map")
        self._map.setAccessibleName("heads by layer and number")
        self._map.set_style(values="none", labels_below=True)
        self._map.set_readout(self._read_out)
        self._curves = LinePlot(possible=SHARE)
        self._curves.setObjectName("heads_curves")
        self._card = Card("What heads do", self._score, self._lay_out())
        self.column.addWidget(self._card)
        self._score.activated.connect(lambda _: self._draw())
        self._map.cell_clicked.connect(self._choose)
        self._curves.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        session.library.model_changed.connect(self._forget_others)
        self.follow(
            session.library.model_changed, session.library.step_changed, session.attention.head_changed
        )

    @property
    def scores(self) -> dict[int, HeadScores]:
        """The scores of the shown model, by the steps that are known so far."""
        return self._scores

    @property
    def is_whole(self) -> bool:
        """Whether every snapshot has its scores."""
        return self._model is not None and set(self._model.snapshots) <= set(self._scores)

    @property
    def sentence(self) -> str:
        """What the chosen head does, and since when."""
        return self._said.text()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        steps = sorted(self._scores)
        if not steps:
            return {}
        found = np.stack([self._scores[step].array for step in steps])
        return {"step": np.array(steps)} | {name: found[:, at] for at, name in enumerate(WHERE)}

    def exported_names(self) -> Names:
        return COUNTED

    def recipe(self) -> str:
        if self._model is None or not self._scores:
            return ""
        return (
            "import lmviz\n\n"
            f"steps = {sorted(self._scores)}\n"
            f"model = {str(self._model.folder)!r}\n"
            f"found = lmviz.head_scores(model, words={WORDS}, rows={ROWS}, steps=steps)\n"
            "values = {step: scores.array for step, scores in found.items()}\n"
        )

    def out_of_place(self, model: OpenedModel) -> str:
        if model.has_heads and not model.reads_source:
            return ""
        return f"{model.name} has no heads that look at its own text alone. Open a Transformer of one text."

    def refresh(self) -> None:
        model = self.session.library.model
        self._card.set_placeholder("" if model is not None else NO_MODEL)
        if model is None:
            self._draw()
            return
        step = self.session.library.step
        if step in self._scores:
            self._draw()
            self._ask_next()
        elif self._asked != (model, step):
            self._ask(model, step)

    def handle_failure(self, key: str) -> None:
        self._asked = None

    def _lay_out(self) -> QWidget:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._said)
        column.addWidget(self._map, 3)
        column.addWidget(self._curves, 2)
        return body

    def _forget_others(self) -> None:
        """Another model has other heads."""
        model = self.session.library.model
        if model is not self._model:
            self.silence(QUESTION)
            self._scores, self._asked, self._model = {}, None, model

    def _ask(self, model: OpenedModel, step: int) -> None:
        self._asked = (model, step)

        def work(opened: Model) -> HeadScores:
            from lmviz.circuits.head_scores import head_scores

            return head_scores(opened, words=WORDS, rows=ROWS)

        def take(found: HeadScores) -> None:
            if model is self._model:
                self._scores[step] = found
                self._draw()
                self._ask_next()

        self.ask_model((model, step), QUESTION, work, take, grows=bool(self._scores))

    def _ask_next(self) -> None:
        """The next snapshot that is not known yet, one at a time, so that others have their turn."""
        if self._model is None or not self.is_in_sight or self.session.work.is_busy(QUESTION):
            return
        left = [step for step in self._model.snapshots if step not in self._scores]
        if left:
            self._ask(self._model, left[0])

    def _shown(self) -> HeadScores | None:
        known = self._scores
        if not known:
            return None
        step = self.session.library.step
        return known[min(known, key=lambda other: abs(other - step))]

    def _head(self, found: HeadScores) -> tuple[int, int]:
        """The chosen head, where the model has it; else the one that does most."""
        layer, head = self.session.attention.head
        layers, heads = found.array.shape[1:]
        return (layer, head) if layer < layers and head < heads else (0, 0)

    def _draw(self) -> None:
        found = self._shown()
        self._map.setVisible(found is not None)
        self._curves.setVisible(found is not None)
        if found is None:
            self._said.setText("")
            return
        score = self._score.currentText()
        shares = found[score][::-1]  # the first layer lies at the bottom
        layers, heads = shares.shape
        self._map.set_matrix(
            shares,
            scale="share",
            limit=1.0,
            rows=[str(layer + 1) for layer in reversed(range(layers))],
            columns=[str(head + 1) for head in range(heads)],
            words=[["" if share < JUMP else f"{100 * share:.0f}" for share in row] for row in shares],
        )
        layer, head = self._head(found)
        self._map.set_pinned((layers - 1 - layer, head))
        steps = sorted(self._scores)
        over_time = np.stack([self._scores[step].array[:, layer, head] for step in steps])
        self._curves.set_curves(
            [PlotCurve(name, steps, over_time[:, at], ROLES[name]) for at, name in enumerate(WHERE)]
        )
        self._curves.set_cursor(self.session.library.step)
        self._said.setText(self._sentence(steps, over_time, layer, head))

    def _sentence(self, steps: Sequence[int], over_time: np.ndarray, layer: int, head: int) -> str:
        """What a head looks at most now, and between which snapshots it turned to it."""
        now = int(np.argmin([abs(step - self.session.library.step) for step in steps]))
        score = int(over_time[now].argmax())
        where = list(WHERE.values())[score]
        share = f"{100 * over_time[now, score]:.0f} %"
        said = f"Head {layer + 1}·{head + 1} has {share} of its attention on {where}."
        rises = np.diff(over_time[:, score])
        if not len(rises) or rises.max() < JUMP:
            return said
        at = int(rises.argmax())
        return f"{said} It turned to it between steps {count(steps[at])} and {count(steps[at + 1])}."

    def _choose(self, row: int, column: int) -> None:
        found = self._shown()
        if found is not None:
            self.session.attention.choose_head(found.array.shape[1] - 1 - row, column)

    def _read_out(self, row: int, column: int) -> tuple[str, Sequence[str]]:
        found = self._shown()
        if found is None:
            return "", ()
        layer = found.array.shape[1] - 1 - row
        lines = [f"{100 * found[name][layer, column]:.0f} % on {where}" for name, where in WHERE.items()]
        return f"head {layer + 1}·{column + 1}", lines
