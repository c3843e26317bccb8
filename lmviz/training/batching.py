"""How a text is cut, to learn from it and to be judged by it: in windows of a stream, or in sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lmviz.base.errors import LmvizError, SettingError
from lmviz.models.model import IGNORED, Model
from lmviz.models.prediction import Prediction
from lmviz.text.examples import Examples
from lmviz.training.batches import BATCHES, Batch, Batches
from lmviz.training.distributed import Team
from lmviz.training.options import SENTENCES, TrainingOptions, check_length
from lmviz.training.piece_validation import PieceValidation
from lmviz.training.pieces import Pieces, pieces_of_examples, pieces_of_text, pieces_that_fit
from lmviz.training.validation import StreamValidation, Validation


def batches_of(
    model: Model,
    training: np.ndarray | Examples,
    options: TrainingOptions,
    *,
    ignored_target: int | None,
    team: Team,
    left_out: np.ndarray | None = None,
) -> Batches:
    """The batches for a model from a stream of ids, or from the examples of a task.

    Targets that are `left_out` (id of the stream, or of the answers) do not count; the batches are the same.

    LmvizError where text, options and model do not fit one another.
    """
    if isinstance(training, Examples) or options.sampling == SENTENCES:
        if not isinstance(training, Examples) and np.count_nonzero(training == ignored_target) < 2:
            raise LmvizError(
                "The text is one document, so it has no sentences to shuffle: divide it with documents=line "
                "or paragraph, or choose random excerpts."
            )
        pieces = _pieces_of(model, training, options, ignored_target, pieces_of_examples)
        if left_out is not None:
            kept = np.where(left_out, IGNORED, pieces.target_ids.astype(np.int64))
            pieces = replace(pieces, target_ids=kept)
        return Sentences(pieces, options, team)
    return BATCHES[options.sampling](
        training,
        options,
        context=model.context,
        ignored_target=ignored_target,
        team=team,
        left_out=left_out,
    )


def validation_of(
    model: Model,
    validation: np.ndarray | Examples,
    options: TrainingOptions,
    *,
    length: int,
    ignored_target: int | None,
    team: Team,
) -> Validation | StreamValidation | PieceValidation:
    """What measures the loss on a held-out part, which is cut just as `batches_of` cuts what is learned from.

    `length` is that of the windows that are learned from. Where the model can read nothing of the part,
    nothing is measured.
    """
    if isinstance(validation, Examples) or options.sampling == SENTENCES:
        pieces = None
        if len(validation):
            pieces = _pieces_of(model, validation, options, ignored_target, pieces_that_fit)
        has_answers = isinstance(validation, Examples) and not validation.marks_answers
        unknown = validation.unknown if isinstance(validation, Examples) else None
        return PieceValidation(pieces, options, team, counts_right=has_answers, unknown=unknown)
    kind = StreamValidation if options.sampling == "streams" else Validation
    return kind(validation, length, options, ignored_target=ignored_target, team=team)


def _pieces_of(
    model: Model,
    text: np.ndarray | Examples,
    options: TrainingOptions,
    start: int | None,
    of_examples: Callable[[Examples, Prediction, int | None], Pieces],
) -> Pieces:
    """The examples of a task, or the documents of a stream of ids, which begin with the id `start`."""
    longest = longest_piece(model, options)
    if isinstance(text, Examples):
        return of_examples(text, model.predicts, longest)
    return pieces_of_text(text, start, longest)


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


POOL = 64
"""How many batches of shuffled sentences are sorted by length together: enough that lengths are alike, and
so few that a batch meets ever other company."""


class Sentences(Batches):
    """Pieces in an order that depends on the seed and the epoch alone."""

    def __init__(self, pieces: Pieces, options: TrainingOptions, team: Team) -> None:
        self.length = int(pieces.lengths.max())
        self._pieces = pieces
        self._seed = options.seed
        self._rows = options.batch * team.size
        self._team = team
        self._batches = -(-len(pieces) // self._rows)
        self._epoch = -1
        self._order: list[np.ndarray] = []

    def batch(self, step: int) -> Batch:
        """See Batches."""
        epoch, place = divmod(step, self._batches)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._shuffled(epoch)
        whole = self._order[place]
        own = np.array_split(whole, self._team.size)[self._team.rank]
        counts = len(own) > 0
        read = own if counts else whole[:1]
        tokens, targets, lengths = self._pieces.side_by_side(read)
        if not counts:  # the last batch of an epoch may have fewer sentences than there are processes
            targets[:] = IGNORED
        wanted = self._pieces.targets
        share = float(wanted[own].sum() / wanted[whole].sum()) if (targets != IGNORED).any() else 0.0
        padded = bool((lengths < tokens.shape[1]).any())
        beside = self._pieces.beside(read)
        return Batch(tokens, targets, share, True, lengths if padded else None, beside)

    def _shuffled(self, epoch: int) -> list[np.ndarray]:
        """The pieces of each batch of an epoch."""
        chance = np.random.default_rng((self._seed, epoch))
        order, sizes = chance.permutation(len(self._pieces)), self._pieces.sizes
        batches: list[np.ndarray] = []
        for first in range(0, len(order), POOL * self._rows):
            pool = order[first : first + POOL * self._rows]
            pool = pool[np.argsort(sizes[pool], kind="stable")]
            batches += [pool[at : at + self._rows] for at in range(0, len(pool), self._rows)]
        return [batches[place] for place in chance.permutation(len(batches))]
