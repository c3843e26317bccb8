"""Polls as plain text files: one setting on each line, what is wrong said at its line.

    # Where order goes
    question: x₂ and x₃ change places. What is x′₄ now?
    A: {before}
    B: {kept weights}
    because: Keys move with their words.

    vectors: 1 0 0 0; 0 1 0 0; 0 0 2 0; 0 0 0 1
    query: -4.60517 -3.218876 -0.510826 -4.60517

A line that is indented goes on with the one before it. What is right is said by `right: A`, by `vectors` and
`query`, by `value: NAME` or `gradient: NAME` with a `network:`, or by `likeliest after: TEXT`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.faults import Fault, FaultyText, LineFault
from lmviz.base.loading import loads
from lmviz.polls.order import OrderExperiment
from lmviz.polls.poll import LETTERS, Poll, PollChoice, unknown_places
from lmviz.text.ordinary_files import read_text_file
from lmviz.text.resources import resource_path

ENDING = ".poll"
LARGEST = 64 * 1024  # bytes
LONGEST_PLACE = 9  # digits
LONGEST = 300  # characters of a question or a choice, which have to fit on the screen

_EXPERIMENT = ("vectors", "query", "exchange", "mask", "layers")
_OF_A_NETWORK = ("value", "gradient")
_KEYS = (
    *("question", *LETTERS, "because", "right", "likeliest after"),
    *(*_OF_A_NETWORK, "network", *_EXPERIMENT),
)


class PollFault(FaultyText):
    """A text that is no poll."""


@dataclass
class _Entry:
    """What stands behind a key: on its own line, and indented below it."""

    line: int
    text: str
    block: list[tuple[int, str]] = field(default_factory=list)

    @property
    def joined(self) -> str:
        """All of it as one line."""
        return " ".join(" ".join([self.text, *(line for _, line in self.block)]).split())

    @property
    def lines(self) -> str:
        """What is indented, line by line as in the file, so that the first is line 1 of the whole file."""
        above = "\n" * (self.block[0][0] - 1) if self.block else ""
        last = self.block[-1][0] if self.block else 0
        rows = dict(self.block)
        first = self.block[0][0] if self.block else 1
        return above + textwrap.dedent("\n".join(rows.get(at, "") for at in range(first, last + 1)))


def is_poll(path: Path) -> bool:
    """Whether a file is named as a poll."""
    return path.suffix == ENDING


@cache  # every window asks them
def shipped_polls() -> tuple[Poll, ...]:
    """The polls that come with lmviz, the position poll first."""
    return tuple(map(open_poll, shipped_poll_files()))


def shipped_poll_files() -> tuple[Path, ...]:
    """Their files: `01-order.poll` and so on."""
    return tuple(sorted(resource_path("polls").glob(f"*{ENDING}")))


@loads("poll")
def open_poll(path: str | Path) -> Poll:
    """The poll of a file; LmvizError where it cannot be read, PollFault where it is none."""
    path = Path(path)
    try:
        text = read_text_file(path, LARGEST)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another file.") from error
    except ValueError as error:  # not UTF-8, or a path with a NUL in it
        raise LmvizError(f"{path} is not a text: choose a file in UTF-8.") from error
    return read_poll(text, path.stem)


def read_poll(text: str, name: str = "poll") -> Poll:
    """The poll that a text describes; PollFault says everything that is wrong with it, line by line."""
    faults: list[Fault] = []
    title, entries = _entries(text, faults)

    def read(key: str, reader: Callable[[str], Any], usual: Any) -> Any:
        entry = entries.get(key)
        if entry is None:
            return usual
        try:
            return reader(entry.joined)
        except LineFault as refusal:
            faults.append(Fault(entry.line, str(refusal)))
            return usual

    question = read("question", _short, "")
    if "question" not in entries:
        faults.append(Fault(0, "There is no question: write a line that begins with “question:”."))
    choices = tuple(PollChoice(letter, read(letter, _short, "")) for letter in LETTERS if letter in entries)
    _check_letters(choices, entries, faults)
    kind = _kind(entries, faults)
    right = read("right", lambda written: _letter(written, choices), "") if kind == "right" else ""
    if kind == "likeliest after":
        read("likeliest after", _short, "")
    if kind in _OF_A_NETWORK:
        _check_value(entries, kind, faults)
    for choice in choices:
        for place in unknown_places(choice.text) if kind == "vectors" else ():
            sentence = f"{{{place}}} is none of {{before}}, {{after}}, {{weights}}, {{kept weights}}."
            faults.append(Fault(entries[choice.letter].line, sentence))
    experiment = _experiment(entries, read, faults) if kind == "vectors" else None
    if faults:
        raise PollFault(faults)
    return Poll(
        title=title or name,
        question=question,
        choices=choices,
        because=entries["because"].joined if "because" in entries else "",
        right=right,
        experiment=experiment,
        network=entries["network"].lines if kind in _OF_A_NETWORK else "",
        value=entries[kind].joined if kind in _OF_A_NETWORK else "",
        likeliest_after=entries["likeliest after"].joined if kind == "likeliest after" else "",
        asks_gradient=kind == "gradient",
    )


def _entries(text: str, faults: list[Fault]) -> tuple[str, dict[str, _Entry]]:
    """The title, and what stands behind each key."""
    title, entries, open_key = "", dict[str, _Entry](), ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if line.startswith("#"):
            title = title or line.lstrip("# ").strip()
        elif line[0].isspace():
            if open_key:
                entries[open_key].block.append((number, line))
            else:
                faults.append(
                    Fault(number, "An indented line continues the line before it, but there is none.")
                )
        else:
            key, colon, rest = line.partition(":")
            key = key.strip()
            if not colon or key not in _KEYS:
                keys = ", ".join(_KEYS)
                faults.append(Fault(number, f"“{key}” is not part of a poll: begin with one of {keys}."))
                open_key = ""
            elif key in entries:
                faults.append(Fault(number, f"“{key}” is already on line {entries[key].line}: keep one."))
                open_key = ""
            else:
                entries[key], open_key = _Entry(number, rest.strip()), key
    return title, entries


def _short(text: str) -> str:
    if not text:
        raise LineFault("There is nothing after the colon: write it there.")
    if len(text) > LONGEST:
        raise LineFault(f"These are {len(text)} characters, and {LONGEST} fit on the screen: shorten it.")
    return text


def _check_letters(choices: Sequence[PollChoice], entries: dict[str, _Entry], faults: list[Fault]) -> None:
    letters = "".join(choice.letter for choice in choices)
    if len(letters) < 2:
        faults.append(Fault(0, "A poll has at least two choices: write lines that begin with “A:” and “B:”."))
    elif letters != LETTERS[: len(letters)]:
        missing = next(letter for letter in LETTERS if letter not in letters)
        faults.append(Fault(entries[letters[-1]].line, f"There is no choice {missing}: leave no letter out."))
    texts = [choice.text for choice in choices]
    for place, choice in enumerate(choices):
        if choice.text and choice.text in texts[:place]:
            first = choices[texts.index(choice.text)].letter
            sentence = f"The choice is the same as {first}: write another one."
            faults.append(Fault(entries[choice.letter].line, sentence))


def _kind(entries: dict[str, _Entry], faults: list[Fault]) -> str:
    """How the right choice is found."""
    kinds = [key for key in ("right", "vectors", *_OF_A_NETWORK, "likeliest after") if key in entries]
    if not kinds:
        faults.append(
            Fault(
                0, "Nothing says which choice is right: write “right:” and its letter, or what computes it."
            )
        )
    for second in kinds[1:]:
        sentence = f"Line {entries[kinds[0]].line} says already which choice is right: keep one of the two."
        faults.append(Fault(entries[second].line, sentence))
    return kinds[0] if kinds else ""


def _letter(text: str, choices: Sequence[PollChoice]) -> str:
    letters = [choice.letter for choice in choices]
    if text.strip().upper() not in letters:
        raise LineFault(f"“{text}” is none of the choices {', '.join(letters)}.")
    return text.strip().upper()


def _check_value(entries: dict[str, _Entry], kind: str, faults: list[Fault]) -> None:
    """Read the network, the faults of which are at its own lines, and look for the value in it."""
    from lmviz.autodiff import NetworkFault, read

    value, network = entries[kind], entries.get("network")
    if network is None or network.text or not network.block:
        sentence = f"A {kind} is one of a network: write “network:”, and its lines indented below."
        faults.append(Fault(value.line, sentence))
        return
    try:
        found = read(network.lines)
        if value.joined in found and kind == "gradient":
            found.backward()
        _ = found[value.joined]
    except NetworkFault as fault:
        faults.extend(Fault(each.line, each.sentence) for each in fault.faults)
    except LmvizError as error:
        faults.append(Fault(value.line, str(error)))


def _experiment(
    entries: dict[str, _Entry], read: Callable[[str, Callable[[str], Any], Any], Any], faults: list[Fault]
) -> OrderExperiment | None:
    before = len(faults)
    vectors = read("vectors", _matrix, None)
    if "query" not in entries:
        line = entries["vectors"].line
        faults.append(Fault(line, "The last vector needs a query: write “query:” with its numbers."))
    query = read("query", _numbers, None)
    exchange = read("exchange", _exchange, (1, 2))
    causal = read("mask", lambda text: _one_of(text, {"causal": True, "none": False}), True)
    layers = read("layers", lambda text: _one_of(text, {"1": 1, "2": 2}), 1)
    if len(faults) > before:
        return None
    try:
        return OrderExperiment(vectors, query, exchange, causal, layers)
    except LmvizError as error:
        faults.append(Fault(entries["vectors"].line, str(error)))
        return None


def _numbers(text: str) -> np.ndarray:
    try:
        found = [float(figure.replace("−", "-")) for figure in text.replace(",", " ").split()]
    except ValueError:
        raise LineFault(f"“{text}” are not numbers: write numbers with spaces between them.") from None
    if not found:
        raise LineFault("There is nothing after the colon: write numbers with spaces between them.")
    return np.array(found)


def _matrix(text: str) -> np.ndarray:
    rows = [_numbers(row) for row in text.split(";")]
    if len({len(row) for row in rows}) > 1:
        raise LineFault("The vectors have different lengths: give each as many numbers.")
    return np.stack(rows)


def _exchange(text: str) -> tuple[int, int]:
    places = text.replace(",", " ").split()
    if len(places) != 2 or not all(place.isdecimal() and len(place) <= LONGEST_PLACE for place in places):
        raise LineFault(f"“{text[:LONGEST]}” are not two places: write two numbers, counted from 1.")
    return int(places[0]) - 1, int(places[1]) - 1


def _one_of(text: str, values: dict[str, Any]) -> Any:
    if text not in values:
        raise LineFault(f"“{text}” is none of {', '.join(values)}.")
    return values[text]
