"""A race: several trainings that take turns in one thread, each with everything that a training has."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace

from lmviz.base.errors import LmvizError
from lmviz.looks.shown import Shown
from lmviz.training.controls import Controls
from lmviz.training.progress import Progress

MOST_LANES = 6
"""How many trainings a race has at most: as many as one picture can tell apart."""

TURNS: dict[str, Callable[[Progress], float]] = {
    "steps": lambda progress: progress.step,
    "seconds": lambda progress: progress.seconds,
}
"""Whose turn it is: that of the lane with the fewest steps, or with the fewest seconds of work, so far.

So all lanes come to the same step, or have the same time; one that rested or joined late catches up first."""


REST = 0.05
"""Seconds after which a race whose lanes are all paused looks again whether one goes on."""


class Lane:
    """One training of a race. `controls` and `is_paused` may be set from any thread.

    `last` is its newest state, None before the first. `trouble` says why it ended early: its loss was not
    finite, its run is held by another training, or it was stopped.
    """

    def __init__(
        self, name: str, training: Generator[Progress, None, None] | LmvizError, controls: Controls
    ) -> None:
        self.name = name
        self.controls = controls
        self.is_paused = False
        self.last: Progress | None = None
        self.trouble = str(training) if isinstance(training, LmvizError) else ""
        self._training = None if isinstance(training, LmvizError) else training

    @property
    def is_over(self) -> bool:
        """Whether it makes no more steps."""
        return bool(self.trouble) or (self.last is not None and self.last.is_last)

    @property
    def can_move(self) -> bool:
        """Whether it takes its turn now. A lane that is to stop does so even where it is paused."""
        return not self.is_over and (not self.is_paused or self.controls.stop)

    def advance(self) -> Progress:
        """Make one step; the new state, which is the last one where the training cannot go on."""
        assert self._training is not None
        try:
            progress = next(self._training)
        except LmvizError as fault:
            progress = replace(self.last or Progress(step=0, steps=0), trouble=str(fault))
        self.last, self.trouble = progress, progress.trouble
        return progress

    def close(self) -> None:
        """Save it where it is, so that it can be resumed; LmvizError where that cannot be."""
        if self._training is not None:
            self._training.close()


class Race(Shown):
    """Lanes that take turns; each is the same training as alone, to the last bit.

    Whoever drives it calls `advance` again and again, and may set controls between the calls or from another
    thread. Iterating does so to the end, waits while all lanes are paused, and saves them when it ends early.
    """

    def __init__(self, lanes: Iterable[Lane], turns: str = "steps") -> None:
        self._lanes = list(lanes)
        self.turns = check_turns(turns)
        check_lanes(len(self._lanes))

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes in their order."""
        return tuple(self._lanes)

    def add(self, lane: Lane) -> None:
        """Let another training join, such as a fork of one that is under way."""
        check_lanes(len(self._lanes) + 1)
        self._lanes.append(lane)

    @property
    def is_over(self) -> bool:
        """Whether no lane makes any more steps."""
        return all(lane.is_over for lane in self.lanes)

    def advance(self) -> tuple[Lane, Progress] | None:
        """One step of the lane whose turn it is, and its new state; None where none can move now."""
        ready = [lane for lane in self.lanes if lane.can_move]
        if not ready:
            return None
        lane = min(ready, key=self._moved)
        return lane, lane.advance()

    def _moved(self, lane: Lane) -> float:
        return -1.0 if lane.last is None else TURNS[self.turns](lane.last)

    def __iter__(self) -> Iterator[tuple[Lane, Progress]]:
        try:
            while not self.is_over:
                moved = self.advance()
                if moved is not None:
                    yield moved
                else:
                    time.sleep(REST)  # another thread says when to go on
        finally:
            self.close()

    def pause(self, paused: bool = True) -> None:
        """Let all lanes rest, or go on."""
        for lane in self.lanes:
            lane.is_paused = paused

    def stop(self) -> None:
        """End all lanes after their step under way, each in a state that can be resumed."""
        for lane in self.lanes:
            lane.controls.stop = True

    def set_learning_rate(self, rate: float | None) -> None:
        """Let all lanes go on with this rate; None gives each its own schedule back."""
        for lane in self.lanes:
            lane.controls.learning_rate = rate

    def close(self) -> None:
        """Save every lane where it is; LmvizError, once all have been tried, where one cannot be."""
        faults = []
        for lane in self.lanes:
            try:
                lane.close()
            except LmvizError as fault:
                faults.append(fault)
        if faults:
            raise faults[0]


def check_lanes(count: int) -> None:
    """LmvizError where a race cannot have so many lanes."""
    if not 1 <= count <= MOST_LANES:
        raise LmvizError(f"A race has 1 to {MOST_LANES} lanes, and not {count}: choose fewer values.")


def check_turns(turns: str) -> str:
    """How lanes take turns; LmvizError where there is no such way."""
    if not isinstance(turns, str) or turns not in TURNS:
        raise LmvizError(f"Lanes take turns by {' or by '.join(TURNS)}, and not by {turns!r}.")
    return turns
