"""The public functions that ask a model something: trace, predict, sample, explain, evaluate, compare.

All of them are also names of `lmviz`. A model may be given as the folder of a run or the name of a sample
model, which is then opened at its last snapshot. Special tokens in a text, such as "<|im_start|>" of a model
of another program, are read as such, and with special_tokens=False as the letters that they are spelled with.
A row of token ids in place of a text is read as it stands. Indices count from 0, and negative ones from the
end. Slow imports happen when first needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.api.given import (
    beside_text,
    changed_model,
    listed,
    model_at,
    opened_model,
    run_with_steps,
    under_interventions,
)
from lmviz.api.many import several_texts, sources_of, told
from lmviz.base.arguments import check_callable, whole_number
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.base.reporting import Report, unheard
from lmviz.showing.several import ResultList, ResultsByStep

if TYPE_CHECKING:
    from lmviz.api.given import Given, Ids, Several, Steps
    from lmviz.decoding.beam import BeamTree
    from lmviz.decoding.comparison import Disagreement
    from lmviz.decoding.distribution import Distribution
    from lmviz.decoding.labels import Answer
    from lmviz.decoding.options import SamplingOptions
    from lmviz.decoding.sampling import Sampling
    from lmviz.decoding.translation import Translation
    from lmviz.decoding.translation_evaluation import TranslationEvaluation
    from lmviz.inspection.gradient import Gradient
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.logit_lens import LogitLens
    from lmviz.inspection.scalar import AnyOf
    from lmviz.inspection.trace import Trace
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.model import Model
    from lmviz.text.text_set import TextSet
    from lmviz.training.evaluation import Evaluation
    from lmviz.training.label_evaluation import LabelEvaluation
    from lmviz.training.loss_map import LossMap, RowLosses


def trace(
    model: Given,
    text_or_ids: str | Ids | Several,
    *,
    source: str | Ids | None = None,
    taps: Sequence[str] | None = None,
    interventions: Sequence[Intervention] = (),
    steps: Steps | None = None,
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Trace | list[Trace] | dict[int, Trace | list[Trace]]:
    """One forward pass written down: `trace["layers/0/hidden"].array`, `.axes`, `trace.tokens`.

    Of several texts, or of a set, there are as many traces, in their order, read in padded batches: besides
    the traces, memory is taken for 4,096 positions or 2^24 logits at once, or for one text that has more.
    `source` may then be one for each. `progress` hears of the share that is done, 0 to 1, and may raise to
    cancel the work. `taps` are patterns of addresses, such as
    "layers/*/hidden"; by default all are recorded. `source` is what a translator reads beside its text, or a
    picture: its rows with / between them, "#" painted and "." blank. `special_tokens` is false where those
    in a text, such as "<|im_start|>", are to be read as letters.
    With `steps`, of a run or of a series of checkpoints, there is a trace for each of these steps by its
    number, or for "all".
    Of a text longer than the model's context the last tokens are read: `trace.dropped` counts those left out,
    and an `LmvizWarning` says so. It also says where values are NaN, and which weight is.
    LmvizError when a text cannot be read, or when a pattern or an intervention does not fit the model.
    """
    from lmviz.inspection.many_traces import traces
    from lmviz.inspection.tracing import trace as record
    from lmviz.models.interruption import part_of_work

    changes = listed(interventions)
    texts = several_texts(text_or_ids)
    sources = None if texts is None else sources_of(source, len(texts))

    def read(opened: Model) -> Trace | list[Trace]:
        if texts is not None:
            several = traces(opened, texts, taps=taps, interventions=changes, sources=sources)
            for one in several:
                _warn_of(opened, one, 4)
            return ResultList(several)
        # ids or one text: mypy cannot tell that several texts are gone
        found = record(opened, text_or_ids, taps=taps, interventions=changes, **beside_text(source))  # type: ignore[arg-type]
        _warn_of(opened, found, 4)
        return found

    if steps is None:
        with told(progress):
            return read(opened_model(model, special_tokens))
    run, asked = run_with_steps(model, steps)
    found: ResultsByStep[Trace | list[Trace]] = ResultsByStep()
    with told(progress):
        for number, step in enumerate(asked):
            with part_of_work(number, len(asked)):
                found[step] = read(model_at(run, step, special_tokens))
    return found


def _warn_of(model: Model, trace: Trace, level: int = 3) -> None:
    """Warn of what is not in a trace although it was asked for: the beginning of the text, and numbers."""
    from lmviz.models.finite import why_not_finite

    if trace.dropped:
        warnings.warn(
            LmvizWarning(
                f"{model.name or 'The model'} reads {len(trace):,} tokens at once, so the first "
                f"{trace.dropped:,} of this text were left out (trace.dropped): ask about a shorter text."
            ),
            stacklevel=level,
        )
    broken = trace.without_numbers()
    if broken is not None:
        warnings.warn(
            LmvizWarning(f"{why_not_finite(model, 'the values of the trace')[:-1]}; the first is {broken}."),
            stacklevel=level,
        )


def gradient(
    model: Given,
    text_or_ids: str | Ids | Several,
    of: AnyOf = "loss",
    *,
    source: str | Ids | Several | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
) -> Gradient | list[Gradient]:
    """The derivative of one number with respect to every tap and every parameter.

    Of several texts there is one for each; each is swept back by itself, since it has the gradients of all
    parameters.

    `gradient["layers/0/hidden"].array` has the axes of the trace, `gradient.parameters["embedding.weight"]`
    those of the parameter, and `gradient.trace` is the forward pass. `of` is "loss", the sum of the losses,
    in nats, of all tokens for which the text itself is the target; "loss@3", that of predicting token 3;
    "logit:night@4" or "probability:night@4", of a token after token 4; "logit:night-day@4", that of one token
    minus that of another; or any cell, as ("layers/0/hidden", (3, 17)); or a set of words, or a function of
    the answer, as of `lmviz.contrast`. LmvizError when the model counts and
    has no gradients, when there is no such number, or when the text or an intervention does not fit the
    model. Warnings as of `trace`.
    """
    from lmviz.inspection.backpropagation import gradient as swept_back
    from lmviz.models.interruption import look_up, part_of_work

    opened, surgery = opened_model(model, special_tokens), listed(interventions)
    texts = several_texts(text_or_ids)
    several: list[Any] = [text_or_ids] if texts is None else texts
    sources = [source] if texts is None else sources_of(source, len(several)) or [None] * len(several)
    found = []
    with told(progress):
        for number, (text, beside) in enumerate(zip(several, sources, strict=True)):
            with part_of_work(number, len(several)):
                look_up(0.0)
                one = swept_back(opened, text, of, interventions=surgery, **beside_text(beside))
            _warn_of(opened, one.trace)
            found.append(one)
    return found[0] if texts is None else ResultList(found)


def explain(model: Given, trace: Trace | Gradient, address: str, index: Sequence[int]) -> Arithmetic:
    """Why a cell of a trace has its value: the operation, and every operand with its number and place.

    `arithmetic.value` is the cell's value, `arithmetic.terms` what it is made of, and
    `arithmetic.evaluate()` what the terms come to. The index follows the tap's axes. Of a gradient the
    terms are all cells that read the one asked about: their gradient × local derivative; there the address
    may also be the name of a parameter. LmvizError when there is no such cell, when an operand was not
    recorded, or when the trace was made by another model or at another snapshot.
    """
    from lmviz.inspection.explain import explain as of_cell
    from lmviz.inspection.explain_gradient import explain_gradient
    from lmviz.inspection.gradient import Gradient

    if isinstance(trace, Gradient):
        return explain_gradient(opened_model(model), trace, address, index)
    return of_cell(opened_model(model), trace, address, index)


def logit_lens(
    model: Given, trace: Trace, count: int = 5, positions: Sequence[int] | None = None
) -> LogitLens:
    """The predictions of a model that stopped early: the `count` likeliest tokens at each place.

    At all positions of the trace, or at some. LmvizError when the places were not recorded, or when the
    trace was made by another model or at another snapshot.
    """
    from lmviz.inspection.logit_lens import logit_lens as through_lens

    return through_lens(opened_model(model), trace, count, positions)


def next_token(
    model: Given,
    prefix: str | Ids | Several,
    *,
    source: str | Ids | Several | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
    **options: Any,
) -> Distribution | list[Distribution]:
    """The distribution of the token that follows a prefix; of several, or of a set, one for each.

    `options` are fields of `lmviz.decoding.options.SamplingOptions`: temperature, top_k, top_p, min_p.
    LmvizError when the prefix cannot be read, or when an option or an intervention cannot be.
    """
    from lmviz.decoding.continuation import Continuation
    from lmviz.decoding.options import SamplingOptions
    from lmviz.decoding.sampling import distribution_after

    check_callable("progress", progress)
    chosen = SamplingOptions.from_values(options)
    texts = several_texts(prefix)
    if texts is not None:
        with told(progress):
            return ResultList(
                _next_tokens(
                    opened_model(model, special_tokens), texts, listed(interventions), source, chosen
                )
            )
    one: Any = prefix
    beside: Any = source
    changed = changed_model(model, one, interventions, source=beside, special_tokens=special_tokens)
    return distribution_after(Continuation.of(changed, one), chosen)


def _next_tokens(
    model: Model,
    texts: Sequence[Any],
    interventions: tuple[Intervention, ...],
    source: Any,
    options: SamplingOptions,
) -> list[Distribution]:
    """What follows each of several texts."""
    from lmviz.decoding.many_next_tokens import next_tokens
    from lmviz.models.prefix import check_inputs, read_prefix
    from lmviz.models.sequences import SOURCE

    check_inputs(model, beside_text(source))
    prefixes = [read_prefix(model, text) for text in texts]
    sources = sources_of(source, len(texts))
    beside = None if sources is None else [read_prefix(model, one, SOURCE).ids for one in sources]
    changed = model
    for number, prefix in enumerate(prefixes):  # each must have the positions that are named
        changed = under_interventions(
            model, interventions, len(prefix), 0 if beside is None else len(beside[number])
        )
    return next_tokens(changed, prefixes, options, beside)


def predict(
    model: Given,
    text: str | Ids,
    *,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    **options: Any,
) -> Answer | Translation:
    """The answer of a tagger, a classifier or a translator to a text, or the caption of a picture.

    A tagger gives `.tokens`, `.labels` and `.probabilities` (position, label), one label for each token; a
    classifier one for the text, probabilities (label). `.names` are all its labels in order. A translator,
    or what writes captions, gives `.text`, `.tokens`, `.log_probability` in nats, and `.alignment` (position,
    source), None where it has no attention; `options` are fields of `lmviz.decoding.options.BeamOptions`, and
    without a width the likeliest token is taken at each step. LmvizError when the text cannot be read, when
    the model is none of these, or when an option or an intervention cannot be.
    """
    from lmviz.decoding.labels import label
    from lmviz.decoding.options import BeamOptions
    from lmviz.decoding.translation import greedily, translate
    from lmviz.models.prefix import read_prefix
    from lmviz.models.sequences import SOURCE

    opened = opened_model(model, special_tokens)
    if SOURCE not in opened.inputs:
        if options:
            raise LmvizError(f"Labels are predicted without {min(options)}: leave it out.")
        return label(changed_model(opened, text, interventions), text)
    length = len(read_prefix(opened, text, SOURCE))
    chosen = BeamOptions.from_values({**greedily(length).to_values(), **options})
    changed = under_interventions(opened, interventions, 1 + chosen.length, source=length)
    return translate(changed, text, chosen)


def sample(
    model: Given,
    prefix: str | Ids,
    tokens: int = 20,
    *,
    source: str | Ids | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    **options: Any,
) -> Sampling:
    """Continue a prefix by at most `tokens` drawn tokens: `step.distribution`, `step.draw`, `step.token`.

    `options` are fields of `lmviz.decoding.options.SamplingOptions`, seed=0 among them. An intervention at
    a position stays there while the text grows. LmvizError when the prefix cannot be read, or when an
    option or an intervention cannot be.
    """
    from lmviz.decoding.options import SamplingOptions
    from lmviz.decoding.sampling import Sampling
    from lmviz.decoding.sampling import sample as draw

    tokens = whole_number("tokens", tokens)
    chosen = SamplingOptions.from_values(options)
    changed = changed_model(
        model,
        prefix,
        interventions,
        further=max(0, tokens - 1),
        source=source,
        special_tokens=special_tokens,
    )
    return Sampling(draw(changed, prefix, tokens, chosen))


def beam_search(
    model: Given,
    prefix: str | Ids,
    *,
    source: str | Ids | None = None,
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    **options: Any,
) -> BeamTree:
    """The likeliest continuations of a prefix by beam search: `tree.results`, best first, `tree.best`.

    The tree keeps all that was weighed, what was pruned included. `options` are fields of
    `lmviz.decoding.options.BeamOptions`: width, continuations, choice, seed, length, length_penalty,
    length_formula, stop_at_end. LmvizError when the prefix cannot be read, or when an option or an
    intervention cannot be.
    """
    from lmviz.decoding.beam import beam_search as search
    from lmviz.decoding.options import BeamOptions

    chosen = BeamOptions.from_values(options)
    changed = changed_model(
        model,
        prefix,
        interventions,
        further=chosen.length - 1,
        source=source,
        special_tokens=special_tokens,
    )
    return search(changed, prefix, chosen)


def compare(models: Sequence[Given], text: str, *, special_tokens: bool = True) -> Disagreement:
    """The places of a text at which the predictions of models differ, whatever their tokenizers.

    `found.places` are the numbers of characters read so far, `found.divergence` the Jensen–Shannon
    divergence of what comes next, in bits, and `found.largest(3)` the places where it is largest.
    LmvizError when a model cannot read the text, or when there are fewer than two.
    """
    from lmviz.decoding.comparison import disagreement
    from lmviz.decoding.shared_units import shared_units

    if isinstance(models, str | Path) or not isinstance(models, Sequence) or len(models) < 2:
        raise LmvizError(
            "There is nothing to compare: give two models at least, as in compare([a, b], text)."
        )
    opened = [opened_model(model, special_tokens) for model in models]
    tokenizers = [model.tokenizer for model in opened if model.tokenizer is not None]
    if len(tokenizers) < len(opened):
        raise LmvizError("A model has no tokenizer, so it cannot read a text: open it from a run.")
    return disagreement(opened, text, shared_units(tokenizers))


def evaluate(
    model: Given,
    source: str | Path | Sequence[str | Path] | TextSet,
    *,
    target: str | Path | None = None,
    per: str = "",
    interventions: Sequence[Intervention] = (),
    special_tokens: bool = True,
    progress: Report | None = None,
    **settings: Any,
) -> Evaluation | LabelEvaluation | TranslationEvaluation | LossMap | RowLosses:
    """The score of a model on a text that it has not seen: `.tokens`, `.negative_log_likelihood` in
    nats per token, `.perplexity`, `.bits_per_character`, and how many of the tokens are `.unknown`, and
    their `.unknown_share`; `.known_perplexity` is that of the others.

    Of a tagger or a classifier, a text with labels: `.accuracy`, `.by_label`, `.macro_f1` and `.confusion`
    beside nats and perplexity per label; of a tagger also `.by_word`, `.known` and `.unknown` words, and
    `.spans`, `.by_span` and `.scheme` where tags are such as B-PER, I-PER and O. Of a translator, pairs of
    texts, or two files, the second as `target`: `.exact_match`, `.bleu` and `.by_length` beside nats,
    perplexity and accuracy per token.

    `source` may be a set, of a classifier with labels; and with per="token" there is the loss of every token
    or label, as of `loss_map`, with per="row" that of every document or row: `.array` (row,) in nats per
    token, `.tokens`.

    Bits per character include what it takes to spell unknown words out (`lmviz.text.spelling`), over the
    characters of the file.
    `settings` say how the file is written, where that is not recognised: encoding="cp1252", form="table",
    columns="label=v1,text=v2", separator, quotes, heading, several and between of
    `lmviz.text.corpus_options.CorpusOptions`.
    The text is divided into documents as the one the model learned from; an n-gram of an ARPA file reads each
    line as a sentence, and says what KenLM's `query` says of it. Under interventions, positions
    count from the start of each document, or of each window of the model's context; documents that lack
    a position are read without that change, and each is held in memory whole. LmvizError when the text
    cannot be read or is too short, or when an intervention cannot be.
    """
    from lmviz.models.model import EVERY_LINE
    from lmviz.models.sequences import SOURCE
    from lmviz.text.examples import AnsweredTexts
    from lmviz.text.text_set import TextSet
    from lmviz.training.held_out import documents_of, evaluate_answers, evaluate_lines, evaluate_stream
    from lmviz.training.judged_file import lines_in, text_in

    check_callable("progress", progress)
    if per or isinstance(source, TextSet):
        _check_per(per)
        return _evaluate_apart(model, source, target, per, interventions, special_tokens, progress, settings)
    progress = progress or unheard
    _check_of_the_file(settings)
    opened, interventions = opened_model(model, special_tokens), listed(interventions)
    tokenizer = opened.tokenizer_needed()
    if any(item.concerns_tokens for item in interventions):
        raise LmvizError("An intervention cannot change the tokens that are judged: change the text instead.")
    if SOURCE in opened.inputs:
        return _evaluate_translations(opened, source, target, interventions, settings, progress)
    if target is not None:
        raise LmvizError("This model does not translate, so there is no target: leave it out.")
    if not opened.predicts.continues:
        return _evaluate_labels(opened, source, interventions, settings, progress)
    text = text_in(opened, source, settings)
    if opened.documents == EVERY_LINE:
        lines = lines_in(text, source)
        longest = max(len(tokenizer.encode(line)) for line in lines.split("\n")) if interventions else 0
        return evaluate_lines(under_interventions(opened, interventions, longest + 1), lines, progress)
    if isinstance(text.training_examples, AnsweredTexts):
        longest = int(text.training_examples.source.lengths.max())
        return evaluate_answers(
            under_interventions(opened, interventions, longest), text.training_examples, progress
        )
    start = tokenizer.start_id if text.marks_boundaries else None
    positions = max(len(document) for document in documents_of(text.training, start)) - 1
    return evaluate_stream(
        under_interventions(opened, interventions, positions), text.training_stream, progress
    )


def _check_per(per: str) -> None:
    """LmvizError for a division that there is not."""
    if per not in ("", "token", "row"):
        raise LmvizError(f"A text is judged per 'token' or per 'row', not per {per!r}.")


def _evaluate_apart(
    model: Given,
    source: Any,
    target: str | Path | None,
    per: str,
    interventions: Sequence[Intervention],
    special_tokens: bool,
    progress: Report | None,
    settings: Mapping[str, Any],
) -> Evaluation | LabelEvaluation | LossMap | RowLosses:
    """The losses of single tokens or rows, or of a set as a whole."""
    from lmviz.api.sets import examples_in, judged_text
    from lmviz.models.sequences import SOURCE
    from lmviz.runs.loss_mapping import is_of_plain_text
    from lmviz.training.answer_map import map_of_examples
    from lmviz.training.evaluation import evaluate_ids
    from lmviz.training.label_evaluation import evaluate_examples
    from lmviz.training.loss_map import RowLosses, loss_map

    _check_of_the_file(settings)
    opened, interventions = opened_model(model, special_tokens), listed(interventions)
    if any(item.concerns_tokens for item in interventions):
        raise LmvizError("An intervention cannot change the tokens that are judged: change the text instead.")
    if not is_of_plain_text(opened):
        examples = examples_in(opened, source, target, settings)
        sides = (examples.target, examples.source) if SOURCE in opened.inputs else (examples.source,)
        asked = under_interventions(
            opened, interventions, *(int(side.lengths.max(initial=0)) for side in sides)
        )
        if not per:
            return evaluate_examples(asked, examples, progress or unheard)
        mapped = map_of_examples(asked, examples, progress=progress or unheard)
        return mapped if per == "token" else RowLosses.of(mapped)
    if target is not None:
        raise LmvizError("This model does not translate, so there is no target: leave it out.")
    documents, start, labels = judged_text(opened, source, "validation", settings)
    positions = max(map(len, documents)) - 1
    changed = under_interventions(opened, interventions, positions)
    if not per:
        unknown = None if opened.tokenizer is None else opened.tokenizer.unknown_id
        return evaluate_ids(changed, documents, start, unknown_id=unknown, progress=progress or unheard)
    found = loss_map(changed, documents, start, labels=labels, progress=progress or unheard)
    return found if per == "token" else RowLosses.of(found)


def _check_of_the_file(settings: Mapping[str, Any]) -> None:
    """LmvizError for a setting that does not say how a file is written."""
    from lmviz.text.corpus_options import AFTER_DECODING, OF_PARTS

    known = ("encoding", *AFTER_DECODING, *OF_PARTS)
    for name in settings:
        if name not in known:
            raise LmvizError(f"A text that is judged has no setting {name!r}: there are {', '.join(known)}.")


def _evaluate_labels(
    model: Model,
    source: str | Path | Sequence[str | Path],
    interventions: Sequence[Intervention],
    settings: Mapping[str, Any],
    progress: Report,
) -> LabelEvaluation:
    """How well a model labels a text with labels, all of whose examples are judged."""
    from lmviz.api.sets import examples_in
    from lmviz.training.label_evaluation import evaluate_examples

    examples = examples_in(model, source, None, settings)
    positions = int(examples.source.lengths.max(initial=0))
    return evaluate_examples(under_interventions(model, interventions, positions), examples, progress)


def _evaluate_translations(
    model: Model,
    source: str | Path | Sequence[str | Path],
    target: str | Path | None,
    interventions: Sequence[Intervention],
    settings: Mapping[str, Any],
    progress: Report,
) -> TranslationEvaluation:
    """How well a model translates pairs of texts, or writes captions, all of which are judged."""
    from lmviz.api.sets import examples_in
    from lmviz.decoding.translation_evaluation import evaluate_translations

    examples = examples_in(model, source, target, settings)
    lengths = (int(side.lengths.max(initial=0)) for side in (examples.target, examples.source))
    return evaluate_translations(under_interventions(model, interventions, *lengths), examples, progress)
