"""Measure every performance figure of lmviz beside a peer or a budget, in one run on this machine.

    python3 start.py bench                      all rows
    python3 start.py bench --rows lstm ngram    these alone

Prints a table, writes it to RESULTS.md when all rows were measured, and exits with 1 when a row falls
short. A row is a function and an entry in a ROWS table; a new file of rows is named in GROUPS.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable
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


def as_markdown(results: Iterable[tuple[Row, Measured]]) -> str:
    """The content of RESULTS.md."""
    lines = [
        "# What the bench measured",
        "",
        f"{date.today():%d %B %Y}. {machine()}. {versions()}.",
        "",
        "The column *of the machine's limit* says how near a row comes to what this machine can do at all: "
        "matrix products of its size, reading its weights from memory, a plain frame of Qt. A dash: no limit "
        "was measured.",
        "",
        "| row | what | measured | budget | | of the machine's limit | made from |",
        "|---|---|---:|---:|---|---|---|",
    ]
    for row, measured in results:
        verdict = "pass" if row.passes(measured) else "**short**"
        lines.append(
            f"| {row.name} | {row.what} | {measured.value:.3g} {row.unit} | {row.limit} | {verdict} "
            f"| {measured.limit or '–'} | {measured.detail} |"
        )
    return "\n".join([*lines, ""])


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
    chosen = parser.parse_args().rows or list(rows)
    console = Console(width=None if sys.stdout.isatty() else 160)
    results = []
    for name in chosen:
        console.print(f"measuring {name} …")
        try:
            results.append((rows[name], rows[name].measure()))
        except Exception:  # one row that cannot be measured must not cost the others
            console.print_exception(show_locals=False)
    console.print(as_table(results))
    if len(results) == len(rows):
        RESULTS.write_text(as_markdown(results), encoding="utf-8")
    passed = [row.passes(measured) for row, measured in results]
    return 0 if len(passed) == len(chosen) and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
