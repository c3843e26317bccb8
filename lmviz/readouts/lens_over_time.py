"""Since when in a training each layer can say a word: its rank there at each snapshot, by a lens.

A fitted lens belongs to one snapshot, so it is fitted anew at each. The Jacobian lens needs no matrix for
this: one state is looked at, so its column is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.logit_lens import Carried, ending_after, lens_distributions, lens_places
from lmviz.inspection.tracing import trace
from lmviz.models.interruption import uncounted_work
from lmviz.models.model import Model
from lmviz.readouts.fitting import carrier, fit_lens
from lmviz.readouts.lens_column import fit_column
from lmviz.readouts.passages import Passages
from lmviz.showing.several import ResultsByStep

KINDS = ("logit", "tuned", "jacobian")


@dataclass(frozen=True, eq=False)
class SaidByLayer:
    """A word at one snapshot, (place,): its rank from 1, its probability, and the likeliest word's id."""

    places: tuple[str, ...]
    ranks: np.ndarray
    probabilities: np.ndarray
    likeliest: np.ndarray


class LensOverTime(ResultsByStep[SaidByLayer]):
    """The rank of one word at each place, by step."""

    @property
    def steps(self) -> list[int]:
        """The steps that are known, ascending."""
        return sorted(self)

    @property
    def places(self) -> tuple[str, ...]:
        """The places along the stream; LmvizError where no step is known."""
        if not self:
            raise LmvizError("There is no step here, as none was asked about: give some steps of the run.")
        return self[self.steps[0]].places

    @property
    def ranks(self) -> np.ndarray:
        """(step, place), from 1."""
        return np.stack([self[step].ranks for step in self.steps])

    @property
    def probabilities(self) -> np.ndarray:
        """(step, place)."""
        return np.stack([self[step].probabilities for step in self.steps])

    def since(self, place: str, rank: int = 1) -> int | None:
        """The step from which on a place has the word among so many likeliest; None where it never stays."""
        row = self.places.index(place)
        there = [int(self[step].ranks[row]) <= rank for step in self.steps]
        if not there[-1]:
            return None
        last_without = max((at for at, said in enumerate(there) if not said), default=-1)
        return self.steps[last_without + 1]


def said_by_layer(
    model: Model,
    ids: np.ndarray,
    word: int,
    kind: str = "logit",
    passages: Passages | None = None,
    position: int = -1,
) -> SaidByLayer:
    """A word after a token of a text, ids (token,), at each place by a lens, which is fitted on `passages`.

    LmvizError where a lens cannot be fitted, or where there is no such kind.
    """
    if kind not in KINDS:
        raise LmvizError(f"There is no lens of the kind {kind!r}: take one of {', '.join(KINDS)}.")
    if kind != "logit" and passages is None:
        raise LmvizError(f"A {kind} lens is fitted on texts: give some, or take the logit lens.")
    places = lens_places(model, after_layers=True)
    needed = sorted({*places, "logits", *ending_after(model.taps(), places[-1])[1]})
    with uncounted_work():
        recorded = trace(model, ids, taps=needed)
        carried: Carried | None = None
        if passages is not None and kind == "tuned":
            *_, lens = fit_lens(model, passages, kind, every=len(passages.fitted))
            carried = carrier(lens)
        elif passages is not None and kind == "jacobian":
            *_, column = fit_column(model, passages, {at: recorded[at].array[position] for at in places})
            carried = column.carrier()
        at = np.array([position % len(recorded)])
        shares = torch.stack([each[0] for each in lens_distributions(model, recorded, places, at, carried)])
    own = shares[:, word]
    return SaidByLayer(
        places,
        ((shares > own[:, None]).sum(dim=1) + 1).cpu().numpy(),
        own.cpu().float().numpy(),
        shares.argmax(dim=1).cpu().numpy(),
    )
