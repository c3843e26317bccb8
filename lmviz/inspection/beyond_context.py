"""What a Transformer does beyond the context it learned with, measured where it can read on."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED
from lmviz.models.reading import evaluation, on_device
from lmviz.models.transformer import TransformerModel
from lmviz.text.stream import encode_documents

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer

FURTHER = 2  # times the context
TEXTS, TOKENS, AT_ONCE = 64, 32_768, 4_096
LONGEST = 4_096  # positions, as attention's work grows with their square
STRETCHES = 8  # into how many parts a context is divided

BY_LENGTH = "rotary by length"

READS_ON = ("sinusoidal", "rotary", "alibi", "none")

SENTENCES = {
    "learned": "Learned positions end with the context: there is no vector for the next one, so the model "
    "cannot read on. The beginning of a longer text is left out.",
    "relative": "Learned distances end with the context: there is no number for a larger one, so the model "
    "cannot read on. The beginning of a longer text is left out.",
    "sinusoidal": "The formula goes on, so the model can read on. But it has never seen these vectors.",
    "rotary": "Angles go on, so the model can read on. But slow pairs turn to angles it has never seen.",
    BY_LENGTH: "All angles differ in so long a text, so slow pairs turn no further than before.",
    "alibi": "Scores go on falling with distance, so the model can read on. What is far away counts little.",
    "none": "Nothing ends, so the model can read on. But attention is shared among more tokens than ever.",
}
"""What each kind of position does beyond the context."""


@dataclass(frozen=True, eq=False)
class BeyondContext:
    """The mean loss of held-out text by position, in stretches of equal length.

    `losses` is (stretch,) in nats a token, and `starts` (stretch,) the first position of each. `texts` were
    read, all from their first position on.
    """

    kind: str
    context: int
    starts: np.ndarray
    losses: np.ndarray
    texts: int

    @property
    def middles(self) -> np.ndarray:
        """(stretch,) The position in the middle of each."""
        length = self.starts[1] - self.starts[0] if len(self.starts) > 1 else 1
        return self.starts + (length - 1) / 2

    @property
    def within(self) -> float:
        """The mean loss in the second half of the context, where a model has read something already."""
        return float(self.losses[(self.starts >= self.context // 2) & (self.starts < self.context)].mean())

    @property
    def beyond(self) -> float | None:
        """The mean loss behind the context; None where the model cannot read on."""
        behind = self.losses[self.starts >= self.context]
        return float(behind.mean()) if len(behind) else None


def held_out_ids(corpus: Corpus, tokenizer: Tokenizer) -> tuple[np.ndarray, int | None]:
    """The held-out part as a model reads it, or else all of the text, (token,); and the id of START.

    None where there is no START, which is never a target.
    """
    part = corpus.validation_documents if len(corpus.validation_documents) else corpus.training_documents
    stream = encode_documents(part, tokenizer)
    return stream.ids, tokenizer.start_id if tokenizer.marks_boundaries else None


def measure_beyond(model: Model, ids: np.ndarray, ignored_target: int | None) -> BeyondContext:
    """Read pieces of ids (token,) twice as long as the context, as far as the model can.

    LmvizError where there is no text that is long enough, or where the model is none that can be measured.
    """
    if not isinstance(model, TransformerModel) or not model.predicts.continues or not model.causal:
        raise LmvizError("Only a causal language model has losses by position: open a Transformer.")
    kind, context = model.configuration.positions, model.configuration.context
    stretch = max(1, context // STRETCHES)
    length = (context // stretch) * stretch * (FURTHER if kind in READS_ON else 1)
    if length > LONGEST:
        raise LmvizError(f"Texts of {length:,} tokens take too long to read: open a model of less context.")
    count = min(TEXTS, TOKENS // length, (len(ids) - 1) // length)
    if count < 1:
        raise LmvizError(f"The text has fewer than {length + 1:,} tokens to measure with: open a longer one.")
    begins = np.linspace(0, len(ids) - length - 1, count).astype(np.int64)
    rows = np.stack([ids[begin : begin + length + 1] for begin in begins]).astype(np.int64)
    losses = _losses(_longer(model, length), rows, ignored_target)  # (text, position)
    parts = losses.reshape(count, -1, stretch)
    if model.configuration.depends_on_length:
        kind = BY_LENGTH
    return BeyondContext(kind, context, np.arange(0, length, stretch), np.nanmean(parts, axis=(0, 2)), count)


def _longer(model: TransformerModel, length: int) -> TransformerModel:
    """The same model on the same weights, which reads further; no new numbers are needed for that."""
    longer = copy.copy(model)
    longer.configuration = replace(model.configuration, context=max(length, model.configuration.context))
    return longer


def _losses(model: TransformerModel, rows: np.ndarray, ignored_target: int | None) -> np.ndarray:
    """(text, position) −ln p of each next token; NaN for targets that do not count."""
    targets = rows[:, 1:].copy()
    if ignored_target is not None:
        targets[targets == ignored_target] = IGNORED
    at_once, found = max(1, AT_ONCE // targets.shape[1]), []
    with evaluation(model) as reader:
        for first in range(0, len(rows), at_once):
            part = slice(first, first + at_once)
            read, wanted = on_device(model, rows[part, :-1]), on_device(model, targets[part])
            found.append(-reader.log_probabilities(read, wanted).cpu().double().numpy())
    return np.where(targets == IGNORED, np.nan, np.concatenate(found))
