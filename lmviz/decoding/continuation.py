"""A text being written: the tokens read so far, the logits of the next one, and how to append a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.models.finite import check_logits
from lmviz.models.prefix import Prefix, read_prefix
from lmviz.models.reading import evaluation, on_device

if TYPE_CHECKING:
    from lmviz.models.model import Model


@dataclass(frozen=True, eq=False)
class Continuation:
    """A prefix and the tokens chosen after it, with the logits (token,) of what comes next.

    It never changes: `extended` gives a new one, so that branches can share a beginning. Where the
    model carries a state from token to token, so does the continuation, and one more token costs one
    step; otherwise, and once the text outgrows the model's context, the last tokens are read again.
    """

    model: Model
    prefix: Prefix
    chosen: tuple[int, ...]
    text: str
    logits: np.ndarray
    _state: Any = None

    @classmethod
    def of(
        cls, model: Model, text_or_ids: str | Sequence[int] | np.ndarray, chosen: Sequence[int] = ()
    ) -> Continuation:
        """A prefix, and the ids chosen after it so far, read at once.

        LmvizError when there is nothing to read, or when the model predicts no tokens.
        """
        model.check_continues()
        prefix = read_prefix(model, text_or_ids)
        ids = np.concatenate([prefix.ids, np.array(chosen, dtype=np.int64)])
        logits, state = _advance(model, ids if model.context is None else ids[-model.context :], None)
        text = prefix.text
        for count in range(len(chosen)):
            text = _text_with(model, prefix, text, chosen[:count], chosen[count])
        return cls(model, prefix, tuple(chosen), text, logits, state)

    @property
    def ids(self) -> np.ndarray:
        """All tokens so far, (position,) int64."""
        return np.concatenate([self.prefix.ids, np.array(self.chosen, dtype=np.int64)])

    @property
    def tokens(self) -> Sequence[str]:
        """The vocabulary as displayed, by id; empty where the model has no tokenizer."""
        return self.model.tokenizer.tokens() if self.model.tokenizer else ()

    @property
    def has_ended(self) -> bool:
        """Whether the last token that was chosen says that the document ends."""
        return bool(self.chosen) and self.is_end(self.chosen[-1])

    def is_end(self, id: int) -> bool:
        """Whether the model says with a token that the document ends."""
        return self.model.tokenizer is not None and id in self.model.tokenizer.end_ids

    def extended(self, id: int) -> Continuation:
        """One token further."""
        chosen = (*self.chosen, id)
        ids = np.concatenate([self.ids, [id]])
        context = self.model.context
        if self._state is not None and (context is None or len(ids) <= context):
            logits, state = _advance(self.model, ids[-1:], self._state)
        else:
            logits, state = _advance(self.model, ids if context is None else ids[-context:], None)
        return Continuation(self.model, self.prefix, chosen, self.text_with(id), logits, state)

    @staticmethod
    def extended_together(grown: Sequence[tuple[Continuation, int]]) -> list[Continuation]:
        """Continuations of one model, each one token further; Transformers read texts of one length at once.

        Reading the weights takes most of the time of a step, and they are read once for all texts.
        """
        from lmviz.models.transformer_layers import KeyValueCache

        states = [before._state for before, _ in grown]
        lengths = {len(before.ids) for before, _ in grown}
        can_join = len(grown) > 1 and len(lengths) == 1
        if not (can_join and all(isinstance(state, KeyValueCache) for state in states)):
            return [before.extended(id) for before, id in grown]
        model = grown[0][0].model
        if model.context is not None and max(lengths) + 1 > model.context:
            return [before.extended(id) for before, id in grown]
        with evaluation(model) as reader:
            ids = on_device(model, np.array([id for _, id in grown])).T  # (text, position)
            logits, state = reader.advance(ids, KeyValueCache.of_batch(states))
        rows = logits[:, -1].cpu().double().numpy()
        check_logits(model, rows)
        return [
            Continuation(
                model, before.prefix, (*before.chosen, id), before.text_with(id), row, state.of_row(at)
            )
            for at, ((before, id), row) in enumerate(zip(grown, rows, strict=True))
        ]

    def text_with(self, id: int) -> str:
        """The text as it would be with one more token."""
        return _text_with(self.model, self.prefix, self.text, self.chosen, id)


def _text_with(model: Model, prefix: Prefix, text: str, chosen: Sequence[int], id: int) -> str:
    if model.tokenizer is None:
        return text
    longer = model.tokenizer.continue_text(text, id)
    if model.tokenizer.kind == "bpe" and "\ufffd" in longer[len(text) :]:
        # A piece of a character: only all the pieces together can be decoded.
        return prefix.text + model.tokenizer.decode([*chosen, id])
    return longer


def _advance(model: Model, ids: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
    """Logits (token,) after the last of ids (position,), and the state to carry on with."""
    with evaluation(model) as reader:
        logits, state = reader.advance(on_device(model, ids), state)
    last = logits[0, -1].cpu().double().numpy()
    check_logits(model, last)
    return last, state
