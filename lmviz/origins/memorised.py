"""Lines that were learned by heart: their loss fell on when that of held-out lines had nearly stopped.

A low loss alone does not say so: a line that is merely predictable has one too. By chance a line falls
further than the k-th of n held-out lines with probability k / (n + 1): 1 of 100, or as little as n allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.looks.shown import Shown
from lmviz.origins.learned_text import LearnedLine, LearnedText

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.training.run import Run

TOKENS = 40_000
"""How many tokens of each part are read where nothing else is said: documents drawn at random."""

SHORTEST = 5
"""The tokens of the shortest lines that are judged."""

STOPPED, BEYOND = 0.95, 0.01
"""The share of its whole fall after which the loss of held-out lines has nearly stopped; and how many lines
may fall further than the threshold by chance."""


@dataclass(frozen=True, eq=False)
class MemorisedLine:
    """A line, its mean loss in nats per token by snapshot (snapshot,), how far it fell since then, the step
    from which on it had fallen by half of that, and how often the line stands in the text."""

    line: LearnedLine
    losses: np.ndarray
    fall: float
    learned: int
    times: int


@dataclass(frozen=True, eq=False, repr=False)
class Memorised(Shown):
    """Which lines of the training text a run has learned by heart.

    `steps` (snapshot,) are those at which lines were read, `mean` and `held_out_mean` (snapshot,) the mean
    losses of lines there, in nats per token. From step `since` on, held-out lines hardly became easier.
    `share` of the `count` lines fell further from there on than the `threshold`, as only a few of the
    `held_out_count` held-out lines did; `lines` are the first of them. `forgotten` is the share of lines that
    rose again, above the least they had, further than all but as few held-out lines.
    """

    steps: tuple[int, ...]
    mean: np.ndarray
    held_out_mean: np.ndarray
    since: int
    threshold: float
    share: float
    forgotten: float
    count: int
    held_out_count: int
    lines: tuple[MemorisedLine, ...]

    @property
    def beyond(self) -> int:
        """How many of the held-out lines fell further than the threshold."""
        return _rank(self.held_out_count) - 1

    @property
    def chance(self) -> float:
        """The share that would exceed the threshold if nothing was learned by heart: 0.01, and more where
        fewer than 99 lines are held out."""
        return _rank(self.held_out_count) / (self.held_out_count + 1)


def memorised(
    run: Run,
    corpus: Corpus,
    opened: Callable[[int], Model],
    *,
    tokens: int | None = TOKENS,
    count: int = 40,
    progress: Report = unheard,
) -> Memorised:
    """Read lines of the training text and held-out lines at every snapshot of a run.

    LmvizError where nothing was held out, where the model counts, or where there are too few snapshots.
    """
    steps = run.snapshots()
    if len(steps) < 3:
        raise LmvizError("Lines learned by heart are found over at least three snapshots: train for longer.")
    learned, held_out = LearnedText.of(corpus), LearnedText.held_out(corpus)
    model = opened(steps[-1])
    learned.check_read_by(model)
    if next(model.parameters(), None) is None:
        raise LmvizError("This model counts its text once: no line of it is learned before another.")
    ours, theirs = (_LinesRead(text, model, run, tokens) for text in (learned, held_out))
    for number, step in enumerate(steps):
        model = opened(step)
        for part, lines in enumerate((ours, theirs)):
            for done in lines.read(model):
                progress((number + (part + done) / 2) / len(steps))
    return _judged(tuple(steps), learned, ours.losses(), theirs.losses(), ours.numbers, count)


class _LinesRead:
    """Lines of one part of the text, and their losses so far."""

    def __init__(self, text: LearnedText, model: Model, run: Run, tokens: int | None) -> None:
        from lmviz.origins.teaching import LONGEST_PIECE

        self._text = text
        options = run.description.options
        self._pieces = text.pieces(model.predicts, options.length or model.context or LONGEST_PIECE)
        order = np.random.default_rng(0).permutation(len(self._pieces))
        read = np.cumsum(self._pieces.lengths[order])
        last = len(order) if tokens is None else int(np.searchsorted(read, tokens)) + 1
        self._order = order[:last]
        asked = np.zeros(len(text.wanted), dtype=bool)
        for start, stop in self._pieces.target_spans[self._order].tolist():
            asked[start:stop] = True
        starts = text.line_starts
        whole = np.add.reduceat((asked | ~text.asked).astype(np.int64), starts[:-1]) == np.diff(starts)
        sizes = np.add.reduceat(text.asked.astype(np.int64), starts[:-1])
        shortest = SHORTEST if not text.is_of_labels else 1
        self.numbers = np.flatnonzero(whole & (sizes >= shortest))
        if not len(self.numbers):
            raise LmvizError("There are too few lines to compare: read more tokens, or hold more text out.")
        self._sizes = sizes
        self._found: list[np.ndarray] = []

    def read(self, model: Model) -> Iterator[float]:
        """Read them with a model; yields the share that is done."""
        from lmviz.origins.products import losses_of

        found = np.zeros(len(self._text.wanted))
        done = 0
        for places, losses in losses_of(model, self._pieces, self._order):
            found[places] = losses
            done += len(places)
            yield min(1.0, done / max(1, int(self._pieces.targets[self._order].sum())))
        found[~self._text.asked] = 0
        sums = np.add.reduceat(found, self._text.line_starts[:-1])
        self._found.append((sums / np.maximum(1, self._sizes))[self.numbers])

    def losses(self) -> np.ndarray:
        """The mean loss of each line at each snapshot, (line, snapshot)."""
        return np.stack(self._found, axis=1)


def _judged(
    steps: tuple[int, ...],
    text: LearnedText,
    ours: np.ndarray,
    theirs: np.ndarray,
    numbers: np.ndarray,
    count: int,
) -> Memorised:
    mean, held_out_mean = ours.mean(axis=0), theirs.mean(axis=0)
    since = _stopped(held_out_mean)
    fall, usual = ours[:, since] - ours[:, -1], theirs[:, since] - theirs[:, -1]
    threshold = _exceeded_by_few(usual)
    rise, usual_rise = ours[:, -1] - ours.min(axis=1), theirs[:, -1] - theirs.min(axis=1)
    order = np.argsort(-fall, kind="stable")
    lines: list[MemorisedLine] = []
    seen: set[str] = set()
    for place in order.tolist():
        if len(lines) == count or fall[place] <= threshold:
            break
        line = text.line(int(numbers[place]))
        if line.text not in seen:
            seen.add(line.text)
            half = (ours[place, since] + ours[place, -1]) / 2
            above = np.flatnonzero(ours[place] > half)
            learned = steps[min(len(steps) - 1, int(above[-1]) + 1 if len(above) else 0)]
            times = _times(text, line)
            lines.append(MemorisedLine(line, ours[place], float(fall[place]), learned, times))
    return Memorised(
        steps=steps,
        mean=mean,
        held_out_mean=held_out_mean,
        since=steps[since],
        threshold=threshold,
        share=float((fall > threshold).mean()),
        forgotten=float((rise > _exceeded_by_few(usual_rise)).mean()),
        count=len(ours),
        held_out_count=len(theirs),
        lines=tuple(lines),
    )


def _rank(count: int) -> int:
    """The rank from above of the held-out line that a line exceeds by chance in `BEYOND` of all cases."""
    return max(1, int(BEYOND * (count + 1)))


def _exceeded_by_few(usual: np.ndarray) -> float:
    """The value of that line: one more drawn like them lies above it with probability rank / (count + 1)."""
    return float(np.sort(usual)[-_rank(len(usual))])


def _stopped(means: np.ndarray) -> int:
    """The first snapshot at which most of the fall of a loss is behind it."""
    wanted = means.max() - STOPPED * (means.max() - means.min())
    first = int(np.flatnonzero(means <= wanted)[0])
    return min(first, len(means) - 2)


def _times(text: LearnedText, line: LearnedLine) -> int:
    """How often the ids of a line stand in the text."""
    ids = np.asarray(text.wanted)
    wanted = ids[line.start : line.stop]
    wanted = wanted[text.asked[line.start : line.stop]]
    places = np.flatnonzero(ids[: len(ids) - len(wanted) + 1] == wanted[0])
    for offset in range(1, len(wanted)):
        places = places[ids[places + offset] == wanted[offset]]
    return len(places)
