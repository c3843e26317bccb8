"""Training a run further than it has come: whether it can be, and with which options. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.runs.run_title import title_of
from lmviz.training.options import FIXED, LARGEST_STEPS, TrainingOptions

if TYPE_CHECKING:
    from lmviz.training.description import RunDescription
    from lmviz.training.run import Run


def without_state(run: Run) -> str:
    """Why a run has no saved state to train on from, as its folder is now; "" where it has one."""
    try:
        run.check_resumable()
    except LmvizError as sentence:
        return str(sentence)
    if run.is_resumable:
        return ""
    return (
        f"{title_of(run.description)} keeps no state to train on from, as sample models do: train a new run."
    )


def check_further(description: RunDescription, done: int, *, fingerprint: str = "") -> None:
    """Raise LmvizError where a run that has come to step `done`, and has its state, cannot be trained on.

    `fingerprint` is that of a text at hand, for a run that does not say where its own came from.
    """
    if find_family(description.family).counts and done >= description.options.steps:
        raise LmvizError(
            f"{title_of(description)} has counted its whole text: there is nothing more to learn from it."
        )
    if not description.corpus.get("sources") and description.fingerprint != fingerprint:
        raise LmvizError(
            f"{title_of(description)} does not say where its text came from: open it under Corpus first."
        )


def is_planned_by(
    description: RunDescription, family: str, configuration: Mapping[str, Any], options: TrainingOptions
) -> bool:
    """Whether a plan describes a run, apart from what may change when it is trained on."""
    before, now = description.options, options
    if description.labels:  # examples are learned from whole, whatever the plan says
        now = replace(now, sampling=before.sampling)
    return (
        family == description.family
        and dict(configuration) == dict(description.configuration)
        and all(getattr(before, name) == getattr(now, name) for name in FIXED)
    )


def further_options(
    description: RunDescription, done: int, planned: TrainingOptions | None = None
) -> TrainingOptions:
    """The options with which a run goes on after step `done`: its own, or those planned for it now.

    Where these end at `done` or before, it is given as many steps again as it had, in two figures.
    """
    options = planned or description.options
    if options.steps > done or find_family(description.family).counts:
        return options
    return replace(options, steps=min(LARGEST_STEPS, done + _two_figures(description.options.steps)))


def one_step_further(description: RunDescription, done: int) -> TrainingOptions:
    """A run's own options, so that one more step can be made after `done`."""
    options = description.options
    return replace(options, steps=min(LARGEST_STEPS, max(options.steps, done + 1)))


def _two_figures(number: int) -> int:
    """2001 as 2000: what single steps have added is no plan."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return number // unit * unit
