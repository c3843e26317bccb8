"""The public functions that hold two models against each other; all are names of `lmviz`.

Slow imports happen when first needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.api.given import opened_model
from lmviz.api.many import told
from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmviz.api.given import Given, Ids
    from lmviz.circuits.contrast import Contrast
    from lmviz.differences.before_after import BeforeAfter
    from lmviz.differences.difference import ModelDifference
    from lmviz.differences.pair import ModelPair
    from lmviz.differences.transplant import Transplant
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus


def difference(
    before: Given,
    after: Given,
    text: str | Path | Ids | Corpus | None = None,
    *,
    inside: bool = True,
    special_tokens: bool = True,
    progress: Report | None = None,
) -> ModelDifference:
    """The difference between two models, such as one at two steps, or a base model and a tuned one.

    `text` is a file, a text, a row of token ids, or a corpus, of which the held-out part is read.
    `change.tokens` has each token with the change of its loss in nats, and `change.total` the mean, which is
    the difference of what `evaluate` says of the two. `change.text.low` and `.high` are a band of 95 %,
    `change.text.words(10)` the words whose probability rose most, `change.text.passages(5)` those where the
    second is most ahead. Where tokens differ, `change.text` is about stretches of text, in nats per byte, and
    nothing else is asked.

    Of two of one shape, `change.stream.array` (place, position) is the relative distance of their states,
    `.cosine` the cosine; `change.similarity` is linear CKA, also of models of other widths;
    `change.heads.array` (layer, head) the share of its attention that each head moved; `change.matrices` has
    for each parameter `.relative`, ‖ΔW‖/‖W‖, and `.singular`, the singular values of its change.
    `change.why_not` says why any of these are None. With `inside` false only the text is asked about.
    `progress` hears of the share that is done, 0 to 1, and may raise to cancel the work.
    LmvizError where a text cannot be read, and for models that do not predict the next token of one text.
    """
    from lmviz.differences.difference import compared
    from lmviz.differences.documents import judged_text, judged_texts
    from lmviz.differences.text_difference import stretch_difference, text_difference
    from lmviz.models.interruption import part_of_work

    pair = _pair(before, after, special_tokens)
    with told(progress):
        if text is None:
            return compared(pair, None, (), inside=inside)
        if not pair.read_alike:
            return compared(pair, stretch_difference(pair, judged_texts(pair, text)), (), inside=False)
        judged = judged_text(pair.before, text)
        with part_of_work(0, 2):
            found = text_difference(pair, judged.documents, judged.start)
        with part_of_work(1, 2):
            return compared(pair, found, judged.documents, inside=inside)


def transplant(
    before: Given,
    after: Given,
    contrast: Contrast | str | Ids,
    each: str = "part",
    *,
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Transplant:
    """Which parts of a model carry the change of a measure into another: the share of the change by part.

    `moved.array` (part,) has each part of the second model put alone into the first, `moved.from_below` all
    parts up to it, and `moved.from_above` it and all behind it; `moved.parts` are their names. With all parts
    the model is the second one, and the share exactly 1. `each` takes the model apart by "part" (attention,
    feed-forward networks, words, output), "layer", "head" or "matrix", of which an adapter changes some.
    `contrast` is a text with a measure, as `lmviz.contrast` makes it, whose changed text plays no part; or a
    text, which is asked about the word after it that rose most, against the one that fell most.
    `progress` as of `difference`. LmvizError where the two differ in tokens or shape, or where the measure is
    the same in both.
    """
    from lmviz.api.circuits import contrast as made
    from lmviz.circuits.contrast import Contrast
    from lmviz.differences.transplant import transplant as carried_over

    pair = _pair(before, after, special_tokens)
    asked = contrast if isinstance(contrast, Contrast) else made(contrast)
    with told(progress):
        return carried_over(pair, asked, each)


def interpolate(before: Given, after: Given, strength: float) -> Model:
    """A model between two of one shape: the weights of the first, plus `strength` times the change.

    0 is the first and 1 the second; beyond these the change is undone, or driven further. The model can be
    asked anything that others can. LmvizError where the two differ in tokens or shape.
    """
    from lmviz.differences.between import between

    return between(_pair(before, after, True), strength)


def before_and_after(
    before: Given,
    after: Given,
    prompts: Sequence[str] | None = None,
    *,
    text: str = "",
    tokens: int = 24,
    special_tokens: bool = True,
    progress: Report | None = None,
) -> BeforeAfter:
    """The answers of two models to the same beginnings of texts, such as of a base model and a tuned one.

    `answers.words` are what the first expects most after each of the `prompts`, by default six sentences that
    a model of English may know; `answers.before` and `.after` (prompt,) how likely these words are to either,
    and `.change` the difference. `answers.expected` (model, prompt) is what each expects most itself. Where a
    `text` is given, `answers.texts` are how both go on with it by so many `tokens`, with the same random
    numbers. `progress` as of `difference`. LmvizError where tokens differ, or where a beginning cannot be
    read.
    """
    from lmviz.differences.before_after import FACTS, MOST_TOKENS, first_answers

    tokens = whole_number("tokens", tokens)
    if tokens > MOST_TOKENS:
        raise LmvizError(f"tokens is at most {MOST_TOKENS} here: use lmviz.sample for a longer text.")
    if not isinstance(text, str):
        raise LmvizError("text is what both go on with: give a text, or '' for none.")
    asked = FACTS if prompts is None else prompts
    if not isinstance(asked, list | tuple) or not asked or not all(isinstance(one, str) for one in asked):
        raise LmvizError("prompts are beginnings of texts: give a list of one or more.")
    pair = _pair(before, after, special_tokens)
    pair.check_read_alike()
    with told(progress):
        found = first_answers(pair.before, asked).with_model(pair.after)
        for model in (pair.before, pair.after) if text else ():
            found = found.with_text(model, text, tokens)
        return found


def _pair(before: Given, after: Given, special_tokens: bool) -> ModelPair:
    from lmviz.differences.pair import paired

    return paired(opened_model(before, special_tokens), opened_model(after, special_tokens))
