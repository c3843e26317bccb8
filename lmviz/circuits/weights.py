"""The matrices of a Transformer by layer and head, as papers on circuits write them.

Rows are what is read and columns what is written, so that a vector x becomes x W (Elhage et al. 2021 write
the transpose). Nothing is folded: normalisations keep their own gains and biases.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.places import matching
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.indices import from_start
from lmviz.looks.shown import Shown
from lmviz.models.model import Model
from lmviz.models.operations import Affine, Linear, SplitHeads, TokenLookup
from lmviz.models.tap import Operation, Weight


class Weights(Shown):
    """The parameters of a Transformer, each made when it is first asked for, as read-only arrays.

    `query`, `key`, `value` are (layer, head, width, channel), heads that share keys and values each with
    theirs; `output` (layer, head, channel, width). `read`, `gate` and `write` are the feed-forward
    networks': (layer, width, unit) twice and (layer, unit, width); None where there is no such network, or
    no gate. `embedding` is (token, width) and `unembedding` (width, token), of a checkpoint whose embeddings
    are narrower than its stream with the matrices that bring them to its width and back.
    """

    def __init__(self, model: Model) -> None:
        self._model, _ = unchanged(model, ())
        self._taps = {tap.address: tap for tap in self._model.taps()}
        if "layers/0/attention/query" not in self._taps:
            raise LmvizError(
                f"{model.name or 'This model'} ({model.family}) has no layers of attention of its own text: "
                "its parameters are in model.named_parameters()."
            )

    @property
    def name(self) -> str:
        """What its model is called."""
        return self._model.name or self._model.family

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return len(matching(self._model, "layers/*/attention/query"))

    @cached_property
    def query(self) -> np.ndarray:
        """(layer, head, width, channel)."""
        return self._of_heads("query")

    @cached_property
    def key(self) -> np.ndarray:
        """(layer, head, width, channel)."""
        return self._of_heads("key")

    @cached_property
    def value(self) -> np.ndarray:
        """(layer, head, width, channel)."""
        return self._of_heads("value")

    @cached_property
    def output(self) -> np.ndarray:
        """(layer, head, channel, width)."""
        heads = self._heads
        return _whole([part.reshape(heads, -1, part.shape[1]) for part in self._matrices("attention/output")])

    @cached_property
    def read(self) -> np.ndarray | None:
        """(layer, width, unit); None for attention alone."""
        return self._of_feedforward("hidden")

    @cached_property
    def gate(self) -> np.ndarray | None:
        """(layer, width, unit); None where units have no gate."""
        return self._of_feedforward("gate")

    @cached_property
    def write(self) -> np.ndarray | None:
        """(layer, unit, width); None for attention alone."""
        return self._of_feedforward("output")

    @cached_property
    def embedding(self) -> np.ndarray:
        """(token, width)."""
        operation = self._taps["embedding/token"].operation
        assert isinstance(operation, TokenLookup)
        table, narrow = self._numbers(operation.table) * np.float32(operation.scale), "embedding/projected"
        return _whole(table @ self._matrix(narrow) if narrow in self._taps else table)

    @cached_property
    def unembedding(self) -> np.ndarray:
        """(width, token); of a model of labels (width, label)."""
        matrix = self._matrix("logits")
        return _whole(self._matrix("projected") @ matrix if "projected" in self._taps else matrix)

    def qk(self, layer: int, head: int) -> np.ndarray:
        """What a head looks for, (width, width): x qk yᵀ is how x scores y, before scale and positions."""
        at = self._place(layer, head)
        found: np.ndarray = self.query[at] @ self.key[at].T
        return found

    def ov(self, layer: int, head: int) -> np.ndarray:
        """What a head brings of a word that it looks at, (width, width)."""
        at = self._place(layer, head)
        found: np.ndarray = self.value[at] @ self.output[at]
        return found

    def _place(self, layer: int, head: int) -> tuple[int, int]:
        """A layer and a head, counted from 0; LmvizError where there is none."""
        return from_start("layer", layer, self.layers), from_start("head", head, self._heads)

    @property
    def _heads(self) -> int:
        operation = self._taps["layers/0/attention/query"].operation
        assert isinstance(operation, SplitHeads)
        return operation.heads

    def _of_heads(self, name: str) -> np.ndarray:
        parts = []
        for layer in range(self.layers):
            operation = self._taps[f"layers/{layer}/attention/{name}"].operation
            assert isinstance(operation, SplitHeads)
            matrix = self._numbers(_only(operation.affine).weight)
            split = matrix.reshape(operation.heads, -1, matrix.shape[1]).transpose(0, 2, 1)
            parts.append(np.repeat(split, self._heads // operation.heads, axis=0))
        return _whole(parts)

    def _of_feedforward(self, name: str) -> np.ndarray | None:
        there = f"layers/0/feedforward/{name}" in self._taps
        return _whole(self._matrices(f"feedforward/{name}")) if there else None

    def _matrices(self, name: str) -> list[np.ndarray]:
        return [self._matrix(f"layers/{layer}/{name}") for layer in range(self.layers)]

    def _matrix(self, address: str) -> np.ndarray:
        """What a tap is made with of what it reads, (read, made)."""
        return self._numbers(_only(self._taps[address].operation).weight).T

    def _numbers(self, operand: Weight) -> np.ndarray:
        whole = self._model.tensors()[operand.name]
        rows = whole if operand.rows is None else whole[slice(*operand.rows)]
        rows = rows if rows.dtype.itemsize >= 4 else rows.float()
        found: np.ndarray = rows.detach().cpu().numpy()
        return found


def _only(operation: Operation) -> Linear:
    assert isinstance(operation, Affine)
    return operation.summands[0]


def _whole(parts: list[np.ndarray] | np.ndarray) -> np.ndarray:
    found = np.stack(parts) if isinstance(parts, list) else parts.view()
    found.flags.writeable = False
    return found
