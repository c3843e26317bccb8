"""The doctor of series: whether the checkpoints of a training are what their steps say.

Public series have held the final weights under many of their steps, or weights that are no numbers. So every
number is read, of series so large that this would take long that of some steps.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import Checkpoint
from lmviz.interchange.checkpoint_steps import steps_in, unnumbered_in
from lmviz.interchange.examination import Finding, examine_checkpoint
from lmviz.interchange.layout import some
from lmviz.interchange.wholeness import files_of
from lmviz.series.series_run import SeriesRun
from lmviz.series.standing import written_at
from lmviz.text.checkpoint_names import step_in_name

MOST_BYTES = 20_000_000_000
"""Of which every number is read; of a larger series some steps are."""

MOST_NAMED = 8
"""Steps that a sentence lists."""


def examine_series(folder: Path, base: Path | None = None) -> Iterator[Finding]:
    """Look at everything in turn: which steps there are, whether they are whole, alike and different from one
    another, and at the newest as at a checkpoint alone.
    """
    try:
        run = SeriesRun(folder, base)
    except LmvizError as reason:
        yield "series", "problem", str(reason)
        return
    size = {step: sum(os.stat(path).st_size for path in files_of(place)) for step, place in run.steps.items()}
    yield "series", "fine", f"{folder} is a series of {_steps_in_words(list(run.steps), size)}."
    for step, why in run.troubles.items():
        yield "whole", "problem", f"The checkpoint of step {step:,} cannot be opened: {why}."
    if not run.troubles:
        yield "whole", "fine", "Every checkpoint is whole."
    yield from _names(folder, run)
    read = _read_steps(list(run.steps), sum(size.values()))
    if len(read) < len(run.steps):
        listed = _listed(read)
        yield "numbers", "note", f"The series is large, so the numbers of some steps are read: {listed}."
    yield from _contents(run, read)
    yield from examine_checkpoint(run.place_of(run.snapshots()[-1]), base)


def _steps_in_words(steps: Sequence[int], size: Mapping[int, int]) -> str:
    total = sum(size.values())
    taken = f"{total / 1e9:,.1f} GB" if total >= 1e9 else f"{total / 1e6:,.1f} MB"
    if len(steps) == 1:
        return f"one checkpoint, of step {steps[0]:,}, {taken}"
    apart = {later - earlier for earlier, later in pairwise(steps)}
    every = f", every {apart.pop():,}" if len(apart) == 1 else ""
    return f"{len(steps):,} checkpoints of the steps {steps[0]:,} to {steps[-1]:,}{every}, {taken} in all"


def _names(folder: Path, run: SeriesRun) -> Iterator[Finding]:
    """Whether names, insides and the order in which the checkpoints were written agree."""
    found = steps_in(folder)
    by_step: dict[int, list[Path]] = {}
    for each in found:
        by_step.setdefault(each.step, []).append(each.path)
    is_fine = True
    for step, places in by_step.items():
        if len(places) > 1:
            names = " and ".join(place.name for place in places)
            kept = run.steps.get(step, places[-1]).name
            yield "order", "note", f"Step {step:,} is there {len(places)} times, as {names}: {kept} is shown."
            is_fine = False
    for each in found:
        said = step_in_name(each.path.stem if os.path.isfile(each.path) else each.path.name)
        if said is not None and said != each.step and len(by_step[each.step]) == 1:
            sentence = f"{each.path.name} says that it is of step {each.step:,}, which is where it is shown."
            yield "order", "note", sentence
            is_fine = False
    if unnumbered := unnumbered_in(folder, found):
        names = some(path.name for path in unnumbered)
        yield "order", "note", f"Beside the series lies what says no step, and is opened alone: {names}."
    moments = {step: moment for step, place in run.steps.items() if (moment := written_at(place)) is not None}
    for (earlier, first), (later, second) in pairwise(moments.items()):
        if second < first:
            sentence = f"Step {later:,} was written before step {earlier:,}, so one of them may be misnamed."
            yield "order", "note", sentence
            return
    if is_fine:
        yield "order", "fine", "The checkpoints were written in the order of their steps."


@dataclass(frozen=True)
class _Contents:
    """The numbers of a checkpoint: a digest of each of its tensors, and those in which NaN or infinity is."""

    digests: Mapping[str, str]
    without_numbers: tuple[str, ...]


def _contents(run: SeriesRun, steps: Sequence[int]) -> Iterator[Finding]:
    read: dict[int, _Contents] = {}
    for step in steps:
        try:
            read[step] = _read(run.checkpoint(step))
        except LmvizError as reason:
            yield "parts", "problem", str(reason)
    bad = {step: found.without_numbers for step, found in read.items() if found.without_numbers}
    for step, names in bad.items():
        yield "numbers", "problem", f"NaN or infinity stands in step {step:,}: {some(names)}."
    if not bad:
        yield "numbers", "fine", "Every number is finite."
    alike: dict[tuple[str, ...], list[int]] = {}
    for step, found in read.items():
        alike.setdefault(tuple(found.digests.values()), []).append(step)
    repeated = [same for same in alike.values() if len(same) > 1]
    for same in repeated:
        yield "different", "problem", f"The steps {_listed(same)} hold the same weights, number for number."
    if len(read) > 1 and not repeated:
        yield "different", "fine", "No two steps hold the same weights."
    if len(alike) > 1:
        still = [
            name
            for name in next(iter(read.values())).digests
            if len({found.digests.get(name) for found in read.values()}) == 1
        ]
        if still:
            what = "1 tensor never moves" if len(still) == 1 else f"{len(still):,} tensors never move"
            yield "moves", "note", f"{what}: {some(still)}."
        else:
            yield "moves", "fine", "Every part moves."


def _read(checkpoint: Checkpoint) -> _Contents:
    fit = checkpoint.fit()
    fit.check(checkpoint.place)
    names = sorted({name for several in fit.names.values() for name in several})
    digests, bad = {}, []
    for name in names:
        tensor = checkpoint.stored.get(name).contiguous()
        content = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
        digests[name] = hashlib.blake2b(content, digest_size=16).hexdigest()
        if not torch.isfinite(tensor).all():
            bad.append(name)
    checkpoint.stored.let_go()
    return _Contents(digests, tuple(bad))


def _read_steps(steps: Sequence[int], size: int) -> list[int]:
    """All of the steps, or some of them, evenly, with the first and the last."""
    count = len(steps) if size <= MOST_BYTES else max(2, len(steps) * MOST_BYTES // size)
    if count >= len(steps):
        return list(steps)
    return [steps[round(place * (len(steps) - 1) / (count - 1))] for place in range(count)]


def _listed(steps: Sequence[int]) -> str:
    """Steps in words; of many the first ones and the last."""
    if len(steps) > MOST_NAMED:
        return f"{', '.join(f'{step:,}' for step in steps[: MOST_NAMED - 1])}, … and {steps[-1]:,}"
    return " and ".join([", ".join(f"{step:,}" for step in steps[:-1]), f"{steps[-1]:,}"])
