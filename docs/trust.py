"""How far estimates of what a line taught can be trusted: small models trained without halves of a text.

    python docs/trust.py                 # writes lmviz/origins/trust.json, some half an hour on one core

Words are chosen by a rule before anything is left out. What is measured is the change of a word's
log-probability without half of the lines, the mean over seeds; what is estimated is the sum over these lines.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import torch

import lmviz
from lmviz.origins.influences import Influences
from lmviz.origins.learned_text import LearnedText
from lmviz.origins.products import log_probability
from lmviz.origins.teaching import Teaching
from lmviz.runs.removal import targets_of, train_to, trained_again
from lmviz.text.corpus import Corpus, load_corpus, text_corpus
from lmviz.training.run import Run

OUT = Path(__file__).parents[1] / "lmviz" / "origins" / "trust.json"
KINDS = {
    "gru": {"width": 32, "layers": 1},
    "transformer": {"width": 32, "layers": 1, "heads": 2, "feedforward": 64, "context": 24},
}
METHODS = {
    "overlap": "n-gram overlap",
    "scaled": "gradients, Adam's scale",
    "gradients": "gradients",
    "last": "gradients, last snapshot",
    "words": "words in common",
}
LIKELY = (0.15, 0.9)
"""How likely a word is that is asked about: one that is sure has nothing left to lose."""


def lines_of_stories(count: int) -> list[str]:
    """The first different sentences of the shipped stories, of 5 to 17 words."""
    found: dict[str, None] = {}
    for story in load_corpus("stories").training_documents:
        for line in re.split(r'(?<=[.!?"])\s+(?=[A-Z"])', story):
            if 5 <= len(line.split()) <= 17:
                found.setdefault(line)
            if len(found) == count:
                return list(found)
    return list(found)


def train(kind: str, corpus: Corpus, folder: Path, seed: int, steps: int) -> Run:
    """A small model of one kind."""
    return lmviz.train(
        kind,
        corpus,
        folder,
        seed=seed,
        steps=steps,
        batch=16,
        sampling="sentences",
        optimizer="adam",
        learning_rate=0.01,
        warmup=20,
        snapshots=11,
        validate_every=0,
        **KINDS[kind],
    )


def chosen_words(run: Run, held_out: list[str], count: int) -> list[tuple[str, str]]:
    """The first words of held-out lines that the model finds likely, and not sure; each another word."""
    model = lmviz.open_model(run.folder)
    found: list[tuple[str, str]] = []
    for line in held_out:
        words = line.split()
        for place in range(4, len(words)):
            before, word = " ".join(words[:place]), words[place]
            index = model.tokenizer.id_of(word)
            if index is None or not word.isalpha() or word in [known for _, known in found]:
                continue
            if LIKELY[0] < lmviz.next_token(model, before).probabilities[index] < LIKELY[1]:
                found.append((before, word))
                break
        if len(found) == count:
            break
    return found


def words_in_common(text: LearnedText, taught: Influences) -> np.ndarray:
    """The words that each line (line,) shares with the question, rare ones counting for more."""
    lines = [set(text.line(number).tokens) for number in range(len(text.line_starts) - 1)]
    often = Counter(word for line in lines for word in line)
    asked = {*taught.context, taught.word}
    shared = [sum(math.log(len(lines) / often[word]) for word in line & asked) for line in lines]
    return np.array(shared) - [taught.word not in line for line in lines]


def ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values))


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's, of values without ties."""
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ceiling(changes: np.ndarray) -> float:
    """How well the truth itself would agree with the mean of the seeds (seed, half), from how they agree."""
    seeds = len(changes)
    pairs = [rank_correlation(changes[i], changes[j]) for i in range(seeds) for j in range(i)]
    agreement = max(0.0, float(np.mean(pairs)))
    return math.sqrt(seeds * agreement / (1 + (seeds - 1) * agreement))


def measure(kind: str, *, lines: int, steps: int, halves: int, seeds: int, words: int) -> dict[str, object]:
    """All figures of one kind of model."""
    torch.set_num_threads(1)
    sentences = lines_of_stories(lines + 200)
    corpus = text_corpus(
        "\n".join(sentences[:lines]), tokenizer="words", documents="line", validation=0.0, vocabulary=320
    )
    text = LearnedText.of(corpus)
    per_line = len(text.line_starts) - 1
    chance = np.random.default_rng(5)
    parts = [np.sort(chance.permutation(per_line)[: per_line // 2]) for _ in range(halves)]
    with tempfile.TemporaryDirectory() as folder:
        runs = [train(kind, corpus, Path(folder) / str(seed), seed, steps) for seed in range(seeds)]
        asked = chosen_words(runs[0], sentences[lines:], words)

        def teaching(before: str, word: str, scaled: bool) -> Teaching:
            opened = lambda step: lmviz.open_model(runs[0].folder, step)  # noqa: E731
            return Teaching(runs[0], corpus, opened, before, word, tokens=None, scaled=scaled)

        questions = [teaching(before, word, scaled=False) for before, word in asked]
        scores: dict[str, list[np.ndarray]] = {name: [] for name in METHODS}
        for (before, word), question in zip(asked, questions, strict=True):
            plain = list(question.growing())[-1][0]
            scaled = list(teaching(before, word, scaled=True).growing())[-1][0]
            last = plain.products[-1] * text.asked
            scores["gradients"].append(plain.line_push())
            scores["scaled"].append(scaled.line_push())
            scores["overlap"].append(plain.line_push("overlap"))
            scores["last"].append(np.add.reduceat(np.nan_to_num(last), text.line_starts[:-1]))
            scores["words"].append(words_in_common(text, plain))
        changes = np.zeros((seeds, len(asked), halves))
        for seed, run in enumerate(runs):
            whole = [log_probability(lmviz.open_model(run.folder), question.asked) for question in questions]
            for half, part in enumerate(parts):
                learner, _ = trained_again(run, corpus, targets_of(text, part), step=0, until=steps)
                for _ in train_to(learner, run, steps):
                    pass
                left = [log_probability(learner.model, question.asked) for question in questions]
                changes[seed, :, half] = np.array(whole) - left
                print(kind, "seed", seed, "half", half, flush=True)
    mean = changes.mean(axis=0)  # (word, half)
    estimated = {
        name: np.array([[score[part].sum() for part in parts] for score in scores[name]]) for name in METHODS
    }
    by_word = {
        name: [rank_correlation(found[word], mean[word]) for word in range(len(asked))]
        for name, found in estimated.items()
    }
    return {
        "kind": kind,
        "lines": per_line,
        "steps": steps,
        "halves": halves,
        "seeds": seeds,
        "words": [" ".join(each) for each in asked],
        "ceiling": round(float(np.mean([ceiling(changes[:, word]) for word in range(len(asked))])), 3),
        "correlation": {name: round(float(np.mean(values)), 3) for name, values in by_word.items()},
        "by_word": {name: [round(value, 3) for value in values] for name, values in by_word.items()},
        "measured": mean.round(4).tolist(),
        "estimated": {name: ranks_of(found) for name, found in estimated.items()},
    }


def ranks_of(found: np.ndarray) -> list[list[int]]:
    """The ranks of halves (word, half)."""
    return [ranks(row).tolist() for row in found]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--halves", type=int, default=18)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--words", type=int, default=6)
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--out", type=Path, default=OUT)
    given = vars(parser.parse_args())
    kind, out = given.pop("kind"), given.pop("out")
    kinds = list(KINDS) if kind == "all" else [kind]
    found = [measure(each, **given) for each in kinds]
    out.write_text(json.dumps({"models": found}, indent=1) + "\n")
