"""What a head's matrices say by themselves: the words it moves and looks for, and which heads read which.

OV is what a head brings of a word that it looks at, QK which words it looks at from which. Both are products
of narrow matrices, so a few singular directions are all there is of them: each reads some words and writes
others. A composition score says how much of what one head writes another, of a later layer, reads (Elhage et
al. 2021): ‖OV · QK‖ / (‖OV‖ ‖QK‖), by Frobenius norms. Normalisations are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.result import Numbers
from lmviz.circuits.weights import Weights
from lmviz.inspection.logit_lens import lens_places
from lmviz.looks.shown import Shown
from lmviz.models.finite import check_states
from lmviz.models.model import Model

KINDS = ("query", "key", "value")
MATRICES = ("ov", "qk")


@dataclass(frozen=True, eq=False, repr=False)
class HeadWords(Shown):
    """A head's OV or QK by its singular directions, the largest first.

    `values` (direction,) are the singular values. `reads` and `writes` (direction, word) are the words whose
    embeddings lie most along what is read, and those whose logits what is written raises most; of QK, `reads`
    are the words that look and `writes` the words that are looked at. A direction and its opposite are one:
    the side with the larger projection is shown. `left` and `right` (direction, width) are the directions;
    `start` is the stream before all layers.
    """

    matrix: str
    layer: int
    head: int
    values: np.ndarray
    reads: tuple[tuple[str, ...], ...]
    writes: tuple[tuple[str, ...], ...]
    left: np.ndarray
    right: np.ndarray
    start: str

    def along(self, number: int = 0, side: str = "writes") -> tuple[str, np.ndarray, str]:
        """A singular direction to steer along: its tap, the vector (width,), and where it comes from.

        What is written is behind the head's layer, what is read before it. LmvizError where there is no such
        direction.
        """
        if side not in ("reads", "writes") or not 0 <= whole_number("number", number) < len(self.values):
            raise LmvizError(
                f"There are {len(self.values)} directions, and of each what it 'reads' and what it 'writes'."
            )
        vector = (self.left if side == "reads" else self.right)[number]
        layer = self.layer if side == "writes" else self.layer - 1
        address = f"layers/{layer}/residual2" if layer >= 0 else self.start
        return address, vector, f"{self.matrix} of head {self.layer}/{self.head}, {side}, direction {number}"


def head_words(
    model: Model, layer: int, head: int, matrix: str = "ov", *, count: int = 4, words: int = 6
) -> HeadWords:
    """The strongest directions of a head's OV or QK, as words; LmvizError where there is no such head."""
    if matrix not in MATRICES:
        raise LmvizError(f"A head has an 'ov' and a 'qk', and no {matrix!r}.")
    if model.tokenizer is None:
        raise LmvizError("This model has no tokenizer, so its tokens have no names: open it from a run.")
    found = Weights(model)
    whole = found.ov(layer, head) if matrix == "ov" else found.qk(layer, head)
    check_states(model, whole, "its matrices")
    count = min(whole_number("count", count, least=1), found.query.shape[-1])
    words = whole_number("words", words, least=1)
    left, values, right = np.linalg.svd(whole.astype(np.float64))
    embedding = found.embedding.astype(np.float64)
    out = found.unembedding.T.astype(np.float64) if matrix == "ov" else embedding
    reads, writes, lefts, rights = [], [], [], []
    for at in range(count):
        read, written = embedding @ left[:, at], out @ right[at]
        sign = 1.0 if np.abs(read).argmax() == read.argmax() else -1.0
        reads.append(_strongest(model, sign * read, words))
        writes.append(_strongest(model, sign * written, words))
        lefts.append(sign * left[:, at])
        rights.append(sign * right[at])
    return HeadWords(
        matrix=matrix,
        layer=layer % found.layers,
        head=head % found.query.shape[1],
        values=values[:count],
        reads=tuple(reads),
        writes=tuple(writes),
        left=np.stack(lefts),
        right=np.stack(rights),
        start=lens_places(model, after_layers=True)[0],
    )


def _strongest(model: Model, sizes: np.ndarray, count: int) -> tuple[str, ...]:
    assert model.tokenizer is not None
    return tuple(model.tokenizer.token(int(id)) for id in np.argsort(-sizes, kind="stable")[:count])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Compositions(Numbers):
    """How much of what one head writes another reads, (kind, layer, head, later layer, head).

    The kinds are "query", "key" and "value"; NaN where the second is not in a later layer. `chance` is what
    matrices of random numbers of this shape give on average.
    """

    chance: float

    def strongest(self, count: int = 10) -> list[tuple[str, tuple[int, int], tuple[int, int], float]]:
        """The largest scores: the kind, the earlier head, the later one, and the score."""
        order = np.argsort(-np.nan_to_num(self.array, nan=-1.0), axis=None, kind="stable")
        order = order[: whole_number("count", count)]
        found = []
        for at in order:
            kind, layer, head, later, other = map(int, np.unravel_index(int(at), self.array.shape))
            score = float(self.array[kind, layer, head, later, other])
            if np.isfinite(score):
                found.append((KINDS[kind], (layer, head), (later, other), score))
        return found


def compositions(model: Model) -> Compositions:
    """The composition scores of all pairs of heads; LmvizError for a model without heads."""
    found = Weights(model)
    layers, heads, width, channels = found.query.shape
    array = np.full((3, layers, heads, layers, heads), np.nan)
    query, key, value, output = (
        each.astype(np.float64) for each in (found.query, found.key, found.value, found.output)
    )
    for matrices in (query, key, value, output):
        check_states(model, matrices, "its matrices")
    for later in range(layers):
        for other in range(heads):
            asks, looks = query[later, other], key[later, other]
            brings, out = value[later, other], output[later, other].T
            qk, ov = _norm(asks, looks), _norm(brings, out)
            for layer in range(later):
                for head in range(heads):
                    first, wrote = value[layer, head], output[layer, head]
                    own = _norm(first, wrote.T)
                    pairs = ((asks, looks, qk), (looks, asks, qk), (brings, out, ov))
                    for kind, (read, rest, norm) in enumerate(pairs):
                        array[kind, layer, head, later, other] = _norm(first @ (wrote @ read), rest) / max(
                            own * norm, 1e-300
                        )
    return Compositions(
        array=array,
        axes=("kind", "layer", "head", "later layer", "later head"),
        names={"kind": KINDS},
        chance=_chance(width, channels),
    )


def _norm(left: np.ndarray, right: np.ndarray) -> float:
    """The Frobenius norm of left · rightᵀ, both (width, channel), without making it."""
    return float(np.sqrt(max(0.0, np.sum((left.T @ left) * (right.T @ right)))))


@lru_cache(maxsize=16)
def _chance(width: int, channels: int) -> float:
    """The mean score of pairs of random matrices, four drawn by a seed."""
    draw = np.random.default_rng(0)
    scores = []
    for _ in range(4):
        first, wrote, read, rest = (draw.standard_normal((width, channels)) for _ in range(4))
        score = _norm(first @ (wrote.T @ read), rest)
        scores.append(score / (_norm(first, wrote) * _norm(read, rest)))
    return float(np.mean(scores))
