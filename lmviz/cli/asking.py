"""Commands that ask a trained model: evaluate, predict, sample, trace."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report
from lmviz.cli.options import as_json, at_step, letters, read_settings, sampling_options, with_base
from lmviz.cli.terminal import print_json, print_table, say, share_bar

if TYPE_CHECKING:
    from lmviz.decoding.translation import Translation
    from lmviz.decoding.translation_evaluation import TranslationEvaluation
    from lmviz.models.model import Model
    from lmviz.training.evaluation import Evaluation
    from lmviz.training.label_evaluation import LabelEvaluation, LabelScore
    from lmviz.training.span_evaluation import SpanScore

MISSED = 10
"""How many of the words that were labelled wrong most often are listed."""


@click.command()
@click.argument("model")
@click.argument("file", required=False)
@click.option("--target", metavar="FILE", help="The same lines as MODEL should translate them.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=read_settings,
    help="How FILE is written, where that is not recognised: encoding, form, columns and others of a text.",
)
@letters
@at_step
@with_base
@as_json
def evaluate(
    model: str,
    file: str | None,
    target: str | None,
    settings: dict[str, Any],
    letters: bool,
    step: int | None,
    base: str | None,
    as_json: bool,
) -> None:
    """Say how well MODEL, a run or a sample model, predicts the text in FILE, or labels or translates it.

    Without FILE it is judged on the part of its own text that was held out from training.
    """
    from lmviz.decoding.translation_evaluation import TranslationEvaluation
    from lmviz.training.evaluation import Evaluation
    from lmviz.training.label_evaluation import LabelEvaluation

    opened = lmviz.open_model(model, step, special_tokens=not letters, base=base)
    with share_bar("evaluating") as progress:
        if file is None:
            score = _evaluate_held_out(model, opened, progress)
        else:
            found = lmviz.evaluate(opened, file, target=target, progress=progress, **settings)
            assert isinstance(found, Evaluation | LabelEvaluation | TranslationEvaluation), "as a whole"
            score = found
    if file is not None and _learned_from(model, file):
        say(f"{model} has learned from {file}: without FILE it is judged on the part that was held out.")
    if isinstance(score, LabelEvaluation):
        _report_labels(score, as_json)
        return
    if isinstance(score, TranslationEvaluation):
        _report_translations(score, as_json)
        return
    values = {
        "tokens": score.tokens,
        "negative_log_likelihood": score.negative_log_likelihood,
        "perplexity": score.perplexity,
        "known_perplexity": score.known_perplexity,
        "bits_per_character": score.bits_per_character,
        "unknown": score.unknown,
        "unknown_share": score.unknown_share,
    }
    if as_json:
        print_json(values)
    else:
        units = {
            "negative_log_likelihood": "nats per token",
            "known_perplexity": "without unknown words",
            "bits_per_character": "bits, unknown words spelled out",
            "unknown": "tokens",
            "unknown_share": "of the tokens",
        }
        for name, value in values.items():
            if value is None:
                continue
            number = f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
            print(f"{name.replace('_', ' '):<24} {number} {units.get(name, '')}".rstrip())


def _evaluate_held_out(
    name: str, model: Model, progress: Report
) -> Evaluation | LabelEvaluation | TranslationEvaluation:
    """Judge a model on the part of its own text that was held out."""
    from lmviz.api.training import corpus_of, find_run, is_run, sources_elsewhere
    from lmviz.cli.training import ask_before_reading
    from lmviz.runs.evaluating import evaluate_corpus
    from lmviz.training.run import Run

    if not is_run(find_run(name)):
        raise LmvizError(f"{name} is not a run, so it has no text of its own: name a file to judge it on.")
    run = Run.open(find_run(name))
    ask_before_reading(name, sources_elsewhere(run, Path.cwd()), "name a file to judge it on")
    corpus = corpus_of(run)
    if not len(corpus.validation_documents):
        raise LmvizError(f"No part of the text of {name} was held out: name a file to judge it on.")
    return evaluate_corpus(model, corpus, progress=progress)


def _learned_from(name: str, file: str) -> bool:
    """Whether a file is among those that a run learned from."""
    from lmviz.api.training import find_run, is_run
    from lmviz.training.run import Run

    if not is_run(find_run(name)):
        return False
    recorded = Run.open(find_run(name)).description.corpus
    learned = {*recorded.get("sources", []), *recorded.get("target_sources", [])}
    return bool(learned & {file, os.path.abspath(file)})


def _report_labels(score: LabelEvaluation, as_json: bool) -> None:
    """Say how well texts were labelled: as a whole, by label, span and word, and what was taken for what."""
    values = {
        "tokens": score.tokens,
        "negative_log_likelihood": score.negative_log_likelihood,
        "perplexity": score.perplexity,
        "accuracy": score.accuracy,
        "macro_f1": score.macro_f1,
    }
    if as_json:
        words = {"known": _of_words(score.known), "unknown": _of_words(score.unknown)}
        by = {
            "by_label": {name: asdict(item) for name, item in score.by_label.items()},
            "by_word": {word: _of_words(item) for word, item in score.by_word.items()},
            "by_span": {kind: _of_spans(item) for kind, item in score.by_span.items()},
        }
        confusion = [list(map(int, row)) for row in score.confusion]
        figures = {**values, **words, "spans": _of_spans(score.spans), "scheme": score.scheme}
        print_json({**figures, "labels": score.labels, **by, "confusion": confusion})
        return
    names = {
        "tokens": "labels judged",
        "negative_log_likelihood": "nats per label",
        "macro_f1": "F1, mean of all labels",
    }
    for name, value in values.items():
        number = f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
        print(f"{names.get(name, name):<24} {number}")
    for name, item in (("known words", score.known), ("unknown words", score.unknown)):
        if item is not None:
            print(f"{name:<24} {item.accuracy:,.4f} of {item.count:,} right")
    rows = [
        (name, item.count, *_shares(item.precision, item.accuracy, item.f1, item.negative_log_likelihood))
        for name, item in score.by_label.items()
    ]
    print_table(("label", "count", "precision", "recall", "F1", "nats"), rows)
    if score.spans is not None:
        spans = {"all": score.spans, **score.by_span}
        print()
        print_table(
            (f"span ({score.scheme})", "count", "given", "precision", "recall", "F1"),
            [
                (kind, item.wanted, item.given, *_shares(item.precision, item.recall, item.f1))
                for kind, item in spans.items()
            ],
        )
    missed = [
        (word, item.count, *_shares(item.accuracy, item.negative_log_likelihood))
        for word, item in score.most_missed(MISSED)
    ]
    if missed:
        print()
        print_table(("word most often missed", "count", "right", "nats"), missed)


def _shares(*values: float | None) -> tuple[str, ...]:
    return tuple("" if value is None else f"{value:.3f}" for value in values)


def _of_words(item: LabelScore | None) -> dict[str, float] | None:
    """How well words were labelled, as JSON has it; None where there are none."""
    if item is None:
        return None
    return {
        "count": item.count,
        "accuracy": item.accuracy,
        "negative_log_likelihood": item.negative_log_likelihood,
    }


def _of_spans(item: SpanScore | None) -> dict[str, float | None] | None:
    """How many spans were found, as JSON has it; None where labels make none."""
    if item is None:
        return None
    return {**asdict(item), "precision": item.precision, "recall": item.recall, "f1": item.f1}


def _report_translations(score: TranslationEvaluation, as_json: bool) -> None:
    """Say how well texts were translated: as a whole, and by the length of the source."""
    values = {
        "sentences": score.sentences,
        "tokens": score.tokens,
        "negative_log_likelihood": score.negative_log_likelihood,
        "perplexity": score.perplexity,
        "accuracy": score.accuracy,
        "exact_match": score.exact_match,
        "bleu": score.bleu,
    }
    if as_json:
        by_length = {length: asdict(item) for length, item in score.by_length.items()}
        print_json({**values, "by_length": by_length})
        return
    names = {"negative_log_likelihood": "nats per token", "exact_match": "exact match", "bleu": "BLEU"}
    for name, value in values.items():
        number = f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
        print(f"{names.get(name, name):<24} {number}")
    rows = [
        (length, item.count, *(f"{share:.3f}" for share in shares))
        for length, item in score.by_length.items()
        for shares in [(item.exact_match, item.bleu, item.negative_log_likelihood)]
    ]
    if rows:
        print_table(("source tokens", "count", "exact", "BLEU", "nats"), rows)


@click.command()
@click.argument("model")
@click.option("--text", help="The text that is labelled; also what is translated, or the picture.")
@click.option("--source", help="The text that is translated, or the picture that gets a caption.")
@at_step
@as_json
def predict(model: str, text: str | None, source: str | None, step: int | None, as_json: bool) -> None:
    """Say which labels MODEL, a tagger or a classifier, gives to a text, or what it writes for a source: a
    translation, or the caption of a picture."""
    from lmviz.decoding.translation import Translation

    given = source if text is None else text
    if given is None or (text and source):
        raise LmvizError(
            "Give one text: --text for labels, --source (or --text) for a translation or a caption."
        )
    opened = lmviz.open_model(model, step)
    if source is not None and "source" not in opened.inputs:
        raise LmvizError("This model does not translate: give what it should label as --text.")
    answer = lmviz.predict(opened, given)
    if isinstance(answer, Translation):
        _show_translation(answer, as_json)
        return
    shares = answer.probabilities.tolist()
    if as_json:
        values = {"tokens": answer.tokens, "labels": answer.labels, "names": answer.names}
        print_json({**values, "probabilities": shares})
    elif answer.probabilities.ndim == 1:
        ranked = sorted(zip(answer.names, shares, strict=True), key=lambda pair: -pair[1])
        print_table(("label", "probability"), [(name, f"{share:.4f}") for name, share in ranked])
    else:
        rows = zip(answer.tokens, answer.labels, map(max, shares), strict=True)
        print_table(("token", "label", "probability"), [(*words, f"{share:.4f}") for *words, share in rows])


def _show_translation(answer: Translation, as_json: bool) -> None:
    if not as_json:
        print(answer.text)
        return
    alignment = None if answer.alignment is None else answer.alignment.tolist()
    values = {"text": answer.text, "tokens": answer.tokens, "source_tokens": answer.source_tokens}
    print_json({**values, "log_probability": answer.log_probability, "alignment": alignment})


@click.command()
@click.argument("model")
@click.option("--prefix", default="", help="The text to continue.")
@click.option("--tokens", type=click.IntRange(1), default=20, show_default=True, help="Tokens to add.")
@sampling_options("temperature", "top_k", "top_p", "min_p", "seed")
@letters
@at_step
@with_base
@as_json
def sample(
    model: str,
    prefix: str,
    tokens: int,
    letters: bool,
    step: int | None,
    base: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Continue a prefix with tokens sampled from MODEL, a run or a sample model."""
    opened = lmviz.open_model(model, step, special_tokens=not letters, base=base)
    steps = list(lmviz.sample(opened, prefix, tokens, **options))
    text = steps[-1].text
    if as_json:
        drawn = [
            {"token": item.token, "id": item.id, "probability": item.probability, "draw": item.draw}
            for item in steps
        ]
        print_json({"prefix": prefix, "text": text, "tokens": drawn})
    else:
        print(text)


