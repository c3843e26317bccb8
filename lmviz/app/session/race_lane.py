"""A lane of a race as an immutable value that panels draw: as planned, or as its run tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lmviz.app.session.training_state import History, TrainingState
from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.runs.race_labels import NamedLane, lane_labels
from lmviz.runs.race_table import has_diverged
from lmviz.training.cost import tokens_a_step
from lmviz.training.options import SENTENCES
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.app.session.training_state import Phase, Plan
    from lmviz.runs.racing import PlannedLane
    from lmviz.training.progress import Progress

LanePhase = Literal["waiting", "preparing", "running", "paused", "finished", "stopped", "diverged", "failed"]
ACTIVE = ("preparing", "running", "paused")


@dataclass(frozen=True)
class RaceLane:
    """One training of a race. `label` says what tells it from the others, and `color` is its place among the
    theme's series: that of its parent where it was forked from another lane, at step `left_at`.

    `folder` is None, and `planned` says what it will be, until it has begun. `step` is how far it has come;
    `sentence` says why it ended or cannot be read, and `begun_anew` what of a fork could not be carried.
    `rate` is the learning rate that a person gave it in the place of its schedule; None where none did.
    `knows_training` is false of a series of another program, whose settings nobody has said: it only stands
    beside others.
    """

    planned: PlannedLane
    color: int
    phase: LanePhase = "waiting"
    label: str = ""
    folder: Path | None = None
    step: int = 0
    progress: Progress | None = None
    history: History = field(default_factory=History)
    speed: float | None = None
    sentence: str = ""
    parent: str = ""
    left_at: int = 0
    begun_anew: tuple[str, ...] = ()
    rate: float | None = None
    knows_training: bool = True

    @property
    def name(self) -> str:
        """What it is called in its race."""
        return self.planned.name

    @property
    def is_active(self) -> bool:
        """Whether it is being trained, or rests."""
        return self.phase in ACTIVE

    @property
    def can_go_on(self) -> bool:
        """Whether it can be begun, or resumed where it stopped."""
        return self.phase in ("waiting", "stopped") and self.knows_training

    @property
    def settings(self) -> dict[str, Any]:
        """All of its settings by name."""
        configuration, options = self.planned.configuration.to_values(), self.planned.options.to_values()
        options = options if self.knows_training else {}  # of another program, nobody has said with which
        learned = {} if self.planned.learned is None else self.planned.learned.to_values()
        return {"family": self.planned.family, **configuration, **options, **learned}

    def of_examples(self) -> RaceLane:
        """The same lane, reading whole examples, as every training does where a text has labels or pairs."""
        from lmviz.training.batching import with_sentences

        return replace(self, planned=replace(self.planned, options=with_sentences(self.planned.options)))

    def begun(self) -> RaceLane:
        """The same lane, made ready; a fork has what its parent has learned until then."""
        if not self.parent or self.folder is None:
            return replace(self, phase="running")
        told = read_lane(self.name, self.folder)
        if isinstance(told, str):
            return replace(self, phase="failed", sentence=told)
        return replace(self, phase="running", history=told.history, begun_anew=told.begun_anew)

    def moved(self, progress: Progress, was_told_to_stop: bool) -> RaceLane:
        """The same lane after a step, or after what ended it; its history grows."""
        if progress.trouble:
            ended: LanePhase = "stopped" if was_told_to_stop else "failed"
            phase = "diverged" if progress.has_diverged else ended
            step = max(self.step, progress.step) if phase == "diverged" else progress.step
            return replace(self, phase=phase, step=step, progress=progress, sentence=progress.trouble)
        self.history.append(progress)
        return replace(
            self,
            phase="finished" if progress.finished else "running",
            step=progress.step,
            progress=progress,
            speed=progress.tokens_per_second or self.speed,
        )

    @property
    def loss(self) -> float | None:
        """That of the last batch, in nats; None before the first."""
        return _last(self.history.loss.values)

    @property
    def validation(self) -> float | None:
        """The last validation loss, in nats; None before it was measured."""
        return _last(self.history.validation_loss.values)

    @property
    def best(self) -> float | None:
        """The lowest validation loss, in nats; None before it was measured."""
        return min(map(float, self.history.validation_loss.values), default=None)

    @property
    def tokens_a_step(self) -> int | None:
        """How many tokens an update reads; None where it reads whole sentences, which differ."""
        options = self.planned.options
        return (
            None
            if not self.knows_training or options.sampling == SENTENCES
            else tokens_a_step(self.planned.configuration, options)
        )

    @property
    def state(self) -> str:
        """How it stands, in a few words."""
        match self.phase:
            case "running":
                return f"live · {self.step:,}"
            case "paused" | "finished":
                return f"{self.phase} · {self.step:,}"
            case "stopped" | "diverged":
                return f"{self.phase} at {self.step:,}"
            case "waiting":
                return "waits"
        return self.phase

    @property
    def training_state(self) -> TrainingState:
        """The same as the state of a training."""
        phases: Mapping[str, Phase] = {"waiting": "idle", "diverged": "failed"}
        phase: Phase = phases.get(self.phase, self.phase)  # type: ignore[arg-type]
        family = self.planned.family
        return TrainingState(phase, self.progress, self.history, self.folder, family, self.sentence)


def lane_of_run(name: str, run: Run) -> RaceLane:
    """A lane as its run tells it, without colour and label yet."""
    from lmviz.runs.racing import planned_as

    lines, description = run.metrics(), run.description
    origin = description.forked_from or {}
    done = max([line["step"] for line in lines] + run.snapshots(), default=0)
    diverged = has_diverged(description, lines)
    finished = done >= description.options.steps and not diverged
    return RaceLane(
        planned=planned_as(name, run),
        color=-1,
        phase="diverged" if diverged else "finished" if finished else "stopped",
        folder=run.folder.resolve(),
        step=done,
        history=History.from_metrics(lines),
        speed=next(
            (line["tokens_per_second"] for line in reversed(lines) if "tokens_per_second" in line), None
        ),
        parent=str(origin.get("folder", "")),
        left_at=int(origin.get("step", 0)),
        begun_anew=tuple(origin.get("begun_anew", ())),
        knows_training=not run.was_trained_elsewhere,
    )


def read_lane(name: str, folder: Path) -> RaceLane | str:
    """The lane whose run, or series, lies in a folder, or why it cannot be read."""
    from lmviz.runs.opening import open_recorded

    try:
        return lane_of_run(name, open_recorded(folder))
    except LmvizError as fault:
        return str(fault)


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


def labelled(lanes: Iterable[RaceLane]) -> tuple[RaceLane, ...]:
    """The same lanes, each with a label that says in what it differs from the others."""
    lanes = tuple(lanes)
    labels = lane_labels({lane.name: NamedLane(lane.settings, lane.parent, lane.left_at) for lane in lanes})
    return tuple(replace(lane, label=labels[lane.name]) for lane in lanes)


def free_colors(taken: Iterable[int], count: int) -> list[int]:
    """So many places among the series that nothing else has."""
    used = set(taken)
    return [index for index in range(len(used) + count) if index not in used][:count]


def in_colors(lanes: Sequence[RaceLane], taken: Iterable[int]) -> list[RaceLane]:
    """Lanes as their runs tell them, a fork in its parent's colour, and none in one that is taken.

    Where a lane was forked from another of them, its parent is then called by its name.
    """
    names = {lane.folder.name: lane.name for lane in lanes if lane.folder is not None}
    parents = {lane.name: names.get(Path(lane.parent).name, "") for lane in lanes}
    free = iter(free_colors(taken, len(lanes)))
    colors: dict[str, int] = {}
    for lane in lanes:  # a parent may come after its forks
        line = [lane.name]
        while parents[line[-1]]:
            line.append(parents[line[-1]])
            if line[-1] in line[:-1]:  # files that name each other: no run is forked from what came of it
                parents[lane.name], line = "", [lane.name]
        root = line[-1]
        if root not in colors:
            colors[root] = next(free)
        colors[lane.name] = colors[root]
    return [replace(lane, color=colors[lane.name], parent=parents[lane.name]) for lane in lanes]


def _last(values: Any) -> float | None:
    return float(values[-1]) if len(values) else None
