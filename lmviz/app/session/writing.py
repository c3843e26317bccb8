"""The text that is being written: a tree of branches that grows from the prefix without changing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from lmviz.app.session.looking_back import LookingBack, Prospect

if TYPE_CHECKING:
    from lmviz.app.session.opened_models import OpenedModel
    from lmviz.decoding.branches import Branches
    from lmviz.decoding.continuation import Continuation
    from lmviz.decoding.continuations import Continuations
    from lmviz.decoding.distribution import Distribution
    from lmviz.decoding.options import SamplingOptions
    from lmviz.decoding.sampling import Step
    from lmviz.models.model import Model

MARGIN = 4  # likeliest tokens that stay beside a branch


class Writing(LookingBack):
    """The part of the session that writes on, token by token. Mixed into a QObject beside the library.

    After a roll the prospect stays where the draw landed, so that one can look at it; choosing a token
    by hand, or a branch, moves it on to what comes next. While an earlier place of the prefix is hovered or
    pinned, the prospect is what came after that; writing goes on at the end and lets go of the place.
    What decodes is imported when it is first needed: the window is painted without it.
    """

    branches_changed = Signal()
    prospect_changed = Signal()
    hovered_token_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tree: Branches | None = None  # not yet planted
        self._written_by: tuple[str, OpenedModel | None] = ("", None)
        self._prospect: Prospect | None = None
        self._prospect_of: object = None
        self._continuations: Continuations | None = None
        self._drawn = 0
        self._hovered_token: int | None = None
        self.prefix_changed.connect(self._begin_tree)
        self.model_changed.connect(self._begin_tree)
        for changed in (self.step_changed, self.interventions_changed):
            changed.connect(self._look_elsewhere)
        self.sampling_changed.connect(self._filter_again)

    @property
    def branches(self) -> Branches:
        """All that was written after the prefix; its current node is where one stands."""
        from lmviz.decoding.branches import Branches

        if self._tree is None:
            self._tree = Branches.of(self.prefix)
        return self._tree

    @property
    def prospect(self) -> Prospect | None:
        """The distribution that is looked at; None where there is none. See `look_ahead`."""
        return self._retrospect or self._prospect

    @property
    def is_choosing(self) -> bool:
        """Whether the next token is being chosen."""
        return self._reader.is_busy("choice")

    @property
    def can_write(self) -> bool:
        """Whether there is a model, and something for it to read."""
        return self._model is not None and self.encoding is not None and len(self.encoding) > 0

    @property
    def hovered_token(self) -> int | None:
        """The id of the candidate under the pointer."""
        return self._hovered_token

    def hover_token(self, id: int | None) -> None:
        """Preview a candidate; None when the pointer leaves."""
        if id != self._hovered_token:
            self._hovered_token = id
            self.hovered_token_changed.emit()

    def look_ahead(self) -> None:
        """Bring the prospect up to date. Panels that show it call this, so that unseen it costs nothing."""
        if self._look_back():
            self._tell_prospect()
        if not self.can_write:
            self._show_prospect(None)
            return
        wanted = self._standing
        if wanted == self._prospect_of:
            return
        self._prospect_of = wanted
        from lmviz.app.session.moments import moment_of
        from lmviz.decoding.sampling import distribution_after

        node, sampling = self.branches.node, self.sampling
        moment = moment_of(self, node.text)

        def show(distribution: Distribution) -> None:
            if sampling != self.sampling:
                distribution = distribution.with_options(**self.sampling.to_values())
            self._show_prospect(Prospect(node.index, distribution, moment))

        self._ask_after(node.index, "prospect", lambda text: distribution_after(text, sampling), show)

    def roll(self) -> None:
        """Draw a uniform number and write the token on which it lands.

        With a locked seed a place's draw is always the same: that of its depth.
        """
        from lmviz.decoding.branches import DRAWN
        from lmviz.decoding.sampling import choose, uniform_draw

        if not self.can_write or self.is_choosing:
            return
        count = len(self.branches.path()) if self.sampling.seed_locked else self._drawn
        self._drawn += 1
        draw = uniform_draw(self.sampling.seed, count)
        self._choose(DRAWN, lambda text, options: choose(text, options, draw))

    def write_likeliest(self) -> None:
        """Write the likeliest token, as greedy decoding does."""
        from lmviz.decoding.branches import GREEDY
        from lmviz.decoding.sampling import choose

        if self.can_write and not self.is_choosing:
            self._choose(GREEDY, choose)

    def write(self, id: int, node: int | None = None) -> None:
        """Write a token of one's own choice after a branch, by default where one looks.

        Where one looks back, the prefix is cut there and goes on with the token.
        """
        from lmviz.decoding.branches import FORCED
        from lmviz.decoding.sampling import force

        if not self.can_write:
            return
        if node is not None:
            self._tree = self.branches.at(node)
        elif self._retrospect is not None:
            text = self._model.tokenizer.continue_text(self._retrospect.text, id)
            self.follow_end()
            self.set_prefix(text)
            return
        elif self._prospect is not None:
            self._tree = self.branches.at(self._prospect.node)
        self._choose(FORCED, lambda text, options: force(text, options, id))

    def go_to_branch(self, index: int) -> None:
        """Stand on another branch; nothing is lost."""
        self.follow_end()
        self._stand_on(self.branches.at(index))

    def step_back(self) -> None:
        """One token back; nothing is lost."""
        self.follow_end()
        self._stand_on(self.branches.back())

    def forget_branches(self) -> None:
        """Let go of everything written after the prefix, and draw from the beginning of the seed's stream."""
        self._drawn = 0
        self._plant()

    def _choose(self, way: str, chooser: Callable[[Continuation, SamplingOptions], Step]) -> None:
        from lmviz.app.session.moments import moment_of
        from lmviz.decoding.branches import FORCED

        self.follow_end()
        node, options = self.branches.current, self.sampling
        moment = moment_of(self, self.branches.node.text)

        def take(step: Step) -> None:
            self._tree = self.branches.at(node).grown(step, way, MARGIN)
            self._prospect_of = None
            if way != FORCED:
                # The draw stays in sight: this, and not what comes next, is what is looked at now.
                self._prospect_of = self._standing
                self.silence("prospect")
                self._show_prospect(Prospect(node, step.distribution, moment, step.draw, step.id))
            self.branches_changed.emit()

        self._ask_after(node, "choice", lambda text: chooser(text, options), take)

    @property
    def _standing(self) -> object:
        """Where one stands, and the model as it is there: what comes next depends on nothing else."""
        branches = self.branches
        moment = (self._model, self._step, self.interventions_in_force)
        return moment, branches.prefix, branches.chosen()

    def _ask_after(
        self,
        node: int,
        key: str,
        work: Callable[[Continuation], Any],
        answer: Callable[[Any], None],
    ) -> None:
        """Have work done on the text up to a branch, in the reading thread."""
        from lmviz.decoding.continuations import Continuations

        read = self._continuations = self._continuations or Continuations()
        prefix, chosen = self.branches.prefix, self.branches.chosen(node)

        def read_on(model: Model) -> Any:
            return work(read.after(model, prefix, chosen))

        self.ask(key, read_on, answer)

    def _stand_on(self, branches: Branches | None) -> None:
        self.silence("choice")
        self._tree = branches
        self._look_elsewhere()

    def _begin_tree(self) -> None:
        """Another prefix, or a model with other tokens, begins another tree."""
        before, self._written_by = self._written_by, (self.prefix, self._model)
        if self._written_by == before:
            self._look_elsewhere()
            return
        if before[1] != self._model:
            self._retrospect = None  # its ids mean other tokens now
            self._show_prospect(None)
        self._plant()

    def _plant(self) -> None:
        """A tree of the bare prefix. What is looked at, until the new is known, belongs to its root."""
        self.silence("prospect")  # it would name a branch of the tree before
        if self._prospect is not None:
            self._prospect = Prospect(0, self._prospect.distribution, self._prospect.moment)
        self._stand_on(None)

    def _look_elsewhere(self) -> None:
        """What is looked at is no longer what comes next; the old stays in sight until the new is known."""
        self._prospect_of = None
        self.branches_changed.emit()

    def _filter_again(self) -> None:
        """Other options act at once: the logits are the same."""
        if self._filter_retrospect():
            self._tell_prospect()
        prospect = self._prospect
        if prospect is None:
            return
        before, now = prospect.distribution.options, self.sampling
        if before.seed != now.seed:
            self._drawn = 0
        if before != now:
            changed = prospect.distribution.with_options(**now.to_values())
            self._show_prospect(replace(prospect, distribution=changed))

    def _show_prospect(self, prospect: Prospect | None) -> None:
        if prospect is None and self._prospect is None:
            return
        if prospect is None:
            self._prospect_of = None
        self._prospect = prospect
        self._tell_prospect()

    def _tell_prospect(self) -> None:
        self.hover_token(None)
        self.prospect_changed.emit()
