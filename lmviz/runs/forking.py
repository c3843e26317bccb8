"""Forks: a training that begins with what another run was at one of its snapshots, with other settings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.interchange.chosen_bases import choose_base
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.runs.preparation import (
    PreparedTraining,
    check_text,
    rehearse,
    rehearse_tuning,
    resume_run,
    tuned_run,
    untrained,
)
from lmviz.runs.run_title import title_of
from lmviz.runs.tuned import TunedRun
from lmviz.runs.tuning_start import beginning_of
from lmviz.training.options import TrainingOptions

if TYPE_CHECKING:
    import torch

    from lmviz.models.model import Model
    from lmviz.models.tuning_configuration import TuningConfiguration
    from lmviz.text.corpus import Corpus
    from lmviz.training.controls import Controls
    from lmviz.training.description import RunDescription
    from lmviz.training.run import Run

DRAWN_BY = ("sampling", "batch", "length", "seed")
"""The options that decide which excerpts an update sees."""


def begin_fork(
    run: Run,
    step: int | None,
    configuration: ModelConfiguration,
    options: TrainingOptions,
    corpus: Corpus,
    folder: str | Path,
    controls: Controls | None = None,
    *,
    tuning: TuningConfiguration | None = None,
    overwrite: bool = False,
) -> PreparedTraining:
    """Begin a run in a folder with what another was after a step, by default at its last snapshot.

    `tuning` is what the fork learns of an opened model, where the run went on from one; by default the same.

    What fits is carried: weights by name and shape, what the optimizer remembers of them, and the place in
    the text. Where nothing was changed the fork goes on as the run did, bit for bit on the same machine. What
    does not fit begins anew: `description.forked_from["begun_anew"]` of the new run says what, in sentences.

    LmvizError where there is no such snapshot, where nothing of it fits, where the fork would end at the step
    or before, or as `begin_run`.
    """
    from lmviz.training.description import now, versions
    from lmviz.training.distributed import is_alone
    from lmviz.training.run import HoldsRun

    if Path(folder).resolve() == run.folder.resolve():  # which `overwrite` would remove
        raise HoldsRun(folder, "choose another folder for the fork")
    if not is_alone():
        raise LmvizError("Several processes cannot fork a run: fork it with one, and resume it with several.")
    step = _snapshot_of(run, step)
    before = run.description
    if find_family(before.family).counts and options.steps != before.options.steps:
        raise LmvizError(
            f"steps cannot change from {before.options.steps} to {options.steps}: they are the slices in "
            f"which {run.folder} counts its text; train anew in another folder."
        )
    if options.steps <= step:
        raise LmvizError(
            f"A fork from step {step:,} has nothing to do in {options.steps:,} steps: give more steps."
        )
    check_text(run, corpus)
    run = tuned_run(run)
    base = place = None
    if isinstance(run, TunedRun):
        start = beginning_of(run, tuning)
        base, place = run.base, start.place
        rehearse_tuning(start, options, corpus).close()
        before = replace(before, tuned_from=start.description(run.folder, options, corpus).tuned_from)
    else:  # what cannot begin removes no other run
        rehearse(before.family, configuration, options, corpus).close()
    description = replace(
        before,
        name=Path(folder).resolve().name,
        configuration=configuration.to_values(),
        training=options.to_values(),
        versions=versions(),
        created=now(),
    )
    carried = _carry(run, step, untrained(description, base), options)
    origin = {
        "folder": str(run.folder.resolve()),
        "name": title_of(before),
        "created": before.created,
        "step": step,
        "begun_anew": list(carried.begun_anew),
    }
    lines = [line for line in run.metrics() if line["step"] <= step]

    def fill(fork: Run) -> None:
        if isinstance(run, TunedRun) and (beside := run.load_beside()) is not None:
            beside.save(fork.folder)
        if carried.snapshot:
            fork.save_snapshot(step, carried.snapshot)
            if memory := run.load_memory(step) if carried.is_whole else None:
                fork.save_memory(step, *memory)
        fork.append_metrics(lines)
        fork.save_resume(carried.tensors, carried.values)

    source = run.source_tokenizer()
    fork = type(run).create(
        folder,
        replace(description, forked_from=origin),
        run.tokenizer(),
        source_tokenizer=source,
        overwrite=overwrite,
        fill=fill,
    )
    if place is not None:
        with suppress(OSError):  # it would only be asked for when the fork is opened
            choose_base(fork.folder, place)
    return resume_run(tuned_run(fork, base), corpus, controls=controls)


def carried_state(
    run: Run, step: int, model: Model, options: TrainingOptions
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, Any], tuple[str, ...]]:
    """What a run was at a step, as a learner of the model takes it over, and what begins anew, in sentences.

    LmvizError where there is no such snapshot, or nothing of it fits.
    """
    carried = _carry(run, _snapshot_of(run, step), model, options)
    return carried.tensors, carried.values, carried.begun_anew


@dataclass(frozen=True)
class _Carried:
    """What a fork begins with: its first snapshot, the state that it resumes from, and what begins anew."""

    snapshot: Mapping[str, torch.Tensor]
    tensors: Mapping[str, torch.Tensor]
    values: Mapping[str, Any]
    begun_anew: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        return not self.begun_anew


def _snapshot_of(run: Run, step: int | None) -> int:
    """The step to fork from; LmvizError where there is no snapshot of it."""
    steps = run.snapshots()
    if not steps:
        run.check_readable()
        raise LmvizError(f"{run.folder} has no snapshot to fork from: train it first.")
    if step is None:
        return steps[-1]
    if step not in steps:
        near = min(steps, key=lambda each: abs(each - step))
        raise LmvizError(f"{run.folder} has no snapshot of step {step}: the nearest is that of step {near}.")
    return step


def _carry(run: Run, step: int, model: Model, options: TrainingOptions) -> _Carried:
    """What of a run at a step fits a model that is trained with these options."""
    from lmviz.training.learner import CARRIED, OPTIMIZER, WEIGHTS, under

    before = run.description
    weights, state, values = _state_of(run, step)
    own = model.state()
    if isinstance(run, TunedRun) and not weights:  # the base itself, of which nothing is kept
        weights = own
    if find_family(before.family).counts:  # it counts the text again up to here
        same = model.configuration.to_values() == dict(before.configuration)
        rate = values.get("learning_rate")
        return _Carried(weights if same else {}, {}, {"step": step, "learning_rate": rate}, ())
    fits = {name for name, tensor in own.items() if name in weights and _is_like(weights[name], tensor)}
    if not any(own[name].ndim >= 2 for name in fits):
        raise LmvizError(f"No matrix of {title_of(before)} fits the new settings: train a new run instead.")
    anew = [] if len(fits) == len(own) else [_of_weights(sorted(own.keys() - fits), len(own))]
    snapshot = {name: weights[name] if name in fits else tensor for name, tensor in own.items()}

    memory = under(OPTIMIZER, state)
    kept = _fitting_memory(model, memory, fits, before.options, options)
    if _remembers(before, step) and not memory:
        anew.append("The optimizer begins anew: what it remembered was not kept beside this snapshot.")
    elif memory and not kept:
        anew.append(
            f"The optimizer begins anew: {options.optimizer} has no use for what the other remembered."
        )
    if before.options.snapshot_precision != "full" and not state and step != before.options.steps:
        anew.append("The weights are rounded, as the snapshot keeps them.")
    changed = [name for name in DRAWN_BY if getattr(before.options, name) != getattr(options, name)]
    if changed:
        anew.append(f"Other excerpts of the text follow, for {' and '.join(changed)} changed.")
    goes_on = not changed and len(fits) == len(own)
    layout = values.get("carried") if goes_on else None
    if before.options.sampling == "streams" and values.get("carried") is not None and layout is None:
        anew.append("The state that was carried from excerpt to excerpt begins anew.")

    tensors = {f"{WEIGHTS}{name}": tensor for name, tensor in snapshot.items()}
    tensors |= {f"{OPTIMIZER}{name}": tensor for name, tensor in kept.items()}
    if layout is not None:
        tensors |= {name: tensor for name, tensor in state.items() if name.startswith(CARRIED)}
    rate = values.get("learning_rate") if options.learning_rate == before.options.learning_rate else None
    going_on = {"step": step, "processes": 1, "carried": layout, "seconds": _seconds(run, step)}
    return _Carried(snapshot, tensors, going_on | {"learning_rate": rate}, tuple(anew))


def _state_of(
    run: Run, step: int
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, torch.Tensor], Mapping[str, Any]]:
    """The weights of a step, and what else of the training's state was kept of it, with its plain values."""
    from lmviz.training.learner import WEIGHTS, under

    if run.is_resumable:
        tensors, values = run.load_resume()
        if values.get("step") == step and values.get("processes") == 1:
            return under(WEIGHTS, tensors), tensors, values
    tensors, values = run.load_memory(step) or ({}, {})
    weights = run.load_learned(step) if isinstance(run, TunedRun) else run.load_snapshot(step)
    return weights, tensors, values


