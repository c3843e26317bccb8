"""The command `lmviz train`. Ctrl+C stops it with a run that can be resumed."""

from __future__ import annotations

import itertools
import math
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lmviz.base.errors import LmvizError
from lmviz.cli.options import as_json, read_settings
from lmviz.cli.terminal import duration, print_json, say, share_bar, stopping, training_bars
from lmviz.families import FAMILIES
from lmviz.tasks import find_task

if TYPE_CHECKING:
    from lmviz.base.configuration import Configuration, Setting
    from lmviz.runs.preparation import PreparedTraining
    from lmviz.runs.tuning_plan import TuningPlan
    from lmviz.text.corpus import Corpus
    from lmviz.training.controls import Controls
    from lmviz.training.progress import Progress
    from lmviz.training.run import Run


class TrainCommand(click.Command):
    """`lmviz train`, whose help ends in all the settings there are."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from lmviz.models.tuning_configuration import TuningConfiguration
        from lmviz.text.corpus_options import CorpusOptions
        from lmviz.training.options import TrainingOptions

        groups: dict[str, type[Configuration]] = {"the text": CorpusOptions, "the training": TrainingOptions}
        groups |= {"a model that is trained further": TuningConfiguration}
        groups |= {f"the family {family.name}": family.configuration for family in FAMILIES.values()}
        for title, configuration in groups.items():
            with formatter.section(f"Settings of {title}, for --set"):
                formatter.write_dl([_described(item) for item in configuration.settings()])


def _described(item: Setting) -> tuple[str, str]:
    choices = f" One of {', '.join(map(str, item.choices))}." if item.choices else ""
    return f"{item.name}={item.default}", item.help + choices


@click.command(cls=TrainCommand)
@click.option(
    "--corpus",
    "sources",
    multiple=True,
    metavar="FILE",
    help="A text, a folder of texts, or a corpus by its name (`lmviz corpora`); several are joined.",
)
@click.option("--target", metavar="FILE", help="The same lines in another language, to be translated into.")
@click.option("--tokenizer", help="words, characters, spaces, or bpe:N for N byte-pair tokens.")
@click.option("--family", help=f"{', '.join(list(FAMILIES)[:-1])} or {list(FAMILIES)[-1]}.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=read_settings,
    help="Any setting listed below; may be given several times.",
)
@click.option("--steps", type=int, help="How many updates to make.")
@click.option("--seed", type=int, help="The seed of the random numbers.")
@click.option("--out", required=True, metavar="RUN", help="The folder to write the run into.")
@click.option("--fork", metavar="RUN[@STEP]", help="Train on from a snapshot of a run, with other settings.")
@click.option(
    "--from",
    "start",
    metavar="MODEL",
    help="Train a model further that is there: a checkpoint, a run of a Transformer, or a sample model.",
)
@click.option("--adapter", help="With --from, what is learned: lora, last or all.")
@click.option(
    "--second", metavar="FILE", help="With --from, another text on which the loss is measured as well."
)
@click.option(
    "--race",
    "values",
    multiple=True,
    metavar="NAME=VALUE,VALUE",
    callback=read_settings,
    help="Train a model for each value of a setting, in turn; twice for a grid.",
)
@click.option(
    "--turns",
    type=click.Choice(["steps", "seconds"]),
    default="steps",
    help="Let the trainings of a race make as many steps each, or work as many seconds.",
)
@click.option("--resume", is_flag=True, help="Continue the run or the race in that folder where it stopped.")
@click.option("--overwrite", is_flag=True, help="Delete the run in that folder and start again.")
@as_json
def train(
    sources: tuple[str, ...],
    target: str | None,
    tokenizer: str | None,
    family: str | None,
    settings: dict[str, Any],
    steps: int | None,
    seed: int | None,
    out: str,
    fork: str | None,
    start: str | None,
    adapter: str | None,
    second: str | None,
    values: dict[str, str],
    turns: str,
    resume: bool,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Train a model on a text.

    To continue a run, `lmviz train --resume --out RUN` is enough. To see how it would have gone on with
    other settings, `lmviz train --fork RUN@400 --set learning_rate=0.001 --out NEW`. To train a model of
    another program further, `lmviz train --from FOLDER --adapter lora --set rank=8 --corpus FILE --out RUN`:
    the text is read with its tokenizer. To train several beside
    one another, `--race learning_rate=0.0003,0.002,0.01`: the folder holds a run for each. Under torchrun
    the same command trains with several processes, each with its own batch.
    """
    from lmviz.api.training import is_run, prepare_training
    from lmviz.runs.race_folder import is_race
    from lmviz.training.controls import Controls
    from lmviz.training.distributed import is_first_process
    from lmviz.training.run import HoldsRun

    if resume and overwrite:
        raise LmvizError("A run is either resumed or overwritten: give --resume or --overwrite.")
    given = {"tokenizer": tokenizer, "steps": steps, "seed": seed, "adapter": adapter}
    _check_start(start, adapter, second, {"--fork": fork, "--tokenizer": tokenizer, "--target": target})
    settings |= {name: value for name, value in given.items() if value is not None}
    if start is not None and values:
        raise LmvizError("A race of models that are trained further is begun from Python: see lmviz.race.")
    if values or (resume and fork is None and is_race(out)):
        if fork is not None:
            raise LmvizError("A fork is one training: fork into the folder of a race, and resume the race.")
        return _train_race(sources, target, family, settings, values, out, turns, resume, overwrite, as_json)
    controls = Controls()
    try:
        if fork is not None:
            _check_fork(family, tokenizer, resume)
            prepared = _begin_fork(fork, sources, target, settings, out, controls, overwrite=overwrite)
        elif start is not None and not (resume and is_run(out)):
            prepared = _begin_tuning(start, sources, second, settings, out, controls, overwrite=overwrite)
        else:
            corpus, family, settings = _read_corpus(sources, target, family, settings, out, resume)
            prepared = prepare_training(
                family, corpus, out, resume=resume, overwrite=overwrite, controls=controls, **settings
            )
    except HoldsRun:
        goes_on = "continue it with --resume, " if fork is None else ""
        raise HoldsRun(out, f"{goes_on}replace it with --overwrite, or name another folder") from None
    if prepared.model.caution and is_first_process():
        say(prepared.model.caution)
    last = next(prepared.progress)  # until it has begun, Ctrl+C ends it as it ends any program
    with stopping(partial(setattr, controls, "stop", True)) as caught:
        last = _follow(prepared, last, watched=is_first_process())
    if is_first_process():
        _report(prepared, last, as_json)
    if caught:
        say(f"Continue with: lmviz train --resume --out {shlex.quote(out)}")
        return 128 + caught[0]
    return 0 if last.finished else 1


