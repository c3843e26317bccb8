"""Estimates what a training will cost, and checks that this machine has the memory. Imports no torch.

A system that has promised more memory than it has kills the whole program without an exception. So a
training that cannot fit is refused before anything is built.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.models.estimate import BYTES_PER_NUMBER, NEXT_TOKEN, Asked, Estimate
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.text.pictures import PIXELS
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus


def training_cost(
    configuration: ModelConfiguration,
    options: TrainingOptions,
    vocabulary_size: int,
    asked: Asked = NEXT_TOKEN,
    length: int = 0,
) -> Estimate:
    """What each step of a training costs, as its family estimates it.

    `length` is that of the rows of a batch, 0 where the options say it.
    """
    length = length or tokens_a_step(configuration, options) // options.batch
    return configuration.estimate(vocabulary_size, options.batch, length, asked)


def tokens_a_step(configuration: ModelConfiguration, options: TrainingOptions) -> int:
    """How many tokens an update reads, where excerpts of a text are learned from."""
    length = options.length or getattr(configuration, "context", None) or DEFAULT_LENGTH
    return int(options.batch * length)


def cost_on(configuration: ModelConfiguration, options: TrainingOptions, corpus: Corpus) -> Estimate:
    """What each step of a training on a corpus costs; its examples are as long as they are on average."""
    target, examples, length = corpus.target_tokenizer, corpus.training_examples, 0
    if examples is not None and len(examples):
        sides = [examples.source] if target is None else [examples.source, examples.target]
        sides = sides[1:] if corpus.task == "captioning" else sides
        length = max(1, *(round(float(side.lengths.mean())) for side in sides))
    asked = Asked(
        labels=len(corpus.labels),
        per_text=corpus.task == "classification",
        source_vocabulary=corpus.tokenizer.vocabulary_size if corpus.task == "translation" else 0,
        pixels=PIXELS if corpus.task == "captioning" else 0,
    )
    vocabulary_size = (target or corpus.tokenizer).vocabulary_size
    return training_cost(configuration, options, vocabulary_size, asked, length)


def check_memory(cost: Estimate, options: TrainingOptions) -> None:
    """Raise LmvizError where a training needs more memory than the machine has; see check_memory_of."""
    check_memory_of([(cost, options)], "This training needs", "choose a smaller model, or a smaller batch")


def check_memory_of(
    trainings: Sequence[tuple[Estimate, TrainingOptions]], who_needs: str, way_out: str
) -> None:
    """Raise LmvizError where trainings together need more memory than the machine has at all.

    On a graphics card, whose memory is another and says so itself, only the weights are counted: they are
    made on the processor first.
    """
    memory = machine_memory()
    needed = sum(
        cost.bytes if _on_processor(options) else cost.parameters * BYTES_PER_NUMBER
        for cost, options in trainings
    )
    if memory is not None and needed > memory:
        raise LmvizError(
            f"{who_needs} about {needed / GIGABYTE:,.0f} GB of memory and the machine has "
            f"{memory / GIGABYTE:,.0f} GB: {way_out}."
        )


def _on_processor(options: TrainingOptions) -> bool:
    return options.device == "cpu" or (options.device == "auto" and not _may_have_a_card())


def _may_have_a_card() -> bool:
    """Whether torch may find a graphics card; asked of torch only where that is loaded already."""
    torch = sys.modules.get("torch")
    return torch is None or torch.cuda.is_available() or torch.backends.mps.is_available()
