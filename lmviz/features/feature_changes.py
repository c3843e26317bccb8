"""Surgery on features: one of them strengthened, clamped or switched off, with the error kept.

A state is what its features write and an error. Only what the one feature writes is exchanged, so with
nothing to exchange the state stays as it is to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention

if TYPE_CHECKING:
    from lmviz.features.coding import Coding
    from lmviz.features.dictionary import Dictionary

How = Literal["times", "to"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True)
class FeatureChange:
    """What states (..., channel) become where one feature is changed: the value of an intervention.

    `how` is "times", what the feature is multiplied by where it is on, or "to", what it is set to at every
    state. `file` is where the dictionary lies, for Python code that does the same.
    """

    dictionary: Dictionary
    feature: int
    how: How
    amount: float
    file: str = ""

    def __repr__(self) -> str:
        opened = f"lmviz.open_features({self.file!r})" if self.file else "dictionary"
        return f"lmviz.change_feature({opened}, {self.feature}, {self.how}={self.amount!r}).value"

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """The states with the one feature changed."""
        own = activation(self.dictionary, self.feature, states)
        wanted = own * self.amount if self.how == "times" else np.full_like(own, self.amount)
        moved = (wanted - own)[..., None] * self.dictionary.decoder[self.feature]
        return np.where(moved != 0, states + moved, states)


def activation(dictionary: Dictionary, feature: int, states: np.ndarray) -> np.ndarray:
    """(...,) How strongly one feature is on at states (..., channel)."""
    import torch

    given = torch.tensor(np.ascontiguousarray(states, dtype=np.float32))
    return np.asarray(_coding(dictionary).encoded(given)[..., feature].numpy())


def feature_change(
    dictionary: Dictionary,
    feature: int,
    *,
    times: float | None = None,
    to: float | None = None,
    file: str = "",
) -> Intervention:
    """The intervention that multiplies a feature where it is on, or sets it everywhere; 0 switches it off.

    LmvizError where it is not said what becomes of it, where there is no such feature, and for a transcoder,
    whose features are read off other states than those they write.
    """
    if (times is None) == (to is None):
        raise LmvizError("Say either what the feature is multiplied by, times=2, or what it is set to, to=0.")
    feature = dictionary.check(feature)
    if dictionary.is_transcoder:
        raise LmvizError(
            "The features of a transcoder are read off other states than those they write: learn a "
            f"dictionary of {dictionary.target} to change features there."
        )
    amount = times if to is None else to
    try:
        amount = float(amount)  # type: ignore[arg-type]  # one of the two is given
    except (TypeError, ValueError):
        raise LmvizError(f"{amount!r} is no number: say what the feature is to be, such as to=4.") from None
    if not np.isfinite(amount):
        raise LmvizError(f"A feature cannot be {amount}: give a finite number.")
    how: How = "times" if to is None else "to"
    said = "off" if amount == 0 else (f"× {amount:.3g}" if how == "times" else f"= {amount:.3g}")
    change = FeatureChange(dictionary, feature, how, amount, file)
    return Intervention(dictionary.target, "replace", change, label=f"feature {feature} {said}")


def changed_feature(intervention: Intervention) -> FeatureChange | None:
    """Which feature an intervention changes, and how; None where it changes none."""
    return intervention.value if isinstance(intervention.value, FeatureChange) else None


@lru_cache(maxsize=2)
def _coding(dictionary: Dictionary) -> Coding:
    return dictionary.coding()
