"""The search for what taught a word, which grows by snapshots, and by stretches of the text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.interruption import look_up
from lmviz.models.model import IGNORED
from lmviz.models.prefix import read_prefix
from lmviz.models.sequences import SOURCE
from lmviz.models.wanted import wanted_id
from lmviz.origins.influences import Influences, steepest
from lmviz.origins.learned_text import LearnedText
from lmviz.origins.overlap import overlap
from lmviz.origins.rates import interval_weights

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.origins.products import AskedToken
    from lmviz.text.corpus import Corpus
    from lmviz.training.run import Run

STRETCH = 2**13
"""Tokens of the text between two answers."""

TOKENS = 60_000
"""How many tokens are read where nothing else is said: documents drawn at random."""

LEAST_WEIGHT = 1e-3
"""The share of all rates below which a snapshot is left out."""

LONGEST_PIECE = 512

TRIED = 0.5
"""Seconds for which some of the text is read to say how long all of it takes."""


@dataclass(frozen=True)
class TeachingPlan:
    """What the whole search takes: tokens to read, snapshots, seconds, and bytes."""

    tokens: int
    of: int
    snapshots: int
    seconds: float
    bytes: int


class Teaching:
    """One question: what taught a run to say a word, or a label, after a text.

    `opened` gives the run's model at a step. `position` is the token of a tagged text that is asked about.
    `tokens` limits how much of the text is read; None reads all. LmvizError where the word is none that the
    model can say, or the text cannot be read.
    """

    def __init__(
        self,
        run: Run,
        corpus: Corpus,
        opened: Callable[[int | None], Model],
        text: str,
        word: str | int,
        *,
        source: str | None = None,
        position: int | None = None,
        steps: tuple[int, ...] | None = None,
        tokens: int | None = TOKENS,
        scaled: bool | None = None,
    ) -> None:
        self._run, self._opened = run, opened
        self.text = LearnedText.of(corpus)
        model = opened(None)
        self.text.check_read_by(model)
        self._counts = next(model.parameters(), None) is None
        self.wanted = wanted_id(word, model.predicts, model.tokenizer, model.vocabulary_size)
        self.asked, context, self._names = _question(model, text, self.wanted, source, position)
        self._overlap = None if context is None else overlap(self.text, context, self.wanted)
        self._history = tuple(run.snapshots())
        self._steps = self._chosen(steps)
        moments = {} if scaled is False else self._kept_moments()
        known = bool(moments) and all(found is not None for found in moments.values())
        if scaled and not known:
            raise LmvizError(
                "The snapshots of this run keep no second moments of Adam: ask with scaled=False, or train "
                "again with Adam, which keeps them now."
            )
        self._moments: Mapping[int, Mapping[str, torch.Tensor] | None] = moments if known else {}
        self.scaled = known
        self._limit = tokens
        self._pieces = None if self._counts else self._read_in(model)
        self._order = np.zeros(0, dtype=np.int64) if self._pieces is None else self._drawn()

    def _kept_moments(self) -> dict[int, Mapping[str, torch.Tensor] | None]:
        """The second moments beside each snapshot; before the first update, those after it."""
        kept: dict[int, Mapping[str, torch.Tensor] | None] = {}
        for step in self._steps:
            after = next((each for each in self._history if each > 0), step)
            kept[step] = self._run.load_moments(step or after)
        return kept

    def _chosen(self, steps: tuple[int, ...] | None) -> tuple[int, ...]:
        if self._counts:
            return ()
        if steps is None:
            weights = interval_weights(self._run, self._history)
            whole = max(float(weights.sum()), 1e-300)
            return tuple(s for s, w in zip(self._history, weights, strict=True) if w / whole > LEAST_WEIGHT)
        missing = [step for step in steps if step not in self._history]
        if missing or not steps:
            offered = ", ".join(map(str, self._history))
            raise LmvizError(f"{self._run.folder} has no snapshot of that step: choose some of {offered}.")
        return tuple(sorted(set(steps)))

    def _read_in(self, model: Model):  # type: ignore[no-untyped-def]  # Pieces, whose module loads torch
        options = self._run.description.options
        return self.text.pieces(model.predicts, min(options.length or model.context or LONGEST_PIECE, 2**14))

    def _drawn(self) -> np.ndarray:
        """The pieces that are read, in a random order."""
        assert self._pieces is not None
        order = np.random.default_rng(0).permutation(len(self._pieces))
        if self._limit is None:
            return order
        read = np.cumsum(self._pieces.lengths[order])
        return order[: int(np.searchsorted(read, self._limit)) + 1]

    @property
    def tokens(self) -> int:
        """How many tokens are read."""
        return 0 if self._pieces is None else int(self._pieces.lengths[self._order].sum())

    def plan(self) -> TeachingPlan:
        """How long the whole search takes here, by reading a little of the text, and what it holds."""
        from lmviz.origins.products import Moved

        count = len(self._steps)
        size = 8 * count * len(self.text.wanted)
        if self._pieces is None or not len(self._order):
            return TeachingPlan(0, len(self.text.wanted), 0, 0.0, size)
        moved = Moved(self._opened(self._steps[-1]), self.asked)
        read: list[int] = []
        began = at = time.perf_counter()
        for _ in moved.products(self._pieces, self._order[:64], read.append):
            at = time.perf_counter()
            if at - began > TRIED:
                break
        seconds = (at - began) / max(1, sum(read)) * self.tokens * count
        return TeachingPlan(self.tokens, len(self.text.wanted), count, seconds, size)

    def widen(self) -> None:
        """Have all of the text read from now on."""
        self._limit = None
        self._order = self._order if self._pieces is None else self._drawn()

    def growing(self, before: Influences | None = None) -> Iterator[tuple[Influences, float]]:
        """Answers, each with the share of the work that is done; the first needs no gradient.

        After it come the two snapshots round the steepest rise of the word, then the others, over a first
        stretch of the text; then all snapshots over the next. It goes on from what was found `before`.
        """
        from lmviz.origins.products import Moved

        began = time.perf_counter()
        answer = self._first_answer() if before is None else before
        yield answer, 1.0 if self._counts else 0.0
        if self._counts or self._pieces is None:
            return
        weights = dict(zip(self._steps, interval_weights(self._run, self._steps), strict=True))
        rows = {step: row for row, step in enumerate(self._steps)}
        products = np.full((len(self._steps), len(self.text.wanted)), np.nan, dtype=np.float32)
        losses = np.full_like(products, np.nan)
        if answer.products is not None and answer.losses is not None:
            known = [rows[step] for step in answer.steps]
            products[known], losses[known] = answer.products, answer.losses
        order = self._in_order(steepest(self._history, answer.probabilities))
        whole, done = max(1, self.tokens * len(self._steps)), 0
        for stretch in self._stretches():
            for step in order:
                row = rows[step]
                left = stretch[np.isnan(products[row, self._pieces.target_spans[stretch, 0]])]
                if len(left):
                    moved = Moved(self._opened(step), self.asked, self._moments.get(step))
                    for places, found, lost in moved.products(self._pieces, left):
                        products[row, places], losses[row, places] = found, lost
                done += int(self._pieces.lengths[stretch].sum())
                begun = [each for each in self._steps if not np.isnan(products[rows[each]]).all()]
                if len(left) and min(2, len(self._steps)) <= len(begun) and step != order[-1]:
                    is_first = len(begun) < len(self._steps)
                    if is_first:
                        found_so_far = self._with(answer, begun, weights, products, losses, rows, began)
                        yield found_so_far, done / whole
            yield (
                self._with(answer, list(self._steps), weights, products, losses, rows, began),
                min(1.0, done / whole),
            )

    def _first_answer(self) -> Influences:
        """What needs no gradient: n-grams in common, and the word's probability at each snapshot."""
        return Influences(
            text=self.text,
            word=self._names[1],
            wanted=self.wanted,
            context=self._names[0],
            history=self._history,
            probabilities=self._by_step(),
            steps=(),
            weights=np.zeros(0),
            products=None,
            losses=None,
            overlap=self._overlap,
            scaled=self.scaled,
            done=self._counts,
        )

    def _with(
        self,
        answer: Influences,
        known: list[int],
        weights: Mapping[int, float],
        products: np.ndarray,
        losses: np.ndarray,
        rows: Mapping[int, int],
        began: float,
    ) -> Influences:
        chosen = [rows[step] for step in known]
        is_whole = len(known) == len(self._steps)
        some = products[chosen], losses[chosen]
        done = is_whole and int((~np.isnan(products[0])).sum()) >= self._number_asked
        return replace(
            answer,
            steps=tuple(known),
            weights=np.array([weights[step] for step in known]),
            products=some[0],
            losses=some[1],
            done=done,
            seconds=time.perf_counter() - began,
        )

    @property
    def _number_asked(self) -> int:
        assert self._pieces is not None
        return int(self._pieces.targets[self._order].sum())

    def _in_order(self, rise: tuple[int, int] | None) -> list[int]:
        """The snapshots, those round the steepest rise first."""
        around = [step for step in rise or () if step in self._steps]
        return [*around, *(step for step in reversed(self._steps) if step not in around)]

    def _stretches(self) -> Iterator[np.ndarray]:
        assert self._pieces is not None
        read = np.cumsum(self._pieces.lengths[self._order])
        first = 0
        while first < len(self._order):
            before = int(read[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(read, before + STRETCH, side="right")))
            yield self._order[first:last]
            first = last

    def _by_step(self) -> np.ndarray:
        """The word's probability at each snapshot."""
        from lmviz.origins.products import log_probability

        found = []
        for step in self._history:
            look_up()
            found.append(float(np.exp(log_probability(self._opened(step), self.asked))))
        return np.array(found)


