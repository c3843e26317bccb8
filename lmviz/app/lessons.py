"""What the training thread does first: build the model, start or reopen the run, begin to learn."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.configuration import Configuration
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.training.controls import Controls
    from lmviz.training.options import TrainingOptions
    from lmviz.training.progress import Progress
    from lmviz.training.run import Run


@dataclass(frozen=True)
class Plan:
    """What to train: a family by its name, its configuration, and how."""

    family: str
    configuration: Configuration
    training_options: TrainingOptions


@dataclass(frozen=True)
class Lesson:
    """A training that is ready to go: what learns, and the generator that makes it learn."""

    model: Model
    progress: Generator[Progress, Any, None]


def begin_run(plan: Plan, corpus: Corpus, folder: Path, controls: Controls) -> Lesson:
    """Start a new run in a folder. Called in the training thread: it imports torch."""
    from lmviz.families import build_model
    from lmviz.training.description import RunDescription, describe_corpus
    from lmviz.training.run import Run

    vocabulary_size = corpus.tokenizer.vocabulary_size
    model = build_model(plan.family, plan.configuration, vocabulary_size, plan.training_options.seed)
    description = RunDescription(
        name=folder.name,
        family=plan.family,
        configuration=plan.configuration.to_values(),
        vocabulary_size=vocabulary_size,
        training=plan.training_options.to_values(),
        corpus=describe_corpus(corpus),
    )
    run = Run.create(folder, description, corpus.tokenizer)
    return _lesson(model, corpus, plan.training_options, run, controls, resume=False)


def resume_run(folder: Path, corpus: Corpus | None, controls: Controls) -> Lesson:
    """Go on with a run where it stopped; LmvizError when it cannot, or when the text is another."""
    from lmviz.families import build_model, find_family
    from lmviz.training.run import Run

    run = Run.open(folder)
    description = run.description
    if not run.is_resumable:
        raise LmvizError(f"{description.name} keeps nothing to go on from: train a new run instead.")
    if corpus is None or corpus.fingerprint != description.fingerprint:
        wanted = description.corpus.get("name", "its own text")
        raise LmvizError(
            f"{description.name} learned from {wanted}: open that text, with the same tokens, first."
        )
    configuration = find_family(description.family).configuration.from_values(description.configuration)
    model = build_model(description.family, configuration, description.vocabulary_size, description.seed)
    return _lesson(model, corpus, description.options, run, controls, resume=True)


def _lesson(
    model: Model, corpus: Corpus, options: TrainingOptions, run: Run, controls: Controls, *, resume: bool
) -> Lesson:
    from lmviz.families import learner_of

    start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
    progress = learner_of(model.family)(
        model,
        corpus.training,
        corpus.validation,
        options,
        run,
        ignored_target=start,
        controls=controls,
        resume=resume,
    )
    return Lesson(model, progress)