@click.command()
@click.argument("model")
@click.option("--text", required=True, help="The text that the model reads.")
@click.option("--source", help="What a translator reads beside it, or the picture that the text describes.")
@click.option("--out", required=True, metavar="FILE.npz", help="Where to write the arrays.")
@click.option("--taps", multiple=True, metavar="PATTERN", help='Only these, such as "*/hidden".')
@letters
@at_step
@with_base
@as_json
def trace(
    model: str,
    text: str,
    source: str | None,
    out: str,
    taps: tuple[str, ...],
    letters: bool,
    step: int | None,
    base: str | None,
    as_json: bool,
) -> None:
    """Record one forward pass of MODEL: every array under its tap address, and "tokens"."""
    opened = lmviz.open_model(model, step, special_tokens=not letters, base=base)
    recorded = lmviz.trace(opened, text, source=source, taps=taps or None)
    assert isinstance(recorded, lmviz.Trace)  # there is one text
    recorded.save(out)
    arrays = recorded.arrays.items()
    if as_json:
        described = {address: {"axes": item.axes, "shape": item.array.shape} for address, item in arrays}
        said = {"out": out, "tokens": recorded.tokens, "dropped": recorded.dropped, "arrays": described}
        print_json(said)
    else:
        sizes = {address: " × ".join(map(str, item.array.shape)) for address, item in arrays}
        rows = [(address, sizes[address], ", ".join(item.axes)) for address, item in arrays]
        print_table(("address", "shape", "axes"), rows)
