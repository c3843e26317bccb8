"""The thread of a race: drives lanes in turn, lets others join, and can be paused, stepped and stopped."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.app.workers.stepped_worker import SteppedWorker
from lmviz.app.workers.threads import lower_priority
from lmviz.training.race import Race

if TYPE_CHECKING:
    from lmviz.training.progress import Progress
    from lmviz.training.race import Lane

Begin = tuple[str, "Callable[[], Lane]"]
"""The name of a lane, and what makes it ready: called in the thread, where torch may be imported."""


@dataclass(frozen=True)
class LaneNews:
    """One thing that happened to a lane: it was made ready, it moved, or it could not begin."""

    name: str
    lane: Lane | None = None
    progress: Progress | None = None
    fault: BaseException | None = None


class RaceWorker(SteppedWorker[LaneNews]):
    """Drives a race in the background, until no lane makes any more steps.

    `prepare` is called first, and `begun` when the lanes that wait have joined: both in the thread.
    """

    name = "race"

    def __init__(
        self,
        begins: Iterable[Begin],
        turns: str,
        prepare: Callable[[], object] = lambda: None,
        begun: Callable[[], object] = lambda: None,
        *,
        paused: bool = False,
    ) -> None:
        super().__init__(0.0 if paused else math.inf)
        self._joining: deque[Begin] = deque(begins)
        self._turns, self._prepare, self._begun = turns, prepare, begun
        self._race: Race | None = None
        self._woken = self._round_wanted = False
        self._moved: set[str] = set()  # lanes that have said how they begin

    def add(self, begin: Begin) -> bool:
        """Let another lane join; False where the race has come to its end, and takes none any more."""
        with self._condition:
            if self._stopping:
                return False
            self._joining.append(begin)
            self._wake()
        return True

    def step(self) -> None:
        """One step more of each lane, then rest; lanes that were caught in one round end at the same step."""
        with self._condition:
            self._allowed, self._round_wanted = 0.0, True
            self._wake()

    def look_again(self) -> None:
        """A lane was told to pause, to go on or to stop."""
        with self._condition:
            self._wake()

    def _wake(self) -> None:
        self._woken = True
        super()._wake()

    def _run(self) -> None:
        lower_priority()
        try:
            self._prepare()
            self._drive()
        except BaseException as fault:  # a panic of a Rust library, too, is said in the window
            self.fault = fault
        finally:
            if self._race is not None:
                self._close(self._race)

    def _close(self, race: Race) -> None:
        try:
            race.close()
        except BaseException as fault:
            self.fault = self.fault or fault

    def _drive(self) -> None:
        while True:
            self._let_join()
            race = self._race
            if race is None:
                return  # none could begin
            if self._stopping:
                race.stop()
            self._begin_round(race)
            if race.is_over and self._end():
                return
            moved = race.advance() if self._allowed > 0 or self._stopping or self._is_new(race) else None
            if moved is not None:
                lane, progress = moved
                with self._condition:  # who has seen the step and allows another one gets another one
                    self._mailbox.append(LaneNews(lane.name, progress=progress))
                    self._allowed -= lane.name in self._moved
                    self._moved.add(lane.name)
                continue
            with self._condition:
                self._condition.wait_for(lambda: self._woken)
                self._woken = False

    def _begin_round(self, race: Race) -> None:
        """Allow the steps of a round where one is wanted: pausing may have come between two lanes."""
        with self._condition:
            if not self._round_wanted:
                return
            self._round_wanted = False
            steps = [lane.last.step for lane in race.lanes if lane.can_move and lane.last is not None]
            behind = sum(max(steps) - step for step in steps) if steps else 0
            self._allowed = len(steps) + (behind if behind < len(steps) else 0)

    def _is_new(self, race: Race) -> bool:
        """Whether a lane has not said yet how it begins, which it does also while all rest."""
        return any(lane.last is None and lane.can_move for lane in race.lanes)

    def _end(self) -> bool:
        """Take no more lanes, unless one has just come."""
        with self._condition:
            self._stopping = self._stopping or not self._joining
            return self._stopping

    def _let_join(self) -> None:
        joined = False
        while self._joining and not self._stopping:
            name, begin = self._joining.popleft()
            try:
                lane = begin()
                if self._race is None:
                    self._race = Race([lane], self._turns)
                else:
                    self._race.add(lane)
            except BaseException as fault:
                self._mailbox.append(LaneNews(name, fault=fault))
                continue
            joined = True
            self._mailbox.append(LaneNews(name, lane=lane))
        if joined:
            self._begun()
