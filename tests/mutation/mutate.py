#!/usr/bin/env python3
"""Break lmviz in many small ways, one at a time, and see whether a test fails each time.

`python3 start.py mutate` draws a sample of all mutants of the folders below, prints what became of them,
and ends with 1 where too many survive. docs/testing.md says how to read it.
"""

from __future__ import annotations

import argparse
import compileall
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from concerning import FileOfTests, concerned, measure, rounds
from forked import OPTIONS, forked, load_libraries
from mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("models", "inspection", "decoding", "training")
SHARED_TESTS = ("interchange", "api", "test_families.py")
COPIED = ("lmviz", "tests", "resources", "sample_models", "docs", "pyproject.toml")
RESULTS = ROOT / "build" / "mutation"
LEAST = 0.85
"""The share of mutants that tests have to notice, where nothing else is said."""


def main() -> int:
    """Draw, run, report; 1 where too few mutants are noticed."""
    parser = argparse.ArgumentParser(prog="python3 start.py mutate", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"of lmviz; all of {', '.join(FOLDERS)}")
    parser.add_argument("--sample", type=int, default=300, metavar="N", help="how many mutants; 300")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which sample; 0")
    parser.add_argument("--least", type=float, default=LEAST, metavar="SHARE", help=f"to notice; {LEAST}")
    options = parser.parse_args()
    if not hasattr(os, "fork"):
        sys.exit("A mutation run forks a process for each mutant, which Windows cannot: run it on Linux.")
    folders = options.folders or list(FOLDERS)
    drawn = draw(folders, options.sample, options.seed)
    load_libraries()
    with tempfile.TemporaryDirectory(prefix="lmviz-mutation-") as folder:
        copy = make_copy(Path(folder))
        files = measure_all(copy, dict.fromkeys([*FOLDERS, *folders, *SHARED_TESTS]))
        began, outcomes = time.monotonic(), []
        for number, mutant in enumerate(drawn, 1):
            outcome = judge(mutant, files, copy)
            outcomes.append((mutant, outcome))
            print(f"{number}/{len(drawn)} {outcome:<9} {mutant.path}:{mutant.line}", flush=True)
        each = (time.monotonic() - began) / max(1, len(drawn))
    report, share = summary(outcomes)
    report += f"\n{each:.1f} s a mutant; sample of {len(drawn)} with seed {options.seed}\n"
    report += f"{share:.1%} of the mutants were noticed; {options.least:.0%} have to be.\n"
    print(report)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "report.txt").write_text(report, encoding="utf-8")
    return 0 if share >= options.least else 1


def draw(folders: list[str], count: int, seed: int) -> list[Mutant]:
    """A sample of all the mutants of folders, by path and line."""
    paths = sorted(path for folder in folders for path in (ROOT / "lmviz" / folder).glob("**/*.py"))
    everything = [mutant for path in paths for mutant in mutants_of(ROOT, path.relative_to(ROOT).as_posix())]
    print(f"{len(everything)} mutants in {len(paths)} modules", flush=True)
    chosen = random.Random(seed).sample(range(len(everything)), min(count, len(everything)))
    return [everything[place] for place in sorted(chosen)]


def make_copy(folder: Path) -> Path:
    """The sources where they may be broken, compiled once."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    compileall.compile_dir(folder / "lmviz", quiet=1)
    return folder


def measure_all(copy: Path, places: Iterable[str]) -> list[FileOfTests]:
    """The files of tests in these places, measured, as many at a time as there are cores."""
    paths = []
    for place in (copy / "tests" / name for name in places):
        paths += [place] if place.is_file() else sorted(place.glob("**/test_*.py"))
    relative, files = [path.relative_to(copy).as_posix() for path in paths], []
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as beside:
        for measured in beside.map(partial(measure, copy, cache=RESULTS / "measured"), relative):
            files.append(measured)
            print(f"measured {measured.path}: {len(measured.seconds)} tests", flush=True)
    return files


def judge(mutant: Mutant, files: list[FileOfTests], copy: Path) -> str:
    """ "killed", "survived", or "untested" where no test concerns the line.

    "timed out" where the tests end in their time without the change only, and "undecided" where the machine
    is too busy even for that.
    """
    tests = concerned(files, mutant.path, mutant.line)
    if not tests:
        return "untested"
    seconds = {test: value for file in files for test, value in file.seconds.items()}
    place = copy / mutant.path
    original = place.read_bytes()
    for compiled in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
        compiled.unlink()  # and never written again, as two changes in one second look alike to Python
    try:
        place.write_text(mutant.source, encoding="utf-8")
        for part in rounds(tests, seconds):
            limit = 30 + 4 * sum(seconds[test] for test in part)
            code, _ = forked(lambda part=part: _run(part), copy, limit)
            if code is None:  # by the change, or by a busy machine?
                place.write_bytes(original)
                undisturbed, _ = forked(lambda part=part: _run(part), copy, limit)
                return "timed out" if undisturbed == 0 else "undecided"
            if code != 0:
                return "killed"
    finally:
        place.write_bytes(original)
    return "survived"


def _run(tests: list[str]) -> int:
    """pytest's exit code of these tests, run in this order up to the first failure.

    No test has a time limit of its own: a busy machine would turn it into a failure, and so into a kill.
    """
    import pytest

    places = {test: place for place, test in enumerate(tests)}

    class Plugin:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            items[:] = sorted(
                (item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid]
            )

    paths = sorted({test.split("::")[0] for test in tests})
    return int(pytest.main([*OPTIONS, "--timeout=0", *paths], plugins=[Plugin()]))


def summary(outcomes: list[tuple[Mutant, str]]) -> tuple[str, float]:
    """The report, and the share of mutants that were noticed."""
    lines = []
    for mutant, outcome in outcomes:
        if outcome != "killed":
            lines += [f"\n{outcome}: {mutant.path}:{mutant.line}", mutant.diff()]
    kinds = ("killed", "timed out", "undecided", "survived", "untested")
    lines += ["", f"{'folder':<14}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'noticed':>10}"]
    folders = [mutant.path.split("/")[1] for mutant, _ in outcomes]
    for folder in [*sorted(set(folders)), "all"]:
        counts = Counter(
            kind for (_, kind), own in zip(outcomes, folders, strict=True) if folder in (own, "all")
        )
        share = noticed(counts)
        lines.append(f"{folder:<14}" + "".join(f"{counts[kind]:>10}" for kind in kinds) + f"{share:>10.1%}")
    return "\n".join(lines), noticed(Counter(kind for _, kind in outcomes))


def noticed(counts: Counter[str]) -> float:
    """The share of mutants that made a test fail, or never end."""
    return (counts["killed"] + counts["timed out"]) / max(1, counts.total())


if __name__ == "__main__":
    sys.exit(main())
