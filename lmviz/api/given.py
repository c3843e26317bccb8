"""A model as it is given from Python: an object, a name or a folder; under interventions, beside a source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lmviz.api.training import open_model
from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError

Steps = Sequence[int] | Literal["all"]
"""Steps of a run at which something is asked, or all of which it keeps a snapshot."""

if TYPE_CHECKING:
    import numpy as np

    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model
    from lmviz.text.text_set import TextSet
    from lmviz.training.run import Run

    Given = Model | str | Path
    """A model, or what `open_model` takes."""

    Ids = Sequence[int] | np.ndarray
    """A row of token ids."""

    Texts = list[str] | tuple[str, ...]
    """Several texts; one text is a sequence of texts too, its letters."""

    Several = Texts | list[Ids] | TextSet
    """Several texts, or rows of ids, or a set."""


def beside_text(source: str | Ids | None) -> dict[str, Any]:
    """What is read beside a text, by name."""
    return {} if source is None else {"source": source}


def opened_model(model: Given, special_tokens: bool = True) -> Model:
    """The model itself, or the one of that name or folder; LmvizError if there is none.

    Without `special_tokens` it reads those of a text as letters.
    """
    from lmviz.models.model import Model

    if isinstance(model, str | os.PathLike):
        model = open_model(model)
    if isinstance(model, Model):
        return model if special_tokens else model.spelling_out()
    raise LmvizError(
        f"{model!r} is not a model: give what open_model returns, the folder of a run, or the "
        "name of a sample model."
    )


def run_with_steps(model: Given, steps: Steps) -> tuple[Run, list[int]]:
    """The run that is given, or the series of checkpoints, and which of its steps are asked for; LmvizError
    where it has no steps, or where these are none.
    """
    from lmviz.api.training import find_run
    from lmviz.runs.opening import open_recorded

    if not isinstance(model, str | Path):
        raise LmvizError("Only a run has snapshots: give its folder, or the name of a sample model.")
    run = open_recorded(find_run(model))
    if steps != "all" and (isinstance(steps, str) or not isinstance(steps, Iterable)):
        raise LmvizError(f"{steps!r} are not steps of this run: give some of {run.snapshots()}, or 'all'.")
    if isinstance(steps, str):
        return run, run.snapshots()
    return run, [whole_number("A step", step) for step in steps]


def model_at(run: Run, step: int, special_tokens: bool = True) -> Model:
    """The model of a run after so many updates."""
    from lmviz.runs.opening import open_model_of

    model = open_model_of(run, step)
    return model if special_tokens else model.spelling_out()


def listed(interventions: Sequence[Intervention]) -> tuple[Intervention, ...]:
    """The interventions as they are given; LmvizError where they are no list of them."""
    from lmviz.inspection.intervention import Intervention

    if not isinstance(interventions, str | Intervention) and isinstance(interventions, Iterable):
        given = tuple(interventions)
        if all(isinstance(item, Intervention) for item in given):
            return given
    raise LmvizError(
        f"{interventions!r} is not a list of interventions: give one, as in "
        "interventions=[lmviz.zero('logits')]."
    )


def changed_model(
    model: Given,
    prefix: str | Ids,
    interventions: Sequence[Intervention],
    *,
    further: int = 0,
    source: str | Ids | None = None,
    special_tokens: bool = True,
) -> Model:
    """The model under interventions, for a prefix that will grow by so many tokens more, and its source."""
    from lmviz.models.given_source import GivenSource
    from lmviz.models.prefix import check_inputs, read_prefix
    from lmviz.models.sequences import SOURCE

    opened = opened_model(model, special_tokens)
    check_inputs(opened, beside_text(source))
    positions = len(read_prefix(opened, prefix)) + further
    if source is None:
        return under_interventions(opened, interventions, positions)
    read = read_prefix(opened, source, SOURCE)
    return GivenSource(under_interventions(opened, interventions, positions, len(read)), read.ids)


def under_interventions(
    model: Model, interventions: Sequence[Intervention], positions: int, source: int = 0
) -> Model:
    """The model under interventions; LmvizError where one requires a position beyond those of a text.

    `source` is the number of positions of what is read beside it.
    """
    interventions = listed(interventions)
    if not interventions:
        return model
    from lmviz.inspection.changed_model import ChangedModel
    from lmviz.inspection.surgery import check_positions
    from lmviz.models.sequences import SOURCE, TEXT

    read = positions if model.context is None else min(positions, model.context)
    check_positions(interventions, {TEXT: read, SOURCE: source} if SOURCE in model.inputs else {TEXT: read})
    return ChangedModel(model, interventions)
