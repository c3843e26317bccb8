"""The distribution shown in Sample, and the position it belongs to: at the end, or earlier."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lmviz.app.session.current_reading import CurrentReading
from lmviz.app.session.focus import Focus
from lmviz.app.session.library import Library
from lmviz.app.session.reading import Reading
from lmviz.base.errors import LmvizError
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import distribution_over
from lmviz.inspection.recipes.recipe import RecipeSubject


@dataclass(frozen=True, eq=False)
class Prospect:
    """The distribution at one place: of what comes after a text, which ends with the branch `node`.

    It belongs to the `moment` for which it was asked, whatever has changed since.
    For an earlier word, `position` is its place in the prefix; otherwise None.
    `before` is the same without the interventions in force, None where there are none.
    `draw` is the uniform number that landed there, None where none did; `chosen` is the id that it, or
    the greedy rule, chose.
    """

    node: int
    distribution: Distribution
    moment: RecipeSubject
    draw: float | None = None
    chosen: int | None = None
    position: int | None = None
    before: Distribution | None = None

    def with_options(self, options: SamplingOptions) -> Prospect:
        """The same under other sampling options."""
        values = options.to_values()
        before = None if self.before is None else self.before.with_options(**values)
        return replace(self, distribution=self.distribution.with_options(**values), before=before)

    @property
    def text(self) -> str:
        """What comes before."""
        return self.moment.text

    @property
    def landed(self) -> int | None:
        """The id to mark: where the draw lands under the options in force, which may have changed."""
        return self.chosen if self.draw is None else self.distribution.at_draw(self.draw)


class LookingBack:
    """The prospect at an earlier place of the prefix, while that place is hovered or pinned.

    The prediction is read off the current reading, which has every position, with interventions.
    """

    def __init__(self, library: Library, reading: CurrentReading, focus: Focus) -> None:
        self._library, self._reading, self._focus = library, reading, focus
        self._seen: Prospect | None = None
        self._seen_of: tuple[Reading | None, int] = (None, -1)

    @property
    def prospect(self) -> Prospect | None:
        """What is seen there, as far as `update` has brought it."""
        return self._seen

    def is_wanted(self, is_at_root: bool) -> bool:
        """Whether an earlier place than the one where one writes is hovered or pinned.

        `is_at_root`: nothing has been written after the prefix, so that its end is where one writes.
        """
        focus = self._focus
        points = focus.hovered_position is not None or focus.is_position_pinned
        is_end = focus.shown_position == len(self._reading.encoding or ()) - 1
        return points and focus.shown_position >= 0 and not (is_end and is_at_root)

    def update(self, is_at_root: bool, sampling: SamplingOptions) -> bool:
        """Bring the prospect up to date; whether it has changed. LmvizError where there is none."""
        before = self._seen
        if not self.is_wanted(is_at_root):
            self.forget()
            return before is not None
        reading, position = self._reading.current, self._focus.shown_position
        shown = (self._library.model, self._reading.prefix)
        if reading is None or (reading.model, reading.trace.text) != shown:
            return False  # the old stays in sight until the new is known
        if (reading, position) == self._seen_of:
            return False
        self._seen_of = (reading, position)
        if not reading.trace.predicts.continues:
            raise LmvizError(
                f"This model predicts {reading.trace.predicts.describe()} and no next word: see Inside "
                "for its labels, or open a language model."
            )
        tokenizer = reading.model.tokenizer
        logits = reading.trace["logits"].at(position=position)
        distribution, untouched = distribution_over(logits, sampling, tokenizer), None
        if reading.baseline is not None:
            logits = reading.baseline["logits"].at(position=position)
            untouched = distribution_over(logits, sampling, tokenizer)
        end = reading.trace.offsets[position][1]
        moment = replace(reading.moment, text=self._reading.prefix[:end])
        self._seen = Prospect(0, distribution, moment, position=position, before=untouched)
        return True

    def filter(self, sampling: SamplingOptions) -> bool:
        """Apply other sampling options to it; whether they have changed it."""
        seen = self._seen
        if seen is None or seen.distribution.options == sampling:
            return False
        self._seen = seen.with_options(sampling)
        return True

    def forget(self) -> None:
        """Look nowhere."""
        self._seen, self._seen_of = None, (None, -1)
