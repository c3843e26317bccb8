"""Splits a lesson, or another text in its language, into parts: titles, entries, and all that is neither."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from difflib import get_close_matches

from lmviz.base.faults import Fault

ENTRY = re.compile(r"([a-z_]+):(?:[ \t]+(.*))?$")
"""A line that is an entry."""
LARGE = re.compile(r"([A-Za-z_]*[A-Z][A-Za-z_]*):(?=[ \t]|$)")
"""How a line begins that would be one in small letters."""
TAG = re.compile(
    r"[A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?"
    r"(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(-[A-WYZa-wyz0-9](-[A-Za-z0-9]{2,8})+)*(-[xX](-[A-Za-z0-9]{1,8})+)?"
)
"""A tag that names a language, and where and how it is written: BCP 47, RFC 5646, section 2.1."""
USUAL_LANGUAGE = "en"
"""The language of what names none."""
ALIKE = 0.75
"""How much a word has to be like an entry, of 1, to be taken for it: one wrong letter of four."""


@dataclass(frozen=True)
class WrittenEntry:
    """`name: words`, at its line."""

    line: int
    name: str
    words: str


@dataclass
class WrittenPart:
    """What stands above the first “## ”, or below one, before it is understood."""

    line: int
    title: str
    entries: list[WrittenEntry] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


class PartReader:
    """Reads the parts of one text and collects what is wrong."""

    of_head: Collection[str] = ()
    """What may stand above the first part."""
    entries: Collection[str] = ()
    """What may stand in a part; `repeated` of them more than once."""
    repeated: Collection[str] = ()
    most_parts = 100
    """Parts below the head."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def _say(self, line: int, sentence: str) -> None:
        self._faults.append(Fault(line, sentence))

    def _parts(self, text: str) -> list[WrittenPart]:
        """The head and the parts, with their entries and the lines that are none; at most `most_parts`."""
        parts, goes_on = [WrittenPart(1, "")], False
        for number, line in enumerate(text.split("\n"), start=1):
            line = line.rstrip()
            part, found = parts[-1], ENTRY.match(line)
            if line.startswith("## "):
                parts.append(WrittenPart(number, line[3:].strip()))
            elif line.startswith("# "):
                if part.title or len(parts) > 1:
                    self._say(number, "there is one title already: begin what follows it with “## ”.")
                part.title = part.title or line[2:].strip()
                part.line = number if len(parts) == 1 else part.line
            elif line.rstrip("#") == "" and line:
                self._say(number, "write a title after “#”.")
            elif found is not None and (len(parts) == 1 or self._is_meant(found[1])):
                part.entries.append(WrittenEntry(number, found[1], (found[2] or "").strip()))
            elif line.startswith("  ") and goes_on:
                last = part.entries[-1]
                part.entries[-1] = WrittenEntry(last.line, last.name, f"{last.words} {line.strip()}".strip())
                continue
            else:
                large = LARGE.match(line)
                if large is not None and large[1].casefold() in self.entries:
                    name = large[1].casefold()
                    self._say(
                        number,
                        f"an entry is written in small letters: “{name}:”. "
                        f"In the text write “{large[1]}\\:”.",
                    )
                    part.entries.append(WrittenEntry(number, name, line.partition(":")[2].strip()))
                else:
                    part.sentences.append(line)
            goes_on = bool(parts[-1].entries) and parts[-1].entries[-1].line == number
        if len(parts) == 1:
            self._say(parts[0].line, "there has to be at least one part: begin it with “## ” and its title.")
        if len(parts) > self.most_parts + 1:
            beyond = parts[self.most_parts + 1].line
            self._say(beyond, f"at most {self.most_parts} parts stand in one file: make two of it.")
        return parts[: self.most_parts + 1]

    def _is_meant(self, name: str) -> bool:
        """Whether `name:` begins an entry of a part, or looks like one; any other word is one of the text."""
        return name in self.of_head or bool(get_close_matches(name, self.entries, n=1, cutoff=ALIKE))

    def _head(self, part: WrittenPart) -> dict[str, WrittenEntry]:
        """The entries above the first part, which begins with the title of all."""
        if not part.title:
            self._say(1, "the file begins with its title: write “# ” and the title.")
        for line in part.sentences:
            if line.strip():
                self._say(part.line, f"{line.strip()[:30]!r} is above the first “## ”: put it below.")
                break
        return self._once(part, self.of_head)

    def _language(self, known: dict[str, WrittenEntry]) -> str:
        """The language that a head names."""
        if "language" not in known:
            return USUAL_LANGUAGE
        entry = known["language"]
        if not TAG.fullmatch(entry.words):
            self._say(
                entry.line, f"{entry.words!r} is not a tag of a language: write one, such as de or pt-BR."
            )
        return entry.words

    def _once(self, part: WrittenPart, names: Collection[str]) -> dict[str, WrittenEntry]:
        """The entries by name; those that may be repeated are left to the caller."""
        known: dict[str, WrittenEntry] = {}
        for entry in part.entries:
            if entry.name not in names and entry.name in self.entries:
                self._say(entry.line, f"“{entry.name}” belongs below a “## ”: begin one above it.")
            elif entry.name not in names and entry.name in self.of_head:
                self._say(
                    entry.line,
                    f"“{entry.name}” belongs above the first “## ”: put it there. "
                    f"In the text write “{entry.name}\\:”.",
                )
            elif entry.name not in names:
                near = get_close_matches(entry.name, names, n=1)
                if names is self.of_head:
                    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}."
                    self._say(entry.line, f"there is no entry {entry.name!r} here: {hint}")
                else:
                    self._say(
                        entry.line,
                        f"“{entry.name}” is not an entry: did you mean {near[0]}? "
                        f"In the text write “{entry.name}\\:”.",
                    )
            elif not entry.words:
                self._say(entry.line, f"nothing stands after “{entry.name}:”.")
            elif entry.name in known and entry.name not in self.repeated:
                self._say(entry.line, f"“{entry.name}” is here twice: leave one out.")
            else:
                known.setdefault(entry.name, entry)
        return known
