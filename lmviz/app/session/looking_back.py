"""Looking back: what the model expected after an earlier word of the prefix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lmviz.decoding.distribution import Distribution, distribution_under
from lmviz.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.reading import Reading
    from lmviz.inspection.recipes.recipe import Moment


@dataclass(frozen=True, eq=False)
class Prospect:
    """The distribution at one place: of what comes after a text, which ends with the branch `node`.

    It belongs to the `moment` for which it was asked, whatever has changed since.
    Where one looks back, `position` is the place in the prefix with which the text ends; otherwise None.
    `draw` is the uniform number that landed there, None where none did; `chosen` is the id that it, or
    the greedy rule, chose.
    """

    node: int
    distribution: Distribution
    moment: Moment
    draw: float | None = None
    chosen: int | None = None
    position: int | None = None

    @property
    def text(self) -> str:
        """What comes before."""
        return self.moment.text

    @property
    def landed(self) -> int | None:
        """The id to mark: where the draw lands under the options in force, which may have changed."""
        return self.chosen if self.draw is None else self.distribution.at_draw(self.draw)


class LookingBack:
    """The part of the session that shows an earlier place while one points at it. Mixed into a QObject.

    What stands there is read off the reading, which has every position, interventions and all.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._retrospect: Prospect | None = None
        self._retrospect_of: tuple[Reading | None, int] = (None, -1)

    @property
    def looks_back(self) -> bool:
        """Whether a place before the one where one writes is hovered or pinned."""
        points = self.hovered_position is not None or self.is_position_pinned
        is_end = self.shown_position == len(self.encoding or ()) - 1
        return points and self.shown_position >= 0 and not (is_end and self.branches.current == 0)

    def _look_back(self) -> bool:
        """Bring what is seen there up to date; whether it has changed."""
        before = self._retrospect
        if not self.looks_back:
            self._retrospect, self._retrospect_of = None, (None, -1)
            return before is not None
        reading, position = self.reading, self.shown_position
        is_late = reading is None or (reading.model, reading.trace.text) != (self.model, self.prefix)
        if is_late or (reading, position) == self._retrospect_of:
            return False  # the old stays in sight until the new is known
        self._retrospect_of = (reading, position)
        try:
            distribution = distribution_under(
                reading.trace["logits"].at(position=position), self.sampling, reading.model.tokenizer.tokens()
            )
        except LmvizError as sentence:
            self.failed.emit("prospect", str(sentence))
            return False
        end = reading.trace.offsets[position][1]
        moment = replace(reading.moment, text=self.prefix[:end])
        self._retrospect = Prospect(0, distribution, moment, position=position)
        return True

    def _filter_retrospect(self) -> bool:
        """Other options act on it at once; whether they have changed it."""
        seen = self._retrospect
        if seen is None or seen.distribution.options == self.sampling:
            return False
        changed = seen.distribution.with_options(**self.sampling.to_values())
        self._retrospect = replace(seen, distribution=changed)
        return True
