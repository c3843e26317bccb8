"""How fast training is on this machine, as it was measured: no duration is promised before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.families import FAMILIES

if TYPE_CHECKING:
    from lmviz.app.session.training_state import Plan
    from lmviz.training.progress import Progress

FIRST = 1.0  # seconds of training after which its pace is known
DECIDING = (
    "batch",
    "length",
    "optimizer",
    "sampling",
    "device",
    "precision",
    "validate_every",
    "validation_batches",
)


class TrainingPace:
    """Seconds a step, by what is trained on which text."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], float | None] = {}
        self._tried: dict[tuple[object, ...], float | None] = {}
        self._key: tuple[object, ...] = ()
        self._begun: Progress | None = None

    def begin(self, plan: Plan, fingerprint: str) -> None:
        """A training begins, or goes on."""
        self._key, self._begun = pace_key(plan, fingerprint), None

    def note(self, progress: Progress) -> None:
        """The training has come so far; `progress.seconds` are those it worked."""
        if self._begun is None:
            self._begun = progress
        steps, seconds = progress.step - self._begun.step, progress.seconds - self._begun.seconds
        if steps > 0 and (seconds >= FIRST or progress.step == progress.steps):
            self._known[self._key] = seconds / steps

    def keep(self, key: tuple[object, ...], seconds: float | None) -> None:
        """What was measured beforehand, None where nothing could be; a training itself knows better."""
        self._known.setdefault(key, seconds)
        self._tried[key] = seconds

    def was_measured(self, plan: Plan, fingerprint: str) -> bool:
        """Whether it was measured, or tried to."""
        return pace_key(plan, fingerprint) in self._known

    def seconds_a_step(self, plan: Plan, fingerprint: str) -> float | None:
        """How long one step takes; None until that was measured."""
        return self._known.get(pace_key(plan, fingerprint))

    def as_tried(self, plan: Plan, fingerprint: str) -> float | None:
        """The same as it was measured beforehand, which no training changes; None where it was not."""
        return self._tried.get(pace_key(plan, fingerprint))


def pace_key(plan: Plan, fingerprint: str) -> tuple[object, ...]:
    """What decides how long a step takes. Counting takes the whole text, in however many steps."""
    options = plan.training_options
    deciding = tuple(getattr(options, name) for name in DECIDING)
    slices = options.steps if FAMILIES[plan.family].counts else 0
    return plan.family, plan.configuration, deciding, slices, fingerprint
