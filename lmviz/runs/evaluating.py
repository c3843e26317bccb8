"""How well a model does what an open corpus asks: the next token, labels, or translations.

`lmviz.evaluate` reads a file for a model; this judges a corpus that is open already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.models.sequences import SOURCE
from lmviz.tasks import CAPTIONING, NEXT_TOKEN

if TYPE_CHECKING:
    from lmviz.decoding.translation_evaluation import TranslationEvaluation
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples_for import Part
    from lmviz.training.evaluation import Evaluation
    from lmviz.training.label_evaluation import LabelEvaluation

    Score = Evaluation | LabelEvaluation | TranslationEvaluation


def part_to_judge(corpus: Corpus) -> Part | None:
    """The part that models are judged on: what is held out.

    Where examples are so few that none are, it is those that were learned from. None where a text for the
    next token has no held-out part: there a model could know it by heart.
    """
    if len(corpus.validation_documents):
        return "validation"
    return None if corpus.task == NEXT_TOKEN else "training"


def evaluate_corpus(
    model: Model,
    corpus: Corpus,
    part: Part = "validation",
    progress: Report = unheard,
) -> Score:
    """Judge a model on a part of a corpus, read with the model's own tokenizers and labels.

    What comes back has nats and perplexity, and what the task is measured by beside them. `progress` hears
    of the share that is done, and may raise to cancel. LmvizError where the corpus asks something else than
    the model answers, or cannot be read by it.
    """
    from lmviz.decoding.translation_evaluation import evaluate_translations
    from lmviz.text.answers import answers_for
    from lmviz.text.examples_for import examples_for
    from lmviz.training.held_out import evaluate_answers, evaluate_documents
    from lmviz.training.label_evaluation import evaluate_examples

    tokenizer = model.tokenizer_needed()
    if SOURCE in model.inputs:
        source = model.tokenizer_of(SOURCE)
        captions = model.task == CAPTIONING
        _check(corpus, model.task, "pictures with captions" if captions else "pairs of texts")
        assert source is not None, "a translator opened from a run has both tokenizers"
        examples = examples_for(corpus, part, source, target_tokenizer=tokenizer)
        return evaluate_translations(model, examples, progress)
    if not model.predicts.continues:
        per_text = model.predicts.per == "text"
        _check(corpus, model.task, "labelled text" if per_text else "tagged text")
        examples = examples_for(corpus, part, tokenizer, model.predicts.names)
        return evaluate_examples(model, examples, progress)
    if corpus.answers_only:
        answers = answers_for(corpus, part, tokenizer)
        return evaluate_answers(model, answers, progress)
    documents = corpus.training_documents if part == "training" else corpus.validation_documents
    return evaluate_documents(model, documents, progress)


def _check(corpus: Corpus, task: str, needed: str) -> None:
    if corpus.task != task:
        raise LmvizError(f"{corpus.name} is read for {corpus.task}: this model is judged on {needed}.")