def _fitting_memory(
    model: Model,
    memory: Mapping[str, torch.Tensor],
    fits: set[str],
    before: TrainingOptions,
    now: TrainingOptions,
) -> dict[str, torch.Tensor]:
    """What an optimizer remembers of parameters that are carried, where the new one is of the same kind."""
    from lmviz.training.optimizers import remember_alike

    if not remember_alike(before.optimizer, now.optimizer):
        return {}
    shapes = {name: parameter.shape for name, parameter in model.named_parameters() if name in fits}
    kept = {}
    for name, tensor in memory.items():
        parameter, _, key = name.rpartition("/")
        if parameter in shapes and (key == "step" or tensor.shape == shapes[parameter]):
            kept[name] = tensor
    return kept


def _remembers(description: RunDescription, step: int) -> bool:
    """Whether the optimizer of a run remembers anything after a step."""
    return step > 0 and description.options.optimizer != "sgd"


def _is_like(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _of_weights(names: list[str], total: int) -> str:
    told = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{len(names)} of {total} weight tensors do not fit and begin anew: {told}."


def _seconds(run: Run, step: int) -> float:
    """How long the run had worked by a step, as far as it was written down."""
    return max((line.get("seconds", 0.0) for line in run.metrics() if line["step"] <= step), default=0.0)
