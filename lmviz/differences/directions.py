"""What the directions of a change read and write, as words.

A change ΔW is a sum of directions: singular value × what is written × what is read. Where a matrix reads the
stream, what is read is held against the embedding of each word; where it writes into the stream, what is
written is held against the row that scores each word. Normalisations are taken with their gains, and as if
the words came as they enter: it says what a direction would do to a word, not what it does in a text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.differences.matrices import MatrixChange
from lmviz.differences.pair import ModelPair, numbers
from lmviz.models.address import Address
from lmviz.models.model import Model
from lmviz.models.operations import Affine, Linear, Norm
from lmviz.models.read_weights import parts_of
from lmviz.models.tap import Tap

LARGE = 2**21
"""Matrices of more numbers are decomposed by the smaller of their sides."""

WORDS = 8
"""So many words of either end of a direction are named."""


@dataclass(frozen=True, eq=False)
class LearnedDirection:
    """One direction of a change, and its `share` of the sum of the squared singular values.

    `reads` are the words that lie furthest along what is read, `reads_against` those furthest the other way,
    which writes the opposite; None where the matrix does not read the stream. `writes` and `writes_against`
    are the words that are made likelier, and less likely; None where it does not write into the stream.
    `vector` (row,) is what is written, of length 1, and `address` where it then is in the stream; None too.
    """

    number: int
    singular: float
    share: float
    reads: tuple[str, ...] | None
    reads_against: tuple[str, ...] | None
    writes: tuple[str, ...] | None
    writes_against: tuple[str, ...] | None
    vector: np.ndarray | None = None
    address: str = ""

    def along(self) -> tuple[str, np.ndarray, str]:
        """What it writes, to steer along: its tap, the vector (channel,), and where it comes from.

        LmvizError where it does not write into the stream.
        """
        if self.vector is None:
            raise LmvizError(
                "This matrix does not write into the stream, so its directions cannot be followed there: "
                "take an output matrix."
            )
        return self.address, self.vector, f"change at {self.address}, direction {self.number}"


def learned_directions(pair: ModelPair, change: MatrixChange, count: int = 4) -> tuple[LearnedDirection, ...]:
    """The strongest directions of the change of a matrix, strongest first.

    LmvizError for a vector, or for a parameter that these models do not have.
    """
    pair.check_alike()
    before, after = pair.before.tensors().get(change.name), pair.after.tensors().get(change.name)
    if before is None or after is None or len(change.shape) != 2:
        raise LmvizError(f"{change.label} is no matrix of these models: ask about one that has directions.")
    rows = slice(*change.rows) if change.rows else slice(None)
    left, values, right = _decomposed(numbers(after[rows]) - numbers(before[rows]))
    if not float(values[0]) > 0:
        return ()
    shares = values.square() / values.square().sum()
    read, written = _read_by(pair.after, change), _written_by(pair.after, change)
    found = []
    for number in range(min(count, int((values > 0).sum()))):
        reads = None if read is None else read @ right[number]
        writes = None if written is None else written @ left[:, number]
        turned = _is_turned(reads if reads is not None else writes)
        reads = -reads if reads is not None and turned else reads
        writes = -writes if writes is not None and turned else writes
        layer = Address.parse(change.address).layer if change.address else None
        is_written = written is not None and layer is not None
        found.append(
            LearnedDirection(
                number,
                float(values[number]),
                float(shares[number]),
                *_ends(pair.after, reads),
                *_ends(pair.after, writes),
                ((-1 if turned else 1) * left[:, number]).numpy() if is_written else None,
                f"layers/{layer}/residual2" if is_written else "",
            )
        )
    return tuple(found)


def _decomposed(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """U, the singular values, largest first, and Vᵀ; of a large W from the eigenvectors of WᵀW or WWᵀ."""
    if matrix.numel() <= LARGE:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
        return left, values, right
    if matrix.shape[0] < matrix.shape[1]:
        right, values, left = _decomposed(matrix.T)
        return left.T, values, right.T
    squares, vectors = torch.linalg.eigh(matrix.T @ matrix)
    values, right = squares.clamp(min=0.0).sqrt().flip(0), vectors.flip(1)
    return matrix @ right / values.clamp(min=torch.finfo(values.dtype).tiny), values, right.T


def _is_turned(scores: torch.Tensor | None) -> bool:
    """A direction's sign is arbitrary: the word that lies furthest out is at its front."""
    return scores is not None and bool(scores[scores.abs().argmax()] < 0)


def _ends(model: Model, scores: torch.Tensor | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    if scores is None:
        return None, None
    order = np.argsort(-scores.numpy(), kind="stable")
    ends = order[:WORDS], order[::-1][:WORDS]
    tokenizer = model.tokenizer
    front, back = (tuple(tokenizer.token(int(id)) if tokenizer else str(id) for id in end) for end in ends)
    return front, back


def _read_by(model: Model, change: MatrixChange) -> torch.Tensor | None:
    """What each word gives the columns of a matrix, (word, column); None where it reads something else."""
    taps = {tap.address: tap for tap in model.taps()}
    summand = _summand(taps, change)
    if summand is None or len(summand.operands) != 1:
        return None
    reads = taps[summand.operands[0].address]
    table = numbers(model.tensors()["embedding.weight"])
    if (
        reads.operation is not None
        and isinstance(reads.operation, Norm)
        and reads.axes == ("position", "channel")
    ):
        gain = reads.operation.gain
        scaled = table if gain is None else table * numbers(model.tensors()[gain.name])
        return scaled if _is_wide(scaled, change) else None
    is_stream = reads.address == "embedding" or Address.parse(reads.address).name.startswith(
        ("residual", "stream", "sum")
    )
    return table if is_stream and _is_wide(table, change) else None


def _is_wide(table: torch.Tensor, change: MatrixChange) -> bool:
    return bool(table.shape[1] == change.shape[1])


def _written_by(model: Model, change: MatrixChange) -> torch.Tensor | None:
    """What a row of a matrix adds to the score of each word, (word, row); None where it writes elsewhere."""
    at = Address.parse(change.address) if change.address else None
    if (
        at is None
        or at.layer is None
        or (at.block, at.name)
        not in (
            ("attention", "output"),
            ("feedforward", "output"),
        )
    ):
        return None
    output = getattr(model, "output_weight", None)
    if not isinstance(output, torch.Tensor):
        return None
    scores = numbers(output)
    taps = {tap.address: tap for tap in model.taps()}
    last = next(iter(parts_of(taps["logits"].operation, Linear))).operands[0].address
    if isinstance(taps[last].operation, Norm):
        gain = next(iter(parts_of(taps[last].operation, Norm))).gain
        scores = scores if gain is None else scores * numbers(model.tensors()[gain.name])
    return scores if scores.shape[1] == change.shape[0] else None


def _summand(taps: dict[str, Tap], change: MatrixChange) -> Linear | None:
    """The affine map that a matrix belongs to."""
    tap = taps.get(change.address)
    if tap is None:
        return None
    for affine in parts_of(tap.operation, Affine):
        for summand in affine.summands:
            if (summand.weight.name, summand.weight.rows) == (change.name, change.rows):
                return summand
    return None
