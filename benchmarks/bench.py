"""Measure every performance figure of lmviz beside a peer or a budget, in one run on this machine.

    python3 start.py bench                      all rows
    python3 start.py bench --rows lstm ngram    these alone
    python3 start.py bench --rows lstm --keep   these alone, and kept

Prints a table, and exits with 1 when a row falls short. RESULTS.md keeps what each row came to when all
were measured last, or it alone with --keep, with the day. A row is a function and an entry in a ROWS
table; a new file of rows is named in GROUPS.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rich.console import Console
from rich.table import Table

from benchmarks.rows import Measured, Row

GROUPS = (
    "benchmarks.starting",
    "benchmarks.training",
    "benchmarks.tuning",
    "benchmarks.task_training",
    "benchmarks.racing",
    "benchmarks.learning",
    "benchmarks.features",
    "benchmarks.counting",
    "benchmarks.growing",
    "benchmarks.live_training",
    "benchmarks.keystrokes",
    "benchmarks.gradients",
    "benchmarks.drawing",
    "benchmarks.lecturing",
    "benchmarks.large_text",
    "benchmarks.checkpoints",
    "benchmarks.deep_model",
    "benchmarks.circuits",
    "benchmarks.recording",
    "benchmarks.many_texts",
    "benchmarks.readouts",
    "benchmarks.series",
)
RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
PACKAGES = ("torch", "numpy", "PySide6_Essentials", "pyqtgraph", "transformers", "nltk")


def machine() -> str:
    """What was measured on, and with which versions."""
    system = f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores"
    threads = os.environ.get("OMP_NUM_THREADS", str(os.cpu_count()))
    return f"{system}, {threads} for torch, Python {platform.python_version()}"


def _processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def versions() -> str:
    """The packages that decide about the figures."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def as_markdown(lines: Iterable[str]) -> str:
    """The content of RESULTS.md, from the lines of its rows."""
    head = [
        "# What the bench measured",
        "",
        f"{machine()}. {versions()}.",
        "",
        "The column *of the machine's limit* says how near a row comes to what this machine can do at all: "
        "matrix products of its size, reading its weights from memory, a plain frame of Qt. A dash: no limit "
        "was measured. The last column says on which day a row was measured. The machine, its speed that "
        "day and the versions are those of the newest rows.",
        "",
        "| row | what | measured | budget | | of the machine's limit | made from | on |",
        "|---|---|---:|---:|---|---|---|---|",
    ]
    return "\n".join([*head, *lines, ""])


def as_line(row: Row, measured: Measured, day: date) -> str:
    """A row in RESULTS.md."""
    verdict = "pass" if row.passes(measured) else "**short**"
    return (
        f"| {row.name} | {row.what} | {measured.value:.3g} {row.unit} | {row.limit} | {verdict} "
        f"| {measured.limit or '–'} | {measured.detail} | {day:%d %B %Y} |"
    )


def kept_lines(text: str) -> dict[str, str]:
    """The lines of a RESULTS.md by the names of their rows."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| row |")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def keep(results: Sequence[tuple[Row, Measured]], names: Iterable[str], day: date) -> None:
    """Write what was measured into RESULTS.md, in the order of all rows; those not measured stay."""
    before = kept_lines(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    lines = before | {row.name: as_line(row, measured, day) for row, measured in results}
    RESULTS.write_text(as_markdown(lines[name] for name in names if name in lines), encoding="utf-8")


def as_table(results: Iterable[tuple[Row, Measured]]) -> Table:
    """The same for a terminal."""
    table = Table("row", "what", "measured", "budget", "", "of the machine's limit", "made from")
    for row, measured in results:
        verdict = "[green]pass" if row.passes(measured) else "[red]short"
        table.add_row(
            row.name,
            row.what,
            f"{measured.value:.3g} {row.unit}",
            row.limit,
            verdict,
            str(measured.limit or "–"),
            measured.detail,
        )
    return table


def main() -> int:
    """Measure, print, write; the exit code."""
    rows = {row.name: row for group in GROUPS for row in import_module(group).ROWS}
    parser = argparse.ArgumentParser(description="Measure lmviz beside its peers.")
    parser.add_argument(
        "--rows", nargs="+", choices=rows, metavar="ROW", help=f"only these of {', '.join(rows)}"
    )
    parser.add_argument("--keep", action="store_true", help="write these rows into RESULTS.md")
    given = parser.parse_args()
    chosen = given.rows or list(rows)
    console = Console(width=None if sys.stdout.isatty() else 160)
    results = []
    for name in chosen:
        console.print(f"measuring {name} …")
        try:
            results.append((rows[name], rows[name].measure()))
        except Exception:  # one row that cannot be measured must not cost the others
            console.print_exception(show_locals=False)
        if given.keep or given.rows is None:  # after each, so that one may end it early
            keep(results, rows, date.today())
    console.print(as_table(results))
    passed = [row.passes(measured) for row, measured in results]
    return 0 if len(passed) == len(chosen) and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
