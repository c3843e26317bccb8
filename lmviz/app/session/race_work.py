"""What the thread of a race is handed: functions that hold nothing of Qt, and make lanes ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.app.session.race_lane import RaceLane, lane_of_run
from lmviz.app.workers.threads import compute_with
from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.app.session.training_state import Plan
    from lmviz.runs.racing import PlannedLane
    from lmviz.text.corpus import Corpus
    from lmviz.training.race import Lane


def lanes_of_plan(plan: Plan, lists: Mapping[str, Sequence[Any]]) -> list[PlannedLane]:
    """The lanes that a plan makes with several values of some settings; LmvizError where one cannot be.

    Where the family varies, each takes over those settings of the plan that it has.
    """
    from lmviz.api.races import plan_lanes

    settings = {**plan.configuration.to_values(), **plan.training_options.to_values()}
    lanes = []
    for family in lists.get("family", [plan.family]):
        known = find_family(family).configuration.names() | plan.training_options.names()
        kept = {name: value for name, value in settings.items() if name in known and name not in lists}
        varied = {name: values for name, values in lists.items() if name != "family"}
        prefix = f"family={family}, " if "family" in lists else ""
        for lane in plan_lanes({"family": family, **kept, **varied}):
            lanes.append(replace(lane, name=f"{prefix}{lane.name}" if varied else prefix[:-2] or lane.name))
    return lanes


class RacedText:
    """What lanes learn from: a text that is open, or that of a run, read once where it is first needed."""

    def __init__(self, corpus: Corpus | None, run: Run | None) -> None:
        self._corpus, self._run = corpus, run

    def corpus(self) -> Corpus:
        """The text."""
        from lmviz.api.training import corpus_of

        if self._corpus is None:
            assert self._run is not None, "there is a text or a run"
            self._corpus = corpus_of(self._run)
        return self._corpus


def read_lane(name: str, folder: Path) -> RaceLane | str:
    """The lane whose run lies in a folder, or why it cannot be read."""
    try:
        return lane_of_run(name, Run.open(folder))
    except LmvizError as fault:
        return str(fault)


def make_way(waits: Sequence[Callable[[], None]]) -> None:
    """Begin once nobody else draws from torch's random numbers."""
    compute_with(None)
    for wait in waits:
        wait()


def begin(planned: PlannedLane, text: RacedText, folder: Path) -> Lane:
    """Begin a run."""
    from lmviz.runs.racing import begin_lane

    return begin_lane(planned, text.corpus(), folder)


def resume(name: str, text: RacedText, folder: Path) -> Lane:
    """Go on with a run where it stopped."""
    from lmviz.runs.racing import resume_lane

    return resume_lane(name, Run.open(folder), text.corpus())


def fork(planned: PlannedLane, run: Run, step: int, text: RacedText, folder: Path) -> Lane:
    """Begin with what a run was at a step."""
    from lmviz.runs.racing import fork_lane

    return fork_lane(planned, run, step, text.corpus(), folder)
