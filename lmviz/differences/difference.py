"""The difference of two models: what they say of a text, their states, their heads and their matrices."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lmviz.base.arguments import file_path
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.differences.documents import last_tokens, windows
from lmviz.differences.matrices import MatrixChange, matrix_changes
from lmviz.differences.moved_heads import MovedHeads, moved_heads
from lmviz.differences.pair import ModelPair
from lmviz.differences.states import StateDistance, StateSimilarity, state_distance, state_similarity
from lmviz.differences.text_difference import TextDifference
from lmviz.looks.shown import Shown
from lmviz.models.interruption import part_of_work

POSITIONS = 2048
"""The similarity of states is taken over at most so many positions."""


@dataclass(frozen=True, eq=False, repr=False)
class ModelDifference(Shown):
    """What is different between two models, as far as they can be compared.

    `text` has the losses of each token of the text; None where no text was given. `stream` is how far their
    states are apart, `similarity` linear CKA over many positions, `heads` how far attention has moved: None
    where that cannot be compared, of which `why_not` says why. `matrices` are all parameters.
    """

    names: tuple[str, str]
    text: TextDifference | None
    stream: StateDistance | None
    similarity: StateSimilarity | None
    heads: MovedHeads | None
    matrices: tuple[MatrixChange, ...] | None
    why_not: str = ""

    @property
    def tokens(self) -> tuple[tuple[str, float], ...]:
        """The tokens of the text, each with the change of its loss in nats; none without a text."""
        if self.text is None:
            return ()
        return tuple(zip(self.text.tokens, map(float, self.text.changes), strict=True))

    @property
    def total(self) -> float | None:
        """The difference of the mean losses on the text; None without one."""
        return None if self.text is None else self.text.total

    def arrays(self) -> dict[str, np.ndarray]:
        """All numbers by name."""
        found: dict[str, np.ndarray] = {}
        if self.text is not None:
            found |= {"text/before": self.text.before, "text/after": self.text.after}
            found |= {"text/documents": self.text.documents, "text/tokens": np.array(self.text.tokens)}
            if self.text.said is not None:
                found["text/said"] = self.text.said
        if self.stream is not None:
            found |= {"stream/distance": self.stream.array, "stream/cosine": self.stream.cosine}
            found["stream/places"] = np.array(self.stream.names["place"])
        if self.similarity is not None:
            found["similarity"] = self.similarity.array
        if self.heads is not None:
            found |= {"heads/moved": self.heads.array, "heads/by_position": self.heads.by_position}
        for number, matrix in enumerate(self.matrices or ()):
            if matrix.singular is not None and matrix.singular_before is not None:
                found[f"matrices/{number}/singular"] = matrix.singular
                found[f"matrices/{number}/singular_before"] = matrix.singular_before
        if self.matrices is not None:
            found["matrices/labels"] = np.array([matrix.label for matrix in self.matrices])
            found["matrices/relative"] = np.array([matrix.relative for matrix in self.matrices])
        return found

    def save(self, path: str | Path) -> None:
        """Write a row for each token as .csv, or all arrays as .npz; LmvizError where that cannot be."""
        path = file_path(path)
        if path.suffix == ".npz":
            content = io.BytesIO()
            np.savez(content, **self.arrays())  # type: ignore[arg-type]  # all of them are arrays
            write_atomically(path, content.getvalue())
            return
        if path.suffix != ".csv":
            raise LmvizError(f"{path.name} has an unknown ending: end it with .csv or .npz.")
        if self.text is None:
            raise LmvizError("There was no text, so there are no tokens for a table: save it as .npz.")
        rows, text = self.text.table(), io.StringIO(newline="")
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(path, text.getvalue().encode())


def compared(
    pair: ModelPair,
    text: TextDifference | None,
    documents: Sequence[np.ndarray],
    *,
    inside: bool = True,
) -> ModelDifference:
    """The difference of two models, of which that of the `text` is known, over documents of ids (token,).

    States and heads are compared over the last tokens of the first document; without documents, or where it
    is not asked for what is `inside`, they are None.
    """
    stream = similarity = heads = matrices = None
    why_not = pair.why_not_alike
    read = [pieces for ids in documents for pieces in windows(pair, ids)]
    if inside and read and pair.read_alike and next(pair.before.parameters(), None) is not None:
        first = last_tokens(pair, documents[0])
        if not why_not:
            stream, heads = state_distance(pair, first), moved_heads(pair, first)
        with part_of_work(0, 2):
            similarity = state_similarity(pair, up_to(read, POSITIONS))
    if inside and not why_not:
        with part_of_work(1, 2):
            matrices = matrix_changes(pair)
    return ModelDifference(pair.names, text, stream, similarity, heads, matrices, why_not)


def up_to(stretches: Sequence[np.ndarray], positions: int) -> list[np.ndarray]:
    """The first stretches with so many positions together, the last one cut."""
    found, left = [], positions
    for stretch in stretches:
        if left <= 0:
            break
        found.append(stretch[:left])
        left -= len(found[-1])
    return found
