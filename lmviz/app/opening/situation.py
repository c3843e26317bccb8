"""What is open and chosen, as the values of lessons see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmviz.app.session.library import coming_to

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.opening.shell import Shell
    from lmviz.autodiff import Network
    from lmviz.decoding.branches import Branches
    from lmviz.inspection.trace import Trace
    from lmviz.lessons.situation import Source
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer

MEASURED = ("step", "loss", "validation_loss", "validation_accuracy", "learning_rate", "gradient_norm")


class WindowSituation:
    """A `lmviz.lessons.situation.Situation`: each property is read when it is asked for."""

    def __init__(self, window: Shell) -> None:
        self._window, self._session = window, window.session

    def coming(self, source: Source) -> str:
        session, models = self._session, coming_to(self._session.library)
        if source == "text":
            return "The text is being opened" if session.text.is_opening else ""
        if source == "network":
            return "The network is being opened" if session.work.is_opening_files else ""
        if source == "writing":
            return "The next token is being chosen" if session.writing.is_choosing else ""
        if models.shown or (source == "comparison" and models.any_model):
            return "The model is being opened"
        if source == "features":
            return "The features are being opened" if session.work.is_opening_files else ""
        if source == "tokens":
            return "" if session.library.model is not None else self.coming("text")
        if source in ("step", "reading") and models.weights:
            return "The newest weights are on their way"
        if source == "reading" and session.reading.is_busy:
            return "The model is reading the text"
        return ""

    @property
    def perspective(self) -> str:
        return self._window.perspective_name

    def control(self, name: str) -> str | float | None:
        return self._window.control_state(name)

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""
        return self._window.presses(name)

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        return self._window.drawn(panel)

    @property
    def corpus(self) -> Corpus | None:
        return self._session.text.corpus

    @property
    def model(self) -> str:
        model = self._session.library.model
        return model.folder.name if model is not None else ""

    @property
    def family(self) -> str:
        model = self._session.library.model
        return model.family if model is not None else ""

    @property
    def settings(self) -> Mapping[str, Any]:
        model = self._session.library.model
        return {} if model is None else {**model.description.training, **model.description.configuration}

    @property
    def planned(self) -> Mapping[str, Any]:
        plan = self._session.plan.current
        options = plan.training_options.to_values()
        return {**options, **plan.configuration.to_values(), "family": plan.family}

    @property
    def parameters(self) -> int | None:
        model = self._session.library.model
        return None if model is None else model.parameters_at(self._session.library.step)

    @property
    def tokenizer(self) -> Tokenizer | None:
        return self._session.reading.tokenizer

    @property
    def step(self) -> int | None:
        moment = self._session.library.moment
        return None if moment is None else moment[1]

    @property
    def last_step(self) -> int | None:
        model = self._session.library.model
        return None if model is None else model.snapshots[-1]

    @property
    def training(self) -> str:
        return self._session.training.state.phase

    @property
    def measured(self) -> Mapping[str, float]:
        progress = self._session.training.state.progress
        found = {name: getattr(progress, name, None) for name in MEASURED}
        return {name: float(number) for name, number in found.items() if number is not None}

    @property
    def race(self) -> str:
        race = self._session.race
        if race.is_active:
            return "paused" if race.is_paused else "running"
        waits = any(lane.phase == "waiting" for lane in race.lanes)
        return "waiting" if waits else "ended" if race.lanes else "empty"

    @property
    def lanes(self) -> Mapping[str, float | None]:
        return {lane.label: lane.best for lane in self._session.race.lanes}

    @property
    def prefix(self) -> str:
        return self._session.reading.prefix

    @property
    def source(self) -> str:
        return self._session.reading.source

    @property
    def trace(self) -> Trace | None:
        return self._read(untouched=False)

    @property
    def untouched(self) -> Trace | None:
        return self._read(untouched=True)

    @property
    def interventions(self) -> tuple[str, ...]:
        return tuple(item.label or item.describe() for item in self._session.surgery.in_force)

    @property
    def compared(self) -> tuple[str, ...]:
        return tuple(model.folder.name for model, _ in self._session.comparison.chosen)

    @property
    def gradient_factors(self) -> Mapping[str, float]:
        models = self._session.comparison.models
        return {} if self.trace is None else self._session.gradients.factors_of(models)

    @property
    def branches(self) -> Branches:
        return self._session.writing.branches

    @property
    def sampling(self) -> Mapping[str, Any]:
        return self._session.writing.sampling.to_values()

    @property
    def stage(self) -> str:
        trace, stage = self.trace, self._session.focus.stage
        if trace is None or stage >= len(trace.stages):
            return ""
        return " ".join(part for part in (trace.stages[stage].place, trace.stages[stage].title) if part)

    @property
    def position(self) -> int:
        return self._session.focus.shown_position

    @property
    def is_pinned(self) -> bool:
        return self._session.focus.is_position_pinned

    @property
    def cell(self) -> str:
        cell = self._session.focus.shown_cell
        return "" if cell is None else cell[0]

    @property
    def cell_index(self) -> tuple[int, ...]:
        cell = self._session.focus.shown_cell
        return () if cell is None else cell[1]

    @property
    def head(self) -> tuple[int, int]:
        return self._session.attention.head

    @property
    def feature(self) -> int:
        return self._session.features.chosen

    @property
    def network(self) -> Network:
        return self._session.network.current

    @property
    def network_title(self) -> str:
        return self._session.network.title

    @property
    def network_changes(self) -> int:
        return self._session.network.changes

    @property
    def rate(self) -> float:
        return self._session.descent.rate

    @property
    def descents(self) -> int:
        return self._session.descent.place

    @property
    def checked(self) -> int:
        return len(self._session.module_checks.results)

    @property
    def broken(self) -> str:
        found = self._session.module_checks.found
        return "" if found is None else found.name

    def _read(self, *, untouched: bool) -> Trace | None:
        """The trace of what is asked now; None while it is still being read, and where it cannot be."""
        reading = self._session.reading.current
        if reading is None or self._session.reading.is_busy or self._session.reading.is_late:
            return None
        return reading.untouched if untouched else reading.trace
