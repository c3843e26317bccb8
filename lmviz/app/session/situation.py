"""What is open and chosen, as the values of lessons see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.attention_heads import AttentionHeads
    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.contrast import CurrentContrast
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.descent import Descent
    from lmviz.app.session.focus import Focus
    from lmviz.app.session.gradients import Gradients
    from lmviz.app.session.library import Library
    from lmviz.app.session.module_checks import ModuleChecks
    from lmviz.app.session.network import OpenNetwork
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.race import CurrentRace
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.training import Training
    from lmviz.app.session.training_plan import TrainingPlan
    from lmviz.app.session.writing import Writing
    from lmviz.autodiff import Network
    from lmviz.decoding.branches import Branches
    from lmviz.inspection.trace import Trace
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer

MEASURED = ("step", "loss", "validation_loss", "validation_accuracy", "learning_rate", "gradient_norm")


class LessonWindow(Protocol):
    """The window, as far as lessons ask it."""

    @property
    def perspective_name(self) -> str:
        """The perspective that is shown."""

    def control_state(self, name: str) -> str | float | None:
        """What is typed, chosen or set in the visible control of this object name."""

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        """The numbers that the panel of this object name draws, by name; none where they are not there."""


class SessionParts(Protocol):
    """The parts of a session that lessons ask about."""

    text: OpenText
    library: Library
    plan: TrainingPlan
    training: Training
    surgery: Surgery
    comparison: Comparison
    focus: Focus
    attention: AttentionHeads
    reading: CurrentReading
    writing: Writing
    gradients: Gradients

    @property
    def contrast(self) -> CurrentContrast:
        """The text that Circuits puts beside the shown one."""

    @property
    def race(self) -> CurrentRace:
        """The race."""

    @property
    def network(self) -> OpenNetwork:
        """The net that is open in Autodiff."""

    @property
    def descent(self) -> Descent:
        """The path of its parameters down the loss."""

    @property
    def module_checks(self) -> ModuleChecks:
        """What nudging has shown of its modules."""


class SessionSituation:
    """A `lmviz.lessons.situation.Situation`: each property is read when it is asked for."""

    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._place: LessonWindow | None = None

    def stand_in(self, place: LessonWindow) -> None:
        """Say in which window the lesson takes place."""
        self._place = place

    @property
    def perspective(self) -> str:
        return self._place.perspective_name if self._place is not None else ""

    def control(self, name: str) -> str | float | None:
        return self._place.control_state(name) if self._place is not None else None

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""
        return None if self._place is None else self._place.presses(name)

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        return self._place.drawn(panel) if self._place is not None else {}

    @property
    def corpus(self) -> Corpus | None:
        return self._parts.text.corpus

    @property
    def model(self) -> str:
        model = self._parts.library.model
        return model.folder.name if model is not None else ""

    @property
    def family(self) -> str:
        model = self._parts.library.model
        return model.family if model is not None else ""

    @property
    def settings(self) -> Mapping[str, Any]:
        model = self._parts.library.model
        return {} if model is None else {**model.description.training, **model.description.configuration}

    @property
    def planned(self) -> Mapping[str, Any]:
        plan = self._parts.plan.current
        options = plan.training_options.to_values()
        return {**options, **plan.configuration.to_values(), "family": plan.family}

    @property
    def parameters(self) -> int | None:
        model = self._parts.library.model
        return None if model is None else model.parameters_at(self.step)

    @property
    def tokenizer(self) -> Tokenizer | None:
        return self._parts.reading.tokenizer

    @property
    def step(self) -> int:
        return self._parts.library.step

    @property
    def last_step(self) -> int:
        model = self._parts.library.model
        return model.snapshots[-1] if model is not None else 0

    @property
    def training(self) -> str:
        return self._parts.training.state.phase

    @property
    def measured(self) -> Mapping[str, float]:
        progress = self._parts.training.state.progress
        found = {name: getattr(progress, name, None) for name in MEASURED}
        return {name: float(number) for name, number in found.items() if number is not None}

    @property
    def race(self) -> str:
        race = self._parts.race
        if race.is_active:
            return "paused" if race.is_paused else "running"
        waits = any(lane.phase == "waiting" for lane in race.lanes)
        return "waiting" if waits else "ended" if race.lanes else "empty"

    @property
    def lanes(self) -> Mapping[str, float | None]:
        return {lane.label: lane.best for lane in self._parts.race.lanes}

    @property
    def prefix(self) -> str:
        return self._parts.reading.prefix

    @property
    def source(self) -> str:
        return self._parts.reading.source

    @property
    def trace(self) -> Trace | None:
        return self._read(untouched=False)

    @property
    def untouched(self) -> Trace | None:
        return self._read(untouched=True)

    @property
    def interventions(self) -> tuple[str, ...]:
        return tuple(item.label or item.describe() for item in self._parts.surgery.in_force)

    @property
    def compared(self) -> tuple[str, ...]:
        return tuple(model.folder.name for model, _ in self._parts.comparison.chosen)

    @property
    def gradient_factors(self) -> Mapping[str, float]:
        return {} if self.trace is None else self._parts.gradients.factors

    @property
    def branches(self) -> Branches:
        return self._parts.writing.branches

    @property
    def sampling(self) -> Mapping[str, Any]:
        return self._parts.writing.sampling.to_values()

    @property
    def stage(self) -> str:
        trace, stage = self.trace, self._parts.focus.stage
        if trace is None or stage >= len(trace.stages):
            return ""
        return " ".join(part for part in (trace.stages[stage].place, trace.stages[stage].title) if part)

    @property
    def position(self) -> int:
        return self._parts.focus.shown_position

    @property
    def is_pinned(self) -> bool:
        return self._parts.focus.is_position_pinned

    @property
    def cell(self) -> str:
        cell = self._parts.focus.shown_cell
        return "" if cell is None else cell[0]

    @property
    def cell_index(self) -> tuple[int, ...]:
        cell = self._parts.focus.shown_cell
        return () if cell is None else cell[1]

    @property
    def head(self) -> tuple[int, int]:
        return self._parts.attention.head

    @property
    def network(self) -> Network:
        return self._parts.network.current

    @property
    def network_title(self) -> str:
        return self._parts.network.title

    @property
    def network_changes(self) -> int:
        return self._parts.network.changes

    @property
    def rate(self) -> float:
        return self._parts.descent.rate

    @property
    def descents(self) -> int:
        return self._parts.descent.place

    @property
    def checked(self) -> int:
        return len(self._parts.module_checks.results)

    @property
    def broken(self) -> str:
        found = self._parts.module_checks.found
        return "" if found is None else found.name

    def _read(self, *, untouched: bool) -> Trace | None:
        """The trace of what is typed now; None while it is still being read."""
        reading = self._parts.reading.current
        if reading is None or self._parts.reading.is_busy or reading.trace.text != self.prefix:
            return None
        return reading.untouched if untouched else reading.trace
