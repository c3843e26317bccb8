"""Runs what takes too long for every change: the slow tests, a short soak and a sample of mutants.

    python3 start.py nightly [--seed S] [--only PART ...] [--brief] [TESTS ...]

All parts are run, even when one does not pass. The last lines say how each ended and which tests failed, what
did not pass, and with what command it is run again. Ctrl+C ends the part that is running and begins no other.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, NamedTuple

INTERRUPTED = 130
"""The exit code of a program that Ctrl+C ended."""
LAST_WORDS = 10.0
"""Seconds for what a part has said to arrive; a program that it left behind may hold its output for ever."""
LEAST, LEAST_BRIEF = 0.75, 0.5
"""Shares of mutants to notice. Where tests notice 85 % of all, a sample is below them one night in 70, and
would be below 85 % nearly every other night."""


class Ended(NamedTuple):
    """How a part ended: its exit code, all that it said, and after how many seconds."""

    code: int
    said: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        """What it came to, in its own last words, and a line for each test that failed."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        failed = [f"    {line}" for line in lines if line.startswith(("FAILED ", "ERROR "))]
        passed = "passed" if self.code == 0 else "did not pass"
        words = lines[-1].strip("= ") if lines else f"exit code {self.code}"
        return "\n".join([f"{passed} after {self.seconds / 60:,.0f} minutes: {words}", *failed])


def main(arguments: Sequence[str]) -> int:
    """Run the parts in turn; the exit code of the first that did not pass, or 0."""
    given = read_arguments(arguments)
    parts = commands(given.tests, given.seed, given.brief)
    ends = {}
    for part in given.only or parts:
        print(f"── {part}: {shlex.join(parts[part])}", flush=True)
        ends[part] = run(parts[part])
        if ends[part].code == INTERRUPTED:
            return INTERRUPTED
    print("── In the end", *(f"{part} {end}" for part, end in ends.items()), sep="\n")
    failed = [part for part, end in ends.items() if end.code != 0]
    for part in failed:
        print(f"Did not pass: {part}. Again: {shlex.join(again(part, given))}")
    if not failed:
        print(f"All passed: {', '.join(ends)}.")
    return ends[failed[0]].code if failed else 0


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
    several = ["--numprocesses", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]
    return {
        "tests": ["-m", "pytest", "-q", *several, "-m", "slow or hypothesis", *tests],
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


def run(command: list[str]) -> Ended:
    """Run Python, and pass on what it says at once; INTERRUPTED once it has ended after Ctrl+C."""
    interrupts, said, began = [], bytearray(), time.monotonic()

    def pass_on(pipe: IO[bytes]) -> None:
        while piece := os.read(pipe.fileno(), 1 << 16):
            said.extend(piece)
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()

    # Ctrl+C reaches the part as well, which ends in its own way
    before = signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        part = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        listening = threading.Thread(target=pass_on, args=(part.stdout,), daemon=True)
        listening.start()
        code = part.wait()
        listening.join(LAST_WORDS)
    finally:
        signal.signal(signal.SIGINT, before)
    words, seconds = said.decode("utf-8", "replace"), time.monotonic() - began
    return Ended(INTERRUPTED if interrupts else code, words, seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
