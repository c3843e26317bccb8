"""What a training is judged on is cut as what it learns from: its last validation is what `evaluate` says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from covering import covering
from small_models import small_settings

import lmviz
from lmviz.families import FAMILIES
from lmviz.runs.evaluating import evaluate_corpus
from lmviz.text.corpus import Corpus
from lmviz.text.pictures import picture_of

LINES = 80
COLORS, BEINGS, DOINGS = ("red", "old", "small"), ("cat", "dog", "hen", "fish"), ("runs", "eats", "sleeps")
SAMPLINGS = ("random", "streams", "sentences")


def sentences() -> Iterator[tuple[str, ...]]:
    """Lines of words of which the last is the first again, so that it matters where a line begins."""
    chance = np.random.default_rng(0)
    for _ in range(LINES):
        color, being, doing = (str(chance.choice(words)) for words in (COLORS, BEINGS, DOINGS))
        middle = [str(word) for word in chance.choice(BEINGS, size=chance.integers(5))]
        yield (color, being, *middle, doing, color)


def written(task: str) -> str:
    """A text of the task."""
    pictures = np.random.default_rng(1).random((LINES, 49)) < 0.5
    kinds = {
        word: kind for kind, words in zip("cbd", (COLORS, BEINGS, DOINGS), strict=True) for word in words
    }
    lines = {
        "next-token": lambda words, _: " ".join(words),
        "tagging": lambda words, _: " ".join(f"{word}/{kinds[word]}" for word in words),
        "classification": lambda words, _: f"{words[0]}\t{' '.join(words[1:])}",
        "translation": lambda words, _: f"{' '.join(words)}\t{' '.join(reversed(words))}",
        "captioning": lambda words, picture: f"{picture_of(picture)}\t{' '.join(words)}",
    }
    return "\n".join(map(lines[task], sentences(), pictures)) + "\n"


def cases() -> Iterator[tuple[str, str, str]]:
    for family in FAMILIES.values():
        for task in family.tasks:
            is_free = task == "next-token" and not family.counts
            for sampling in SAMPLINGS if is_free else ("sentences",):
                yield family.name, task, sampling


@pytest.fixture
def corpus(tmp_path: Path, task: str, sampling: str) -> Corpus:
    path = tmp_path / f"{task}.txt"
    path.write_text(written(task), encoding="utf-8")
    plain = {"documents": "file" if sampling == "streams" else "line", "tokenizer": "words"}
    corpus = lmviz.load_corpus(path, validation=0.4, **(plain if task == "next-token" else {}))
    assert corpus.task == task
    return corpus


@pytest.mark.parametrize(
    ("family", "task", "sampling"),
    covering(
        [pytest.param(*case, id="-".join(case)) for case in cases()],
        [{family, (task, sampling)} for family, task, sampling in cases()],
    ),
)
def test_the_last_validation_is_what_evaluate_says_of_the_same_part(
    family: str, task: str, sampling: str, corpus: Corpus, tmp_path: Path
) -> None:
    counts = FAMILIES[family].counts
    settings = {"steps": 20 if counts else 100, "validate_every": 0} | small_settings(family)
    if not counts:
        settings |= {"learning_rate": 0.02, "warmup": 0, "batch": 8, "validation_batches": 100}
        settings |= {"sampling": sampling} | ({} if sampling == "sentences" else {"length": 16})
    run = lmviz.train(family, corpus, tmp_path / "run", **settings)
    model = lmviz.open_model(run.folder)
    found = evaluate_corpus(model, corpus)
    # Excerpts begin anywhere, and evaluate reads what stands before them; else both read the same.
    reads_the_same = sampling == "sentences" or (
        sampling == "streams" and model.sight is None is model.context
    )
    lines = run.metrics()
    validated = lines[-1]["validation_loss"]
    assert validated == pytest.approx(found.negative_log_likelihood, rel=1e-4 if reads_the_same else 0.15)
    assert validated < 0.9 * lines[0]["validation_loss"], "it has learned, so that it matters what it reads"
    has_accuracy = "validation_accuracy" in lines[-1]
    assert has_accuracy == (task != "next-token")
