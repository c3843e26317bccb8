"""The public functions about many texts: sets, measures, and loss maps; all are names of `lmviz`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.api.given import opened_model
from lmviz.base.arguments import check_callable, whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard

if TYPE_CHECKING:
    import numpy as np

    from lmviz.api.given import Given
    from lmviz.circuits.set_questions import SetQuestions
    from lmviz.inspection.measures import Divergence, WordSum
    from lmviz.inspection.scalar import AnyOf
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples import Examples
    from lmviz.text.text_set import TextSet
    from lmviz.training.loss_map import LossMap


def text_set(
    source: str | Path | Iterable[Any] | None = None,
    *,
    by: str = "",
    pattern: str = "",
    lists: Mapping[str, Sequence[str]] | None = None,
    changed: str = "",
    wanted: str = "",
    other: str = "",
    label: str = "",
    sample: int | None = None,
    seed: int = 0,
) -> TextSet:
    """A set of texts that are asked one question, in rows.

    A row has `.text`, `.changed`, `.wanted`, `.other` and `.label`. `source` is the path of a file, or rows:
    texts, pairs of a text and a changed one, or mappings with those names. In JSONL, JSON, CSV and TSV the
    names are those of the parts, "prompt" and "answer" among others; any other file gives a row for each
    line, or for each sentence with by="sentence". Or a `pattern`, such as "When {A} and {B} went home, {B}
    gave a ring to", is filled in with words from `lists`, and `changed`, `wanted`, `other` and `label` with
    the same words. With `sample`, so many rows are drawn, the same for the same `seed`. LmvizError, with its
    number, for what is no row.
    """
    from lmviz.text.set_files import read_set
    from lmviz.text.text_set import filled_in, set_of

    for name, said in (("by", by), ("pattern", pattern), ("changed", changed), ("wanted", wanted)):
        _check_text(name, said)
    _check_text("other", other)
    _check_text("label", label)
    if sample is not None:
        sample = whole_number("sample", sample, least=1)
    seed = whole_number("seed", seed)
    if pattern:
        if source is not None:
            raise LmvizError("A set comes from rows or from a pattern: leave one of them out.")
        return filled_in(
            pattern,
            lists or {},
            changed=changed,
            wanted=wanted,
            other=other,
            label=label,
            count=sample,
            seed=seed,
        )
    if source is None:
        raise LmvizError("There is nothing to make a set of: give rows, a file, or a pattern with lists.")
    found = read_set(source, by=by) if isinstance(source, str | Path) else set_of(source)
    return found if sample is None else found.sample(sample, seed)


def _check_text(name: str, value: object) -> None:
    """LmvizError for what should be words and is none."""
    if not isinstance(value, str):
        raise LmvizError(f"{name} is written as text, not as {value!r}.")


def contrasts(
    model: Given, given: TextSet | Iterable[Any], *, measure: AnyOf | None = None, special_tokens: bool = True
) -> SetQuestions:
    """The questions that the rows of a set ask a model: `.contrasts`, for `patch`, `ablate` and `attribute`.

    Without a `measure` it is the logit of each row's wanted word minus that of the other, or the loss of a
    text without one. `.troubles` says of the rows that are left out, by number, why: the wanted word is not
    one token, or the two texts do not line up; `.rows` are the numbers of the others, and `.values` (row,)
    the measure of every row, NaN where it is left out. LmvizError where no
    row is left.
    """
    from lmviz.circuits.set_questions import questions_of
    from lmviz.text.text_set import set_of

    return questions_of(opened_model(model, special_tokens), set_of(given), measure)


def words(
    words: str | Iterable[str],
    against: str | Iterable[str] = (),
    *,
    of: str = "probability",
    position: int = -1,
) -> WordSum:
    """A measure: the sum of the probabilities of several words, minus that of the words `against`.

    With of="logit" it is the sum of their logits. They are meant after the token `position`. LmvizError for
    logits of sets of different sizes.
    """
    from lmviz.base.arguments import words as as_words
    from lmviz.inspection.measures import WordSum

    return WordSum(as_words("word", words, " night"), as_words("word", against, " day"), of, position)


def divergence(position: int | None = -1) -> Divergence:
    """A measure: how far the answer is from that of the unchanged model, in nats.

    The Kullback–Leibler divergence from the unchanged model's distribution to the one at hand, after the
    token `position`, or the mean over all positions with None.
    """
    from lmviz.inspection.measures import Divergence

    if position is not None:
        position = whole_number("position", position, least=-(2**31))
    return Divergence(position)


def loss_map(
    model: Given,
    text: str | Path | Sequence[str | Path] | TextSet | Corpus,
    target: str | Path | None = None,
    *,
    part: str = "validation",
    learned: Corpus | None = None,
    special_tokens: bool = True,
    progress: Report | None = None,
    **settings: Any,
) -> LossMap:
    """The loss of every token of a text: `.ids` and `.losses` (token,), NaN of what is not predicted.

    Of a tagger it is the loss of each word's label, of a classifier that of each text's label, at its last
    token, and of a translator that of each token of the translation; `target` is as of `evaluate`.
    Its sum is that of `evaluate`. `.by_position()`, `.by_frequency()`, `.by_kind()` and `.by_label()`
    divide it; `.passages(10)` are the worst passages, `.words()` the words by what they cost in all, and
    `.minus(other)` is the difference of two models of one vocabulary. `text` is a file or several as of
    `evaluate`, a set, or a corpus, of which the `part` "validation" or "training" is read. `learned` is the
    corpus that the model learned from, where its own frequencies are to be counted there; by default a
    corpus that is read itself. `settings` say how a file is written.
    LmvizError as of `evaluate`.
    """
    from lmviz.text.corpus import Corpus

    check_callable("progress", progress)
    report = progress or unheard
    opened = opened_model(model, special_tokens)
    if learned is None and isinstance(text, Corpus):
        learned = text
    if learned is not None and not isinstance(learned, Corpus):
        raise LmvizError(f"{learned!r} is no corpus: give what load_corpus returns, or leave it out.")
    from lmviz.runs.loss_mapping import is_of_plain_text, learned_counts
    from lmviz.training.answer_map import map_of_examples
    from lmviz.training.loss_map import loss_map as judged

    if not is_of_plain_text(opened):
        examples = examples_in(opened, text, target, settings, part)
        counts = None if learned is None else learned_counts(opened, learned)
        return map_of_examples(opened, examples, counts=counts, progress=report)
    if target is not None:
        raise LmvizError("This model does not translate, so there is no target: leave it out.")
    documents, start, labels = judged_text(opened, text, part, settings)
    counts = None if learned is None else learned_counts(opened, learned)
    return judged(opened, documents, start, counts=counts, labels=labels, progress=report)


def judged_text(
    model: Model, text: Any, part: str, settings: Mapping[str, Any]
) -> tuple[list[np.ndarray], int | None, dict[int, str]]:
    """The documents of a text as a language model reads them, the id that is not judged, and their labels."""
    from lmviz.models.model import EVERY_LINE
    from lmviz.models.prefix import read_prefix
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples import AnsweredTexts
    from lmviz.text.text_set import TextSet
    from lmviz.training.held_out import documents_judged, documents_of, lines_judged
    from lmviz.training.judged_file import lines_in, text_in

    tokenizer = model.tokenizer_needed()
    start = tokenizer.start_id if tokenizer.marks_boundaries else None
    if isinstance(text, TextSet):
        rows = [read_prefix(model, row.text).ids for row in text]
        return rows, start, {number: row.label for number, row in enumerate(text)} if text.labels else {}
    if isinstance(text, Corpus):
        _check_part(part)
        held_out = text.validation_documents if part == "validation" else text.training_documents
        return *documents_judged(model, held_out), {}
    read = text_in(model, text, settings)
    if model.documents == EVERY_LINE:
        return lines_judged(model, lines_in(read, text)), None, {}
    if isinstance(read.training_examples, AnsweredTexts):
        return list(read.training_examples.source), None, {}
    start = tokenizer.start_id if read.marks_boundaries else None
    return documents_of(read.training, start), start, {}


def examples_in(
    model: Model, source: Any, target: str | Path | None, settings: Mapping[str, Any], part: str = "training"
) -> Examples:
    """The examples of a file, a set, or a part of a corpus, for a model of labels or a translator."""
    from lmviz.models.sequences import SOURCE
    from lmviz.runs.loss_mapping import examples_of_corpus
    from lmviz.text.corpus import Corpus
    from lmviz.text.corpus import load_corpus as load
    from lmviz.text.text_set import TextSet

    if isinstance(source, Corpus):
        _check_part(part)
        return examples_of_corpus(model, source, part)  # type: ignore[arg-type]  # checked
    if isinstance(source, TextSet):
        return _examples_of_set(model, source)
    further: dict[str, Any] = {"task": model.task, "validation": 0.0, **settings}
    if SOURCE in model.inputs:
        own = model.tokenizer_needed(SOURCE)
        text = load(source, own, target=target, target_tokenizer=model.tokenizer, **further)
    elif target is not None:
        raise LmvizError("This model does not translate, so there is no target: leave it out.")
    else:
        text = load(source, model.tokenizer_needed(), labels=model.predicts.names, **further)
    assert text.training_examples is not None, "its task has examples"
    return text.training_examples


def _examples_of_set(model: Model, given: TextSet) -> Examples:
    """The rows of a set with their labels; LmvizError where a row has none that a classifier knows."""
    from lmviz.models.prefix import read_prefix
    from lmviz.text.examples import Examples, Sequences

    names = model.predicts.names
    if model.predicts.continues or model.predicts.per != "text":
        raise LmvizError(
            "The rows of a set have one label each at most, which is what a classifier predicts: give this "
            "model a file or a corpus."
        )
    for number, row in enumerate(given):
        if row.label not in names:
            raise LmvizError(
                f"Row {number + 1} has the label {row.label!r}, and this model knows {', '.join(names)}."
            )
    texts = [read_prefix(model, row.text).ids.tolist() for row in given]
    labels = [[names.index(row.label)] for row in given]
    return Examples(
        Sequences.of(texts, model.vocabulary_size - 1), Sequences.of(labels, max(1, len(names) - 1))
    )


def _check_part(part: str) -> None:
    if part not in ("validation", "training"):
        raise LmvizError(f"A corpus has a 'validation' and a 'training' part, and no {part!r}.")
