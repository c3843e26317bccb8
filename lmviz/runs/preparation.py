"""Prepares a training: the model, its data, and the run folder that records it.

The command line, Python and the window all begin and resume their trainings here.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, check_task, find_family, learner_of
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.tasks import find_task

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.runs.tuning_start import TuningStart
    from lmviz.text.corpus import Corpus
    from lmviz.training.beside import TextsBeside
    from lmviz.training.controls import Controls
    from lmviz.training.description import RunDescription
    from lmviz.training.options import TrainingOptions
    from lmviz.training.progress import Progress
    from lmviz.training.run import Run


@dataclass(frozen=True)
class PreparedTraining:
    """A training that is ready to start: what learns, where it is written down, and the generator that
    makes it learn, step by step. Closing the generator leaves a run that can be resumed."""

    model: Model
    run: Run
    progress: Generator[Progress, Any, None]


def begin_run(
    family: str,
    configuration: ModelConfiguration,
    options: TrainingOptions,
    corpus: Corpus,
    folder: str | Path,
    controls: Controls | None = None,
    *,
    overwrite: bool = False,
) -> PreparedTraining:
    """Start a new run in a folder that holds none, or in the place of the one that it holds.

    It imports torch, so it may take seconds. LmvizError when the folder holds a run that is not to be
    overwritten, when options, text and model do not fit one another, or when the
    machine has not the memory; nothing is written then.
    """
    from lmviz.training.batching import with_sentences
    from lmviz.training.cost import check_memory, cost_on
    from lmviz.training.description import RunDescription, describe_corpus
    from lmviz.training.distributed import is_alone, is_first_process
    from lmviz.training.run import Run

    if overwrite and not is_alone():
        raise LmvizError("Several processes cannot overwrite a run: remove it first, or name another folder.")
    check_task(family, corpus.task)
    options = options if corpus.training_examples is None else with_sentences(options)
    description = RunDescription(
        name=Path(os.path.abspath(folder)).name,
        family=family,
        configuration=configuration.to_values(),
        vocabulary_size=(corpus.target_tokenizer or corpus.tokenizer).vocabulary_size,
        source_vocabulary_size=corpus.tokenizer.vocabulary_size if corpus.target_tokenizer else None,
        task=corpus.task,
        labels=corpus.labels,
        training=options.to_values(),
        corpus=describe_corpus(corpus),
    )
    check_memory(cost_on(configuration, options, corpus), options)
    model = untrained(description)
    prepared = _prepare(model, Run(Path(folder), description), corpus, options, controls, resume=False)
    if is_first_process():
        target, source = corpus.target_tokenizer, corpus.tokenizer
        Run.create(
            folder,
            description,
            target or source,
            source_tokenizer=source if target else None,
            overwrite=overwrite,
        )
    return prepared


def rehearse(
    family: str,
    configuration: ModelConfiguration,
    options: TrainingOptions,
    corpus: Corpus,
    controls: Controls | None = None,
) -> Generator[Progress, Any, None]:
    """The training that `begin_run` would begin, of which nothing is written.

    It shows how long steps take, and that the training can begin: LmvizError as there.
    """
    from lmviz.training.batching import with_sentences
    from lmviz.training.cost import check_memory, cost_on

    check_task(family, corpus.task)
    options = options if corpus.training_examples is None else with_sentences(options)
    source, target = corpus.tokenizer, corpus.target_tokenizer
    size = (target or source).vocabulary_size
    check_memory(cost_on(configuration, options, corpus), options)
    predicts = find_task(corpus.task).predicts(corpus.labels)
    of_source = source.vocabulary_size if target else None
    model = build_model(family, configuration, size, options.seed, predicts, of_source, corpus.task)
    return _learn(model, None, corpus, options, controls, resume=False)


def resume_run(
    run: Run, corpus: Corpus, options: TrainingOptions | None = None, controls: Controls | None = None
) -> PreparedTraining:
    """Continue a run where it stopped, with other options if any are given.

    A run that was interrupted before anything was saved begins again. LmvizError when the run keeps
    nothing to go on from, as sample models do, when it learned from another corpus, or when an n-gram should
    count its text in another number of steps.
    """
    description = run.description
    check_text(run, corpus)
    family = find_family(description.family)
    if family.counts and options is not None and options.steps != description.options.steps:
        raise LmvizError(
            f"steps cannot change from {description.options.steps} to {options.steps}: they are the slices "
            f"in which {run.folder} counts its text; train anew in another folder."
        )
    from lmviz.runs.tuned import TunedRun
    from lmviz.training.batching import with_sentences

    options = options or description.options
    options = options if corpus.training_examples is None else with_sentences(options)
    run = tuned_run(run)
    base = run.base if isinstance(run, TunedRun) else None
    beside = run.load_beside() if isinstance(run, TunedRun) else None
    model = untrained(description, base)
    return _prepare(model, run, corpus, options, controls, resume=True, beside=beside)


def begin_tuning(
    start: TuningStart,
    options: TrainingOptions,
    corpus: Corpus,
    folder: str | Path,
    controls: Controls | None = None,
    *,
    second: Corpus | None = None,
    overwrite: bool = False,
) -> PreparedTraining:
    """Begin a run that trains an opened model further; otherwise as `begin_run`.

    Both corpora are read with the tokenizer of that model. Beside the held-out text, the loss is measured on
    what the model writes now, and on the `second` corpus.
    """
    from lmviz.interchange.chosen_bases import choose_base
    from lmviz.runs.tuned import TunedRun
    from lmviz.runs.tuning_plan import check_fits
    from lmviz.training.batching import with_sentences
    from lmviz.training.beside import OWN, SECOND, TextsBeside, excerpts_of, written_by
    from lmviz.training.distributed import is_alone, is_first_process
    from lmviz.training.options import DEFAULT_LENGTH

    if overwrite and not is_alone():
        raise LmvizError("Several processes cannot overwrite a run: remove it first, or name another folder.")
    options = options if corpus.training_examples is None else with_sentences(options)
    check_fits(start, options)
    description = start.description(folder, options, corpus)
    model = untrained(description, start.base)
    run = TunedRun(Path(folder), description, start.base)
    length = options.length or start.base.context or DEFAULT_LENGTH
    rows = {OWN: written_by(start.base, length)}
    if second is not None:
        rows[SECOND] = excerpts_of(
            second.validation if len(second.validation) > 1 else second.training, length
        )
    beside = TextsBeside(rows, "" if second is None else second.name)
    prepared = _prepare(model, run, corpus, options, controls, resume=False, beside=beside)
    if is_first_process():
        fill = lambda begun: begun.save_beside(beside)  # noqa: E731
        TunedRun.create(folder, description, corpus.tokenizer, overwrite=overwrite, fill=fill)
        with suppress(OSError):  # it would only be asked for when the run is opened
            choose_base(Path(folder), start.place)
    return prepared


def rehearse_tuning(
    start: TuningStart, options: TrainingOptions, corpus: Corpus, controls: Controls | None = None
) -> Generator[Progress, Any, None]:
    """The training that `begin_tuning` would begin, of which nothing is written."""
    from lmviz.training.batching import with_sentences

    options = options if corpus.training_examples is None else with_sentences(options)
    description = start.description("rehearsal", options, corpus)
    return _learn(untrained(description, start.base), None, corpus, options, controls, resume=False)


def check_text(run: Run, corpus: Corpus) -> None:
    """Raise LmvizError where a run learned from another text than this one, or from other tokens of it."""
    if run.description.recorded is not None:
        raise LmvizError(
            f"{run.folder} was recorded from {run.description.recorded['by']}, so its text is not known: "
            "train a model that begins with it instead."
        )
    if corpus.fingerprint != run.description.fingerprint:
        wanted = run.description.corpus.get("name", "its own text")
        raise LmvizError(
            f"{run.folder} learned from {wanted} as it was then, and this text or its tokens differ: "
            "give the same text, or train again in another folder."
        )


def tuned_run(run: Run, base: Model | None = None) -> Run:
    """A run with the model that it began with, where it went on from an opened one; else the run itself."""
    if run.description.tuned_from is None:
        return run
    from lmviz.runs.opening import base_of
    from lmviz.runs.tuned import TunedRun

    if isinstance(run, TunedRun) and run.has_base:
        return run
    return TunedRun(run.folder, run.description, base_of(run) if base is None else base)


def untrained(description: RunDescription, base: Model | None = None) -> Model:
    """The model of a run before its first update, which may be a `base` that was opened."""
    if base is not None:
        from lmviz.models.tuned import TunedTransformer
        from lmviz.runs.tuned import tuning_of

        return TunedTransformer.of(base, tuning_of(description), description.seed)
    configuration = find_family(description.family).configuration.from_values(description.configuration)
    predicts = find_task(description.task).predicts(tuple(description.labels))
    return build_model(
        description.family,
        configuration,
        description.vocabulary_size,
        description.seed,
        predicts,
        description.source_vocabulary_size,
        description.task,
    )


def _prepare(
    model: Model,
    run: Run,
    corpus: Corpus,
    options: TrainingOptions,
    controls: Controls | None,
    *,
    resume: bool,
    beside: TextsBeside | None = None,
) -> PreparedTraining:
    progress = _learn(model, run, corpus, options, controls, resume=resume, beside=beside)
    return PreparedTraining(model, run, progress)


def _learn(
    model: Model,
    run: Run | None,
    corpus: Corpus,
    options: TrainingOptions,
    controls: Controls | None,
    *,
    resume: bool,
    beside: TextsBeside | None = None,
) -> Generator[Progress, Any, None]:
    further: dict[str, Any] = {} if beside is None else {"beside": beside}
    if run is not None and not find_family(model.family).counts:
        from lmviz.training.watching import watched_word

        further["watched"] = watched_word(options, model, corpus)
    progress: Generator[Progress, Any, None] = learner_of(model.family)(
        model,
        corpus.training if corpus.training_examples is None else corpus.training_examples,
        corpus.validation if corpus.validation_examples is None else corpus.validation_examples,
        options,
        run,
        ignored_target=corpus.tokenizer.start_id if corpus.marks_boundaries else None,
        controls=controls,
        resume=resume,
        **further,
    )
    return progress
