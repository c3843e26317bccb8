"""The loss of every token of the open text: for the shown model, and for a second one beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.text.examples_for import Part as PartOfText
    from lmviz.training.loss_map import LossMap

KEPT = 4
"""So many maps are kept."""


class TokenLosses(Part):
    """Measures the losses of a part of the open text when somebody wants them, and keeps the last ones.

    `changed` follows whatever is shown; `place_changed` a token that is looked at, `progressed` the work.
    """

    changed = Signal()
    place_changed = Signal()
    progressed = Signal()

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        comparison: Comparison,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library, self._comparison = work, text, library, comparison
        self._part: PartOfText = "validation"
        self._shows_difference = False
        self._known: dict[tuple[Moment, str, str], LossMap] = {}
        self._job: Job | None = None
        self._share = 0.0
        self._place = (-1, -1)
        for signal in (library.model_changed, library.step_changed, text.changed, comparison.changed):
            signal.connect(self.changed)

    @property
    def part(self) -> PartOfText:
        """The part of the text: "validation", what is held out, or "training"."""
        return self._part

    @property
    def shows_difference(self) -> bool:
        """Whether losses are shown minus those of the second model."""
        return self._shows_difference and self.second is not None

    @property
    def moment(self) -> Moment | None:
        """The model and the step that are judged."""
        return None if self._library.model is None else self._comparison.present

    @property
    def second(self) -> Moment | None:
        """The model that is held against it; None where none was chosen for comparison."""
        return next((each for each in self._comparison.moments if each != self.moment), None)

    @property
    def map(self) -> LossMap | None:
        """The map of the shown model; None until it is measured."""
        return self._of(self.moment)

    @property
    def other(self) -> LossMap | None:
        """The map of the second model, where differences are shown."""
        return self._of(self.second) if self.shows_difference else None

    @property
    def shown(self) -> LossMap | None:
        """The map that is drawn: the losses, or A − B."""
        found, other = self.map, self.other
        if not self.shows_difference or found is None:
            return found
        if other is None:
            return None
        try:
            return found.minus(other)
        except LmvizError:
            return None

    @property
    def obstacle(self) -> str:
        """Why the two models have no difference by tokens; empty where they have."""
        found, other = self.map, self.other
        if found is None or other is None:
            return ""
        try:
            found.minus(other)
        except LmvizError as error:
            return str(error)
        return ""

    @property
    def place(self) -> tuple[int, int]:
        """From which token of the stream to before which somebody looks; −1 for none."""
        return self._place

    @property
    def share(self) -> float | None:
        """How far the work has come; None where nothing is measured."""
        return None if self._job is None else self._share

    def choose_part(self, part: PartOfText) -> None:
        """Look at another part of the text."""
        if part != self._part:
            self._part, self._place = part, (-1, -1)
            self.changed.emit()

    def show_difference(self, shown: bool) -> None:
        """Show the difference of two models, or the losses of one."""
        if shown != self._shows_difference:
            self._shows_difference = shown
            self.changed.emit()

    def look_at(self, start: int, end: int) -> None:
        """Look at a passage of the stream."""
        self._place = (start, end)
        self.place_changed.emit()

    def measure(self) -> None:
        """Judge what is shown and not known yet."""
        corpus = self._text.corpus
        if corpus is None or self._job is not None:
            return
        wanted = [self.moment, self.second if self.shows_difference else None]
        missing = [moment for moment in wanted if moment is not None and self._of(moment) is None]
        if not missing:
            return
        moment, part = missing[0], self._part
        key, folder, step = self._key(moment), moment[0].folder, moment[1]

        def work(report: Report) -> LossMap:
            from lmviz.runs.loss_mapping import map_of_corpus
            from lmviz.runs.opening import open_model_of, open_recorded

            return map_of_corpus(open_model_of(open_recorded(folder), step), corpus, part, report)

        def take(found: LossMap) -> None:
            self._known[key] = found
            for old in list(self._known)[:-KEPT]:
                del self._known[old]

        self._share = 0.0
        self._job = self._work.start_job(f"Losses of {moment[0].name}", work, take, self)
        self._job.progressed.connect(self._progress)
        self._job.ended.connect(self._end)
        self.changed.emit()

    def stop(self) -> None:
        """Leave what is being measured."""
        if self._job is not None:
            self._job.cancel()

    def _of(self, moment: Moment | None) -> LossMap | None:
        return None if moment is None or self._text.corpus is None else self._known.get(self._key(moment))

    def _key(self, moment: Moment) -> tuple[Moment, str, str]:
        return moment, self._text.fingerprint, self._part

    def _progress(self, share: float) -> None:
        self._share = share
        self.progressed.emit()

    def _end(self, job: Job) -> None:
        was_cancelled = job.is_cancelled
        self._job = None
        self.changed.emit()
        if not was_cancelled and self.map is not None:
            self.measure()  # the second model, where differences are shown
