"""How noisy the gradient is: the norm of the mean over a batch, beside those of single examples."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.panel import Panel
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.beside import Beside
from lmviz.app.widgets.base.building import STRETCH, column, named, sheet
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.plain import Label, caption
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.workers.job import Job
from lmviz.families import FAMILIES
from lmviz.looks.curve import PlotCurve
from lmviz.runs.opening import open_model_of, open_recorded
from lmviz.text.corpus import Corpus

if TYPE_CHECKING:
    from lmviz.training.gradient_noise import GradientNoise

TITLE = "Gradient noise"
SAID = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
COUNTED = "An n-gram model is counted, so it has no gradient: open or train another family."
NO_MODEL = "Open or train a model to see how noisy its gradients are."
INVITATION = (
    "The gradient of a batch is a mean over its examples. How much of it is chance? Measure single gradients "
    "of the shown step, and the means of 2, 4, … 64 of them."
)


class NoisePanel(Panel):
    """A button measures the shown step; the curve grows while that goes on."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._measured: tuple[Moment, GradientNoise] | None = None
        self._job: Job | None = None
        self._plot = LinePlot(
            "examples in a batch", LOSS, logarithmic=(True, True), y_name="norm of the gradient"
        )
        self._plot.setObjectName("noise_plot")
        self._said = Label(name="noise_sentence", wraps=True)
        self._source = Label("McCandlish et al. 2018", role="muted")
        self._source.setToolTip(
            "An Empirical Model of Large-Batch Training, section 2.2: the norm expected at a batch size B is "
            "√(|G|² + S/B), where G is the gradient of the whole text and S the variance of single ones."
        )
        self._measure = named(QPushButton("measure"), "measure_noise_button")
        self._measure.clicked.connect(self._start_or_stop)
        self._open = named(QPushButton(), "open_noise_text_button")
        self._open.clicked.connect(self._open_text)
        words = sheet(column(STRETCH, self._said, self._open, STRETCH, self._source))
        self._card = self.add_card(TITLE, self._measure, Beside(self._plot, words, (5, 4)))
        self.follow(
            session.library.model_changed,
            session.library.step_changed,
            session.text.changed,
            session.work.ready_changed,
        )

    @property
    def noise(self) -> GradientNoise | None:
        """What was measured of the shown model; None before that."""
        if self._measured is None or self._measured[0][0] != self.session.library.model:
            return None
        return self._measured[1]

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Batch sizes (size,), and the norms measured, expected, and left by noise alone, all (size,)."""
        noise = self.noise
        if noise is None:
            return {}
        return {
            "sizes": noise.sizes,
            "norms": noise.norms,
            "expected": noise.expected(noise.sizes),
            "noise": noise.of_noise_alone(noise.sizes),
        }

    def recipe(self) -> str:
        """None: single gradients are taken of a part of the text that was drawn here."""
        return ""

    def refresh(self) -> None:
        model, noise, obstacle = self.session.library.model, self.noise, self._obstacle()
        has_other_text = model is not None and not obstacle and not self._has_its_text(model)
        self._measure.setText("measure" if self._job is None else "stop")
        self._measure.setEnabled(self._job is not None or not (obstacle or has_other_text))
        if self._open.hasFocus() and not has_other_text:
            self._measure.setFocus()  # or the keyboard would go to another tab
        self._open.setVisible(has_other_text)
        if model is not None:
            name = model.description.corpus.get("name", "its text")
            self._open.setText(caption(f"Open “{name}”"))
        if noise is None or self._measured is None:
            self._card.set_title(TITLE)
            self._plot.set_curves([])
            self._show(is_measured=False)
            self._said.setText(obstacle or INVITATION)
            return
        sizes = noise.sizes
        self._card.set_title(f"{TITLE}, step {self._measured[0][1]:,}")
        self._plot.set_curves(
            [
                PlotCurve("measured", sizes, noise.norms, "accent", 0, dots=True),
                PlotCurve("expected", sizes, noise.expected(sizes), "accent"),
                PlotCurve("noise, 1/√B", sizes, noise.of_noise_alone(sizes), "muted_text", 1.4, dashed=True),
            ]
        )
        is_in_sight = 1 <= noise.noise_scale <= sizes[-1]
        self._plot.set_marks([(noise.noise_scale, "noise = signal")] if is_in_sight else [])
        self._said.setText(in_words(noise))
        self._show(is_measured=True)

    def _show(self, *, is_measured: bool) -> None:
        """The curve and what it says; before there is one, the invitation alone, as in other panels."""
        for widget in (self._plot, self._source):
            widget.setVisible(is_measured)
        self._said.setAlignment(SAID if is_measured else Qt.AlignmentFlag.AlignCenter)
        set_role(self._said, "" if is_measured else "muted")

    def _obstacle(self) -> str:
        """Why nothing can be measured; empty where it can, once the model's text is open."""
        model = self.session.library.model
        if model is None:
            return NO_MODEL
        return COUNTED if model.family in FAMILIES and FAMILIES[model.family].counts else ""

    def _has_its_text(self, model: OpenedModel) -> bool:
        corpus = self.session.text.corpus
        return corpus is not None and corpus.fingerprint == model.description.fingerprint

    def _open_text(self) -> None:
        model = self.session.library.model
        if model is not None:
            self.session.text.open_text_of(model)

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._start()

    def _start(self) -> None:
        model, corpus = self.session.library.model, self.session.text.corpus
        if model is None or corpus is None:
            return
        moment = model, model.nearest_snapshot(self.session.library.shown_moment[1])
        self._measured = None

        def take(noise: GradientNoise) -> None:
            self._measured = (moment, noise)
            self.refresh_soon()

        self._job = self.start_job(
            f"Measuring gradients of {model.name}", lambda report: _measured(moment, corpus), take, take
        )
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        """However it ended, also when it was stopped."""
        self._job = None
        self.refresh_soon()


def _measured(moment: Moment, corpus: Corpus) -> Generator[object, None, GradientNoise]:
    """The noise of a model at a step on its text, as a job."""
    from lmviz.training.gradient_noise import gradient_noise

    opened, step = moment
    training = corpus.training if corpus.training_examples is None else corpus.training_examples
    for share, found in gradient_noise(
        open_model_of(open_recorded(opened.folder), step),
        training,
        opened.description.options,
        ignored_target=corpus.tokenizer.start_id if corpus.marks_boundaries else None,
    ):
        yield share
        yield found
    return found


def in_words(noise: GradientNoise) -> str:
    """What was found, in three sentences."""
    norm = number(float(noise.norms[0]), 2)
    first = f"Single gradients have a norm of {norm}, the root mean square of {count(noise.examples)}."
    if len(noise.sizes) < 2:
        return first
    last = f"The mean of {noise.sizes[-1]} has {number(float(noise.norms[-1]), 2)}."
    alone = float(noise.of_noise_alone(noise.sizes[-1:])[0])
    chance = f"Chance alone would leave {number(alone, 2)}."
    scale = noise.noise_scale
    if scale < 1:
        equal = "Even single gradients are more signal than noise."
    elif scale > 100 * noise.examples:
        equal = "They have almost nothing in common."
    else:
        equal = f"In a batch of about {count(round(scale))}, noise and signal are equally large."
    return f"{first} {last} {chance} {equal}"
