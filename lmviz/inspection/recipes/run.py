"""Python code that reproduces what is shown of a run over its training; see `recipes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmviz.inspection.intervention import Intervention
from lmviz.inspection.recipes.recipe import arguments_of, as_source

LOSSES = ("loss", "validation_loss")
"""Nats per token."""


def curves_recipe(folders: Sequence[str], names: Sequence[str] = LOSSES) -> str:
    """What runs measured as they were trained, bound to `curves`: by folder and name, (step, value) pairs."""
    curve = "{name: [(line['step'], line[name]) for line in lines if line.get(name) is not None]"
    return "\n".join(
        [
            "from lmviz.training.run import Run",
            "",
            "curves = {}",
            f"for folder in {list(folders)!r}:",
            "    lines = Run.open(folder).metrics()",
            f"    curves[folder] = {curve} for name in {tuple(names)!r}}}",
            "",
        ]
    )


def lanes_recipe(folder: str) -> str:
    """What the lanes of a race came to, bound to `lanes`."""
    return "\n".join(
        [
            "from lmviz.runs.race_folder import open_race",
            "from lmviz.runs.race_table import lane_results",
            "",
            f"lanes = lane_results(open_race({folder!r}).lanes)",
            "",
        ]
    )


def scores_recipe(
    sources: Sequence[str],
    settings: Mapping[str, Any],
    models: Sequence[tuple[str, int, Sequence[Intervention]]],
    part: str = "validation",
) -> str:
    """How well models, (folder, step, changes) each, do what a part of a corpus asks, bound to `scores`.

    `sources` and `settings` are what `load_corpus` takes.
    """
    source = sources[0] if len(sources) == 1 else list(sources)
    imports = ["import lmviz", "from lmviz.runs.evaluating import evaluate_corpus"]
    if any(changes for _, _, changes in models):
        imports.append("from lmviz.inspection.changed_model import ChangedModel")
        imports.append("from lmviz.inspection.intervention import Intervention")
    judged = []
    for folder, step, changes in models:
        opened = f"lmviz.open_model({folder!r}, step={step})"
        made = ", ".join(map(as_source, changes))
        judged.append(f"ChangedModel({opened}, [{made}])" if changes else opened)
    return "\n".join(
        [
            *imports,
            "",
            f"corpus = lmviz.load_corpus({arguments_of(source, **settings)})",
            "scores = [",
            *(f"    evaluate_corpus({model}, corpus, {part!r})," for model in judged),
            "]",
            "",
        ]
    )


def confusion_recipe(
    sources: Sequence[str],
    settings: Mapping[str, Any],
    models: Sequence[tuple[str, int, Sequence[Intervention]]],
    part: str,
) -> str:
    """What a model, (folder, step, changes), takes for what in a part of a corpus, bound to `confusion`.

    A second one is the same model as it was trained: `confusion_as_trained`.
    """
    names = ("confusion", "confusion_as_trained")
    lines = [f"{name} = scores[{at}].confusion\n" for at, name in enumerate(names[: len(models)])]
    return scores_recipe(sources, settings, models, part) + "".join(lines)


def quality_recipe(
    sources: Sequence[str], settings: Mapping[str, Any], models: Sequence[tuple[str, int]]
) -> str:
    """How well models, (folder, step) each, translate sources of each length, bound to `quality`.

    `sources` and `settings` are what `load_corpus` takes.
    """
    source = sources[0] if len(sources) == 1 else list(sources)
    return "\n".join(
        [
            "import lmviz",
            "from lmviz.decoding.judged_pairs import judged_pairs",
            "from lmviz.decoding.quality_by_length import quality_by_length",
            "",
            f"corpus = lmviz.load_corpus({arguments_of(source, **settings)})",
            "pairs = judged_pairs(corpus)",
            "quality = [",
            "    quality_by_length(lmviz.open_model(folder, step=step), pairs, corpus.target_tokenizer)",
            f"    for folder, step in {list(models)!r}",
            "]",
            "",
        ]
    )


def over_time_recipe(folder: str, text: str | Sequence[int], steps: Sequence[int]) -> str:
    """The distribution after a text, or after its ids, at snapshots: `probabilities`, (token,) by step."""
    return "\n".join(
        [
            "import lmviz",
            "",
            f"folder, text = {folder!r}, {text!r}",
            "probabilities = {",
            "    step: lmviz.next_token(lmviz.open_model(folder, step=step), text).probabilities",
            f"    for step in {list(steps)!r}",
            "}",
            "",
        ]
    )