def _question(
    model: Model, text: str, wanted: int, source: str | None, position: int | None
) -> tuple[AskedToken, np.ndarray | None, tuple[tuple[str, ...], str]]:
    """What is asked; the ids before the wanted one, None where it has no place; and both as displayed."""
    from lmviz.origins.products import AskedToken

    prefix = read_prefix(model, text).last(model.context)
    ids = prefix.ids[None]
    beside: dict[str, np.ndarray] = {}
    if SOURCE in model.inputs:
        if source is None:
            raise LmvizError("This model reads a source beside its text: give it, as in source=….")
        read = read_prefix(model, source, SOURCE).ids
        beside = {"source": read[None], "source_lengths": np.array([len(read)])}
    if not model.predicts.continues and model.predicts.per == "text":
        names = prefix.tokens, model.predicts.names[wanted]
        return AskedToken(ids, np.array([[wanted]]), beside), None, names
    targets = np.full(ids.shape, IGNORED, dtype=np.int64)
    if model.predicts.continues:
        place, word = len(prefix.ids) - 1, model.tokenizer.token(wanted) if model.tokenizer else str(wanted)
    else:
        given = -1 if position is None else position
        if not -len(prefix.ids) <= given < len(prefix.ids):
            raise LmvizError(f"The text has {len(prefix.ids)} tokens, and none at {given}: choose another.")
        place, word = given % len(prefix.ids), model.predicts.names[wanted]
    targets[0, place] = wanted
    return AskedToken(ids, targets, beside), prefix.ids[: place + 1], (prefix.tokens[: place + 1], word)
