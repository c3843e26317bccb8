"""A model that translates, together with the source that it translates: a language model of one text."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch

from lmviz.models.model import Model
from lmviz.models.model_around import ModelAround
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import on_device
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.models.tap import Listener
from lmviz.models.translator import Translator


class GivenSource(ModelAround):
    """Another model, for which `source` (position,) is settled, so that all decoding can go on with it.

    Where the other carries a state from token to token, so does this one.
    """

    def __init__(self, model: Model, source: np.ndarray) -> None:
        super().__init__(model)
        self.source: np.ndarray = source
        self.changes_stay = model.changes_stay
        self.inputs = (TEXT,)  # the source is no longer asked for

    @classmethod
    def reading(cls, model: Model, source: str) -> Self:
        """A model with a source as it is typed; LmvizError where the model cannot read it."""
        return cls(model, read_prefix(model, source, SOURCE).ids)

    @property
    def task(self) -> str:
        """The next token: of the one text that is still asked for."""
        return "next-token"

    def _sources(self, rows: int) -> torch.Tensor:
        """The source in each row of a batch, (row, position)."""
        return on_device(self.unchanged, self.source).expand(rows, -1)

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor | None = None, **further: torch.Tensor
    ) -> torch.Tensor:
        """See Model."""
        read = {SOURCE: self._sources(len(tokens)), **further}
        logits: torch.Tensor = self.unchanged(tokens, lengths, **read)
        return logits

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits of further tokens, given the state after the earlier ones; and the state after these."""
        if not isinstance(self.unchanged, Translator):  # one that is changed reads all tokens anew
            return self(tokens), None
        begun = self.unchanged.begin(self._sources(len(tokens))) if state is None else state
        return self.unchanged.advance(tokens, begun)

    def as_read(self, ids: np.ndarray) -> tuple[np.ndarray, Model]:
        """See Model."""
        read, reader = self.unchanged.as_read(ids)
        return read, self if reader is self.unchanged else GivenSource(reader, self.source)

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        """The explicit path of the other model, over this source."""
        return self.unchanged.listen(tokens, listener, **{SOURCE: self._sources(len(tokens)), **further})
