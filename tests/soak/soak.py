"""Tries for long what docs/reliability.md promises.

    python3 start.py soak [--mutations N] [--disturbances N] [--closings N] [--pairs N] [--minutes N]
                          [--seed N] [--only PART_OF_A_NAME]

It prints a line for each kind of file and of disturbance, writes the same with all faults to
build/soak/report.txt, and ends with 1 where there were any, with 2 where nothing was tried. It needs
`fork`, so Linux or macOS.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

sys.path.append(str(Path(__file__).parents[1]))  # files of other programs are written as other tests do it

from closings import KINDS, close_while
from disturbances import DISTURBANCES, Disturbance, Outcome, disturb, undisturbed
from fuzzing import Fault, fuzz
from loaders import make_loaders
from two_windows import disturb_one_another
from using import MOST, use_for

from lmviz.text.corpus import load_corpus

REPORT = Path("build/soak/report.txt")
PAIR, USED = "two windows on one run", "one window used"
BEGAN = time.monotonic()
T = TypeVar("T")
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
    parser.add_argument("--within", type=float, help="minutes in which all ends: less of each is tried")
    given = parser.parse_args(arguments)
    if given.within is not None:
        given.minutes = min(given.minutes, given.within / 3)
    budget = Budget(None if given.within is None else 60 * (given.within - given.minutes))
    names = [each.name for each in DISTURBANCES if given.disturbances]
    names += [*(KINDS if given.closings else ()), *([PAIR] if given.pairs else ())]
    budget.add(sum(given.only in name for name in names))
    faults = []
    tried_at_all = False
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        soak = try_all(Path(folder), given.mutations, given.disturbances, given.seed, given.only, budget)
        closings = close_all(Path(folder), given.closings, given.seed, given.only, budget)
        pairs = pair_all(Path(folder), given.pairs, given.seed, given.only, budget)
        used = use_one(Path(folder), given.minutes, given.seed, given.only)
        for tried in itertools.chain(soak, closings, pairs, used):
            print(tried, flush=True)
            faults += tried.faults
            tried_at_all = True
    if not tried_at_all:
        print(f"Nothing that is tried has {given.only!r} in its name, or all of it was given 0 times.")
        return 2
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{fault.what}, number {fault.number} of seed {given.seed}:\n{fault.how}\n" for fault in faults)
    REPORT.write_text("\n".join(lines), encoding="utf-8")
    print(f"{(time.monotonic() - BEGAN) / 60:,.0f} minutes.")
    print(f"{len(faults)} faults in all; see {REPORT}." if faults else "Nothing was lost.")
    return 1 if faults else 0


class Budget:
    """The seconds that everything together may take, None for no limit: each kind has the same share of what
    is left when its turn comes."""

    def __init__(self, seconds: float | None) -> None:
        self._until = math.inf if seconds is None else BEGAN + seconds
        self._left = 0

    def add(self, kinds: int) -> None:
        """So many more kinds will be tried."""
        self._left += kinds

    def end_of_next(self) -> float:
        """By `time.monotonic`, when the next kind has to end."""
        now = time.monotonic()
        share = (self._until - now) / max(self._left, 1)
        self._left -= 1
        return now + max(share, 0.0)


@dataclass(frozen=True)
class Tried:
    """What was tried, how often, in how many seconds, and the faults that it brought to light.

    Of trainings also how many it stopped, and of files how many were read as what they should be.
    """

    what: str
    count: int
    faults: list[Fault]
    seconds: float
    stopped: int | None = None
    values: int | None = None

    def __str__(self) -> str:
        stopped = "" if self.stopped is None else f", {self.stopped:,} stopped"
        values = "" if self.values is None else f", {self.values:,} read"
        tried = f"{self.what:<28} {self.count:>7,} tried{stopped}{values}"
        return f"{tried}, {self.seconds:,.0f} s, {len(self.faults):,} faults"


def try_all(
    folder: Path, mutations: int, disturbances: int, seed: int, only: str, budget: Budget
) -> Iterator[Tried]:
    """Try everything whose name holds `only`, in a folder into which other users can look."""
    text = folder / "small.txt"
    text.write_text("\n".join(SENTENCES * 20) + "\n", encoding="utf-8")
    if mutations:
        loaders = [loader for loader in make_loaders(folder, text) if only in loader.name]
        budget.add(len(loaders))
        for loader in loaders:
            began = time.monotonic()
            read = fuzz(loader, mutations, seed, folder / "notes", budget.end_of_next())
            seconds = time.monotonic() - began
            yield Tried(loader.name, read.tried, read.faults, seconds, values=read.values)
    if not disturbances:
        return
    corpus = load_corpus(text)
    expected = undisturbed(corpus, folder / "undisturbed")

    def disturb_once(disturbance: Disturbance, number: int) -> Outcome:
        chance = random.Random(f"{seed} {disturbance.name} {number}")
        return disturb(disturbance, corpus, folder / "disturbed", expected, chance)

    for disturbance in DISTURBANCES:
        if only not in disturbance.name:
            continue
        began = time.monotonic()
        found = [*until(budget.end_of_next(), disturbances, partial(disturb_once, disturbance))]
        faults = [
            Fault(disturbance.name, number, each.lost) for number, each in enumerate(found) if each.lost
        ]
        stopped = sum(not each.ended for each in found)
        yield Tried(disturbance.name, len(found), faults, time.monotonic() - began, stopped)


def until(end: float, count: int, once: Callable[[int], T]) -> Iterator[T]:
    """What comes of trying something `count` times, or as often as it goes until then: once at least."""
    for number in range(count):
        yield once(number)
        if time.monotonic() > end:
            return


def close_all(folder: Path, count: int, seed: int, only: str, budget: Budget) -> Iterator[Tried]:
    """Close windows at work, `count` during each kind of work."""

    def close_once(kind: str, number: int) -> str:
        return close_while(kind, folder, random.Random(f"{seed} {kind} {number}"))

    for kind in KINDS:
        if not count or only not in kind:
            continue
        began = time.monotonic()
        found = [*until(budget.end_of_next(), count, partial(close_once, kind))]
        yield Tried(f"closed while {kind}", len(found), _faults(kind, found), time.monotonic() - began)


def pair_all(folder: Path, count: int, seed: int, only: str, budget: Budget) -> Iterator[Tried]:
    """Have two windows disturb one another, `count` times; where there was a `try_all` before."""
    if not count or only not in PAIR:
        return
    corpus, began = load_corpus(folder / "small.txt"), time.monotonic()

    def disturb_once(number: int) -> str:
        return disturb_one_another(corpus, folder / "pair", random.Random(f"{seed} {PAIR} {number}"))

    found = [*until(budget.end_of_next(), count, disturb_once)]
    yield Tried(PAIR, len(found), _faults(PAIR, found), time.monotonic() - began)


def _faults(what: str, found: list[str]) -> list[Fault]:
    return [Fault(what, number, wrong) for number, wrong in enumerate(found) if wrong]


def use_one(folder: Path, minutes: float, seed: int, only: str = "") -> Iterator[Tried]:
    """Use one window for so many minutes. What it held after each round goes beside the report."""
    if minutes and only in USED:
        began = time.monotonic()
        held, wrong = use_for(folder / "used", minutes, seed)
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        with REPORT.with_name("used.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(MOST)
            rows.writerows([getattr(each, measure) for measure in MOST] for each in held)
        yield Tried(USED, len(held), [Fault(USED, len(held), how) for how in wrong], time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
