"""What the lanes of a race came to, side by side: the settings that differ, losses, speed and state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.runs.opening import open_recorded
from lmviz.training.description import RunDescription
from lmviz.training.run import Run


@dataclass(frozen=True)
class LaneResult:
    """One lane as its run tells it; what was not measured is None.

    `settings` are those in which lanes of the race differ. `loss` is that of the last batch, `validation` the
    last one measured, `best` the lowest of the latter, all in nats per token or label; an infinite one counts
    as none. `speed` is in tokens a second. `has_diverged` says that its last step was not finite; `trouble`
    says why the run cannot be read, and is "" where it can.
    """

    name: str
    settings: Mapping[str, Any]
    step: int
    steps: int
    loss: float | None = None
    validation: float | None = None
    best: float | None = None
    speed: float | None = None
    has_diverged: bool = False
    trouble: str = ""

    @property
    def state(self) -> str:
        """How far it has come, in a few words."""
        if self.trouble:
            return "cannot be read"
        if self.has_diverged:
            return f"diverged at step {self.step:,}"
        return "finished" if self.step >= self.steps else f"step {self.step:,} of {self.steps:,}"


def lane_results(lanes: Mapping[str, Path]) -> tuple[LaneResult, ...]:
    """What each lane came to, in their order, from the runs in the folders given by name."""
    runs: dict[str, Run | str] = {}
    for name, folder in lanes.items():
        try:
            runs[name] = open_recorded(folder)
        except LmvizError as fault:
            runs[name] = str(fault)
    readable = {name: run.description for name, run in runs.items() if isinstance(run, Run)}
    settings = differing(readable)
    return tuple(
        LaneResult(name, {}, 0, 0, trouble=run)
        if isinstance(run, str)
        else _result(name, settings[name], run)
        for name, run in runs.items()
    )


def differing(lanes: Mapping[str, RunDescription]) -> dict[str, dict[str, Any]]:
    """For each lane the settings in which not all lanes agree; None for what its family does not have."""
    return differing_settings({name: settings_of(description) for name, description in lanes.items()})


def differing_settings(whole: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same from the settings of each lane, all of them by name."""
    names = list(dict.fromkeys(key for values in whole.values() for key in values))
    kept = [key for key in names if len({repr(values.get(key)) for values in whole.values()}) > 1]
    return {name: {key: values.get(key) for key in kept} for name, values in whole.items()}


def settings_of(description: RunDescription) -> dict[str, Any]:
    """All settings of a run by name: family, model, training, and where it was forked."""
    origin = description.forked_from
    forked = {} if origin is None else {"forked from": f"{origin.get('name', '')}@{origin['step']}"}
    return {
        "family": description.family,
        **description.configuration,
        **(description.tuned_from or {}).get("tuning", {}),
        **_training_settings(description),
        **forked,
    }


def _training_settings(description: RunDescription) -> dict[str, Any]:
    """How it was trained; of what another program trained, as far as that is known."""
    if description.recorded is not None:
        return {}
    return description.options.to_values() if description.versions else dict(description.training)


def _result(name: str, settings: Mapping[str, Any], run: Run) -> LaneResult:
    lines = run.metrics()
    measured = {key: value for line in lines for key, value in line.items()}  # the last of each
    losses = [loss for line in lines if (loss := _finite(line.get("validation_loss"))) is not None]
    return LaneResult(
        name,
        settings,
        lines[-1]["step"] if lines else max(run.snapshots(), default=0),
        run.description.options.steps,
        _finite(measured.get("loss")),
        losses[-1] if losses else None,
        min(losses, default=None),
        measured.get("tokens_per_second"),
        has_diverged(run.description, lines),
    )


def has_diverged(description: RunDescription, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last line of a run's metrics says that the step was not finite: it has nothing but a step.

    A step in which no target counted has no loss either, but it took its time.
    """
    is_counted = FAMILIES[description.family].counts if description.family in FAMILIES else True
    return bool(lines) and lines[-1]["step"] > 0 and lines[-1].keys() == {"step"} and not is_counted


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class SeedBand:
    """Lanes that differ in their seed alone: the mean of their best losses, and the lowest and highest."""

    settings: Mapping[str, Any]
    lanes: tuple[str, ...]
    mean: float
    lowest: float
    highest: float


def bands(results: Sequence[LaneResult]) -> tuple[SeedBand, ...]:
    """The groups of two lanes or more that differ in their seed alone and have been measured."""
    groups: dict[str, list[LaneResult]] = {}
    for result in results:
        if "seed" in result.settings and result.best is not None:
            rest = {key: value for key, value in result.settings.items() if key != "seed"}
            groups.setdefault(repr(rest), []).append(result)
    found = []
    for group in groups.values():
        losses = [result.best for result in group if result.best is not None]
        if len(losses) > 1:
            rest = {key: value for key, value in group[0].settings.items() if key != "seed"}
            names = tuple(result.name for result in group)
            found.append(SeedBand(rest, names, sum(losses) / len(losses), min(losses), max(losses)))
    return tuple(found)
