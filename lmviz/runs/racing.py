"""Races made ready: lanes from settings with several values, begun, gone on with, or only rehearsed."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.runs.preparation import (
    begin_run,
    begin_tuning,
    check_text,
    rehearse,
    rehearse_tuning,
    resume_run,
)
from lmviz.runs.race_folder import RaceFolder
from lmviz.training.options import TrainingOptions
from lmviz.training.race import Lane, Race, check_lanes, check_turns
from lmviz.training.run import HoldsRun, Run

if TYPE_CHECKING:
    from collections.abc import Generator

    from lmviz.models.tuning_configuration import TuningConfiguration
    from lmviz.runs.tuning_start import TuningStart
    from lmviz.text.corpus import Corpus
    from lmviz.training.controls import Controls
    from lmviz.training.progress import Progress


@dataclass(frozen=True)
class PlannedLane:
    """What a lane will train, and what it is called.

    `left_open` names settings that nobody chose: they are as models of the task begin, today. With a `start`
    an opened model is trained further, whose configuration it is, and `learned` is what of it.
    """

    name: str
    family: str
    configuration: ModelConfiguration
    options: TrainingOptions
    left_open: frozenset[str] = frozenset()
    start: TuningStart | None = None
    learned: TuningConfiguration | None = None

    @property
    def folder_name(self) -> str:
        """The name of its run's folder, which every system can have."""
        return re.sub(r"[^\w.,=+-]+", "-", self.name).strip("-.") or "lane"


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise LmvizError for what holds no settings."""
    if not isinstance(settings, Mapping):
        raise LmvizError(f"{settings!r} has no settings: give a dictionary, such as {{'family': 'gru'}}.")


def vary(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each lane by its name, from settings of which some have a list of values.

    Two lists make a grid, in which the last one varies fastest. A name says what differs:
    "learning_rate=0.002, width=64".
    """
    check_settings(settings)
    lists = {key: list(value) for key, value in settings.items() if isinstance(value, list | tuple | range)}
    for key, values in lists.items():
        if len(set(map(repr, values))) < len(values) or not values:
            raise LmvizError(f"The values of {key} are missing, or two are equal: give different ones.")
    grid = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    check_lanes(len(grid))
    return {
        ", ".join(f"{key}={value}" for key, value in chosen.items()) or "lane": {**settings, **chosen}
        for chosen in grid
    }


def needed_memory(lanes: Sequence[PlannedLane], corpus: Corpus) -> int:
    """Bytes that the lanes take, all at once; LmvizError where the machine has not as many."""
    from lmviz.runs.tuning_plan import check_fits
    from lmviz.training.batching import with_sentences
    from lmviz.training.cost import check_memory_of, cost_on

    costs = []
    for lane in lanes:
        options = lane.options if corpus.training_examples is None else with_sentences(lane.options)
        cost = cost_on(lane.configuration, options, corpus)
        if lane.start is not None:
            cost = replace(cost, bytes=check_fits(lane.start, options).bytes)
        costs.append((cost, options))
    check_memory_of(costs, f"These {len(costs)} trainings need", "train fewer at once, or smaller models")
    return sum(cost.bytes for cost, _ in costs)


def begin_race(
    lanes: Sequence[PlannedLane],
    corpus: Corpus,
    folder: str | Path,
    turns: str = "steps",
    *,
    resume: bool = False,
    overwrite: bool = False,
) -> Race:
    """Begin a run for each lane in a folder, and write down that they are a race.

    With `resume` a lane whose run is there already goes on with its options. LmvizError where lanes cannot be
    begun; nothing is written where that can be known before.
    """
    from lmviz.training.distributed import is_alone

    if not is_alone():
        raise LmvizError("A race is one process: give each lane to a torchrun of its own.")
    check_lanes(len(lanes))
    check_turns(turns)
    needed_memory(lanes, corpus)
    places = {lane.name: Path(folder) / lane.folder_name for lane in lanes}
    there = {name for name, place in places.items() if os.path.exists(place / "run.json")}
    if there and not (resume or overwrite):
        raise HoldsRun(places[min(there)])
    for lane in lanes:
        if not (lane.name in there and resume):
            _rehearse(lane, corpus).close()
    ready = []
    for lane in lanes:
        place = places[lane.name]
        if lane.name in there and resume:
            ready.append(resume_lane(lane.name, _begun_as(lane, place), corpus, lane.options))
        else:
            ready.append(begin_lane(lane, corpus, place, overwrite=overwrite))
    RaceFolder(Path(folder), turns, places).save()
    return Race(ready, turns)


