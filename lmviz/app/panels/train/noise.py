"""How noisy the gradient is: the norm of the mean over a batch, beside those of single examples."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.workers.job import Job
from lmviz.families import FAMILIES
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, Curves, LookPart, SideBySide, Space, Stacked, Words
from lmviz.runs.opening import open_model_of, open_recorded

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus
    from lmviz.training.gradient_noise import GradientNoise

TITLE = "Gradient noise"
COUNTED = "An n-gram model is counted, so it has no gradient: open or train another family."
NO_MODEL = "Open or train a model to see how noisy its gradients are."
INVITATION = (
    "The gradient of a batch is a mean over its examples. How much of it is chance? Measure single gradients "
    "of the shown step, and the means of 2, 4, … 64 of them."
)
PLOT = Curves(
    "noise_plot",
    x_name="examples in a batch",
    y_name="norm of the gradient",
    possible=(LOSS, LOSS),
    logarithmic=(True, True),
)
SENTENCE = Words("noise_sentence")
SOURCE = Words(
    text="McCandlish et al. 2018",
    role="muted",
    tip="An Empirical Model of Large-Batch Training, section 2.2: the norm expected at a batch size B is "
    "√(|G|² + S/B), where G is the gradient of the whole text and S the variance of single ones.",
)


class NoisePanel(ShowingPanel):
    """A button measures the shown step; the curve grows while that goes on."""

    follows = ("library.model_changed", "library.step_changed", "text.changed", "work.ready_changed")
    title = TITLE

    _measured: tuple[Moment, GradientNoise] | None = None
    _job: Job | None = None

    @property
    def noise(self) -> GradientNoise | None:
        """What was measured of the shown model; None before that."""
        if self._measured is None or self._measured[0][0] != self.session.library.model:
            return None
        return self._measured[1]

    def look(self) -> Look:
        """Norms measured, expected, and left by noise alone, all (size,) as the batch sizes are.

        There is no recipe: single gradients are taken of a part of the text that was drawn here.
        """
        model, noise, obstacle = self.session.library.model, self.noise, self._obstacle()
        has_other_text = model is not None and not obstacle and not self._has_its_text(model)
        measure = Button(
            "measure_noise_button",
            text="measure" if self._job is None else "stop",
            enabled=self._job is not None or not (obstacle or has_other_text),
            clicked=self._start_or_stop,
        )
        name = "its text" if model is None else model.description.corpus.get("name", "its text")
        other_text = Button(
            "open_noise_text_button", text=f"Open “{name}”", shown=has_other_text, clicked=self._open_text
        )
        if noise is None or self._measured is None:
            said = replace(SENTENCE, text=obstacle or INVITATION, role="muted", centred=True)
            return Look((_beside(replace(PLOT, shown=False), said, other_text),), head=(measure,))
        sizes = noise.sizes
        expected, alone = noise.expected(sizes), noise.of_noise_alone(sizes)
        curves = [
            PlotCurve("measured", sizes, noise.norms, "accent", 0, dots=True),
            PlotCurve("expected", sizes, expected, "accent"),
            PlotCurve("noise, 1/√B", sizes, alone, "muted_text", 1.4, dashed=True),
        ]
        marks = [(noise.noise_scale, "noise = signal")] if 1 <= noise.noise_scale <= sizes[-1] else []
        plot, said = replace(PLOT, curves=curves, marks=marks), replace(SENTENCE, text=in_words(noise))
        return Look(
            (_beside(plot, said, other_text, SOURCE),),
            title=f"{TITLE}, step {self._measured[0][1]:,}",
            head=(measure,),
            arrays={"sizes": sizes, "norms": noise.norms, "expected": expected, "noise": alone},
            units={"sizes": "examples"},
        )

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


def _beside(plot: Curves, *said: LookPart) -> SideBySide:
    """The curve, and in the middle of the rest what is said of it; the last part at the bottom."""
    return SideBySide(
        first=plot, second=Stacked(parts=(Space(), *said[:2], Space(), *said[2:])), shares=(5, 4)
    )


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
