"""The text that is being written: a tree of branches that grows from the prefix without changing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from lmviz.decoding.branches import DRAWN, FORCED, GREEDY, Branches
from lmviz.decoding.continuations import Continuations
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.sampling import Step, choose, distribution_after, force, uniform_draw

if TYPE_CHECKING:
    from lmviz.app.opened_models import OpenedModel
    from lmviz.decoding.continuation import Continuation
    from lmviz.decoding.options import SamplingOptions
    from lmviz.models.model import Model

MARGIN = 4  # likeliest tokens that stay beside a branch


@dataclass(frozen=True, eq=False)
class Prospect:
    """The distribution at one place of the tree: of what comes after the branch `node`.

    `draw` is the uniform number that landed there, None where none did; `chosen` is the id that it, or
    the greedy rule, chose.
    """

    node: int
    distribution: Distribution
    draw: float | None = None
    chosen: int | None = None

    @property
    def landed(self) -> int | None:
        """The id to mark: where the draw lands under the options in force, which may have changed."""
        return self.chosen if self.draw is None else self.distribution.at_draw(self.draw)


class Writing:
    """The part of the session that writes on, token by token. Mixed into a QObject beside the library.

    After a roll the prospect stays where the draw landed, so that one can look at it; choosing a token
    by hand, or a branch, moves it on to what comes next.
    """

    branches_changed = Signal()
    prospect_changed = Signal()
    hovered_token_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._branches = Branches.of("")
        self._written_by: tuple[str, OpenedModel | None] = ("", None)
        self._prospect: Prospect | None = None
        self._looked_at: object = None
        self._continuations = Continuations()
        self._drawn = 0
        self._hovered_token: int | None = None
        self.prefix_changed.connect(self._begin_tree)
        self.model_changed.connect(self._begin_tree)
        self.step_changed.connect(self._look_elsewhere)
        self.sampling_changed.connect(self._filter_again)

    @property
    def branches(self) -> Branches:
        """All that was written after the prefix; its current node is where one stands."""
        return self._branches

    @property
    def prospect(self) -> Prospect | None:
        """The distribution that is looked at; None where there is none. See `look_ahead`."""
        return self._prospect

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
        if not self.can_write:
            self._show_prospect(None)
            return
        wanted = (self._model, self._step, self._branches.prefix, self._branches.chosen())
        if wanted == self._looked_at:
            return
        self._looked_at = wanted
        node, sampling = self._branches.current, self.sampling

        def show(distribution: Distribution) -> None:
            if sampling != self.sampling:
                distribution = distribution.with_options(**self.sampling.to_values())
            self._show_prospect(Prospect(node, distribution))

        self._ask_after(node, "prospect", lambda text: distribution_after(text, sampling), show)

    def roll(self) -> None:
        """Draw a uniform number and write the token on which it lands.

        With a locked seed a place's draw is always the same: that of its depth.
        """
        if not self.can_write or self.is_choosing:
            return
        count = len(self._branches.path()) if self.sampling.seed_locked else self._drawn
        self._drawn += 1
        draw = uniform_draw(self.sampling.seed, count)
        self._choose(DRAWN, lambda text, options: choose(text, options, draw))

    def write_likeliest(self) -> None:
        """Write the likeliest token, as greedy decoding does."""
        if self.can_write and not self.is_choosing:
            self._choose(GREEDY, choose)

    def write(self, id: int, node: int | None = None) -> None:
        """Write a token of one's own choice after a branch, by default the one that is looked at."""
        if not self.can_write:
            return
        if node is not None:
            self._branches = self._branches.at(node)
        elif self._prospect is not None:
            self._branches = self._branches.at(self._prospect.node)
        self._choose(FORCED, lambda text, options: force(text, options, id))

    def go_to_branch(self, index: int) -> None:
        """Stand on another branch; nothing is lost."""
        self._stand_on(self._branches.at(index))

    def step_back(self) -> None:
        """One token back; nothing is lost."""
        self._stand_on(self._branches.back())

    def forget_branches(self) -> None:
        """Let go of everything written after the prefix, and draw from the beginning of the seed's stream."""
        self._drawn = 0
        self._plant()

    def _choose(self, way: str, chooser: Callable[[Continuation, SamplingOptions], Step]) -> None:
        node, options = self._branches.current, self.sampling

        def take(step: Step) -> None:
            self._branches = self._branches.at(node).grown(step, way, MARGIN)
            self._looked_at = None
            if way != FORCED:
                # The draw stays in sight: this, and not what comes next, is what is looked at now.
                wanted = (self._model, self._step, self._branches.prefix, self._branches.chosen())
                self._looked_at = wanted
                self.silence("prospect")
                self._show_prospect(Prospect(node, step.distribution, step.draw, step.id))
            self.branches_changed.emit()

        self._ask_after(node, "choice", lambda text: chooser(text, options), take)

    def _ask_after(
        self,
        node: int,
        key: str,
        work: Callable[[Continuation], Any],
        answer: Callable[[Any], None],
    ) -> None:
        """Have work done on the text up to a branch, in the reading thread."""
        read, prefix, chosen = self._continuations, self._branches.prefix, self._branches.chosen(node)

        def read_on(model: Model) -> Any:
            return work(read.after(model, prefix, chosen))

        self.ask(key, read_on, answer)

    def _stand_on(self, branches: Branches) -> None:
        self.silence("choice")
        self._branches = branches
        self._look_elsewhere()

    def _begin_tree(self) -> None:
        """Another prefix, or a model with other tokens, begins another tree."""
        before, self._written_by = self._written_by, (self.prefix, self._model)
        if self._written_by == before:
            self._look_elsewhere()
            return
        if before[1] != self._model:
            self._show_prospect(None)  # its ids mean other tokens now
        self._plant()

    def _plant(self) -> None:
        """A tree of the bare prefix. What is looked at, until the new is known, belongs to its root."""
        self.silence("prospect")  # it would name a branch of the tree before
        if self._prospect is not None:
            self._prospect = Prospect(0, self._prospect.distribution)
        self._stand_on(Branches.of(self.prefix))

    def _look_elsewhere(self) -> None:
        """What is looked at is no longer what comes next; the old stays in sight until the new is known."""
        self._looked_at = None
        self.branches_changed.emit()

    def _filter_again(self) -> None:
        """Other options act at once: the logits are the same."""
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
            self._looked_at = None
        self._prospect = prospect
        self.hover_token(None)
        self.prospect_changed.emit()
