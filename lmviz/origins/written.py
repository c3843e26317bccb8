"""Texts that a model writes with nothing before them, to be looked up in what it learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import LINE_END, sample
from lmviz.models.interruption import look_up

if TYPE_CHECKING:
    from lmviz.models.model import Model

TEXTS, TOKENS = 100, 100


def written_texts(
    model: Model,
    count: int = TEXTS,
    tokens: int = TOKENS,
    options: SamplingOptions | None = None,
) -> Iterator[str]:
    """So many texts, each of at most so many tokens, each drawn with a seed of its own.

    They begin at START, or without one after the end of a line. LmvizError where the model continues no
    text.
    """
    model.check_continues()
    begins = model.tokenizer is not None and model.tokenizer.marks_boundaries
    given = options or SamplingOptions()
    for number in range(count):
        text = ""
        for step in sample(
            model, "" if begins else LINE_END, tokens, replace(given, seed=given.seed + number)
        ):
            look_up()
            if step.is_end:
                break
            text = step.text
        yield text.strip()
