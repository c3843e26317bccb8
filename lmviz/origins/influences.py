"""What taught a model a word: the lines of its text that pushed the word's probability up, and down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.looks.shown import Shown
from lmviz.origins.learned_text import LearnedLine, LearnedText
from lmviz.origins.overlap import Overlap
from lmviz.text.tokenizer import visible

Method = Literal["gradients", "overlap"]
"""By what lines are ordered: TracIn's products of gradients, or n-grams in common."""


@dataclass(frozen=True, eq=False)
class TaughtLine:
    """A line and its share of all push of its sign, with a minus where it pushed the word down.

    `pushes` (token,) are the shares of its tokens, 0 where one was not asked for; `by_step` (snapshot,) sums
    to `share`, and is empty for n-gram overlap. `only_gradients` says that n-gram overlap does not find the
    line: what it taught was generalised.
    """

    number: int
    line: LearnedLine
    share: float
    pushes: np.ndarray
    by_step: np.ndarray
    only_gradients: bool


@dataclass(frozen=True, eq=False)
class LineForm:
    """All places where the token `before` is followed by `learned`: how often, their share of all push of
    their sign, by snapshot too, and the lines that pushed most."""

    before: str
    learned: str
    times: int
    share: float
    by_step: np.ndarray
    only_gradients: bool
    lines: tuple[TaughtLine, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Influences(Shown):
    """What taught a run a word, as far as its text has been read.

    `word` is what was asked about, after `context`. `history` are all steps with a snapshot, and
    `probabilities` (step,) the word's there. `steps` (snapshot,) are those whose gradients were taken, with
    the sums of learning rates `weights` (snapshot,) of the updates nearest to each; `products` (snapshot,
    target) are their products with each target of the text, NaN where it has not been read; None for a model
    that counts. With `scaled`, gradients were divided by the roots of Adam's second moments.
    `overlap` needs nothing but the text. `read` (target,) says which targets have been read at all of the
    `steps`, and `losses` (snapshot, target) what they cost the model, in nats.

    Shares are of all push for the word, or of all against it: in nats they would mean nothing under Adam.
    """

    text: LearnedText
    word: str
    wanted: int
    context: tuple[str, ...]
    history: tuple[int, ...]
    probabilities: np.ndarray
    steps: tuple[int, ...]
    weights: np.ndarray
    products: np.ndarray | None
    losses: np.ndarray | None
    overlap: Overlap | None
    scaled: bool = False
    done: bool = True
    seconds: float = field(default=0.0, compare=False)

    @property
    def methods(self) -> tuple[Method, ...]:
        """The answers that there are."""
        gradients: tuple[Method, ...] = ("gradients",) if self.products is not None else ()
        return (*gradients, "overlap") if self.overlap is not None else gradients

    @cached_property
    def read(self) -> np.ndarray:
        """Which targets (target,) have been read at all snapshots."""
        if self.products is None:
            return self.text.asked
        return ~np.isnan(self.products).any(axis=0)

    @cached_property
    def by_step(self) -> np.ndarray:
        """Products times weights (snapshot, target), 0 where a target has not been read everywhere."""
        if self.products is None:
            return np.zeros((0, len(self.text.wanted)), dtype=np.float32)
        weighted = self.products * self.weights[:, None].astype(np.float32)
        return np.where(self.read, weighted, np.float32(0))

    def push(self, by: Method = "gradients") -> np.ndarray:
        """How much each target (target,) pushed the word up, in no unit: see `line_shares`."""
        if by == "gradients":
            return self._push
        assert self.overlap is not None
        return np.where(self.text.asked, self.overlap.values, np.float32(0))

    @cached_property
    def _push(self) -> np.ndarray:
        return self.by_step.sum(axis=0)

    def line_push(self, by: Method = "gradients") -> np.ndarray:
        """The sum over the targets of each line, (line,)."""
        return np.add.reduceat(self.push(by).astype(np.float64), self.text.line_starts[:-1])

    def totals(self, by: Method = "gradients") -> tuple[float, float]:
        """All push of lines for the word, and all against it, both positive."""
        lines = self.line_push(by)
        return float(lines[lines > 0].sum()), float(-lines[lines < 0].sum())

    def line_shares(self, by: Method = "gradients") -> np.ndarray:
        """Each line's (line,) share of all push of its sign, with a minus where it pushed the word down."""
        return self._shares(self.line_push(by), by)

    @property
    def lines_read(self) -> int:
        """How many lines have been read, at least in part."""
        return len(np.unique(self.text.line_of(np.flatnonzero(self.read & self.text.asked))))

    def when(self) -> tuple[np.ndarray, np.ndarray]:
        """The push of all targets by snapshot, for and against, (snapshot,) both: shares of all of it."""
        up = np.where(self.by_step > 0, self.by_step, 0).sum(axis=1, dtype=np.float64)
        down = np.where(self.by_step < 0, self.by_step, 0).sum(axis=1, dtype=np.float64)
        whole = max(float(up.sum() - down.sum()), 1e-300)
        return up / whole, down / whole

    def lines(
        self, count: int = 20, by: Method = "gradients", *, against: bool = False
    ) -> tuple[TaughtLine, ...]:
        """The lines that pushed the word most, up or `against` it, at most so many."""
        count, push = whole_number("count", count), self.line_push(by)
        order = np.argsort(push if against else -push, kind="stable")[:count]
        kept = [number for number in order.tolist() if (push[number] < 0 if against else push[number] > 0)]
        return tuple(self.line(number, by) for number in kept)

    def line(self, number: int, by: Method = "gradients") -> TaughtLine:
        """One line by its number."""
        line = self.text.line(number)
        push = self.push(by)
        share = float(self._shares(self.line_push(by)[number : number + 1], by)[0])
        whole = self._whole(share, by)
        places = np.array(line.targets, dtype=np.int64)
        pushes = np.where(places >= 0, push[places], 0) / whole
        by_step = self.by_step[:, line.start : line.stop].sum(axis=1, dtype=np.float64) / whole
        return TaughtLine(
            number,
            line,
            share,
            pushes,
            by_step if by == "gradients" else np.zeros(0),
            by == "gradients" and self._is_missed(slice(line.start, line.stop), share),
        )

    def table(self, by: Method = "gradients", count: int = 50) -> np.ndarray:
        """The lines that pushed most, up and down, as texts (row, 3): number from 1, share, and line."""
        shares = self.line_shares(by)
        lines = [*self.lines(count, by), *self.lines(count, by, against=True)]
        rows = [(str(line.number + 1), f"{shares[line.number]:.6g}", line.line.text) for line in lines]
        return np.array(rows, dtype=np.str_).reshape(-1, 3)

    def forms(
        self, count: int = 8, by: Method = "gradients", *, against: bool = False, examples: int = 4
    ) -> tuple[LineForm, ...]:
        """What was learned after what, the strongest first, at most so many, each with some of its lines.

        Without grouping, the first lines would say the same thing again and again.
        """
        count, examples = whole_number("count", count), whole_number("examples", examples)
        targets, keys, push = self._grouped(by)
        kinds, inverse = np.unique(keys, return_inverse=True)
        sums = np.bincount(inverse, weights=push, minlength=len(kinds))
        order = np.argsort(sums if against else -sums, kind="stable")[:count]
        found = []
        for kind in order.tolist():
            if sums[kind] >= 0 if against else sums[kind] <= 0:
                break
            own = targets[inverse == kind]
            found.append(self._form(own, push[inverse == kind], float(sums[kind]), by, examples))
        return tuple(found)

    def _grouped(self, by: Method) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Targets that count, a key for each that equal forms share, and how much each pushed."""
        is_counted = self.text.asked & (self.read if by == "gradients" else True)
        targets = np.flatnonzero(is_counted)
        push = self.push(by)[targets].astype(np.float64)
        ends = self.text.ends[targets]
        per_text = self.text.is_of_labels and len(self.text.wanted) == len(self.text.begins) - 1
        before = np.where(ends >= 0, self.text.context[np.maximum(ends, 0)].astype(np.int64), -1)
        if per_text:
            before[:] = -1
        return targets, (before + 1) * (len(self.text.names) + 1) + self.text.wanted[targets], push

    def _form(self, own: np.ndarray, push: np.ndarray, total: float, by: Method, examples: int) -> LineForm:
        share = float(self._shares(np.array([total]), by)[0])
        whole = self._whole(share, by)
        strongest = own[np.argsort(-push if total > 0 else push, kind="stable")]
        lines: list[TaughtLine] = []
        seen: set[str] = set()
        for target in strongest[: 8 * examples].tolist():
            line = self.line(int(self.text.line_of(np.array([target]))[0]), by)
            if line.line.text not in seen:
                seen.add(line.line.text)
                lines.append(line)
            if len(lines) == examples:
                break
        first = int(own[0])
        by_step = self.by_step[:, own].sum(axis=1, dtype=np.float64) / whole
        return LineForm(
            before=self.text.before(first),
            learned=visible(self.text.names[int(self.text.wanted[first])]),
            times=len(own),
            share=share,
            by_step=by_step if by == "gradients" else np.zeros(0),
            only_gradients=by == "gradients" and self._is_missed(own, share),
            lines=tuple(lines),
        )

    def _is_missed(self, targets: slice | np.ndarray, share: float) -> bool:
        """Whether n-gram overlap does not say of these that they push as they do."""
        if self.overlap is None:
            return True
        common = float(self.push("overlap")[targets].sum())
        return common <= 0 if share > 0 else common >= 0

    def _whole(self, share: float, by: Method) -> float:
        """All push of the sign of a share."""
        up, down = self.totals(by)
        return (up if share >= 0 else down) or 1.0

    def _shares(self, push: np.ndarray, by: Method) -> np.ndarray:
        up, down = self.totals(by)
        return np.where(push >= 0, push / (up or 1.0), push / (down or 1.0))


def steepest(history: Sequence[int], probabilities: np.ndarray) -> tuple[int, int] | None:
    """The two neighbouring steps between which a probability rose most; None where it never rose."""
    rises = np.diff(probabilities)
    if not len(rises) or rises.max() <= 0:
        return None
    at = int(np.argmax(rises))
    return history[at], history[at + 1]
