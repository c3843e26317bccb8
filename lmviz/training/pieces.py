"""What a training with sentences learns from: token ids and targets, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED
from lmviz.models.prediction import Prediction
from lmviz.text.examples import Examples, Sequences


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sentences and their targets, as places in two arrays of ids.

    Piece n reads `ids[spans[n, 0]:spans[n, 1]]` and aims at `target_ids[target_spans[n, 0]:…[n, 1]]`, one
    target for each token, or one for the text.
    """

    ids: np.ndarray
    spans: np.ndarray
    target_ids: np.ndarray
    target_spans: np.ndarray

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def sizes(self) -> np.ndarray:
        """How much there is to compute of each piece, (piece,), for batches of pieces alike."""
        return self.lengths

    @property
    def lengths(self) -> np.ndarray:
        """How many tokens each piece has, (piece,)."""
        return self.spans[:, 1] - self.spans[:, 0]

    @property
    def targets(self) -> np.ndarray:
        """How many targets each piece has, (piece,)."""
        return self.target_spans[:, 1] - self.target_spans[:, 0]

    def side_by_side(self, chosen: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens (piece, position), targets (piece, position) or (piece, 1), and lengths (piece,), int64.

        Shorter pieces are filled up with token 0 and targets that do not count.
        """
        chosen = np.asarray(chosen, dtype=np.int64)
        lengths = self.lengths[chosen]
        tokens = np.zeros((len(chosen), lengths.max(initial=1)), dtype=np.int64)
        targets = np.full((len(chosen), self.targets[chosen].max(initial=1)), IGNORED, dtype=np.int64)
        for row, piece in enumerate(chosen):
            (first, end), (aim, last) = self.spans[piece], self.target_spans[piece]
            tokens[row, : end - first] = self.ids[first:end]
            targets[row, : last - aim] = self.target_ids[aim:last]
        return tokens, targets, lengths

    def beside(self, chosen: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """What is read beside the tokens of some pieces, by the names that `Model.loss` has for it."""
        return {}


@dataclass(frozen=True, eq=False)
class Pairs(Pieces):
    """Texts to be written, each of whose tokens aims at the next, and as many `source` sequences."""

    source: Sequences

    @property
    def sizes(self) -> np.ndarray:
        """See Pieces: the tokens of both sides."""
        return self.lengths + self.source.lengths

    def beside(self, chosen: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """The sources (piece, position), filled up with token 0, and their lengths (piece,), int64."""
        sources = [self.source[int(piece)] for piece in chosen]
        lengths = np.array([len(source) for source in sources], dtype=np.int64)
        tokens = np.zeros((len(sources), lengths.max(initial=1)), dtype=np.int64)
        for row, source in enumerate(sources):
            tokens[row, : len(source)] = source
        return {"source": tokens, "source_lengths": lengths}


def pieces_of_text(ids: np.ndarray, start: int | None, longest: int | None) -> Pieces:
    """The documents of a stream of ids, each of whose tokens aims at the next.

    Documents begin with the id `start`; without one there is a single document. One with more than `longest`
    targets is cut.
    """
    starts = np.array([0]) if start is None else np.flatnonzero(ids == start)
    ends = np.append(starts, len(ids))[1:]
    spans = _cut(np.column_stack([starts, ends - 1]), longest)
    return Pieces(ids, spans, ids, spans + 1)


def pieces_of_examples(examples: Examples, predicts: Prediction, longest: int | None) -> Pieces:
    """The examples of a task with labels, or of a translation.

    Pairs with a side of more than `longest` tokens are left out. Of a text with one label no more than its
    last `longest` tokens are read, as of any prefix; a text with a label for each token is cut into pieces of
    so many. LmvizError where there is none.
    """
    pieces = pieces_that_fit(examples, predicts, longest)
    if len(pieces):
        return pieces
    if examples.marks_answers:
        raise LmvizError(
            f"No answer begins among the first {longest} tokens of a text: choose a larger length."
        )
    if predicts.continues:
        reason = f"of up to {longest} tokens " if len(pieces_that_fit(examples, predicts, None)) else ""
        raise LmvizError(f"There is no pair of texts {reason}to learn from: choose other texts.")
    raise LmvizError("The text has no examples to learn from: choose another, or a smaller validation share.")


def pieces_that_fit(examples: Examples, predicts: Prediction, longest: int | None) -> Pieces:
    """The same, or no piece where there is none."""
    if examples.marks_answers:
        return _answered(examples, longest)
    if predicts.continues:
        return _pairs(examples, longest)
    spans = np.column_stack([examples.source.starts[:-1], examples.source.starts[1:]])
    targets = np.column_stack([examples.target.starts[:-1], examples.target.starts[1:]])
    kept = spans[:, 1] > spans[:, 0]
    spans, targets = spans[kept], targets[kept]
    if predicts.per == "text":
        if longest is not None:
            spans[:, 0] = np.maximum(spans[:, 0], spans[:, 1] - longest)
        return Pieces(examples.source.ids, spans, examples.target.ids, targets)
    offsets = targets[:, 0] - spans[:, 0]
    cut = _cut(spans, longest)
    which = np.searchsorted(spans[:, 0], cut[:, 0], side="right") - 1
    return Pieces(examples.source.ids, cut, examples.target.ids, cut + offsets[which][:, None])


def _answered(examples: Examples, longest: int | None) -> Pieces:
    """Texts each of whose tokens aims at the next, where that counts; no more than `longest` of each."""
    ids, counts = examples.source.ids, examples.target.ids
    wanted = np.where(counts > 0, ids.astype(np.int64), IGNORED)
    starts, ends = examples.source.starts[:-1], examples.source.starts[1:] - 1
    if longest is not None:
        ends = np.minimum(ends, starts + longest)
    spans = np.column_stack([starts, ends])
    summed = np.concatenate([[0], np.cumsum(counts > 0)])
    some = (ends > starts) & (summed[np.maximum(ends, starts) + 1] > summed[starts + 1])
    return Pieces(ids, spans[some], wanted, spans[some] + 1)


def _pairs(examples: Examples, longest: int | None) -> Pairs:
    """Every text but its last token is read, and every one but its START aimed at."""
    target = examples.target
    both = np.maximum(examples.source.lengths, target.lengths - 1)
    kept = (target.lengths > 1) & (examples.source.lengths > 0)
    fits = kept if longest is None else kept & (both <= longest)
    spans = np.column_stack([target.starts[:-1], target.starts[1:] - 1])[fits]
    return Pairs(target.ids, spans, target.ids, spans + 1, examples.source.select(fits))


def _cut(spans: np.ndarray, longest: int | None) -> np.ndarray:
    """Spans (span, 2) in parts of at most `longest`; empty ones are left out."""
    spans = spans[spans[:, 1] > spans[:, 0]]
    if longest is None or not len(spans) or (spans[:, 1] - spans[:, 0]).max() <= longest:
        return spans
    parts = [
        (begin, min(begin + longest, end))
        for first, end in spans.tolist()
        for begin in range(first, end, longest)
    ]
    return np.array(parts, dtype=np.int64)