def begin_lane(lane: PlannedLane, corpus: Corpus, folder: Path, *, overwrite: bool = False) -> Lane:
    """A lane whose run begins in a folder; LmvizError as `begin_run`."""
    from lmviz.training.controls import Controls

    controls = Controls()
    if lane.start is not None:
        prepared = begin_tuning(lane.start, lane.options, corpus, folder, controls, overwrite=overwrite)
    else:
        prepared = begin_run(
            lane.family, lane.configuration, lane.options, corpus, folder, controls, overwrite=overwrite
        )
    return Lane(lane.name, prepared.progress, controls)


def _rehearse(
    lane: PlannedLane, corpus: Corpus, controls: Controls | None = None
) -> Generator[Progress, Any, None]:
    if lane.start is not None:
        return rehearse_tuning(lane.start, lane.options, corpus, controls)
    return rehearse(lane.family, lane.configuration, lane.options, corpus, controls)


def resume_lane(name: str, run: Run, corpus: Corpus, options: TrainingOptions | None = None) -> Lane:
    """A lane whose run goes on where it stopped, or that says in `trouble` why it cannot.

    LmvizError where the text is another one.
    """
    from lmviz.training.controls import Controls

    check_text(run, corpus)
    controls = Controls()
    try:
        return Lane(name, resume_run(run, corpus, options, controls).progress, controls)
    except LmvizError as fault:
        return Lane(name, fault, controls)


def fork_lane(lane: PlannedLane, run: Run, step: int, corpus: Corpus, folder: Path) -> Lane:
    """A lane that begins with what a run was at a step; LmvizError as `begin_fork`."""
    from lmviz.runs.forking import begin_fork
    from lmviz.training.controls import Controls

    controls = Controls()
    prepared = begin_fork(run, step, lane.configuration, lane.options, corpus, folder, controls)
    return Lane(lane.name, prepared.progress, controls)


def planned_again(race: RaceFolder, changes: Mapping[str, Any] | None = None) -> tuple[PlannedLane, ...]:
    """The lanes whose runs can be opened, each with its own settings, and `changes` of its training."""
    lanes = []
    for name, folder in race.lanes.items():
        run = _opened(folder)
        if isinstance(run, Run):
            lane = planned_as(name, run)
            options = TrainingOptions.from_values({**lane.options.to_values(), **(changes or {})})
            lanes.append(replace(lane, options=options))
    return tuple(lanes)


def resume_race(race: RaceFolder, corpus: Corpus, changes: Mapping[str, Any] | None = None) -> Race:
    """All lanes of a race, each ready to go on where it stopped; one that cannot says why in `trouble`.

    `changes` are settings of the training that all of them take over, such as more steps. LmvizError where
    the race has too many lanes, where the machine has not the memory for all of them, and where the text is
    another one.
    """
    from lmviz.training.controls import Controls

    check_lanes(len(race.lanes))
    planned = {lane.name: lane for lane in planned_again(race, changes)}
    needed_memory(tuple(planned.values()), corpus)
    lanes = []
    for name, folder in race.lanes.items():
        run = _opened(folder)
        if isinstance(run, LmvizError):
            lanes.append(Lane(name, run, Controls()))
        else:
            lanes.append(resume_lane(name, run, corpus, planned[name].options))
    race.save()
    return Race(lanes, race.turns)


def _opened(folder: Path) -> Run | LmvizError:
    """The run in a folder, or why there is none."""
    try:
        return Run.open(folder)
    except LmvizError as fault:
        return fault


def rehearse_race(lanes: Sequence[PlannedLane], corpus: Corpus) -> Race:
    """A race in equal steps of which nothing is written; LmvizError as `begin_race`."""
    from lmviz.training.controls import Controls

    check_lanes(len(lanes))
    needed_memory(lanes, corpus)
    ready = []
    for lane in lanes:
        controls = Controls()
        training = _rehearse(lane, corpus, controls)
        ready.append(Lane(lane.name, training, controls))
    return Race(ready)


def _begun_as(lane: PlannedLane, folder: Path) -> Run:
    """The run in a folder; LmvizError where it was begun with another model than the lane's."""
    run = Run.open(folder)
    begun = planned_as(lane.name, run)
    wanted = lane.configuration
    if (
        begun.family == lane.family
    ):  # what was left open is what the run has, whatever one would begin with now
        wanted = replace(wanted, **{name: getattr(begun.configuration, name) for name in lane.left_open})
    chosen = None if lane.start is None else lane.start.chosen
    if (begun.family, begun.configuration, run.description.tuning) != (lane.family, wanted, chosen):
        raise LmvizError(f"{folder} was begun with another model: give its settings, or another folder.")
    return run


def planned_as(name: str, run: Run) -> PlannedLane:
    """What a run was begun with, as a lane of this name."""
    from lmviz.families import find_family

    description = run.description
    configuration = find_family(description.family).configuration.from_values(description.configuration)
    return PlannedLane(
        name, description.family, configuration, description.options, learned=description.tuning
    )
