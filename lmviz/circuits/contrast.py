"""A contrast: a text, a changed text that lines up with it, and the number that tells them apart.

Everything in this package is asked about one. With two texts that differ in a word or two, what a model does
alike in both drops out, and what is left is what the answer hangs on (Vig et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.inspection.scalar import AnyOf

Read = str | tuple[int, ...]
"""What a model reads: a text, or ids."""


@dataclass(frozen=True, repr=False)
class Contrast(Shown):
    """A text, a changed text of as many tokens, and the number that is asked about.

    `measure` is what `lmviz.gradient` takes, such as "logit: Mary- John": the logit of one token minus
    that of another after the last token. Where it is empty, it is proposed: the likeliest word of the text
    minus that of the changed one. `changed` is None where there is nothing to compare with. `source` and
    `changed_source` are what a translator reads beside its text.
    """

    text: Read
    changed: Read | None = None
    measure: AnyOf = ""
    source: Read | None = None
    changed_source: Read | None = None

    @property
    def is_pair(self) -> bool:
        """Whether there is something to compare with."""
        return self.changed is not None or self.changed_source is not None


@dataclass(frozen=True, eq=False)
class MeasuredContrast:
    """A contrast with its measure stated, and what that is in the text and in the changed one, if any.

    `sequence` is what is changed, "text" or "source", with its tokens in both, `others` none without a pair.
    `said` is the measure in words.
    """

    contrast: Contrast
    clean: float
    changed: float | None
    sequence: str
    tokens: tuple[str, ...]
    others: tuple[str, ...]
    said: str

    @property
    def differing(self) -> tuple[int, ...]:
        """The places at which the two differ."""
        pairs = enumerate(zip(self.tokens, self.others, strict=False))
        return tuple(at for at, (one, other) in pairs if one != other)
