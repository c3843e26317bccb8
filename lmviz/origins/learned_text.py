"""The text that a model learned from as targets, one after the other: what came before each, and its line.

It is the same for every task. Of a language model the targets are the tokens of the stream, of a tagger the
labels of words, of a classifier one label for each text, of a translator the tokens that it should have
written.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.interruption import look_up
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.text.stretch import Stretches
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.models.prediction import Prediction
    from lmviz.text.corpus import Corpus
    from lmviz.training.pieces import Pieces

LINE_ENDS = frozenset(".!?。！？…")
LONGEST_LINE = {"characters": 240, "bpe": 80}
_WORDS_IN_LINE = 60
_CLOSING = frozenset("\"'”’»)]")


@dataclass(frozen=True)
class LearnedLine:
    """A line as it is shown: the number of its document, from 0, where its targets stand (`start` up to
    `stop`), and its tokens as displayed, each with the place of its target, −1 where it was not asked for."""

    document: int
    start: int
    stop: int
    tokens: tuple[str, ...]
    targets: tuple[int, ...]

    @property
    def text(self) -> str:
        """The tokens with a blank between them."""
        return " ".join(self.tokens)


@dataclass(frozen=True, eq=False)
class LearnedText:
    """What a model was asked while it learned.

    `wanted` (target,) are the ids that should have been predicted, and `context` the ids that the model read;
    `ends` (target,) is where in them stands the last one that came before the target. `begins`
    (document + 1,) is where documents begin in `context`, `line_starts` (line + 1,) where lines begin among
    targets. `asked` (target,) says which targets count, and `names` are those of the ids.
    """

    corpus: Corpus
    wanted: np.ndarray
    context: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    line_starts: np.ndarray
    asked: np.ndarray
    names: Sequence[str]

    @classmethod
    def of(cls, corpus: Corpus) -> LearnedText:
        """That of a corpus; LmvizError where nothing of it can be asked."""
        examples = corpus.training_examples
        if examples is None:
            return cls._of_stream(corpus)
        target = examples.target
        if corpus.task in ("translation", "captioning"):
            tokenizer = corpus.tokenizer_of("target")
            asked = np.ones(len(target.ids), dtype=bool)
            asked[target.starts[:-1]] = False  # START is given
            return cls(
                corpus=corpus,
                wanted=target.ids,
                context=target.ids,
                ends=np.arange(len(target.ids)) - 1,
                begins=target.starts,
                line_starts=target.starts,
                asked=asked,
                names=tokenizer.tokens(),
            )
        # A label for each token stands at the same place as the token; one for a text comes after its last.
        per_text = len(target.ids) == len(examples)
        ends = examples.source.starts[1:] - 1 if per_text else np.arange(len(target.ids))
        return cls(
            corpus=corpus,
            wanted=target.ids,
            context=examples.source.ids,
            ends=ends,
            begins=examples.source.starts,
            line_starts=target.starts,
            asked=np.ones(len(target.ids), dtype=bool),
            names=corpus.labels,
        )

    def check_read_by(self, model: Model) -> None:
        """LmvizError where a model has other tokens or labels: it would read the ids of this as those."""
        reads = model.tokenizer_needed(SOURCE if SOURCE in model.inputs else TEXT)
        says = model.tokenizer_needed().tokens() if model.predicts.continues else model.predicts.names
        if reads.tokens() != self.corpus.tokenizer.tokens() or tuple(says) != tuple(self.names):
            raise LmvizError(
                f"{self.corpus.name} was read in other tokens or labels than {model.name or 'the model'} "
                "has: give the text that it learned from, or none."
            )

    @classmethod
    def held_out(cls, corpus: Corpus) -> LearnedText:
        """The same of the part that is held out; LmvizError where none is."""
        if len(corpus.validation) < 2:
            raise LmvizError("Nothing of this text is held out, so there is nothing to compare with.")
        return cls.of(
            replace(
                corpus,
                training_stream=corpus.validation_stream,
                training_examples=corpus.validation_examples,
            )
        )

    @classmethod
    def _of_stream(cls, corpus: Corpus) -> LearnedText:
        stream = corpus.training_stream
        ids = stream.ids
        if len(ids) < 2:
            raise LmvizError("There is no text that it learned from: give the corpus.")
        start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
        asked = np.ones(len(ids), dtype=bool)
        look_up()
        if start is None:
            asked[0] = False
        else:
            asked &= ids != start
        return cls(
            corpus=corpus,
            wanted=ids,
            context=ids,
            ends=np.arange(len(ids)) - 1,
            begins=stream.starts,
            line_starts=_lines(ids, stream.starts, corpus),
            asked=asked,
            names=corpus.tokenizer.tokens(),
        )

    def pieces(self, predicts: Prediction, longest: int | None) -> Pieces:
        """What is read at once, as in a training with whole documents or examples."""
        from lmviz.training.pieces import pieces_of_examples, pieces_of_text

        if self.corpus.training_examples is not None:
            return pieces_of_examples(self.corpus.training_examples, predicts, longest)
        start = self.corpus.tokenizer.start_id if self.corpus.marks_boundaries else None
        return pieces_of_text(self.wanted, start, longest)

    @property
    def is_of_labels(self) -> bool:
        """Whether what was asked for are labels, and not tokens."""
        return bool(self.corpus.labels)

    def line_of(self, targets: np.ndarray) -> np.ndarray:
        """The number of the line of each target."""
        return np.searchsorted(self.line_starts, targets, side="right") - 1

    def before(self, target: int) -> str:
        """The token before a target as displayed: of a label of a word that word; "" at a beginning."""
        end = int(self.ends[target])
        if end < 0 or (self.is_of_labels and len(self.wanted) == len(self.begins) - 1):
            return ""
        return visible(self._source_names[int(self.context[end])])

    @cached_property
    def _source_names(self) -> Sequence[str]:
        if self.corpus.task in ("translation", "captioning"):
            return self.names
        return self.corpus.tokenizer.tokens()

    @cached_property
    def _stretches(self) -> Stretches:
        return Stretches(self.corpus.training_stream)

    def line(self, number: int) -> LearnedLine:
        """A line as it is shown."""
        start, stop = self.line_starts[number : number + 2].tolist()
        examples = self.corpus.training_examples
        if examples is None:
            document = int(np.searchsorted(self.begins, start, side="right")) - 1
            stretch = self._stretches.at(start, stop)
            places = [place if self.asked[place] else -1 for place in range(start, stop)]
            return LearnedLine(document, start, stop, tuple(stretch.tokens), tuple(places))
        if self.context is self.wanted:
            tokens = tuple(self.names[id] for id in self.wanted[start:stop].tolist())
            return LearnedLine(number, start, stop, tokens, tuple(range(start, stop)))
        first, last = examples.source.starts[number : number + 2].tolist()
        words = tuple(self._source_names[id] for id in self.context[first:last].tolist())
        if stop - start == len(words):
            return LearnedLine(number, start, stop, words, tuple(range(start, stop)))
        label = self.names[int(self.wanted[start])]
        return LearnedLine(number, start, stop, (*words, label), (*([-1] * len(words)), start))


def _lines(ids: np.ndarray, begins: np.ndarray, corpus: Corpus) -> np.ndarray:
    """Where lines begin in a stream (line + 1,): behind ends of sentences and of lines, at documents, and
    after so many tokens at the latest."""
    tokenizer = corpus.tokenizer
    look_up()
    spelled = [tokenizer.decode([index]) for index in range(tokenizer.vocabulary_size)]
    ends = np.array([_ends_line(text) for text in spelled])[ids]
    look_up()
    closes = np.array([text.strip() in _CLOSING and bool(text.strip()) for text in spelled])[ids]
    look_up()
    behind = np.flatnonzero(ends) + 1
    behind = behind[behind < len(ids)]
    behind = behind + closes[behind]  # a quotation mark that closes belongs to its sentence
    look_up()
    starts = np.unique(np.concatenate([[0], begins, behind, [len(ids)]]))
    starts = starts[starts <= len(ids)]
    look_up()
    longest = LONGEST_LINE.get(tokenizer.kind, _WORDS_IN_LINE)
    if (np.diff(starts) > longest).any():
        cut = []
        for number, (first, last) in enumerate(itertools.pairwise(starts)):
            cut.append(np.arange(first, last, longest))
            if number % 10_000 == 0:
                look_up()
        starts = np.concatenate([*cut, starts[-1:]])
    # END after the last sentence of a document is no line of its own.
    lone = np.diff(starts) == 1
    lone &= ids[starts[:-1]] == tokenizer.end_id if tokenizer.end_id is not None else False
    lone[0] = False
    return np.delete(starts, np.flatnonzero(lone))


def _ends_line(text: str) -> bool:
    return "\n" in text or text.strip()[-1:] in LINE_ENDS if text.strip() else "\n" in text
