"""A model over a fixed window: what each word gives each hidden unit, and each unit a prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.at_position import window_taps
from lmviz.inspection.influence import Influence, influence
from lmviz.inspection.trace import Trace
from lmviz.models.model import Model
from lmviz.models.operations import Affine, Window
from lmviz.models.tap import Weight

SHOWN = 12
MEASURED = 48
"""So many words, those nearest to the window, are replaced to see what changes."""


@dataclass(frozen=True, eq=False)
class FixedWindow:
    """A window at a position.

    `embedding` and `hidden` are the taps it reads and makes. `positions` are those in the window, oldest
    first; negative before the text, where zeros stand. `products` (unit, word) is what each word adds to a
    unit's sum. `ids` and `probabilities` are (word,), likeliest first, and `votes` (word, unit) what each
    unit adds to their logits. `influence` is that of the words that were replaced by others.
    """

    position: int
    embedding: str
    hidden: str
    positions: tuple[int, ...]
    products: np.ndarray
    ids: np.ndarray
    probabilities: np.ndarray
    votes: np.ndarray
    influence: Influence

    @property
    def unseen(self) -> tuple[int, ...]:
        """The measured words that lie before the window."""
        return tuple(word for word in self.influence.words if word < self.positions[0])

    @property
    def change(self) -> float:
        """The largest change of a logit when a word before the window is another; NaN where there is none."""
        changes = [
            float(change)
            for word, change in zip(self.influence.words, self.influence.logits, strict=True)
            if word < self.positions[0]
        ]
        return max(changes, default=float("nan"))


def fixed_window(model: Model, trace: Trace, position: int) -> FixedWindow:
    """The window at a position. LmvizError where the trace was made by another model."""
    check_made_by(trace, model)
    found = window_taps(trace)
    assert found is not None, "window_taps says which traces have one"
    embedding, hidden, size = found
    positions = tuple(range(position - size + 1, position + 1))
    vectors = trace[embedding].array
    joined = np.stack([vectors[at] if at >= 0 else np.zeros_like(vectors[0]) for at in positions])
    weights = _weight(model, hidden, window=True).reshape(-1, size, joined.shape[1])  # (unit, word, channel)
    row = trace["probabilities"].at(position=position)
    ids = np.argsort(-row, kind="stable")[:SHOWN]
    states = trace[hidden].at(position=position)
    words = range(max(0, positions[0] - MEASURED), position + 1)
    return FixedWindow(
        position=position,
        embedding=embedding,
        hidden=hidden,
        positions=positions,
        products=np.einsum("uwc,wc->uw", weights, joined),
        ids=ids,
        probabilities=row[ids],
        votes=_weight(model, "logits", window=False)[ids] * states,
        influence=influence(model, trace, position, words),
    )


def _weight(model: Model, address: str, *, window: bool) -> np.ndarray:
    """The matrix by which a tap multiplies the window, or what is no window."""
    operation = next(tap.operation for tap in model.taps() if tap.address == address)
    assert isinstance(operation, Affine)
    weight: Weight = next(one.weight for one in operation.summands if isinstance(one.input, Window) == window)
    return model.get_parameter_or_buffer(weight.name).detach().float().cpu().numpy()
