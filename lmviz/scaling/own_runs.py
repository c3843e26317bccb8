"""One's own runs as points beside the public models. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.runs.run_list import ListedRun, list_run, list_runs
from lmviz.scaling.planned_model import PlannedModel
from lmviz.training.options import DEFAULT_LENGTH, SENTENCES
from lmviz.training.run import Run

NEXT_TOKEN = "next-token"


@dataclass(frozen=True)
class OwnRun:
    """A training recorded here: its title, what it has read so far, and its parameters.

    `planned` is the same for the calculator, where it is a Transformer.
    """

    folder: Path
    name: str
    family: str
    tokens: int
    parameters: int
    planned: PlannedModel | None = None


def own_runs(folders: Iterable[Path], opened: Iterable[Path] = ()) -> tuple[OwnRun, ...]:
    """The runs in these folders, and those `opened`, that predict the next token and learn by gradients.

    Left out are n-grams, which have no gradient steps, runs for other tasks, those that go through whole
    sentences, of which not every step reads as many tokens, and those that another program trained.
    """
    listed = [entry for folder in folders for entry in list_runs(folder) if not entry.has_lanes]
    known = {entry.folder.resolve() for entry in listed}
    listed += [entry for folder in opened if folder.resolve() not in known and (entry := list_run(folder))]
    return tuple(run for entry in listed if (run := _point(entry)) is not None)


def _point(entry: ListedRun) -> OwnRun | None:
    try:
        description = Run.open(entry.folder).description
        family = FAMILIES.get(description.family)
        options = description.options
        if family is None or family.counts or description.task != NEXT_TOKEN or options.sampling == SENTENCES:
            return None
        if description.recorded is not None:
            return None
        configuration = family.configuration.from_values(description.configuration)
    except LmvizError:
        return None
    length = options.length or getattr(configuration, "context", None) or DEFAULT_LENGTH
    tokens = entry.steps * options.batch * length
    if tokens == 0:
        return None
    parameters = configuration.estimate(description.vocabulary_size, 1, length).parameters
    planned = None
    if isinstance(configuration, TransformerConfiguration):
        planned = PlannedModel(configuration, description.vocabulary_size, tokens)
    return OwnRun(entry.folder, entry.title, description.family, tokens, parameters, planned)
