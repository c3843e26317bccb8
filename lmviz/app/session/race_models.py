"""The models of a race's lanes as they are open: looked into, compared, and all at the same step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.race_lane import RaceLane


class RaceModels:
    """Opens lanes with their first snapshots. `lanes` gives those of the race and `opened_one` is called when
    a model has been opened.

    The lanes that Compare shows go wherever the shown lane goes in time. One that a person takes out of the
    comparison stays out.
    """

    def __init__(
        self,
        library: Library,
        comparison: Comparison,
        lanes: Callable[[], tuple[RaceLane, ...]],
        opened_one: Callable[[], None],
    ) -> None:
        self._library, self._comparison = library, comparison
        self._lanes, self._opened_one = lanes, opened_one
        self._compared: set[Path] = set()
        self._left_out: set[Path] = set()
        self._opening: set[Path] = set()
        self._is_taking = False  # to the step at which the shown lane is
        library.step_changed.connect(self.take_to_step)
        library.model_changed.connect(self.take_to_step)
        library.models_changed.connect(self.take_to_step)  # to a snapshot that is new
        comparison.choice_changed.connect(self._note_compared)

    def of(self, lane: RaceLane) -> OpenedModel | None:
        """The model of a lane; None while it is not open."""
        return next((model for model in self._library.models if model.folder == lane.folder), None)

    def leave_out(self, folders: set[Path]) -> None:
        """Compare and look into all lanes but these, and compare again those that were left out before."""
        self._compared |= self._left_out - folders
        self._compared -= folders
        self._left_out = folders
        shown, step = self._library.model, self._library.step
        if shown is not None and shown.folder in folders:
            others = (model for model in map(self.of, self._lanes()) if model and model.folder not in folders)
            if (other := next(others, None)) is not None:
                self._library.choose(other, None if self._library.live else step)
        self.take_to_step()

    def forget(self) -> None:
        """The race has other lanes now."""
        self._compared, self._left_out = set(), set()

    def show_snapshots(self, lane: RaceLane) -> None:
        """Make a lane's newest snapshots available, and its model where these are its first."""
        if lane.folder is None:
            return
        if self.of(lane) is not None:
            self._library.refresh_snapshots(lane.folder)
        else:
            self.open(lane)

    def open(self, lane: RaceLane) -> None:
        """Open the model of a lane, in its colour."""
        if lane.folder is not None and lane.folder not in self._opening:
            self._opening.add(lane.folder)
            self._library.open_beside(lane.folder, self._take_model, lane.color, f"lane {lane.label}")

    def take_to_step(self) -> None:
        """Take the lanes that are compared to the step at which the shown lane is."""
        model, step = self._library.model, self._library.step
        if model is None or not self._is_lane(model):
            return
        others = [moment for moment in self._comparison.chosen if not self._is_lane(moment[0])]
        lanes = [
            (opened, opened.nearest_snapshot(step))
            for opened in map(self.of, self._lanes())
            if opened is not None and opened.folder in self._compared and opened != model
        ]
        self._is_taking = True
        self._comparison.choose((*others, *lanes))
        self._is_taking = False

    def _is_lane(self, model: OpenedModel) -> bool:
        return any(lane.folder == model.folder for lane in self._lanes())

    def _take_model(self, opened: OpenedModel) -> None:
        """A lane's model is open: look into the first, and compare the others with it."""
        self._opening.discard(opened.folder)
        if not self._is_lane(opened):
            return
        if opened.folder not in self._left_out:
            self._compared.add(opened.folder)
        shown = self._library.model
        if shown is None or not self._is_lane(shown):
            self._library.choose(opened)
        self.take_to_step()
        self._opened_one()

    def _note_compared(self) -> None:
        """Where a person has chosen what is compared, a lane that was taken out stays out."""
        if not self._is_taking:
            model = self._library.model
            shown = set() if model is None else {model.folder}
            self._compared &= {model.folder for model, _ in self._comparison.chosen} | shown
