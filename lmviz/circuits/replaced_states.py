"""Since when a state has carried the answer: it is replaced by those of other places, and run on.

A recurrent network hands on nothing but its state. Where the state after an earlier word gives way to states
of other places, and the words since then are read as they are, what is lost of a number is what that state
had carried. An average derivative back in time does not show this: what a gate keeps differs from text to
text, and averages away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.reach import states
from lmviz.inspection.recording import prepared
from lmviz.inspection.scalar import AnyOf, Scalar, read_scalar
from lmviz.inspection.tracing import trace
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up, part_of_work, uncounted_work
from lmviz.models.model import Model

OTHERS = 40
"""So many other places; with their mean state 41 rows of a batch."""

CARRIED = 0.5
"""A state carries the answer where it loses at least this share of what is lost at most.

Chosen on 60 fresh stories of the grammar of `stories` in which one known word settles an answer of the
sample GRU (another word there turns “her” into “his”, and other words before it do not), and judged on 60
others: the first state that carries is at that word in 13 % of them, at most one word away in 57 % and two
in 65 %; it is before it in 68 %, since a state of another place also changes how the word after it is read.
With a tenth it is before it in 95 %, and 3.6 words away on average instead of 2.3. For the other sample
networks none can be chosen: in 2,000 stories, one word settles 12 answers of the LSTM and 22 of the simple
network. There a half is 2.7 and 2.1 words away, a tenth 3.2 and 4.8.
"""


@dataclass(frozen=True, eq=False)
class OtherStates:
    """States of other places, (place, unit) by tap, all taps of one place in one row, and their `means`."""

    states: Mapping[str, np.ndarray]
    means: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(next(iter(self.states.values())))


@dataclass(frozen=True, eq=False, repr=False)
class ReplacedStates(Shown):
    """What is lost of a number where the state after each word gives way to those of other places.

    `array` (position, place) has what is lost with each, `by_mean` (position,) with their mean state; NaN
    where it has not been measured. `value` is the number as it is, `measure` its name; `said` (position,)
    are the likeliest tokens after each word, by id.
    """

    tokens: tuple[str, ...]
    array: np.ndarray
    by_mean: np.ndarray
    value: float
    measure: str
    said: np.ndarray

    @property
    def lost(self) -> np.ndarray:
        """(position,) what is lost on average over the places."""
        found: np.ndarray = self.array.mean(axis=1)
        return found

    @property
    def error(self) -> np.ndarray:
        """(position,) the standard error of that average; NaN with a single place."""
        if self.array.shape[1] < 2:
            return np.full(len(self.array), np.nan)
        found: np.ndarray = self.array.std(axis=1, ddof=1) / np.sqrt(self.array.shape[1])
        return found

    @property
    def carried(self) -> range:
        """The positions, one after the other, whose states carry the answer, the one that loses most in it.

        Each loses half of what that one loses, or more, and more than two standard errors. Where they begin
        is known to a word or two.
        """
        lost = self.lost
        most = int(np.nanargmax(lost))
        with np.errstate(invalid="ignore"):
            carries = (lost >= CARRIED * lost[most]) & (lost > 2 * np.nan_to_num(self.error))
        if not carries[most]:
            return range(0)
        first, last = most, most
        while first > 0 and carries[first - 1]:
            first -= 1
        while last + 1 < len(lost) and carries[last + 1]:
            last += 1
        return range(first, last + 1)

    @property
    def sentence(self) -> str:
        """Since which word the state has carried the answer, in words."""
        where, now = self.carried, len(self.tokens) - 1
        if not where:
            return "The state of no word has carried it: with those of other places it is the same."
        ago = now - where[0]
        if ago == 0:
            return f"It comes with the last word, “{self.tokens[now].strip()}”: no earlier state carries it."
        since = f"since about “{self.tokens[where[0]].strip()}”, {ago} token{'s' if ago > 1 else ''} ago"
        if where[-1] == now:
            return f"The state has carried it {since}."
        return f"The state has carried it {since}, up to “{self.tokens[where[-1]].strip()}”."


def carried_states(model: Model) -> tuple[str, ...]:
    """The taps that a recurrent network hands on along its text.

    LmvizError for a model that hands on no state, or reads its text from both ends.
    """
    scans = dict.fromkeys(tap.scan for tap in model.taps() if tap.scan and tap.axes[0] == "position")
    found = tuple(address for scan in scans for address in states(model.taps(), scan))
    if not found or not model.causal or len(model.inputs) > 1:
        raise LmvizError(
            f"{model.name or 'This model'} does not hand on a state from word to word alone: open an RNN, a "
            "GRU or an LSTM that predicts the next token."
        )
    return found


def other_states(
    model: Model, passages: Sequence[np.ndarray], *, count: int = OTHERS, skipped: int = 16, seed: int = 0
) -> OtherStates:
    """The states after `count` words of other texts, rows of ids (token,), drawn by a seed.

    Of each passage the first `skipped` tokens, a quarter of it at most, are left out. LmvizError where there
    are fewer words.
    """
    taps = carried_states(model)
    found: dict[str, list[np.ndarray]] = {tap: [] for tap in taps}
    for number, ids in enumerate(passages):
        look_up(number / len(passages))
        recorded = trace(model, ids, taps=list(taps))
        for tap in taps:
            found[tap].append(recorded[tap].array[min(skipped, len(ids) // 4) :])
    joined = {tap: np.concatenate(rows) for tap, rows in found.items() if rows}
    total = len(next(iter(joined.values()))) if joined else 0
    if total < count:
        raise LmvizError(f"There are {total} words, and states of {count} places are needed: give more text.")
    drawn = np.random.default_rng(seed).choice(total, count, replace=False)
    return OtherStates(
        {tap: rows[drawn] for tap, rows in joined.items()},
        {tap: rows.mean(axis=0) for tap, rows in joined.items()},
    )


def replacing_states(
    model: Model,
    text: str | Sequence[int] | np.ndarray,
    of: AnyOf,
    others: OtherStates,
    *,
    back: int | None = None,
    interventions: Sequence[Intervention] = (),
) -> Iterator[ReplacedStates]:
    """What is lost of a number `of` a text, as it becomes known, from the word before the number on.

    `back` is how many words are tried at most. LmvizError where the model hands on no state, or has no such
    number.
    """
    model, interventions = unchanged(model, interventions)
    taps = carried_states(model)
    reading = prepared(model, text, interventions, {})
    with uncounted_work():
        base = CachedPass(model, reading)
        scalar = read_scalar(of, model, base.ids, base.values)
        value = base.measure(scalar)
        last = _last(base, scalar)
    rows = {
        tap: torch.from_numpy(np.concatenate([others.states[tap], others.means[tap][None]])) for tap in taps
    }
    said = base.values["logits"][0].argmax(dim=-1).cpu().numpy()
    count, length = len(others), len(base)
    tried = range(last + 1) if back is None else range(max(0, last + 1 - back), last + 1)
    array, by_mean = np.full((last + 1, count), np.nan), np.full(last + 1, np.nan)
    for done, position in enumerate(reversed(tried)):
        look_up(done / len(tried))
        with part_of_work(done, len(tried)):
            edits = {}
            for tap in taps:
                kept = base.values[tap]
                where = torch.zeros((count + 1, *kept.shape[1:]), dtype=torch.bool, device=kept.device)
                where[:, position] = True
                edits[tap] = Edit(where, rows[tap].to(kept)[:, None].expand(-1, length, -1))
            left = base.measured_with(edits, scalar, position).numpy()
        array[position], by_mean[position] = value - left[:-1], value - left[-1]
        yield ReplacedStates(
            tokens=reading.prefix.tokens[: last + 1],
            array=array.copy(),
            by_mean=by_mean.copy(),
            value=value,
            measure=scalar.name,
            said=said[: last + 1],
        )


def _last(base: CachedPass, scalar: Scalar) -> int:
    """The last position that a number depends on."""
    if scalar.function is None and base.axes[scalar.address][0] == "position":
        return max(cell[0] for cell in (*scalar.cells, *scalar.against))
    return len(base) - 1