def _train_race(
    sources: tuple[str, ...],
    target: str | None,
    family: str | None,
    settings: dict[str, Any],
    values: dict[str, str],
    out: str,
    turns: str,
    resume: bool,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Begin a race, or go on with the one in a folder, and train it to the end."""
    from lmviz.api.races import first_run, plan_lanes
    from lmviz.cli.racing import run_race, say_memory, varied
    from lmviz.runs.race_folder import is_race, open_race
    from lmviz.runs.racing import begin_race, planned_again, resume_race
    from lmviz.training.run import HoldsRun

    about_text, rest = _about_text(settings)
    named = {} if family is None else {"family": family}
    chosen = {**named, **rest, **varied(values)}
    if values:
        plan_lanes(chosen)  # report an invalid value before a long text is read
    if resume and is_race(out):
        corpus, _ = _read_corpus_of(first_run(out), out, sources, target, about_text)
    elif sources:
        corpus = _read_new_corpus(sources, target, about_text)
    else:
        raise LmvizError("Nothing can be trained without --corpus: `lmviz train --help` says what to give.")
    if not values:
        folder = open_race(out)
        say_memory(planned_again(folder, rest), corpus)
        return run_race(resume_race(folder, corpus, rest), out, as_json)
    lanes = plan_lanes(chosen, corpus.task)
    say_memory(lanes, corpus)
    try:
        race = begin_race(lanes, corpus, out, turns, resume=resume, overwrite=overwrite)
    except HoldsRun as fault:
        way_out = "continue with --resume, replace it with --overwrite, or name another folder"
        raise HoldsRun(fault.folder, way_out) from None
    return run_race(race, out, as_json)


def _check_start(
    start: str | None, adapter: str | None, second: str | None, others: dict[str, str | None]
) -> None:
    """Raise LmvizError for what goes without a model that is trained further, or not with one."""
    if start is None:
        for name, value in {"--adapter": adapter, "--second": second}.items():
            if value:
                raise LmvizError(f"{name} belongs to a model that is trained further: name it with --from.")
        return
    for name, value in others.items():
        if value:
            raise LmvizError(
                f"A model that is trained further reads with its own tokenizer: leave {name} out."
            )


def _begin_tuning(
    start: str,
    sources: tuple[str, ...],
    second: str | None,
    settings: dict[str, Any],
    out: str,
    controls: Controls,
    *,
    overwrite: bool,
) -> PreparedTraining:
    """A training that goes on from a model that is there."""
    from lmviz.api.training import open_start, prepare_training, split_tuning, training_plan

    if not sources:
        raise LmvizError("Nothing can be learned without --corpus: `lmviz train --help` says what to give.")
    about_text, rest = _about_text(settings)
    split_tuning(rest)  # report an invalid value before a model is opened and a long text is read
    with share_bar("reading the text") as progress:
        corpus = open_start(start, sources[0] if len(sources) == 1 else sources, progress, **about_text)
    _say_how_it_was_read(corpus)
    _say_plan(training_plan(start, corpus, **rest))
    return prepare_training(
        None, corpus, out, start=start, second=second, overwrite=overwrite, controls=controls, **rest
    )


def _say_plan(plan: TuningPlan) -> None:
    """Say what a training takes before it begins."""
    from lmviz.base.machine_memory import GIGABYTE

    pace = "" if plan.seconds is None else f", {plan.seconds:.2g} s a step"
    say(
        f"{plan.trained:,} of {plan.parameters:,} numbers are learned, in about "
        f"{plan.bytes / GIGABYTE:.2g} GB of memory{pace}."
    )


def _check_fork(family: str | None, tokenizer: str | None, resume: bool) -> None:
    """Raise LmvizError for what goes with no fork."""
    given = {"--family": family, "--tokenizer": tokenizer, "--resume": resume}
    for name, value in given.items():
        if value:
            raise LmvizError(f"A fork is of the run's own family and text, and is new: leave {name} out.")


def _begin_fork(
    named: str,
    sources: tuple[str, ...],
    target: str | None,
    settings: dict[str, Any],
    out: str,
    controls: Controls,
    *,
    overwrite: bool,
) -> PreparedTraining:
    """A training that goes on from RUN@STEP; the step is the last snapshot where none is named.

    What is a folder's name as a whole names no step.
    """
    from lmviz.api.training import find_run, prepare_fork
    from lmviz.training.run import Run

    name, at, step = named.rpartition("@")
    has_step = bool(at) and step.isdecimal() and not os.path.exists(named)
    run = Run.open(find_run(name if has_step else named))
    corpus, rest = _read_corpus_of(run, str(run.folder), sources, target, settings)
    return prepare_fork(
        run,
        int(step) if has_step else None,
        out=out,
        corpus=corpus,
        overwrite=overwrite,
        controls=controls,
        **rest,
    )


def _read_corpus_of(
    run: Run, named: str, sources: tuple[str, ...], target: str | None, settings: dict[str, Any]
) -> tuple[Corpus, dict[str, Any]]:
    """The corpus of a run that exists, and the settings that are not about the text."""
    from lmviz.api.training import corpus_of, sources_elsewhere

    about_text, rest = _about_text(settings)
    if not sources:
        ask_before_reading(named, sources_elsewhere(run, Path.cwd()), "name its text with --corpus")
    source = sources[0] if len(sources) == 1 else sources
    with share_bar("reading the text") as progress:
        corpus = corpus_of(run, source or None, target=target, progress=progress, **about_text)
    _say_how_it_was_read(corpus)
    return corpus, rest


def ask_before_reading(out: str, files: Sequence[str], way_out: str) -> None:
    """Name the files that a run, maybe a stranger's, has lmviz read; at a terminal, ask first.

    `way_out` is what to do where the answer is no.
    """
    if not files:
        return
    named = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more files"
    if sys.stdin is None or not sys.stdin.isatty() or "RANK" in os.environ:  # torchrun has no input
        say(f"Reading {named}, which {out} names as its text.")
    elif not click.confirm(f"{out} names {named} as its text. Read it?", err=True):
        raise LmvizError(f"The text that {out} names was not read: {way_out}.")


def _read_corpus(
    sources: tuple[str, ...],
    target: str | None,
    family: str | None,
    settings: dict[str, Any],
    out: str,
    resume: bool,
) -> tuple[Corpus, str | None, dict[str, Any]]:
    """The corpus, the family, and the settings that remain for the model and its training.

    There is no family where an opened model was trained further.
    """
    from lmviz.api.training import check_names, is_run, split_settings
    from lmviz.families import find_family
    from lmviz.text.corpus_options import CorpusOptions
    from lmviz.training.options import TrainingOptions
    from lmviz.training.run import Run

    if resume and is_run(out):
        run = Run.open(out)
        corpus, rest = _read_corpus_of(run, out, sources, target, settings)
        tuned = run.description.tuned_from is not None
        return corpus, family if tuned else family or run.description.family, rest
    if resume and not sources:
        raise LmvizError(f"There is no run in {out} to continue: check its name and folder.")
    if not sources or family is None:
        missing = "--family" if sources else "--corpus"
        raise LmvizError(f"Nothing can be trained without {missing}: `lmviz train --help` says what to give.")
    known = (CorpusOptions, find_family(family).configuration, TrainingOptions)
    check_names(settings, *known, what=f"the family {family}")
    about_text, rest = _about_text(settings)
    split_settings(family, rest)  # report an invalid value before a long text is read
    return _read_new_corpus(sources, target, about_text), family, rest


def _about_text(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of how a text is read, and the others."""
    from lmviz.text.corpus_options import CorpusOptions

    names = CorpusOptions.names() - {"seed"}
    about_text = {name: value for name, value in settings.items() if name in names}
    return about_text, {name: value for name, value in settings.items() if name not in names}


def _read_new_corpus(sources: tuple[str, ...], target: str | None, about_text: dict[str, Any]) -> Corpus:
    from lmviz.api.training import load_corpus

    with share_bar("reading the text") as progress:
        corpus = load_corpus(
            sources[0] if len(sources) == 1 else sources, target=target, progress=progress, **about_text
        )
    _say_how_it_was_read(corpus)
    return corpus


def _say_how_it_was_read(corpus: Corpus) -> None:
    """Name the form of a text that is not plain, and the lines of it that are left out."""
    if corpus.recognised != "Plain text.":
        say(corpus.recognised)
    for sentence in corpus.complaints:
        say(sentence)


def _follow(prepared: PreparedTraining, first: Progress, watched: bool) -> Progress:
    """Train to the end, where watched under a bar; the last word of the training."""
    with training_bars() if watched else nullcontext(lambda name, progress: None) as show:
        for progress in itertools.chain([first], prepared.progress):
            show("", progress)
    return progress


def _report(prepared: PreparedTraining, last: Progress, as_json: bool) -> None:
    """Say what has become of the training."""
    from lmviz.api.training import is_run

    run, lines = prepared.run, prepared.run.metrics()
    if not is_run(run.folder):
        raise LmvizError(f"{run.folder} is no longer a run: it was deleted or moved while it was trained.")
    measured = {name: value for line in lines for name, value in line.items()}  # the last of each
    loss, validation = measured.get("loss"), measured.get("validation_loss")
    has_labels = "validation_accuracy" in measured
    if as_json:
        print_json(
            {
                "run": str(run.folder),
                "family": run.description.family,
                "parameters": prepared.model.parameter_count(),
                "step": last.step,
                "steps": last.steps,
                "loss": loss,
                "validation_loss": validation,
                **({"validation_accuracy": measured["validation_accuracy"]} if has_labels else {}),
                "tokens_per_second": measured.get("tokens_per_second"),
                "seconds": last.seconds,
                "stopped": "finished" if last.finished else last.trouble,
            }
        )
        return
    print(
        f"{run.folder}: {run.description.family}, {prepared.model.parameter_count():,} parameters, "
        f"{last.step:,} steps in {duration(last.seconds)}."
    )
    if validation is not None:
        unit = "label" if find_task(run.description.task).has_labels else "token"
        print(_validated(validation, measured.get("validation_accuracy"), unit))
    finished = last.finished
    print(f"Look into it with: lmviz {shlex.quote(str(run.folder))}" if finished else last.trouble)


def _validated(loss: float, accuracy: float | None, unit: str) -> str:
    """The validation figures in a sentence."""
    if math.isinf(loss):
        return f"Validation loss ∞: the model gives some {unit} probability 0."
    if accuracy is None:
        return f"Validation loss {loss:.4f} nats per token, perplexity {math.exp(loss):,.2f}."
    return f"Validation loss {loss:.4f} nats per {unit}, accuracy {accuracy:.1%}."
