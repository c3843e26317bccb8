"""Runs what takes too long for every change: the slow tests, a short soak and a sample of mutants.

    python3 start.py nightly [--seed S] [--only PART ...] [--brief] [TESTS ...]

All parts are run, even when one does not pass; the last lines say which did not, and with what command it is
run again. Ctrl+C ends the part that is running and begins no other.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence

INTERRUPTED = 130
"""The exit code of a program that Ctrl+C ended."""
LEAST, LEAST_BRIEF = 0.75, 0.5
"""Shares of mutants to notice. Where tests notice 85 % of all, a sample is below them one night in 70, and
would be below 85 % nearly every other night."""


def main(arguments: Sequence[str]) -> int:
    """Run the parts in turn; the exit code of the first that did not pass, or 0."""
    given = read_arguments(arguments)
    parts = commands(given.tests, given.seed, given.brief)
    codes = {}
    for part in given.only or parts:
        print(f"── {part}: {shlex.join(parts[part])}", flush=True)
        codes[part] = run(parts[part])
        if codes[part] == INTERRUPTED:
            return INTERRUPTED
    failed = [part for part, code in codes.items() if code != 0]
    for part in failed:
        print(f"Did not pass: {part}. Again: {shlex.join(again(part, given))}")
    if not failed:
        print(f"All passed: {', '.join(codes)}.")
    return codes[failed[0]] if failed else 0


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """`.tests`, `.seed`, `.only` and `.brief`."""
    parser = argparse.ArgumentParser(prog="python3 start.py nightly", description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", metavar="TESTS", help="slow tests of these files or folders; all")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the soak and of the mutants; 0")
    parser.add_argument("--only", action="append", choices=list(commands((), 0, False)), help="this part")
    parser.add_argument("--brief", action="store_true", help="a tenth of the soak and of the mutants")
    return parser.parse_args(arguments)


def commands(tests: Sequence[str], seed: int, brief: bool) -> dict[str, list[str]]:
    """What Python is given for each part, by its name."""
    times = 1 if brief else 10
    soak = {
        "mutations": 50 * times,
        "disturbances": 2 * times,
        "closings": 2,
        "pairs": 2 * times,
        "minutes": 2 * times,
        "seed": seed,
    }
    mutants = {"sample": 6 * times, "least": LEAST_BRIEF if brief else LEAST, "seed": seed}
    workers = str((os.cpu_count() or 1) + 1)
    return {
        "tests": ["-m", "pytest", "-q", "--numprocesses", workers, "-m", "slow or hypothesis", *tests],
        "soak": ["tests/soak/soak.py", *options(soak)],
        "mutants": ["tests/mutation/mutate.py", *options(mutants)],
    }


def options(values: dict[str, float]) -> list[str]:
    """Words of a command line."""
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


def again(part: str, given: argparse.Namespace) -> list[str]:
    """The command that runs one part as it was run."""
    brief = ["--brief"] if given.brief else []
    return [
        *("python3", "start.py", "nightly", "--only", part),
        "--seed",
        str(given.seed),
        *brief,
        *given.tests,
    ]


def run(command: list[str]) -> int:
    """Run Python; its exit code, or INTERRUPTED once it has ended after Ctrl+C."""
    interrupts = []
    # Ctrl+C reaches the part as well, which ends in its own way
    before = signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        code = subprocess.call([sys.executable, *command])
    finally:
        signal.signal(signal.SIGINT, before)
    return INTERRUPTED if interrupts else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
