"""The public functions up to a trained model: load a corpus, train, open a model.

The functions that ask a model something are in `lmviz.api.questions`. Slow imports happen when first needed.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from lmviz.base.arguments import check_callable, whole_number
from lmviz.base.configuration import Configuration
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.base.places import elsewhere, shipped
from lmviz.base.reporting import Report, unheard
from lmviz.families import find_family
from lmviz.models.tuning_configuration import TuningConfiguration
from lmviz.runs.preparation import PreparedTraining, begin_run, resume_run
from lmviz.tasks import NEXT_TOKEN
from lmviz.training.options import TrainingOptions
from lmviz.training.tuning import tuning_options

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.runs.tuning_plan import TuningPlan
    from lmviz.runs.tuning_start import TuningStart
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer
    from lmviz.training.controls import Controls
    from lmviz.training.progress import Progress
    from lmviz.training.run import Run


def load_corpus(
    source: str | Path | Sequence[str | Path],
    tokenizer: str | Tokenizer | None = None,
    *,
    target: str | Path | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Corpus:
    """Read a text file, several, a folder, or a corpus of the catalogue by its name.

    Text with tags, with labels, or in pairs is recognised by its form, and `corpus.task` says as what:
    "next-token", "tagging", "classification" or "translation"; the setting `task` says it instead.
    `target` is a file with the same lines in another language.
    `tokenizer` is "words", "characters", "spaces" (what stands between them), "bpe:N" for N byte-pair tokens,
    or one that exists already; by default words, or what the catalogue says of a corpus of its own.
    `settings` are fields of `lmviz.text.corpus_options.CorpusOptions`, such as documents="line". `progress`
    hears of the share that is done. LmvizError says what is wrong with the source.
    """
    from lmviz.text.corpus import load_corpus as load
    from lmviz.text.tokenizer import Tokenizer

    check_callable("progress", progress)
    # A run spells special tokens out: what it learned from must have been read alike.
    tokenizer = tokenizer.literal if isinstance(tokenizer, Tokenizer) else tokenizer
    return load(source, tokenizer, target=target, progress=progress or unheard, **settings)


def train(
    family: str | None = None,
    corpus: Corpus | str | Path | Sequence[str | Path] | None = None,
    out: str | Path = "",
    *,
    start: str | Path | None = None,
    second: Corpus | str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    controls: Controls | None = None,
    **settings: Any,
) -> Run:
    """Train a new model on a corpus and write the run into the folder `out`; the run.

    With `start`, the folder or file of a model instead of a family, that model is trained further: its
    weights stay, and beside them a LoRA of `rank` 8 is learned, or adapter="last" its last layers, or
    adapter="all" all of them: see `lmviz.models.tuning_configuration.TuningConfiguration`. The text is read
    with the tokenizer of that model. What is forgotten is measured with the validation text: the loss on what
    the model wrote before, and on a `second` text.

    `settings` are fields of the family's configuration, such as width=128, or of
    `lmviz.training.options.TrainingOptions`, such as steps=500 and seed=0. `progress` hears of each
    step; `controls` can stop it from another thread, in a state that can be resumed.

    With `resume`, a run that is already in `out` continues where it stopped; its configuration stays, and
    only training settings may be given anew. With `overwrite`, a run that is already there is removed once
    the new one can begin. Where there is none yet, it begins either way.

    LmvizError when a setting cannot be, when the folder holds another run, or when training came to a
    loss that is not finite; the run then keeps its last good snapshot.
    """
    check_callable("progress", progress)
    prepared = prepare_training(
        family,
        corpus,
        out,
        start=start,
        second=second,
        resume=resume,
        overwrite=overwrite,
        controls=controls,
        **settings,
    )
    return _train_to_the_end(prepared, progress, controls)


def fork(
    run: Run | str | Path,
    step: int | None = None,
    *,
    out: str | Path,
    corpus: Corpus | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    controls: Controls | None = None,
    **settings: Any,
) -> Run:
    """Train on from a snapshot of a run, with other settings, into the folder `out`; the new run.

    `run` is a run, its folder, or the name of a sample model, and `step` one of its snapshots, the last by
    default. `settings` are those that change, as in `train`. Weights, what the optimizer remembers, and the
    place in the text are carried where they fit: with no setting changed, the fork goes on as the run did,
    bit for bit on the same machine. An LmvizWarning says what begins anew, and so does
    `run.description.forked_from`. A fork of the last step gets as many steps again where none are given.
    The corpus is read from where the run says, unless it is given.

    LmvizError as `train`, and where there is no such snapshot or nothing of it fits.
    """
    check_callable("progress", progress)
    prepared = prepare_fork(
        run, step, out=out, corpus=corpus, overwrite=overwrite, controls=controls, **settings
    )
    return _train_to_the_end(prepared, progress, controls)


def training_plan(
    start: str | Path, corpus: Corpus | str | Path | Sequence[str | Path], **settings: Any
) -> TuningPlan:
    """The cost of training a model further, before anything begins: numbers, memory, the time of a step.

    `start`, `corpus` and `settings` are those of `train`. Two steps are made, of which nothing is kept.
    LmvizError where this machine has not the memory, with a setting that fits, and as `train`.
    """
    from lmviz.runs.tuning_plan import measured_plan
    from lmviz.runs.tuning_start import begin_with

    chosen, options = split_tuning(settings)
    begun = begin_with(find_run(start), chosen)
    steps = measured_plan(begun, fitting_length(begun, options, settings), corpus_for(begun.base, corpus))
    while True:
        try:
            next(steps)
        except StopIteration as last:
            plan: TuningPlan = last.value
            return plan


def fitting_length(
    begun: TuningStart, options: TrainingOptions, settings: Mapping[str, Any]
) -> TrainingOptions:
    """The options with excerpts no longer than the model takes, where nobody chose their length."""
    context = begun.base.context
    if "length" in settings or context is None:
        return options
    return replace(options, length=min(options.length, context))


def _train_to_the_end(
    prepared: PreparedTraining, progress: Callable[[Progress], None] | None, controls: Controls | None
) -> Run:
    last = None
    try:
        for last in prepared.progress:
            if progress is not None:
                progress(last)
    finally:
        prepared.progress.close()
    asked_to_stop = controls is not None and controls.stop
    if last is not None and last.trouble and not asked_to_stop:
        raise LmvizError(last.trouble)
    return prepared.run


def prepare_training(
    family: str | None,
    corpus: Corpus | str | Path | Sequence[str | Path] | None,
    out: str | Path,
    *,
    start: str | Path | None = None,
    second: Corpus | str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    controls: Controls | None = None,
    **settings: Any,
) -> PreparedTraining:
    """What `train` does before the first step, for those who drive the steps themselves."""
    from lmviz.text.corpus import Corpus
    from lmviz.training.run import HoldsRun

    if resume and overwrite:
        raise LmvizError("A run is either resumed or overwritten: give resume=True or overwrite=True.")
    if start is not None or (family is None and resume and is_run(out)):
        return _prepare_tuning(family, start, corpus, second, out, resume, overwrite, controls, settings)
    if second is not None:
        raise LmvizError(
            "A second text is measured while an opened model is trained further: give its start."
        )
    if corpus is not None and not isinstance(corpus, Corpus):
        raise LmvizError(f"{corpus!r} is not a corpus: give what lmviz.load_corpus returns.")
    check_given(out, corpus, controls)
    assert corpus is not None, "refused above"
    if family is None:
        raise LmvizError("Nothing says what to train: name a family, or as start a model that is there.")
    if resume and is_run(out):
        return _resume(family, corpus, out, settings, controls)
    configuration, options = split_settings(family, settings, corpus.task)
    try:
        return begin_run(family, configuration, options, corpus, out, controls, overwrite=overwrite)
    except HoldsRun:
        way_out = "continue it with resume=True, replace it with overwrite=True, or name another folder"
        raise HoldsRun(out, way_out) from None


def _prepare_tuning(
    family: str | None,
    start: str | Path | None,
    corpus: Corpus | str | Path | Sequence[str | Path] | None,
    second: Corpus | str | Path | None,
    out: str | Path,
    resume: bool,
    overwrite: bool,
    controls: Controls | None,
    settings: Mapping[str, Any],
) -> PreparedTraining:
    """A training that goes on from an opened model, or with a run that did."""
    from lmviz.runs.preparation import begin_tuning
    from lmviz.runs.tuning_start import begin_with
    from lmviz.training.run import HoldsRun, Run

    if family not in (None, "transformer"):
        raise LmvizError(f"A model that is trained further has its own family: leave {family!r} out.")
    from lmviz.text.corpus import Corpus

    if resume and is_run(out):
        run = Run.open(out)
        chosen, options = split_tuning({**_told_of(run), **settings})
        if run.description.tuned_from is None:
            raise LmvizError(f"{out} holds a run that went on from no other model: leave start out.")
        if chosen != run.description.tuning:
            raise LmvizError(f"{out} was begun with another adapter: leave it out, or name another folder.")
        read = corpus if isinstance(corpus, Corpus) else corpus_of(run, corpus)
        return resume_run(run, read, options, controls)
    if start is None or corpus is None:
        missing = "model to train further" if start is None else "corpus"
        raise LmvizError(f"There is no {missing}: name one.")
    chosen, options = split_tuning(settings)
    begun = begin_with(find_run(start), chosen)
    options = fitting_length(begun, options, settings)
    read = corpus_for(begun.base, corpus)
    check_given(out, read, controls)
    other = None if second is None else corpus_for(begun.base, second)
    try:
        return begin_tuning(begun, options, read, out, controls, second=other, overwrite=overwrite)
    except HoldsRun:
        way_out = "continue it with resume=True, replace it with overwrite=True, or name another folder"
        raise HoldsRun(out, way_out) from None


def _told_of(run: Run) -> dict[str, Any]:
    """The settings with which a model was trained further."""
    tuning = run.description.tuning
    return {**({} if tuning is None else tuning.to_values()), **run.description.training}


def split_tuning(settings: Mapping[str, Any]) -> tuple[TuningConfiguration, TrainingOptions]:
    """The settings of a training that goes on from a model: what is learned of it, and the options.

    What they do not say is as such trainings begin. LmvizError names a setting that belongs to neither.
    """
    check_names(settings, TuningConfiguration, TrainingOptions, what="an opened model")
    chosen = TuningConfiguration.from_values(_those_of(TuningConfiguration, settings))
    usual = tuning_options(chosen.adapter).to_values()
    return chosen, TrainingOptions.from_values({**usual, **_those_of(TrainingOptions, settings)})


def open_start(
    start: str | Path, corpus: str | Path | Sequence[str | Path], progress: Report = unheard, **settings: Any
) -> Corpus:
    """A text as the model reads it that is to be trained further; LmvizError where that cannot be."""
    from lmviz.models.tuned import check_tunable
    from lmviz.runs.opening import base_at

    base = base_at(find_run(start))
    check_tunable(base)
    return corpus_for(base, corpus, progress, **settings)


def corpus_for(
    base: Model,
    corpus: Corpus | str | Path | Sequence[str | Path],
    progress: Report = unheard,
    **settings: Any,
) -> Corpus:
    """A corpus as a model reads it: the same text with its tokenizer, or that of a file; LmvizError."""
    from lmviz.text.answers import load_answers
    from lmviz.text.corpus import Corpus, text_corpus
    from lmviz.text.corpus import load_corpus as load

    tokenizer = base.tokenizer
    if tokenizer is None:
        raise LmvizError(f"{base.name} has no tokenizer, so it cannot read a text: choose another model.")
    one = corpus.sources[0] if isinstance(corpus, Corpus) and len(corpus.sources) == 1 else corpus
    if not (isinstance(corpus, Corpus) and corpus.answers_only) and _are_answers(one, settings):
        return load_answers(one, tokenizer, progress=progress)
    if not isinstance(corpus, Corpus):
        return load(corpus, tokenizer.literal, progress=progress, **settings)
    if corpus.tokenizer.json == tokenizer.json:
        return corpus
    options = replace(corpus.options, tokenizer="words")  # says how one is learned, and none is
    if not corpus.sources:
        return text_corpus(corpus.content.decode("utf-8"), corpus.name, tokenizer.literal, options=options)
    sources = list(corpus.sources)
    return load(sources[0] if len(sources) == 1 else sources, tokenizer.literal, options=options)


def _are_answers(source: object, settings: Mapping[str, Any]) -> TypeGuard[str | Path]:
    """Whether a file holds chats, or questions with answers, and nothing says that it is read otherwise."""
    from lmviz.text.answers import holds_answers

    return not settings and isinstance(source, str | Path) and holds_answers(source)


def prepare_fork(
    run: Run | str | Path,
    step: int | None = None,
    *,
    out: str | Path,
    corpus: Corpus | None = None,
    overwrite: bool = False,
    controls: Controls | None = None,
    **settings: Any,
) -> PreparedTraining:
    """What `fork` does before the first step, for those who drive the steps themselves."""
    from lmviz.runs.forking import begin_fork
    from lmviz.runs.further import further_options
    from lmviz.training.run import HoldsRun, Run

    parent = run if isinstance(run, Run) else Run.open(find_run(run))
    corpus = corpus_of(parent) if corpus is None else corpus
    check_given(out, corpus, controls)
    recorded, steps = parent.description, parent.snapshots()
    step = None if step is None else whole_number("step", step)
    tuning = None
    if recorded.tuned_from is not None:
        tuning, options = split_tuning({**_told_of(parent), **settings})
        configuration = find_family(recorded.family).configuration.from_values(recorded.configuration)
    else:
        configuration, options = split_settings(
            recorded.family, {**recorded.configuration, **recorded.training, **settings}
        )
    if "steps" not in settings and steps:
        options = further_options(recorded, steps[-1] if step is None else step, options)
    try:
        prepared = begin_fork(
            parent, step, configuration, options, corpus, out, controls, tuning=tuning, overwrite=overwrite
        )
    except HoldsRun:
        raise HoldsRun(out, "replace it with overwrite=True, or name another folder") from None
    for sentence in (prepared.run.description.forked_from or {})["begun_anew"]:
        warnings.warn(sentence, LmvizWarning, stacklevel=3)
    return prepared


def check_given(out: str | Path, corpus: Corpus | None, controls: Controls | None = None) -> None:
    """Raise LmvizError where there is no folder to write into, or no corpus, or where controls are none."""
    from lmviz.text.corpus import Corpus
    from lmviz.training.controls import Controls

    if not isinstance(out, str | os.PathLike) or out == "":  # "" would mean the folder one is in
        raise LmvizError("There is no folder to write the run into: name one.")
    if not isinstance(corpus, Corpus):
        raise LmvizError(f"{corpus!r} is not a corpus: give what lmviz.load_corpus returns.")
    if not isinstance(controls, Controls | None):
        raise LmvizError(f"{controls!r} cannot control a training: give a lmviz.training.controls.Controls.")
    try:
        os.stat(out)
    except OSError:
        pass  # whether it can be written to is seen when it is
    except ValueError as error:
        raise LmvizError(f"{str(out)!r} could not be made ({error}): choose another folder.") from None


def open_model(
    path_or_name: str | Path,
    step: int | None = None,
    *,
    special_tokens: bool = True,
    base: str | Path | None = None,
) -> Model:
    """Open a run by its folder, or a sample model by its name, at its last snapshot or that of `step`.

    A checkpoint of another program is opened as well: a folder of Hugging Face's transformers, a GGUF file of
    llama.cpp, a folder of peft with an adapter (LoRA), a file of nanoGPT or minGPT, an ARPA file of n-grams.
    The special tokens of a checkpoint in a text, such as "<|im_start|>", are read as such; with
    `special_tokens` false they are letters like any others. `base` is the model that an adapter is added to,
    by default the one that it names. A folder with the checkpoints of a training of another program is a run
    as well: `step` chooses among them, and an LmvizWarning names those that cannot be read. LmvizError when
    there is no model, or when it cannot be read.
    """
    from lmviz.runs.opening import open_model_of, open_recorded

    run = open_recorded(find_run(path_or_name), base)
    if said := run.trouble():
        warnings.warn(LmvizWarning(said), stacklevel=2)
    model = open_model_of(run, step)
    return model if special_tokens else model.spelling_out()


def save_pretrained(model: Model | str | Path, out: str | Path) -> Path:
    """Write a Transformer as a folder that Hugging Face's transformers loads with the same logits; its path.

    LmvizError for a model that transformers does not have, where a checkpoint lies there already, and where
    the folder cannot be written to.
    """
    from lmviz.interchange.saving import save_pretrained as save

    return save(open_model(model) if isinstance(model, str | os.PathLike) else model, out)


def convert(
    path_or_name: str | Path, out: str | Path, step: int | None = None, *, merged: bool = False
) -> Path:
    """Write a run or a sample model for another program; what was written.

    A Transformer becomes a folder of Hugging Face's transformers. A LoRA that was learned beside such a
    folder becomes an adapter of peft, or with `merged` the whole model. Where `out` ends in ".gguf" a LoRA
    becomes an adapter of llama.cpp; where it ends in ".arpa" an n-gram becomes an ARPA file; where it ends in
    ".tensorboard" the curves of a run become a folder for it. LmvizError where that cannot be.
    """
    from lmviz.runs.converting import convert as write
    from lmviz.runs.opening import open_recorded

    return write(open_recorded(find_run(path_or_name)), out, step, merged=merged)


def split_settings(
    family: str, settings: Mapping[str, Any], task: str = NEXT_TOKEN
) -> tuple[ModelConfiguration, TrainingOptions]:
    """The settings of a training sorted into the family's configuration and the training's options.

    What they do not say is as models of the task begin.

    LmvizError names a setting that belongs to neither, and the nearest one that there is.
    """
    configuration = find_family(family).configuration
    check_names(settings, configuration, TrainingOptions, what=f"the family {family}")
    return (
        configuration.beginning_for(task, _those_of(configuration, settings)),
        TrainingOptions.from_values(_those_of(TrainingOptions, settings)),
    )


def check_names(settings: Mapping[str, Any], *configurations: type[Configuration], what: str) -> None:
    """Raise LmvizError for the first setting that none of the configurations has."""
    known = sorted(frozenset().union(*(configuration.names() for configuration in configurations)))
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise LmvizError(f"A training of {what} has no setting {name!r}: {hint}")


def _those_of(configuration: type[Configuration], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name in configuration.names()}


def _resume(
    family: str, corpus: Corpus, out: str | Path, settings: Mapping[str, Any], controls: Controls | None
) -> PreparedTraining:
    from lmviz.training.run import Run

    run = Run.open(out)
    recorded = run.description
    if family != recorded.family:
        raise LmvizError(
            f"{out} holds a run of the family {recorded.family}, not {family}: resume it as that."
        )
    configuration, options = split_settings(
        family, {**recorded.configuration, **recorded.training, **settings}
    )
    began_with = find_family(family).configuration.from_values(recorded.configuration)
    _check_unchanged(run.folder, began_with, configuration)
    return resume_run(run, corpus, options, controls)


def _check_unchanged(folder: Path, before: Configuration, now: Configuration) -> None:
    """Raise LmvizError for the first setting that a resumed training cannot take over."""
    for name, value in before.to_values().items():
        new = now.to_values()[name]
        if new != value:
            raise LmvizError(
                f"{folder} was begun with {name}={value}, which cannot become {new} any more: leave the "
                "setting out, or train again in another folder."
            )


def is_run(folder: str | Path) -> bool:
    """Whether a folder holds a run."""
    return os.path.isfile(Path(folder) / "run.json")


def sample_models() -> tuple[str, ...]:
    """The names of the models that come with lmviz, trained already."""
    folder = shipped("sample_models")
    return tuple(sorted(path.name for path in folder.glob("*") if is_run(path)))


def find_run(path_or_name: str | Path) -> Path:
    """The folder of a run, or of a sample model by its name; LmvizError when there is neither."""
    if not isinstance(path_or_name, str | os.PathLike):
        raise LmvizError(
            f"{path_or_name!r} names no model: give the folder of a run, or the name of a sample model."
        )
    path = Path(path_or_name)
    # os.path says false, where pathlib would raise, of a name that no file can have
    if path_or_name != "" and os.path.exists(path):
        return path
    if str(path_or_name) in sample_models():
        return shipped("sample_models") / path_or_name
    names = ", ".join(sample_models()) or "none in this installation"
    raise LmvizError(f"There is no run at {path_or_name}, and the sample models are {names}.")


def corpus_of(
    run: Run,
    source: str | Path | Sequence[str | Path] | None = None,
    *,
    target: str | Path | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Corpus:
    """The corpus of a run, read again from where it came from, or from where it is now.

    `target` is the file of the other language. `settings` may repeat how it was read. LmvizError when they
    differ from what the run says, when the text is not there any more, or when it was a string that no file
    holds.
    """
    from lmviz.text.corpus import load_corpus as load
    from lmviz.text.corpus_options import CorpusOptions, recorded_options

    recorded = run.description.corpus
    options = recorded_options(recorded)
    again = CorpusOptions.from_values({**options.to_values(), **settings})
    _check_unchanged(run.folder, options, again)
    places = recorded.get("sources") or []
    if source is None:
        if not places:
            raise LmvizError(f"{run.folder} does not name its text: give the corpus.")
        source = places[0] if len(places) == 1 else places
        target = target or next(iter(recorded.get("target_sources", [])), None)
    if recorded.get("answers_only"):
        from lmviz.runs.preparation import tuned_run
        from lmviz.text.answers import load_answers

        one = source if isinstance(source, str | Path) else source[0]
        return load_answers(one, tuned_run(run).tokenizer(), progress=progress or unheard)
    of_source, tokenizer = run.source_tokenizer(), run.tokenizer()
    return load(
        source,
        of_source or tokenizer,
        target=target,
        target_tokenizer=tokenizer if of_source else None,
        options=options,
        progress=progress or unheard,
    )


def sources_elsewhere(run: Run, *folders: str | Path) -> tuple[str, ...]:
    """The files that a run names as its text and that lie neither in its folder nor in one of `folders`."""
    from lmviz.text.catalogue import find_entry

    recorded = run.description.corpus
    sources = (*recorded.get("sources", []), *recorded.get("target_sources", []))
    return tuple(
        source
        for source in sources
        if find_entry(source) is None and elsewhere(source, (run.folder, *folders)) is not None
    )
