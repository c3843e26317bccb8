"""How far back models remember, by family and truncation: `python3 start.py recall`.

    python3 start.py recall                                        the whole table, some minutes
    python3 start.py recall --families rnn lstm --distances 5 10   a part of it
    python3 start.py recall --steps 50                             with shorter trainings

A line of the corpus `recall` is a key, so many other words, a question mark, and the key again. For each
distance a model of each family is trained anew, on whole lines and with backpropagation truncated, and is
then asked for the keys of lines that it has not seen.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lmviz

DISTANCES = (5, 10, 20, 40)
RECURRENT = ("rnn", "gru", "lstm")
FAMILIES = ("ngram", "window", *RECURRENT, "transformer")
TRUNCATIONS = (0, 20, 5)  # steps that a gradient goes back at most; 0 for the whole line
STEPS, LINES = 2000, 32  # updates, and lines in each
SETTINGS: dict[str, dict[str, Any]] = {
    "ngram": {"order": 5},
    "window": {"window": 8, "width": 64, "learning_rate": 1e-2},
    "rnn": {"width": 64, "learning_rate": 1e-2},
    "gru": {"width": 64, "learning_rate": 1e-2},
    "lstm": {"width": 64, "learning_rate": 1e-2},
    "transformer": {"width": 64, "layers": 2, "heads": 2, "context": 64, "learning_rate": 2e-3},
}
TITLES = {
    "ngram": "5-gram",
    "window": "Window of 8",
    "rnn": "RNN",
    "gru": "GRU",
    "lstm": "LSTM",
    "transformer": "Transformer",
}
AROUND = 5  # tokens of a line that are no fillers: START, the key, the question mark, the key again, and END
ASKED = 500  # lines


@dataclass(frozen=True)
class Row:
    """A line of the table: a family, and after how many steps its gradients are cut off; 0 for never."""

    family: str
    truncation: int

    @property
    def title(self) -> str:
        """What the table calls it."""
        return f"{TITLES[self.family]}{f', truncated at {self.truncation}' if self.truncation else ''}"


def rows_of(families: Sequence[str], truncations: Sequence[int]) -> Iterator[Row]:
    """The lines of the table. Only what carries a state on can be taught with truncation."""
    for family in families:
        for truncation in truncations if family in RECURRENT else (0,):
            yield Row(family, truncation)


def share_recalled(row: Row, distance: int, steps: int, folder: Path) -> float:
    """The share of keys that a model trained for so many updates gives back, of lines it has not seen.

    With truncation the text goes by in parallel streams, the state carried on from each excerpt to the
    next, in excerpts as long as gradients go back; every update has as many tokens as one without.
    """
    corpus = lmviz.load_corpus("recall", span=distance)
    tokens = LINES * (distance + AROUND)
    how: dict[str, Any] = {"sampling": "sentences", "batch": LINES}
    if row.truncation:
        how = {"sampling": "streams", "length": row.truncation, "batch": max(1, tokens // row.truncation)}
    run = lmviz.train(
        row.family,
        corpus,
        folder / f"{row.family}-{row.truncation}-{distance}",
        steps=steps,
        validate_every=0,
        snapshots=2,
        seed=0,
        device="cpu",
        **SETTINGS[row.family],
        **how,
    )
    lines = corpus.validation.reshape(-1, distance + AROUND)[:ASKED]
    asked, keys = lines[:, : distance + 3], lines[:, distance + 3]
    model = lmviz.open_model(run.folder)
    with torch.inference_mode():
        logits = model(torch.from_numpy(asked.astype(np.int64)))[:, -1]
    return float((logits.argmax(dim=1).numpy() == keys).mean())


def table(rows: Sequence[Row], distances: Sequence[int], shares: dict[tuple[Row, int], float]) -> str:
    """The shares in per cent, as Markdown."""
    lines = [
        "| model | " + " | ".join(f"{distance} words" for distance in distances) + " |",
        "|---|" + "--:|" * len(distances),
    ]
    for row in rows:
        cells = (f"{100 * shares[row, distance]:.0f} %" for distance in distances)
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all models, and print the table."""
    parser = argparse.ArgumentParser(prog="start.py recall", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--distances", nargs="+", type=int, default=DISTANCES)
    parser.add_argument("--truncations", nargs="+", type=int, default=TRUNCATIONS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    rows = list(rows_of(options.families, options.truncations))
    began, shares = time.process_time(), {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            for distance in options.distances:
                shares[row, distance] = share_recalled(row, distance, options.steps, Path(folder))
                print(f"{row.title}, {distance} words: {100 * shares[row, distance]:.0f} %", flush=True)
    seconds = time.process_time() - began
    print(f"\n{table(rows, options.distances, shares)}\n")
    print(f"{options.steps:,} updates each, {seconds:.0f} s of one core in all, {platform.machine()},")
    print(f"Python {platform.python_version()}, PyTorch {torch.__version__}.")


if __name__ == "__main__":
    main()
