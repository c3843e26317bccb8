"""The distribution shown in Sample, and the position it belongs to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import SamplingOptions
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
