"""The loss map of examples: what every label, or every token of a translation, cost a model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from lmviz.base.reporting import Report, unheard
from lmviz.models.interruption import look_up
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.models.sequences import TEXT
from lmviz.text.examples import Examples
from lmviz.training.label_evaluation import label_answers
from lmviz.training.loss_map import LossMap
from lmviz.training.pieces import pieces_of_examples

POSITIONS, LOGITS = 2**12, 2**22
"""How many positions, and how many logits, are computed at once at most."""


def map_of_examples(
    model: Model, examples: Examples, *, counts: np.ndarray | None = None, progress: Report = unheard
) -> LossMap:
    """The loss of every answer to examples, in nats, at the token that it belongs to.

    Of tagged texts that is each word, with its label; of texts with one label it is the last token of each,
    and of translations each token that should have been written. The sum is that of an evaluation. `counts`
    (id,) say how often each token was learned from. LmvizError where the model can read none.
    """
    there = (examples.source.lengths > 0) & (examples.target.lengths > 0)
    kept = Examples(examples.source.select(there), examples.target.select(there))
    continues = model.predicts.continues
    per_text = not continues and model.predicts.per == "text"
    read = kept.target if continues else kept.source
    starts, lengths = read.starts[:-1], read.lengths
    losses = np.full(len(read.ids), np.nan, dtype=np.float32)
    for places, nats in _judged(model, kept, progress):
        losses[read.starts[1:][places] - 1 if per_text else places] = nats
    tokenizer = model.tokenizer_of(TEXT)
    return LossMap(
        ids=read.ids.astype(np.int64),
        losses=losses,
        starts=starts.astype(np.int64),
        read=(np.arange(len(read.ids)) - np.repeat(starts, lengths)).astype(np.int32),
        vocabulary=() if tokenizer is None else tokenizer.tokens(),
        counts=counts,
        name=model.name or model.family,
        step=model.step,
        labels=model.predicts.names,
        of_document=kept.target.ids.astype(np.int64) if per_text else None,
        of_token=None if per_text or continues else kept.target.ids.astype(np.int64),
        is_translation=continues,
        decode=None if tokenizer is None else tokenizer.decode,
    )


def _judged(model: Model, examples: Examples, progress: Report) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The places of some targets among all of them, and their losses in nats."""
    if not model.predicts.continues:
        answers = label_answers(model, examples, progress)
        yield answers[:, 4].astype(np.int64), answers[:, 3]
        return
    pieces = pieces_of_examples(examples, model.predicts, model.context)
    order = np.argsort(pieces.sizes, kind="stable")
    at_once = max(1, min(POSITIONS, LOGITS // model.outputs))
    device = next(model.parameters()).device
    first = 0
    with evaluation(model) as reader:
        while first < len(order):
            look_up()
            last = first + 1
            while last < len(order) and int(pieces.sizes[order[last]]) * (last + 1 - first) <= at_once:
                last += 1
            some = order[first:last]
            tokens, targets, lengths = (
                torch.from_numpy(array).to(device) for array in pieces.side_by_side(some)
            )
            beside = {name: torch.from_numpy(each).to(device) for name, each in pieces.beside(some).items()}
            logits = reader(tokens, lengths, **beside)
            nats = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none"
            )
            aims = pieces.target_spans[some, :1] + np.arange(targets.shape[1])
            counted = (targets != IGNORED).cpu().numpy()
            yield aims[counted], nats.view(targets.shape).cpu().numpy()[counted]
            first = last
            progress(first / len(order))
