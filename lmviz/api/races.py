"""Several trainings side by side: begun from settings with lists of values, or gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.api.training import (
    check_given,
    corpus_for,
    corpus_of,
    find_run,
    fitting_length,
    split_settings,
    split_tuning,
)
from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.runs.race_folder import open_race
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.runs.racing import PlannedLane
    from lmviz.text.corpus import Corpus
    from lmviz.training.race import Race


def race(
    corpus: Corpus | str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    out: str | Path,
    turns: str = "steps",
    resume: bool = False,
    overwrite: bool = False,
) -> Race:
    """A race of up to six trainings on a corpus, each a run in the folder `out`.

    `settings` are those of `train` with the family among them; where one has a list of values each becomes a
    lane, two lists make a grid, and seeds make a band:

        for lane, progress in lmviz.race(
            corpus, {"family": "gru", "learning_rate": [0.0003, 0.002, 0.01]}, out="runs/rates"
        ):
            print(lane.name, progress.step, progress.loss)

    The lanes take turns by `turns`, in one thread: "steps", so that all come to the same step, or "seconds",
    so that all have worked as long. Each is the same training as alone, bit for bit. A lane whose loss is not
    finite stops, and the others go on. A loop that is left early saves all lanes.

    With `resume`, the lanes that are in `out` go on where they stopped, and those that are not begin. Where
    `settings` name no family, all that are in `out` go on, with those settings of the training changed; and
    without `corpus` their text is read again. With `overwrite` the runs of these lanes that are there are
    removed. With a `start` among the settings, an opened model is trained further in each lane, as by
    `train(start=…)`: {"start": "smollm2/", "rank": [4, 8, 16]}; the corpus may then be a file. LmvizError
    when a setting cannot be, or when the machine has not the memory for all lanes.
    """
    from lmviz.runs.opening import base_at
    from lmviz.runs.racing import begin_race, check_settings, resume_race

    settings = {} if settings is None else settings
    check_settings(settings)
    if resume and overwrite:
        raise LmvizError("A race is either resumed or overwritten: give resume=True or overwrite=True.")
    corpus = corpus_of(first_run(out)) if corpus is None and resume else corpus
    start = settings.get("start")
    if corpus is not None and isinstance(start, str | Path):
        corpus = corpus_for(base_at(find_run(start)), corpus)
    elif resume and isinstance(corpus, str | Path):
        corpus = corpus_of(first_run(out), corpus)
    if isinstance(corpus, str | Path):
        raise LmvizError(f"{corpus!r} is not a corpus: give what lmviz.load_corpus returns.")
    check_given(out, corpus)
    assert corpus is not None
    if resume and not {"family", "start"} & settings.keys():
        return resume_race(open_race(out), corpus, settings)
    return begin_race(
        plan_lanes(settings, corpus.task), corpus, out, turns, resume=resume, overwrite=overwrite
    )


def plan_lanes(settings: Mapping[str, Any], task: str = NEXT_TOKEN) -> tuple[PlannedLane, ...]:
    """The lanes that settings make, some of which have a list of values; LmvizError where one cannot be.

    What they do not say is as models of the task begin.
    """
    from lmviz.runs.racing import PlannedLane, vary

    lanes = []
    for name, chosen in vary(settings).items():
        if "start" in chosen:
            lanes.append(_tuned_lane(name, chosen))
            continue
        if "family" not in chosen:
            raise LmvizError("The settings of a race name no family: add one, such as family='gru'.")
        family = chosen.pop("family")
        planned = split_settings(family, chosen, task)
        left_open = frozenset(find_family(family).configuration.defaults_for(task)) - set(chosen)
        lanes.append(PlannedLane(name, family, *planned, left_open))
    return tuple(lanes)


def _tuned_lane(name: str, settings: dict[str, Any]) -> PlannedLane:
    """A lane that trains an opened model further."""
    from lmviz.runs.racing import PlannedLane
    from lmviz.runs.tuning_start import begin_with

    start = settings.pop("start")
    chosen, options = split_tuning({key: value for key, value in settings.items() if key != "family"})
    begun = begin_with(find_run(start), chosen)
    options = fitting_length(begun, options, settings)
    return PlannedLane(
        name, begun.base.family, begun.tuning.configuration, options, start=begun, learned=chosen
    )


def first_run(folder: str | Path) -> Run:
    """The first run of a race that can be opened; LmvizError where there is none."""
    faults = []
    for place in open_race(folder).lanes.values():
        try:
            return Run.open(place)
        except LmvizError as fault:
            faults.append(fault)
    raise faults[0]
