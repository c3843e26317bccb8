"""What follows each of many prefixes, read in padded batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmviz.decoding.sampling import distribution_over
from lmviz.models.batches_of_texts import batches_of_texts, in_batches, side_by_side
from lmviz.models.finite import check_logits
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.prefix import Prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import SOURCE, TEXT

if TYPE_CHECKING:
    from lmviz.decoding.distribution import Distribution
    from lmviz.decoding.options import SamplingOptions
    from lmviz.models.model import Model


def next_tokens(
    model: Model,
    prefixes: Sequence[Prefix],
    options: SamplingOptions,
    sources: Sequence[np.ndarray] | None = None,
) -> list[Distribution]:
    """The distribution after each prefix, in their order.

    `sources` are the ids of what is read beside each. Memory as of `lmviz.models.batches_of_texts`.
    """
    model.check_continues()
    rows = [prefix.last(model.context).ids for prefix in prefixes]
    lengths = [
        {TEXT: len(ids)} | ({} if sources is None else {SOURCE: len(sources[number])})
        for number, ids in enumerate(rows)
    ]
    found: dict[int, Distribution] = {}
    batches = batches_of_texts(model, lengths, same_length=model.reads_alone, answers=model.outputs)
    for batch in in_batches(len(rows), batches, look_up):
        with evaluation(model) as reader, uncounted_work():
            tokens = on_device(model, side_by_side([rows[number] for number in batch]))
            beside = {}
            if sources is not None:
                beside[SOURCE] = on_device(model, side_by_side([sources[number] for number in batch]))
            logits = reader(tokens, None, **beside)  # (row, position, token)
            last = torch.tensor([len(rows[number]) - 1 for number in batch], device=logits.device)
            answers = logits[torch.arange(len(batch), device=logits.device), last].cpu().double().numpy()
        check_logits(model, answers)
        for number, row in zip(batch, answers, strict=True):
            found[number] = distribution_over(row, options, model.tokenizer)
    return [found[number] for number in range(len(rows))]
