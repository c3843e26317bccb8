"""The terminal: progress on standard error, results on standard output, and Ctrl+C."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lmviz.base.reporting import Report, unheard

if TYPE_CHECKING:
    from lmviz.training.progress import Progress


def prepare_streams() -> None:
    """Let standard output and standard error take whatever is printed.

    A program without a console has neither, and `print` would write for the one to the other. Encodings such
    as Windows' cp1252 lack most characters, which are then written as escapes.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, open until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def leave_output() -> None:
    """Send what is still to be written on standard output nowhere, since it can go there no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object on standard output; numbers that are not finite become null, as JSON has none."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # a stream in memory has none
    readable = encoding.lower().startswith("utf")
    print(json.dumps(finite(values), ensure_ascii=not readable, allow_nan=False))


def finite(value: Any) -> Any:
    """The same values, with None for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows under bold headings, numbers to the right; as wide as the terminal, or as the text elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        numbers = all(_is_number(row[place]) or row[place] is None for row in rows)
        table.add_column(column, justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*map(_written, row))
    Console(width=None if sys.stdout.isatty() else 200, markup=False, highlight=False).print(table)


def _is_number(cell: object) -> bool:
    """Whether a cell holds a number; yes and no are none, though Python counts them in."""
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _written(cell: object) -> str:
    """A cell of a table; None is a number that is not known."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return "–" if cell is None else "∞" if cell == math.inf else str(cell)


@contextmanager
def share_bar(title: str) -> Iterator[Report]:
    """A progress bar for work that reports its done share; nothing outside a terminal."""
    if not sys.stderr.isatty():
        yield unheard
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def training_bars(names: Sequence[str] = ("",)) -> Iterator[Callable[[str, Progress], None]]:
    """A bar that follows each training by its name; without a terminal, a line at each validation."""
    if not sys.stderr.isatty():
        yield _print_validation
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    title = TextColumn("{task.fields[title]} step" if len(names) > 1 else "step", markup=False)
    columns = (title, MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True)) as bar:
        widest = max(map(len, names))
        tasks = {name: bar.add_task("", total=None, title=name.ljust(widest)) for name in names}
        validations = dict.fromkeys(names, "")

        def show(name: str, progress: Progress) -> None:
            if progress.validation_loss is not None:
                validations[name] = f"  validation {_figure(progress.validation_loss)}"
            loss = "" if progress.loss is None else f"loss {_figure(progress.loss)}"
            speed, left = progress.tokens_per_second, progress.seconds_left
            pace = "" if speed is None or left is None else f"  {speed:,.0f} tokens/s  {duration(left)} left"
            told = loss + validations[name] + pace
            bar.update(tasks[name], total=progress.steps, completed=progress.step, description=told)

        yield show


def _print_validation(name: str, progress: Progress) -> None:
    if progress.validation_loss is not None:
        which = f"{name}: " if name else ""
        loss = "" if progress.loss is None else f"  loss {_figure(progress.loss)}"
        validation = _figure(progress.validation_loss)
        say(f"{which}step {progress.step}/{progress.steps}{loss}  validation {validation}")


def _figure(loss: float) -> str:
    """A loss in nats; infinite where a token that came had probability 0."""
    return "∞" if math.isinf(loss) else f"{loss:.3f}"


@contextmanager
def stopping(ask_to_stop: Callable[[], None]) -> Iterator[list[int]]:
    """Ctrl+C, or a polite kill, asks for an end after the step under way; a second one ends at once.

    The list holds the number of the signal once one has come.
    """
    caught: list[int] = []

    def stop(number: int, frame: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        ask_to_stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(sentence: str) -> None:
    """A sentence on standard error."""
    print(sentence, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
