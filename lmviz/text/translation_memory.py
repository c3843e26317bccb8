"""Pairs from TMX, the form in which programs for translators exchange what they have translated.

It is XML. Expat reads it as a stream and fetches nothing; a file that defines entities of its own is refused,
since a few of them can stand for more text than any memory holds.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from lmviz.base.errors import LmvizError
from lmviz.text.layout import Layout
from lmviz.text.table import Record

_PIECE = 1 << 16
_BEGINS = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(?>(?><!--.*?-->)\s*|<!DOCTYPE[^>\[]*(\[[^\]]*\]\s*)?>\s*)*+<tmx\b", re.DOTALL
)
_LANGUAGE = ("xml:lang", "lang")
_CODE = frozenset(("bpt", "ept", "ph", "it", "ut"))
"""Elements within a segment whose content is code of the translated document; that of `hi` is text."""

DEEPEST = 64


def find_memory(data: bytes, *, force: bool) -> Layout | None:
    """The layout of the beginning of a file: a column for each language; None where it is no TMX.

    LmvizError where it defines entities.
    """
    if not force and not _BEGINS.match(data[:_PIECE]):
        return None
    reader = _Reader()
    units = list(reader.read(data))
    if reader.is_refused:
        raise LmvizError(f"This TMX file {units[-1][2]}.")
    counts = collections.Counter(language for _, texts, _ in units for language in texts)
    languages = [language for language, _ in counts.most_common()]
    first = next(
        (name for name in languages if _is_same(name, reader.source)), languages[0] if languages else ""
    )
    others = [name for name in languages if name != first]
    if not others:
        return (
            Layout("tmx", "translation", ("source", "target"), {"source": 0, "target": 1}) if force else None
        )
    names = (first, *others)
    return Layout("tmx", "translation", names, {"source": 0, "target": 1}, heading=True)


def read_memory(data: bytes, layout: Layout) -> Iterator[Record]:
    """The texts of each unit by their languages."""
    reader = _Reader()
    for number, texts, reason in reader.read(data, whole=True):
        cells = [texts.get(name, "") for name in layout.names]
        lacking = [layout.names[place] for place in layout.roles.values() if not cells[place]]
        if not reason and lacking:
            reason = f"has a unit without {' and without '.join(lacking)}"
        yield number, cells, reason


def _is_same(language: str, other: str) -> bool:
    """Whether two codes are of the same language, such as en and EN-US."""
    return language.lower().partition("-")[0] == other.lower().partition("-")[0]


Unit = tuple[int, dict[str, str], str]
"""The line on which a unit begins, its texts by language, and what is wrong with it."""


@dataclass
class _Reader:
    """Reads units one after the other. `source` is the language of the sources, as the file names it."""

    source: str = ""
    is_refused: bool = False
    _line_now: Callable[[], int] = lambda: 0
    _found: list[Unit] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)
    _line: int = 0
    _language: str = ""
    _depth: int = 0
    _code: int = 0
    _segment: list[str] | None = None

    def read(self, data: bytes, *, whole: bool = False) -> Iterator[Unit]:
        """The units of a file in UTF-8; `whole` says that it is not cut, so that it may not end too early."""
        parser = expat.ParserCreate("utf-8")
        self._line_now = lambda: parser.CurrentLineNumber
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = _refuse_entities
        try:
            for start in range(0, len(data), _PIECE):
                parser.Parse(data[start : start + _PIECE], False)
                yield from self._take()
            if whole:
                parser.Parse(b"", True)
        except expat.ExpatError as error:
            yield from self._take()
            yield error.lineno, {}, f"is not XML ({expat.ErrorString(error.code)})"
        except _Refused as error:
            self.is_refused = True
            yield parser.CurrentLineNumber, {}, str(error)

    def _take(self) -> list[Unit]:
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Refused("has elements within elements too deep to be a translation memory")
        if name == "header":
            self.source = attributes.get("srclang", "")
        elif name == "tu":
            self._line, self._texts = self._line_now(), {}
        elif name == "tuv":
            self._language = next((attributes[key] for key in _LANGUAGE if key in attributes), "")
        elif name == "seg":
            self._segment, self._code = [], 0
        elif name in _CODE:
            self._code += 1

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "seg" and self._segment is not None:
            text = " ".join("".join(self._segment).split())
            self._texts.setdefault(self._language, text)
            self._segment = None
        elif name in _CODE and self._segment is not None:
            self._code = max(0, self._code - 1)
        elif name == "tu":
            self._found.append((self._line, self._texts, ""))
            self._texts = {}

    def _text(self, text: str) -> None:
        if self._segment is not None and not self._code:
            self._segment.append(text)


class _Refused(Exception):
    """A file that is not read."""


def _refuse_entities(*_: object) -> None:
    raise _Refused("defines entities of its own, which could stand for any amount of text: take them out")
