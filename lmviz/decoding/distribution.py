"""From logits to a distribution: temperature, top-k, top-p, min-p, softmax, with every stage recorded.

Each filter works on what the one before it left: top-k (Fan, Lewis and Dauphin 2018) counts tokens,
top-p or nucleus (Holtzman et al. 2020) adds up the probabilities of the survivors of top-k, and min-p
(Nguyen et al. 2024) compares with the likeliest token. All three keep the beginning of the ranking,
so one descending order and three numbers say everything.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.decoding.options import SamplingOptions
from lmviz.looks.shown import Shown


@dataclass(frozen=True)
class Candidate:
    """One token's row through the pipeline; `rank` counts from 1, `cumulative` includes the token.

    `before_filters` is its probability after the temperature alone; `cut_by` is "", "top-k", "top-p"
    or "min-p".
    """

    id: int
    token: str
    rank: int
    logit: float
    scaled: float
    before_filters: float
    probability: float
    cumulative: float
    cut_by: str


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Shown):
    """A next-token distribution and how it came about; all arrays are read-only.

    Arrays of shape (token,), by id: `logits` as the model gave them; `scaled`, divided by the
    temperature; the masks `kept_top_k`, `kept_top_p` and `kept_min_p` of what was left after each
    filter; `probabilities`, the softmax over what was left. `order` holds the ids from the largest
    logit to the smallest, ties by id; `ranked` (token,) the probabilities after the temperature alone,
    in that order; `cumulative` (token,) the running sum of `probabilities` in that order, ending in 1.
    """

    logits: np.ndarray
    options: SamplingOptions
    scaled: np.ndarray
    kept_top_k: np.ndarray
    kept_top_p: np.ndarray
    kept_min_p: np.ndarray
    probabilities: np.ndarray
    order: np.ndarray
    ranked: np.ndarray
    cumulative: np.ndarray
    tokens: Sequence[str] = ()

    def with_options(self, **changes: Any) -> Distribution:
        """The same logits with other options; the ranking is not sorted again."""
        return _distribution(
            self.logits, self.order, dataclasses.replace(self.options, **changes), self.tokens
        )

    @property
    def choices(self) -> int:
        """How many tokens can be chosen at all."""
        return int(np.count_nonzero(self.probabilities))

    @property
    def entropy(self) -> float:
        """Shannon's entropy of `probabilities`, in bits."""
        shares = self.probabilities[self.probabilities > 0]
        return max(0.0, float(-(shares * np.log2(shares)).sum()))

    @property
    def effective_choices(self) -> float:
        """How many equally likely tokens would be as uncertain: 2 to the entropy."""
        return 2.0**self.entropy

    def token(self, id: int) -> str:
        """The token's display form, or its id where no tokens are known."""
        return self.tokens[id] if len(self.tokens) else str(id)

    def probability_of(self, id: int) -> float:
        """The probability of a token after all filters; LmvizError where no token has this id."""
        return float(self.probabilities[self._known(id)])

    def rank_of(self, id: int) -> int:
        """The token's place in the ranking, from 1; LmvizError where no token has this id."""
        return int(np.flatnonzero(self.order == self._known(id))[0]) + 1

    def at_draw(self, draw: float) -> int:
        """The id on which a uniform draw from [0, 1) lands: inverse cumulative distribution."""
        if not 0.0 <= draw < 1.0:
            raise LmvizError(f"A draw must be at least 0 and below 1, and not {draw}.")
        return int(self.order[np.searchsorted(self.cumulative, draw, side="right")])

    @property
    def best(self) -> int:
        """The id of the likeliest token, which greedy decoding takes."""
        return int(self.order[0])

    def candidate(self, rank: int) -> Candidate:
        """The row of the token at a rank from 1."""
        id = int(self.order[rank - 1])
        masks = {"top-k": self.kept_top_k, "top-p": self.kept_top_p, "min-p": self.kept_min_p}
        return Candidate(
            id=id,
            token=self.token(id),
            rank=rank,
            logit=float(self.logits[id]),
            scaled=float(self.scaled[id]),
            before_filters=float(self.ranked[rank - 1]),
            probability=float(self.probabilities[id]),
            cumulative=float(self.cumulative[rank - 1]),
            cut_by=next((name for name, mask in masks.items() if not mask[id]), ""),
        )

    def _known(self, id: int) -> int:
        if not isinstance(id, int | np.integer) or not 0 <= id < len(self.probabilities):
            raise LmvizError(
                f"No token has the id {id!r}: there are {len(self.probabilities):,}, counted from 0; "
                "tokenizer.id_of gives that of a word, or None where the vocabulary lacks it."
            )
        return int(id)

    def top(self, count: int) -> tuple[Candidate, ...]:
        """The rows of the first `count` tokens of the ranking, cut or not; LmvizError for a count below 0."""
        if not isinstance(count, int | np.integer) or count < 0:
            raise LmvizError(f"{count!r} is not a number of tokens: give a whole number, 0 or more.")
        return tuple(self.candidate(rank) for rank in range(1, min(count, len(self.order)) + 1))


