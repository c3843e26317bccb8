"""Back-off as a ladder: what each order of an n-gram model has counted, and what it leaves to the next.

All of a prediction, 100 %, begins at the longest context. Each order keeps its weight (the tap
`orders/K/weight`) and hands the rest down; what is left at the bottom is shared by all words alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.models.model import Model

SHOWN = 12
TIMES = np.arange(4)[:, np.newaxis]  # (times seen, 1)


@dataclass(frozen=True, eq=False)
class Rung:
    """One order at a position.

    `context` are the ids of the last words that it looks at, oldest first; where the text has fewer than
    `order` - 1, all there are. `is_seen` says whether anything was counted after it: `total` in all, of
    `kinds` different words. `ids`, `counts` and `discounts` are (word,), the most frequent first. Of the
    `arriving` share of the prediction the order keeps `share`, and `falling` goes on to the next one.
    """

    order: int
    context: tuple[int, ...]
    is_seen: bool
    total: float
    kinds: int
    ids: np.ndarray
    counts: np.ndarray
    discounts: np.ndarray
    arriving: float
    share: float
    falling: float


@dataclass(frozen=True, eq=False)
class Ladder:
    """The rungs from the longest context down, and the likeliest words with what each rung gives them.

    `alike` words share what falls off the last rung. `ids` and `probabilities` are (word,), likeliest first;
    `parts` (rung + 1, word) add up to the probabilities, the last row being the share of all words alike.
    `counts` and `discounts` (rung, word) are what each order has counted of them, and takes from that. Where
    the orders are not `is_chained`, only the first rung counts.
    """

    position: int
    rungs: tuple[Rung, ...]
    is_chained: bool
    alike: int
    ids: np.ndarray
    probabilities: np.ndarray
    parts: np.ndarray
    counts: np.ndarray
    discounts: np.ndarray

    @property
    def ground(self) -> float:
        """The share that is left for all words alike."""
        return (self.rungs[-1] if self.is_chained else self.rungs[0]).falling


def has_ladder(trace: Trace) -> bool:
    """Whether a model counted, and said so in its taps."""
    return all(f"orders/1/{name}" in trace for name in ("counts", "total", "backoff", "weight"))


def orders_of(trace: Trace) -> tuple[int, ...]:
    """The orders from the longest context down."""
    found = {Address.parse(address).order for address in trace.arrays}
    return tuple(sorted((order for order in found if order is not None), reverse=True))


def back_off_ladder(model: Model, trace: Trace, position: int, words: Sequence[int] = ()) -> Ladder:
    """The ladder at a position; `words` are ids to show besides the likeliest.

    LmvizError where the trace was made by another model.
    """
    check_made_by(trace, model)
    orders = orders_of(trace)
    is_chained = _is_chained(trace, orders[0])
    arriving, rungs, parts, counted, discounted = 1.0, [], [], [], []
    probabilities = trace[f"orders/{orders[0]}/probabilities"].at(position=position)
    ids = np.argsort(-probabilities, kind="stable")[:SHOWN]
    ids = np.concatenate([ids, [word for word in words if word not in ids]]).astype(np.int64)
    for order in orders:
        is_used = is_chained or order == orders[0]
        rung, taken = _rung(model, trace, position, order, arriving if is_used else 0.0)
        rungs.append(rung)
        counts = trace[f"orders/{order}/counts"].at(position=position)[ids]
        discounts = taken[np.clip(counts, 0, 3).astype(int)]
        own = (counts - discounts) / (rung.total or 1.0)
        counted.append(counts)
        discounted.append(discounts)
        parts.append(own * (rung.arriving if is_chained else rung.share) * rung.is_seen)
        arriving = rung.falling if is_used else arriving
    is_possible = trace["orders/1/probabilities"].at(position=position) > 0
    alike = max(1, int(is_possible.sum()))
    parts.append(np.where(is_possible[ids], arriving / alike, 0.0))
    return Ladder(
        position=position,
        rungs=tuple(rungs),
        is_chained=is_chained,
        alike=alike,
        ids=ids,
        probabilities=probabilities[ids],
        parts=np.stack(parts),
        counts=np.stack(counted),
        discounts=np.stack(discounted),
    )


def weights_over_text(trace: Trace) -> np.ndarray:
    """The share of each order at every position, and of all words alike: (order + 1, position), 1 in all."""
    orders = orders_of(trace)
    weights = np.stack([trace[f"orders/{order}/weight"].array for order in orders])
    return np.concatenate([weights, 1.0 - weights.sum(axis=0, keepdims=True)]).clip(0.0, 1.0)


def longest_seen(trace: Trace) -> np.ndarray:
    """The longest order at every position whose context was seen, (position,)."""
    orders = orders_of(trace)
    seen = np.stack([trace[f"orders/{order}/total"].array > 0 for order in orders])
    return np.array(orders)[seen.argmax(axis=0)]


def _rung(model: Model, trace: Trace, position: int, order: int, arriving: float) -> tuple[Rung, np.ndarray]:
    """A rung, and what the order takes from a count of 0, 1, 2, and 3 or more."""
    counts = trace[f"orders/{order}/counts"].at(position=position)
    total = float(trace[f"orders/{order}/total"].array[position])
    backoff = float(trace[f"orders/{order}/backoff"].array[position])
    taken = model.operand(f"discounts.{order}", TIMES)
    ids = np.argsort(-counts, kind="stable")[: min(SHOWN, np.count_nonzero(counts))]
    rung = Rung(
        order=order,
        context=tuple(int(id) for id in trace.ids[max(0, position + 2 - order) : position + 1]),
        is_seen=total > 0,
        total=total,
        kinds=int(np.count_nonzero(counts)),
        ids=ids,
        counts=counts[ids],
        discounts=taken[np.clip(counts[ids], 0, 3).astype(int)],
        arriving=arriving,
        share=float(trace[f"orders/{order}/weight"].array[position]),
        falling=arriving * backoff,
    )
    return rung, taken


def _is_chained(trace: Trace, highest: int) -> bool:
    """Whether each order asks the one below; otherwise the longest alone counts."""
    made = next(stage for stage in trace.stages if f"orders/{highest}/probabilities" in stage.results)
    return highest == 1 or f"orders/{highest - 1}/probabilities" in made.operands
