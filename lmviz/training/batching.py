"""Which batches a training gets: windows of a stream, or whole sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.errors import SettingError
from lmviz.models.model import Model
from lmviz.text.examples import Examples
from lmviz.training.batches import BATCHES, Batches
from lmviz.training.distributed import Team
from lmviz.training.options import SENTENCES, TrainingOptions, check_length
from lmviz.training.pieces import pieces_of_examples, pieces_of_text
from lmviz.training.sentences import Sentences


def batches_of(
    model: Model,
    training: np.ndarray | Examples,
    options: TrainingOptions,
    *,
    ignored_target: int | None,
    team: Team,
) -> Batches:
    """The batches for a model from a stream of ids, or from the examples of a task.

    LmvizError where text, options and model do not fit one another.
    """
    if isinstance(training, Examples):
        longest = longest_piece(model, options)
        return Sentences(pieces_of_examples(training, model.predicts, longest), options, team)
    if options.sampling == SENTENCES:
        pieces = pieces_of_text(training, ignored_target, longest_piece(model, options))
        return Sentences(pieces, options, team)
    return BATCHES[options.sampling](
        training, options, context=model.context, ignored_target=ignored_target, team=team
    )


def longest_piece(model: Model, options: TrainingOptions) -> int | None:
    """How many tokens of a sentence are read at once, at most; None where there is no limit.

    Captions are read whole, and pictures are all of one size.
    """
    check_length(options.length, model.context)
    if model.task == "captioning":
        return None
    return options.length or model.context


def with_sentences(options: TrainingOptions) -> TrainingOptions:
    """The options of a training on examples, which are learned from whole.

    Random excerpts, the default, become sentences. SettingError where streams were asked for.
    """
    if options.sampling == "streams":
        raise SettingError("Streams would cut the examples of this text apart: choose sentences.", "sampling")
    return replace(options, sampling=SENTENCES)
