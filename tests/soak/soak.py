"""Tries for long what docs/reliability.md promises.

    python3 start.py soak [--mutations N] [--disturbances N] [--closings N] [--pairs N] [--minutes N]
                          [--seed N] [--only PART_OF_A_NAME]

It prints a line for each kind of file and of disturbance, writes the same with all faults to
build/soak/report.txt, and ends with 1 where there were any. It needs `fork`, so Linux or macOS.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

sys.path.append(str(Path(__file__).parents[1]))  # files of other programs are written as other tests do it

from closings import KINDS, close_while
from disturbances import DISTURBANCES, disturb, undisturbed
from fuzzing import Fault, fuzz
from loaders import make_loaders
from two_windows import disturb_one_another
from using import MOST, use_for

from lmviz.text.corpus import load_corpus

REPORT = Path("build/soak/report.txt")
PAIR, USED = "two windows on one run", "one window used"
SENTENCES = ("The cow eats grass.", "The bat sees the dog.", "The dog likes hay.", "The hen eats corn.")


def main(arguments: list[str]) -> int:
    """Try everything; 1 where something was lost."""
    parser = argparse.ArgumentParser(prog="start.py soak", description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=20_000, help="changed files of each kind")
    parser.add_argument("--disturbances", type=int, default=500, help="trainings disturbed in each way")
    parser.add_argument("--closings", type=int, default=25, help="windows closed during each kind of work")
    parser.add_argument("--pairs", type=int, default=25, help="times that two windows have one run open")
    parser.add_argument("--minutes", type=float, default=60, help="during which one window is used")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the names of what is tried")
    given = parser.parse_args(arguments)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        soak = try_all(Path(folder), given.mutations, given.disturbances, given.seed, given.only)
        closings = close_all(Path(folder), given.closings, given.seed, given.only)
        pairs = pair_all(Path(folder), given.pairs, given.seed, given.only)
        used = use_one(Path(folder), given.minutes, given.seed, given.only)
        for tried in itertools.chain(soak, closings, pairs, used):
            print(tried, flush=True)
            faults += tried.faults
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{fault.what}, number {fault.number} of seed {given.seed}:\n{fault.how}\n" for fault in faults)
    REPORT.write_text("\n".join(lines), encoding="utf-8")
    print(f"{len(faults)} faults in all; see {REPORT}." if faults else "Nothing was lost.")
    return 1 if faults else 0


@dataclass(frozen=True)
class Tried:
    """What was tried, how often, and the faults that it brought to light.

    Of trainings also how many it stopped, and of files how many were read as what they should be.
    """

    what: str
    count: int
    faults: list[Fault]
    stopped: int | None = None
    values: int | None = None

    def __str__(self) -> str:
        stopped = "" if self.stopped is None else f", {self.stopped:,} stopped"
        values = "" if self.values is None else f", {self.values:,} read"
        return f"{self.what:<28} {self.count:>7,} tried{stopped}{values}, {len(self.faults):,} faults"


def try_all(folder: Path, mutations: int, disturbances: int, seed: int, only: str = "") -> Iterator[Tried]:
    """Try everything whose name holds `only`, in a folder into which other users can look."""
    text = folder / "small.txt"
    text.write_text("\n".join(SENTENCES * 20) + "\n", encoding="utf-8")
    if mutations:
        for loader in make_loaders(folder, text):
            if only in loader.name:
                faults, values = fuzz(loader, mutations, seed, folder / "notes")
                yield Tried(loader.name, mutations, faults, values=values)
    if not disturbances:
        return
    corpus = load_corpus(text)
    expected = undisturbed(corpus, folder / "undisturbed")
    for disturbance in DISTURBANCES:
        if only in disturbance.name:
            faults, stopped = [], 0
            for number in range(disturbances):
                chance = random.Random(f"{seed} {disturbance.name} {number}")
                outcome = disturb(disturbance, corpus, folder / "disturbed", expected, chance)
                faults += [Fault(disturbance.name, number, outcome.lost)] if outcome.lost else []
                stopped += not outcome.ended
            yield Tried(disturbance.name, disturbances, faults, stopped)


def close_all(folder: Path, count: int, seed: int, only: str = "") -> Iterator[Tried]:
    """Close windows at work, `count` during each kind of work."""
    for kind in KINDS:
        if only in kind:
            faults = []
            for number in range(count):
                wrong = close_while(kind, folder, random.Random(f"{seed} {kind} {number}"))
                faults += [Fault(kind, number, wrong)] if wrong else []
            yield Tried(f"closed while {kind}", count, faults)


def pair_all(folder: Path, count: int, seed: int, only: str = "") -> Iterator[Tried]:
    """Have two windows disturb one another, `count` times; where there was a `try_all` before."""
    if count and only in PAIR:
        corpus, faults = load_corpus(folder / "small.txt"), []
        for number in range(count):
            wrong = disturb_one_another(corpus, folder / "pair", random.Random(f"{seed} {PAIR} {number}"))
            faults += [Fault(PAIR, number, wrong)] if wrong else []
        yield Tried(PAIR, count, faults)


def use_one(folder: Path, minutes: float, seed: int, only: str = "") -> Iterator[Tried]:
    """Use one window for so many minutes. What it held after each round goes beside the report."""
    if minutes and only in USED:
        held, wrong = use_for(folder / "used", minutes, seed)
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        with REPORT.with_name("used.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(MOST)
            rows.writerows([getattr(each, measure) for measure in MOST] for each in held)
        yield Tried(USED, len(held), [Fault(USED, len(held), how) for how in wrong])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
