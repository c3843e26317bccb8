"""The state of a training, as an immutable value that panels draw, and the curves of those that were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lmviz.app.session.opened_model import OpenedModel
from lmviz.families import FAMILIES
from lmviz.tasks import TASKS

if TYPE_CHECKING:
    from lmviz.app.session.work import Work
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.training.observation import Observed
    from lmviz.training.options import TrainingOptions
    from lmviz.training.progress import Progress

Phase = Literal["idle", "preparing", "running", "paused", "finished", "stopped", "failed"]


class Curve:
    """Numbers that arrive one by one along the steps, one at most for each.

    `steps` is (point,) int64, and a copy; `values` is (point,) float64, and none.
    """

    def __init__(self) -> None:
        self._points = np.empty((2, 256))
        self._count = 0

    def append(self, step: int, value: float) -> None:
        """One more point. What was known of this step and later ones is forgotten."""
        if self._count and self._points[0, self._count - 1] >= step:
            self.forget_after(step - 1)
        if self._count == self._points.shape[1]:
            self._points = np.concatenate([self._points, np.empty_like(self._points)], axis=1)
        self._points[:, self._count] = step, value
        self._count += 1

    def forget_after(self, step: int) -> None:
        """Keep only the points up to a step, from which a training goes on."""
        self._count = int(np.searchsorted(self._points[0, : self._count], step, side="right"))

    @property
    def steps(self) -> np.ndarray:
        """Where along the training."""
        return self._points[0, : self._count].astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """What was measured there."""
        return self._points[1, : self._count]

    def __len__(self) -> int:
        return self._count


CURVES = (
    "loss",
    "validation_loss",
    "validation_accuracy",
    "own_loss",
    "second_loss",
    "learning_rate",
    "gradient_norm",
)


@dataclass(eq=False)
class History:
    """The curves of one training; losses in nats per token or label, accuracies as shares, and the seconds of
    work by each step.

    `update_ratios` are the newest there are: they are measured only now and then, at `ratios_step`.
    """

    loss: Curve = field(default_factory=Curve)
    validation_loss: Curve = field(default_factory=Curve)
    validation_accuracy: Curve = field(default_factory=Curve)
    own_loss: Curve = field(default_factory=Curve)
    second_loss: Curve = field(default_factory=Curve)
    learning_rate: Curve = field(default_factory=Curve)
    gradient_norm: Curve = field(default_factory=Curve)
    seconds: Curve = field(default_factory=Curve)
    update_ratios: Mapping[str, float] = field(default_factory=dict)
    ratios_step: int = 0

    @property
    def curves(self) -> dict[str, Curve]:
        """Those of which something was measured, by name."""
        return {name: getattr(self, name) for name in CURVES if len(getattr(self, name))}

    def append(self, progress: Progress) -> None:
        """Take over what a training step measured. A training that goes on from an earlier step forgets what
        came after it."""
        for name in CURVES:
            curve, value = getattr(self, name), getattr(progress, name)
            curve.forget_after(progress.step)
            if value is not None:
                curve.append(progress.step, value)
        self.seconds.append(progress.step, progress.seconds)
        if progress.update_ratios or self.ratios_step > progress.step:
            self.update_ratios, self.ratios_step = progress.update_ratios, progress.step

    @classmethod
    def from_metrics(cls, metrics: Iterable[dict[str, Any]]) -> History:
        """The history of a recorded run, from the lines of its metrics."""
        history = cls()
        for line in metrics:
            for name in (*CURVES, "seconds"):
                if line.get(name) is not None:
                    getattr(history, name).append(line["step"], line[name])
        return history


class RunHistories:
    """Histories of runs, read beside the window, which waits for them as briefly as `Work.look_up` does.

    `came` is called where one was late. Curves that cannot be read are none, and the sentence about it is
    said once.
    """

    def __init__(self, work: Work, say: Callable[[str], object], came: Callable[[], object]) -> None:
        self._work, self._say, self._came = work, say, came
        # By the identities of the runs, with the newest snapshot there was then.
        self._known: dict[tuple[Path, str], tuple[int, History]] = {}

    def of(self, model: OpenedModel) -> History:
        """The curves of a run, read again when it has been trained on; until then, those known before."""
        newest, history = self._known.get(model.identity, (-1, History()))
        if newest < model.snapshots[-1]:
            self._known[model.identity] = model.snapshots[-1], history
            self._read(model)
        return self._known[model.identity][1]

    def _read(self, model: OpenedModel) -> None:
        run, identity, newest = model.run, model.identity, model.snapshots[-1]
        is_late = False

        def take(history: History) -> None:
            if self._known.get(identity, (-1, None))[0] != newest:
                return  # it was trained on meanwhile, or closed
            self._known[identity] = newest, history
            if is_late:
                self._came()

        def fail(sentence: str) -> None:
            take(History())  # what the run wrote of its curves cannot be read any more
            self._say(sentence)

        self._work.look_into(
            f"curves of {model.folder}", lambda: History.from_metrics(run.metrics()), take, fail
        )
        is_late = True

    def keep(self, model: OpenedModel, history: History) -> None:
        """The curves of a training, which has them newer than its run."""
        self._known[model.identity] = max(history.loss.steps, default=0), history

    def forget_all_but(self, models: Iterable[OpenedModel]) -> None:
        """Forget those of runs that are not open any more: they are read again when they are."""
        kept = {model.identity for model in models}
        self._known = {run: known for run, known in self._known.items() if run in kept}


@dataclass(frozen=True)
class Plan:
    """What to train: a family by its name, its configuration, and how."""

    family: str
    configuration: ModelConfiguration
    training_options: TrainingOptions


def in_words(family: str, text: str, tokenizer: str, task: str = "next-token", reads: str = "") -> str:
    """What is trained on what: "GRU · shakes · bpe 1000", "tagger: LSTM both ways · ambiguous · words"."""
    title = FAMILIES[family].short_title if family in FAMILIES else family
    title = f"{title} {reads}" if reads else title
    called = TASKS[task].model if task in TASKS else ""
    title = f"{called}: {title}" if called else title
    return " · ".join(part for part in (title, text, tokenizer.replace(":", " ")) if part)


@dataclass(frozen=True)
class TrainingState:
    """One look at the training.

    `progress` is the newest there is; `sentence` says why it failed; `subject` is what is trained, in
    words, and `doing` what is done before the first step. `history` is shared by all states of one
    training and only ever grows. `observed` is the step that was last made alone, part by part.
    """

    phase: Phase = "idle"
    progress: Progress | None = None
    history: History = field(default_factory=History)
    folder: Path | None = None
    family: str = ""
    sentence: str = ""
    subject: str = ""
    doing: str = ""
    observed: Observed | None = None

    @property
    def is_active(self) -> bool:
        """Whether a thread is training or paused."""
        return self.phase in ("preparing", "running", "paused")
