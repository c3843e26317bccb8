"""Translates a source: the text that a model writes for it, how likely, and where it looked meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.decoding.beam import beam_search
from lmviz.decoding.options import BeamOptions
from lmviz.looks.shown import Shown
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Tap

LONGEST = 20
"""A translation may have so many tokens more than twice its source."""


@dataclass(frozen=True, eq=False, repr=False)
class Translation(Shown):
    """What a model writes for a source.

    `tokens` are those of the text, without START and END, and `source_tokens` those that were read.
    `log_probability` is that of all tokens, END included where the model came to it, in nats. `alignment`
    (position, source) says for each token where in the source the model looked when it chose it: shares
    that add up to 1, the mean of all heads; None for a model without attention.
    """

    text: str
    tokens: tuple[str, ...]
    log_probability: float
    alignment: np.ndarray | None
    source_tokens: tuple[str, ...]


def translate(
    model: Model, source: str | Sequence[int] | np.ndarray, options: BeamOptions | None = None
) -> Translation:
    """The best translation that a beam search finds, by default the likeliest token at each step.

    LmvizError when the source cannot be read, or when the model reads none.
    """
    check_translates(model)
    read = read_prefix(model, source, SOURCE)
    options = options or greedily(len(read))
    if model.context is not None:  # a text is written no further than the model can look back
        options = replace(options, length=min(options.length, model.context))
    bound = GivenSource(model, read.ids)
    tree = beam_search(bound, "", options)
    path = tree.path(tree.best)
    ends = model.tokenizer.end_ids if model.tokenizer else ()
    kept = [place for place, node in enumerate(path) if node.id not in ends]
    written = [path[place] for place in kept]
    # All that was chosen is read again, END too, where the model did not stop at it.
    looked = alignment(bound, np.array([*read_prefix(bound, "").ids, *(node.id for node in path[:-1])]))
    return Translation(
        text=tree.best.text,
        tokens=model.tokenizer.tokens_of(node.id for node in written) if model.tokenizer else (),
        log_probability=tree.best.total,
        alignment=None if looked is None else looked[kept],
        source_tokens=read.tokens,
    )


def greedily(source: int) -> BeamOptions:
    """The options with which the likeliest token is taken at each step, for a source of so many tokens."""
    return BeamOptions(width=1, length=longest_answer(source))


def longest_answer(source: int) -> int:
    """How many tokens a translation may have for a source of so many."""
    return min(2 * source + LONGEST, 1000)


def check_translates(model: Model) -> None:
    """LmvizError for a model that reads no source."""
    if SOURCE not in model.inputs:
        raise LmvizError("This model reads no source, so it cannot translate: train one on pairs of texts.")


def alignment(model: GivenSource, ids: np.ndarray) -> np.ndarray | None:
    """Where in its source a model looks at each of ids (position,), (position, source) float64.

    None where it has no attention to its source.
    """
    aligned = [tap.address for tap in model.taps() if tap.scale == "share" and tap.axes[-1] == SOURCE]
    if not aligned:
        return None
    if not len(ids):
        return np.zeros((0, len(model.source)))
    steps: list[torch.Tensor] = []

    def listener(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if tap.address == aligned[-1]:
            steps.append(value[0])
        return value

    with evaluation(model) as reader:
        reader.listen(on_device(model, ids), listener)
    # (position, source) of a recurrence step by step; (head, position, source) of a Transformer at once
    whole = steps[0].mean(dim=0) if steps[0].ndim == 3 else torch.stack(steps)
    return whole.cpu().double().numpy()
