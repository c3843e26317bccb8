"""Train the sample models again, from the table in recipes.toml, with lmviz's own command.

    python3 start.py sample-models                 all of them
    python3 start.py sample-models stories-lstm    one, or several by name

Each becomes a run folder of that name with a card. The downloaded corpus must be there already:
open it once in the window, or give `--text tiny-shakespeare=FILE`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import first_screen

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

CURVE_POINTS = 400
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Recipe:
    """One sample model: how to train it and what to say about it."""

    name: str
    title: str
    corpus: str
    family: str
    steps: int
    settings: dict[str, Any]
    look_for: tuple[str, ...]
    keep: tuple[int, ...] = ()  # the steps whose snapshots are kept; all where none is named

    def command(self, corpus: str, out: str) -> list[str]:
        """The words after `lmviz` that train this model."""
        words = ["train", "--corpus", corpus, "--family", self.family, "--steps", str(self.steps)]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        return [*words, "--out", out]


def read_recipes() -> tuple[Recipe, ...]:
    """The table of recipes.toml, with the common settings filled in."""
    table = tomllib.loads((HERE / "recipes.toml").read_text(encoding="utf-8"))
    common = table.pop("common")
    return tuple(
        Recipe(
            name=name,
            title=row["title"],
            corpus=row["corpus"],
            family=row["family"],
            steps=row["steps"],
            settings=common | row["settings"],
            look_for=tuple(row["look_for"]),
            keep=tuple(row.get("keep", ())),
        )
        for name, row in table.items()
    )


def card(recipe: Recipe, run: dict[str, Any], measured: dict[str, str]) -> str:
    """The card of a trained model, in Markdown.

    `run` is what `lmviz train --json` printed, and `measured` what else was found out about it.
    """
    from lmviz.tasks import find_task
    from lmviz.text.catalogue import find_entry

    corpus = find_entry(recipe.corpus)
    target = find_task(corpus.task).target
    command = shlex.join(["lmviz", *recipe.command(recipe.corpus, recipe.name)])
    source = f"{corpus.title.lower()} ({corpus.licence}): {corpus.description}"
    if corpus.address:
        source += f"\nThe text is not part of lmviz: {corpus.address} (sha256 `{corpus.sha256}`)."
    facts = {
        "parameters": f"{run['parameters']:,}",
        "steps": f"{run['step']:,}",
        "training loss": f"{run['loss']:.3f} nats per {target}",
        "validation loss": f"{run['validation_loss']:.3f} nats per {target}",
    } | measured
    if recipe.keep:
        facts["snapshots"] = f"{len(recipe.keep)}, close together where it learns most"
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    hints = "\n".join(f"- {hint}" for hint in recipe.look_for)
    return (
        f"# {recipe.title}\n\n"
        f"A sample model of lmviz: `lmviz {recipe.name}` opens it.\n\n"
        f"**Trained on** {source}\n\n"
        f"| | |\n|---|---|\n{rows}\n\n"
        f"**Look for**\n\n{hints}\n\n"
        f"**Train it again**\n\n```\n{command}\n```\n"
    )


def measure(folder: Path) -> dict[str, str]:
    """How well a model of labels or a translator does on what it has not learned from; others have losses."""
    from lmviz.api import training as api
    from lmviz.training.run import Run

    run = Run.open(folder)
    if run.description.task == "next-token":
        return {}
    model, corpus = api.open_model(folder), api.corpus_of(run)
    return (_measure_translator if corpus.task == "translation" else _measure_labels)(model, corpus)


def _measure_labels(model: Model, corpus: Corpus) -> dict[str, str]:
    from lmviz.tasks import find_task
    from lmviz.training.label_evaluation import evaluate_examples

    found, target = evaluate_examples(model, corpus.validation_examples), find_task(corpus.task).target
    return {
        f"all held-out {target}s": f"{found.negative_log_likelihood:.4f} nats each",
        "the least possible": f"{corpus.floor:.4f} nats each",
        f"held-out {target}s right": f"{found.accuracy:.1%}",
    }


def _measure_translator(model: Model, corpus: Corpus) -> dict[str, str]:
    from lmviz.decoding.judged_pairs import judged_pairs
    from lmviz.decoding.quality_by_length import quality_by_length
    from lmviz.decoding.translation_evaluation import evaluate_translations

    found = evaluate_translations(model, corpus.validation_examples)
    by_length = quality_by_length(model, judged_pairs(corpus), corpus.target_tokenizer)
    return {
        "held-out sentences word for word": f"{found.exact_match:.1%}",
        "BLEU on held-out sentences": f"{100 * found.bleu:.1f}",
        **{
            f"BLEU at {length} words": f"{100 * quality.bleu.value:.1f}"
            for length, quality in by_length.items()
            if length % 10 == 0
        },
    }


def thin_metrics(path: Path) -> None:
    """Keep the lines with a validation loss, and of the others only as many as a curve needs."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    every = max(1, len(lines) // CURVE_POINTS)
    kept = [line for n, line in enumerate(lines) if n % every == 0 or "validation_loss" in line]
    path.write_text("".join(kept), encoding="utf-8")


def thin_snapshots(folder: Path, keep: tuple[int, ...]) -> None:
    """Remove the snapshots of all other steps; none where no step is named."""
    for path in folder.iterdir():
        if keep and int(path.stem) not in keep:
            path.unlink()


def train(recipe: Recipe, corpus: str) -> None:
    """Train one model in this folder, in place of the one there was, and write its card."""
    folder = HERE / recipe.name
    shutil.rmtree(folder, ignore_errors=True)
    words = recipe.command(corpus, str(folder))
    done = subprocess.run(
        [sys.executable, "-m", "lmviz", *words, "--json"], stdout=subprocess.PIPE, text=True, check=True
    )
    shutil.rmtree(folder / "resume", ignore_errors=True)  # finished: nothing to go on with
    thin_metrics(folder / "metrics.jsonl")
    thin_snapshots(folder / "snapshots", recipe.keep)
    (folder / "card.md").write_text(card(recipe, json.loads(done.stdout), measure(folder)), encoding="utf-8")
    if recipe.name == first_screen.MODEL:
        first_screen.write_first_screen(folder, HERE / "first_screen.npz")


def main() -> None:
    """Train the models that are named, or all."""
    parser = argparse.ArgumentParser(description="Train the sample models again.")
    parser.add_argument("names", nargs="*", help="which ones; all when none is named")
    parser.add_argument(
        "--text", action="append", default=[], metavar="CORPUS=FILE", help="where a corpus is"
    )
    arguments = parser.parse_args()
    texts = dict(item.split("=", 1) for item in arguments.text)
    recipes = {recipe.name: recipe for recipe in read_recipes()}
    unknown = set(arguments.names) - set(recipes)
    if unknown:
        parser.error(f"there is no recipe {sorted(unknown)[0]!r}: the recipes are {', '.join(recipes)}.")
    for name in arguments.names or recipes:
        print(f"{name} …", flush=True)
        train(recipes[name], texts.get(recipes[name].corpus, recipes[name].corpus))


if __name__ == "__main__":
    main()
