"""The text being written after the prefix: a tree of branches. The prefix itself does not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.prospect import LookingBack, Prospect
from lmviz.base.errors import LmvizError
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import choose, distribution_after, force, uniform_draw

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.focus import Focus
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Failed, Work
    from lmviz.decoding.branches import Branches
    from lmviz.decoding.continuation import Continuation
    from lmviz.decoding.continuations import Continuations
    from lmviz.decoding.distribution import Distribution
    from lmviz.decoding.sampling import SamplingStep
    from lmviz.models.model import Model

T = TypeVar("T")

MARGIN = 4  # likeliest tokens that stay beside a branch


class Writing(Part):
    """Continues the prefix token by token, and chooses the distribution to show.

    After a roll the prospect stays that of the draw, so that it can be inspected; choosing a token
    by hand, or a branch, moves it on to what comes next. While an earlier place of the prefix is hovered
    or pinned, the prospect is what came after that; writing goes on at the end and unpins the place.
    What decodes is imported when it is first needed: the window is painted without it.
    """

    branches_changed = Signal()
    prospect_changed = Signal()
    late_changed = Signal()
    hovered_token_changed = Signal()
    sampling_changed = Signal()

    def __init__(
        self,
        work: Work,
        library: Library,
        surgery: Surgery,
        focus: Focus,
        reading: CurrentReading,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._library, self._surgery = work, library, surgery
        self._focus, self._reading = focus, reading
        self._back = LookingBack(library, reading, focus)
        self._sampling = SamplingOptions()
        self._tree: Branches | None = None  # made when it is first asked for
        self._written_by: tuple[str, str, OpenedModel | None] = ("", "", None)
        self._prospect: Prospect | None = None
        self._prospect_of: object = None  # what the next answer is of
        self._answered: object = None  # what the prospect is of
        self._continuations: Continuations | None = None
        self._untouched: Continuations | None = None
        self._drawn = 0
        self._rolls_waiting = 0  # asked for while a token was being chosen
        self._hovered_token: int | None = None
        for changed in (reading.prefix_changed, reading.source_changed, library.model_changed):
            changed.connect(self._begin_tree)
        for changed in (library.step_changed, surgery.changed):
            changed.connect(self._look_elsewhere)
        library.model_closed.connect(self._let_go)

    @property
    def sampling(self) -> SamplingOptions:
        """How the next token is drawn."""
        return self._sampling

    def set_sampling(self, **changes: Any) -> None:
        """Change some of the sampling options; LmvizError when a value is invalid."""
        sampling = replace(self._sampling, **changes)
        if sampling != self._sampling:
            self._sampling = sampling
            self._filter_again()
            self.sampling_changed.emit()

    @property
    def branches(self) -> Branches:
        """All text written after the prefix; its current node is the end of the shown text."""
        from lmviz.decoding.branches import Branches

        if self._tree is None:
            self._tree = Branches.of(self._reading.prefix)
        return self._tree

    @property
    def prospect(self) -> Prospect | None:
        """The distribution to show, or None. See `look_ahead`."""
        return self._back.prospect or self._prospect

    @property
    def is_late(self) -> bool:
        """Whether `prospect` is not yet what is asked now: another place, or another model, is awaited."""
        if self.looks_back:
            return self._reading.is_late
        return self.can_write and (self.is_choosing or self._answered != self._standing)

    @property
    def is_choosing(self) -> bool:
        """Whether the next token is being chosen."""
        return self._work.is_busy("choice")

    @property
    def can_write(self) -> bool:
        """Whether there is a model that predicts next tokens, and something for it to read."""
        model = self._library.model
        return model is not None and model.predicts.continues and self._reading.question is not None

    @property
    def hovered_token(self) -> int | None:
        """The id of the candidate under the pointer."""
        return self._hovered_token

    def hover_token(self, id: int | None) -> None:
        """Preview a candidate; None when the pointer leaves."""
        if id != self._hovered_token:
            self._hovered_token = id
            self.hovered_token_changed.emit()

    @property
    def looks_back(self) -> bool:
        """Whether a place before the one where one writes is hovered or pinned."""
        return self._back.is_wanted(self.branches.current == 0)

    def look_ahead(self) -> None:
        """Bring the prospect up to date. Panels that show it call this, so that unseen it costs nothing."""
        if self._look_back():
            self._announce_prospect()
        if not self.can_write:
            self._show_prospect(None)
            return
        wanted = self._standing
        if wanted == self._prospect_of:
            return
        self._prospect_of = wanted

        node, sampling = self.branches.node, self.sampling
        moment = self._reading.moment_of(node.text)

        def show(distribution: Distribution, before: Distribution | None) -> None:
            prospect = Prospect(node.index, distribution, moment, before=before)
            self._answered = wanted
            self._show_prospect(
                prospect if sampling == self.sampling else prospect.with_options(self.sampling)
            )

        def fail(sentence: str) -> None:
            self._prospect_of = None  # asked again by the next who looks ahead
            self.failed.emit(sentence)

        look = lambda text: distribution_after(text, sampling)  # noqa: E731
        self._ask_after(node.index, "prospect", look, sampling, show, fail)

    def roll(self) -> None:
        """Draw a uniform number and write the token on which it lands.

        With a locked seed a place's draw is always the same: that of its depth. A roll that comes while a
        token is being chosen waits for its turn.
        """
        if not self.can_write:
            return
        if self.is_choosing:
            self._rolls_waiting += 1
            return
        count = len(self.branches.path()) if self.sampling.seed_locked else self._drawn
        self._drawn += 1
        draw = uniform_draw(self.sampling.seed, count)
        self._choose(lambda text, options: choose(text, options, draw))

    def write_likeliest(self) -> None:
        """Write the likeliest token, as greedy decoding does."""
        if self.can_write and not self.is_choosing:
            self._choose(choose)

    def write(self, id: int, node: int | None = None) -> None:
        """Write a chosen token after a branch, by default at the shown distribution.

        At an earlier position the prefix is cut there and continued with the token.
        """
        model = self._library.model
        if model is None or not self.can_write:
            return
        if node is not None:
            self._tree = self.branches.at(node)
        elif self._back.prospect is not None:
            text = model.tokenizer.continue_text(self._back.prospect.text, id)
            self._focus.follow_end()
            self._reading.set_prefix(text)
            return
        elif self._prospect is not None:
            self._tree = self.branches.at(self._prospect.node)
        self._choose(lambda text, options: force(text, options, id), by_hand=True)

    def go_to(self, index: int) -> None:
        """Stand on another branch; nothing is lost."""
        self._focus.follow_end()
        self._stand_on(self.branches.at(index))

    def step_back(self) -> None:
        """One token back; nothing is lost."""
        self._focus.follow_end()
        self._stand_on(self.branches.back())

    def forget(self) -> None:
        """Delete all that was written after the prefix, and draw from the beginning of the seed's stream."""
        self._drawn = 0
        self._plant()

    def _choose(
        self, chooser: Callable[[Continuation, SamplingOptions], SamplingStep], *, by_hand: bool = False
    ) -> None:
        self._focus.follow_end()
        node, options = self.branches.current, self.sampling
        moment = self._reading.moment_of(self.branches.node.text)

        def take(step: SamplingStep, before: Distribution | None) -> None:
            self._tree = self.branches.at(node).grown(step, MARGIN)
            self._prospect_of = None
            if not by_hand:
                # Keep showing the distribution of the draw, not the next one.
                self._prospect_of = self._answered = self._standing
                self._work.silence("prospect")
                self._show_prospect(
                    Prospect(node, step.distribution, moment, step.draw, step.id, before=before)
                )
            self.branches_changed.emit()
            self._roll_waiting()

        def fail(sentence: str) -> None:
            self._rolls_waiting = 0
            self.failed.emit(sentence)

        self._ask_after(node, "choice", lambda text: chooser(text, options), options, take, fail)

    def _roll_waiting(self) -> None:
        """The next of the rolls that wait; none after the end of the document."""
        if self._rolls_waiting and not (self.branches.node.is_end and self.sampling.stop_at_end):
            self._rolls_waiting -= 1
            self.roll()
        else:
            self._rolls_waiting = 0

    @property
    def _standing(self) -> object:
        """The current node and the model: the next distribution depends on nothing else."""
        branches = self.branches
        source = self._reading.source if self._reading.has_source else None
        moment = (self._library.moment, self._surgery.in_force, source)
        return moment, branches.prefix, branches.chosen()

    def _ask_after(
        self,
        node: int,
        key: str,
        work: Callable[[Continuation], T],
        sampling: SamplingOptions,
        answer: Callable[[T, Distribution | None], None],
        failed: Failed,
    ) -> None:
        """Have work done on the text up to a branch, in the reading thread.

        With interventions in force, the answer also gets what the model expects there without them.
        """
        from lmviz.decoding.continuations import Continuations

        self.begun.emit()
        read = self._continuations = self._continuations or Continuations()
        untouched = self._untouched = self._untouched or Continuations()
        prefix, chosen = self.branches.prefix, self.branches.chosen(node)

        def read_on(model: Model) -> tuple[T, Distribution | None]:
            from lmviz.inspection.changed_model import without_changes

            found, before = work(read.after(model, prefix, chosen)), None
            unchanged = without_changes(model)
            if unchanged is not None:
                before = distribution_after(untouched.after(unchanged, prefix, chosen), sampling)
            return found, before

        def fail(sentence: str) -> None:
            failed(sentence)
            self.late_changed.emit()  # a choice is not awaited any more

        self._reading.ask(key, read_on, lambda both: answer(*both), fail)
        self.late_changed.emit()

    def _stand_on(self, branches: Branches | None) -> None:
        self._work.silence("choice")
        self._rolls_waiting = 0
        self._tree = branches
        self._look_elsewhere()

    def _begin_tree(self) -> None:
        """Another prefix or source, or a model with other tokens, begins another tree."""
        source = self._reading.source if self._reading.has_source else ""
        before, self._written_by = self._written_by, (self._reading.prefix, source, self._library.model)
        if self._written_by == before:
            self._look_elsewhere()
            return
        if before[2] != self._library.model:
            self._back.forget()  # its ids mean other tokens now
            self._show_prospect(None)
        self._plant()

    def _plant(self) -> None:
        """Start a tree of the bare prefix. Until the new distribution is known, the old one is its root's."""
        self._work.silence("prospect")  # it would name a branch of the tree before
        if self._prospect is not None:
            self._prospect = Prospect(0, self._prospect.distribution, self._prospect.moment)
        self._stand_on(None)

    def _let_go(self) -> None:
        """A model was closed, which what was read last may keep."""
        self._continuations = self._untouched = None

    def _look_elsewhere(self) -> None:
        """The next distribution has changed; the old one stays visible until the new one is known."""
        self._prospect_of = None
        self.begun.emit()
        self.branches_changed.emit()

    def _look_back(self) -> bool:
        """Bring what is seen at an earlier place up to date; whether it has changed."""
        try:
            return self._back.update(self.branches.current == 0, self._sampling)
        except LmvizError as sentence:
            self.failed.emit(str(sentence))
            return False

    def _filter_again(self) -> None:
        """Other options act at once: the logits are the same."""
        if self._back.filter(self._sampling):
            self._announce_prospect()
        prospect = self._prospect
        if prospect is None:
            return
        before, now = prospect.distribution.options, self.sampling
        if before.seed != now.seed:
            self._drawn = 0
        if before != now:
            self._show_prospect(prospect.with_options(now))

    def _show_prospect(self, prospect: Prospect | None) -> None:
        if prospect is None and self._prospect is None:
            return
        if prospect is None:
            self._prospect_of = self._answered = None
        self._prospect = prospect
        self._announce_prospect()

    def _announce_prospect(self) -> None:
        self.hover_token(None)
        self.prospect_changed.emit()