def next_distribution(
    logits: np.ndarray,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    *,
    tokens: Sequence[str] = (),
) -> Distribution:
    """The distribution of the next token from logits (token,).

    `tokens` holds the display form of each id and may be lazy. Temperature 0 is greedy: the first of
    the largest logits has it all. LmvizError when the logits cannot be normalised or an option is out
    of its limits.
    """
    options = SamplingOptions(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    return distribution_under(logits, options, tokens)


def distribution_under(
    logits: np.ndarray, options: SamplingOptions, tokens: Sequence[str] = ()
) -> Distribution:
    """`next_distribution` with its settings in one value."""
    logits = checked_logits(logits)
    return _distribution(logits, _descending(logits), options, tokens)


def checked_logits(logits: np.ndarray) -> np.ndarray:
    """The logits (token,) as read-only float64; LmvizError when they cannot be normalised."""
    logits = np.array(logits, dtype=np.float64)
    if logits.ndim != 1 or not len(logits):
        raise LmvizError(f"A distribution needs one logit per token, but the shape is {logits.shape}.")
    if np.isnan(logits).any() or np.isposinf(logits).any():
        broken = int(np.flatnonzero(np.isnan(logits) | np.isposinf(logits))[0])
        raise LmvizError(
            f"The logit of token {broken} is {logits[broken]}, so there is no distribution: "
            "NaN or infinity is in the weights of the model, or a change has put it there."
        )
    if np.isneginf(logits).all():
        raise LmvizError(
            "Every logit is −inf, so no token can follow: switch off the intervention that masks all of them."
        )
    logits.flags.writeable = False
    return logits


def _descending(logits: np.ndarray) -> np.ndarray:
    """Ids from the largest logit to the smallest, ties by id."""
    order = np.argsort(-logits)  # vectorised but not stable: six times faster, and few are tied
    ranked = logits[order]
    same = ranked[1:] == ranked[:-1]
    if same.any():
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        ids = order[tied]
        order[tied] = ids[np.lexsort((ids, -ranked[tied]))]
    order.flags.writeable = False
    return order


def _distribution(
    logits: np.ndarray, order: np.ndarray, options: SamplingOptions, tokens: Sequence[str]
) -> Distribution:
    scaled = _scale(logits, order, options.temperature)
    weights = _weights(logits[order], options.temperature)
    after_top_k = min(options.top_k, len(order)) if options.top_k else len(order)
    after_top_p = _nucleus(weights[:after_top_k], options.top_p)
    after_min_p = int(np.count_nonzero(weights[:after_top_p] >= options.min_p * weights[0]))

    kept = weights[:after_min_p] / weights[:after_min_p].sum()
    probabilities = np.zeros_like(logits)
    probabilities[order[:after_min_p]] = kept
    cumulative = np.ones_like(logits)
    np.cumsum(kept, out=cumulative[:after_min_p])
    # The running sum may end a rounding error away from 1; from the last token with a share on, it is 1.
    np.minimum(cumulative, 1.0, out=cumulative)
    cumulative[np.count_nonzero(kept) - 1 :] = 1.0

    distribution = Distribution(
        logits=logits,
        options=options,
        scaled=scaled,
        kept_top_k=_first(order, after_top_k),
        kept_top_p=_first(order, after_top_p),
        kept_min_p=_first(order, after_min_p),
        probabilities=probabilities,
        order=order,
        ranked=weights / weights.sum(),
        cumulative=cumulative,
        tokens=tokens,
    )
    for array in (distribution.scaled, probabilities, distribution.ranked, cumulative):
        array.flags.writeable = False
    return distribution


def _scale(logits: np.ndarray, order: np.ndarray, temperature: float) -> np.ndarray:
    """Logits over the temperature; at 0, where that has no value, −inf for all but the first of the best."""
    if temperature == 0:
        scaled = np.full_like(logits, -math.inf)
        scaled[order[0]] = logits[order[0]]
        return scaled
    with np.errstate(over="ignore"):
        return logits / temperature


def _weights(ranked: np.ndarray, temperature: float) -> np.ndarray:
    """Unnormalised probabilities of ranked logits, the largest being 1."""
    if temperature == 0:
        weights = np.zeros_like(ranked)
        weights[0] = 1.0
        return weights
    # Subtracting first keeps a tiny temperature from overflowing into ∞ − ∞.
    with np.errstate(over="ignore"):
        return np.exp((ranked - ranked[0]) / temperature)


def _nucleus(weights: np.ndarray, top_p: float) -> int:
    """How many of the ranked weights are needed to reach the share top_p; at least one."""
    if top_p >= 1:
        return len(weights)
    running = np.cumsum(weights)
    return int(np.searchsorted(running, top_p * running[-1], side="left")) + 1


def _first(order: np.ndarray, count: int) -> np.ndarray:
    """The mask by id of the first tokens of the ranking."""
    mask = np.zeros(len(order), dtype=bool)
    mask[order[:count]] = True
    mask.flags.writeable = False
    return mask
