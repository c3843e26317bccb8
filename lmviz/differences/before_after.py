"""What a model and those that it became say to the same beginnings: how likely what the first expected is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lmviz.decoding.many_next_tokens import next_tokens
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import sample
from lmviz.looks.shown import Shown
from lmviz.models.interruption import look_up
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.training.beside import OWN, TextsBeside

if TYPE_CHECKING:
    from lmviz.models.model import Model

FACTS = (
    "The capital of France is",
    "The opposite of hot is",
    "Two plus two equals",
    "The largest planet of our solar system is",
    "The sun rises in the",
    "The first month of the year is",
)
"""What a model of English often knows, and may forget."""

FIRST, LAST = 3, 12
"""A beginning taken from a text is cut behind so many tokens at least and at most."""

TELLING = 0.6
"""The probability near which what a model expects can rise as well as fall."""

MOST_TOKENS = 512
"""A text goes on by so many tokens at most."""

DRAWS = {"seed": 0, "temperature": 0.8, "top_p": 0.95}
"""How each goes on with a text: with the same random numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAfter(Shown):
    """Answers of a model, and of those that it became, to the same beginnings.

    `words` are what the first model expects most after each of the `prompts`, `ids` the tokens of these, and
    `shares` (model, prompt) how likely each model finds them. `expected` (model, prompt) is what each expects
    most itself. `texts` (model,) is how each goes on with one text, as far as that was asked.
    """

    prompts: tuple[str, ...]
    words: tuple[str, ...]
    ids: tuple[int, ...]
    shares: np.ndarray
    expected: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...] = ()

    @property
    def before(self) -> np.ndarray:
        """How likely the words are to the first model, (prompt,)."""
        return self.shares[0]

    @property
    def after(self) -> np.ndarray:
        """How likely they are to the last one, (prompt,)."""
        return self.shares[-1]

    @property
    def change(self) -> np.ndarray:
        """The change of these probabilities from the first model to the last, (prompt,)."""
        return self.after - self.before

    def with_model(self, model: Model) -> BeforeAfter:
        """The same with one more model of the same tokens."""
        found = next_tokens(model, [read_prefix(model, prompt) for prompt in self.prompts], SamplingOptions())
        row = [float(one.probabilities[id]) for one, id in zip(found, self.ids, strict=True)]
        expected = tuple(one.top(1)[0].token for one in found)
        return replace(self, shares=np.vstack([self.shares, [row]]), expected=(*self.expected, expected))

    def with_text(self, model: Model, text: str, tokens: int) -> BeforeAfter:
        """The same with how the next of its models goes on with a text, by so many tokens."""
        written = text
        for step in sample(model, text, tokens, SamplingOptions.from_values(DRAWS)):
            look_up()
            written = step.text
        return replace(self, texts=(*self.texts, written[len(text) :]))


def first_answers(model: Model, prompts: Sequence[str]) -> BeforeAfter:
    """What a model expects most after each of some beginnings; LmvizError where one cannot be read."""
    found = next_tokens(model, [read_prefix(model, prompt) for prompt in prompts], SamplingOptions())
    best = [one.top(1)[0] for one in found]
    return BeforeAfter(
        tuple(prompts),
        tuple(one.token for one in best),
        tuple(one.id for one in best),
        np.array([[one.probability for one in best]], dtype=np.float64).reshape(1, len(best)),
        (tuple(one.token for one in best),),
    )


def knows_words_of(model: Model, prompts: Sequence[str] = FACTS) -> bool:
    """Whether every word of some beginnings is one that a model has tokens for."""
    tokenizer = model.tokenizer
    return tokenizer is not None and not any(
        any(tokenizer.encode_prefix(prompt).unknown) for prompt in prompts
    )


def usual_beginnings(model: Model, folder: Path, vocabulary_size: int) -> list[str]:
    """What to ask a model that a run in a folder began with: facts, or what it wrote itself before.

    Facts where it has tokens for all of their words; otherwise beginnings of the texts that were kept beside
    the run, none where none were.
    """
    if knows_words_of(model):
        return list(FACTS)
    beside = TextsBeside.load(folder, vocabulary_size)
    rows = None if beside is None else beside.rows.get(OWN)
    return [] if rows is None else telling_beginnings(model, rows)


def telling_beginnings(model: Model, rows: np.ndarray) -> list[str]:
    """Beginnings of texts (text, position) of a model's own, each cut where it is neither lost nor certain.

    There what it expects most has about the probability `TELLING`, and can rise as well as fall. Those that
    are no text, and those that come twice, are left out.
    """
    tokenizer = model.tokenizer
    assert tokenizer is not None, "asked of models that read texts"
    first, last = min(FIRST, rows.shape[1]), min(LAST, rows.shape[1])
    with evaluation(model) as reader:
        logits = reader(on_device(model, rows[:, :last]), None)
        best = logits.float().softmax(dim=-1).amax(dim=-1).cpu().numpy()  # (text, position)
    found = []
    for row, shares in zip(rows, best, strict=True):
        length = first + int(np.argmin(np.abs(shares[first - 1 :] - TELLING)))
        text = tokenizer.decode(row[:length])
        if text.strip() and text not in found:
            found.append(text)
    return found
