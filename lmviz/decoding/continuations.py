"""Cached continuations for a tree of branches, so that no token is read twice by the model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.decoding.continuation import Continuation

if TYPE_CHECKING:
    from lmviz.models.model import Model

MOST = 64


class Continuations:
    """The continuations of one prefix under one model that were asked for last, at most `most` of them.

    They belong to the thread that reads the model. Another prefix, another model, or other weights
    (another `model.step`) begin anew.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._read_by: Model | None = None
        self._step = 0
        self._prefix = ""
        self._known: OrderedDict[tuple[int, ...], Continuation] = OrderedDict()

    def after(self, model: Model, prefix: str, chosen: Sequence[int] = ()) -> Continuation:
        """The prefix with the ids chosen after it; LmvizError when it cannot be read."""
        if (model, model.step, prefix) != (self._read_by, self._step, self._prefix):
            self._read_by, self._step, self._prefix = model, model.step, prefix
            self._known.clear()
        chosen = tuple(chosen)
        if chosen not in self._known:
            before = self._known.get(chosen[:-1]) if chosen else None
            self._known[chosen] = (
                Continuation.of(model, prefix, chosen) if before is None else before.extended(chosen[-1])
            )
        self._known.move_to_end(chosen)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return self._known[chosen]
