"""The schemes in which tags of words mark spans of several words, such as names: IOB1, IOB2, IOBES, BILOU.

Each tag says which part of a span its word is, and of what kind the span is. B begins it, I goes on, E (or L)
ends it, S (or U) is all of it; O is outside of any. In IOB2 each span begins with B, in IOB1 only one that
follows another of its kind (Ramshaw and Marcus 1995; Ratinov and Roth 2009). The part stands before the kind
or after it, with a hyphen or an underscore between them: B-PER, B_PER, PER-B.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

OUTSIDE = "O"
NO_KIND = "_"
"""The kind of spans whose tags name none: B, I and O alone."""

PARTS = {**{part: part for part in "BIES"}, "L": "E", "U": "S", "M": "I", "W": "S"}
"""The letters for parts of a span, and what they mean in IOBES."""

_LETTERS = "".join(PARTS)
_ALONE = re.compile(rf"(?P<part>[{_LETTERS}])(?P<kind>)")
_SPELLINGS = (
    re.compile(rf"(?P<part>[{_LETTERS}])-(?P<kind>.+)"),
    re.compile(rf"(?P<kind>.+)-(?P<part>[{_LETTERS}])"),
    re.compile(rf"(?P<part>[{_LETTERS}])_(?P<kind>.+)"),
    re.compile(rf"(?P<kind>.+)_(?P<part>[{_LETTERS}])"),
    _ALONE,
)
_FAMILIES = (frozenset("BIES"), frozenset("BILU"), frozenset("BMESW"), frozenset("BMIESW"))

Span = tuple[int, int, str]
"""The first place of a span, the place behind its last, and its kind."""


@dataclass(frozen=True)
class TagScheme:
    """How the tags of a text mark spans.

    `name` is IOB1, IOB2, IOBES, BILOU or BMES; IOB where some spans begin with B without need, and others
    with I. `example` is one of its tags as it is spelled.
    """

    name: str
    example: str
    spelling: re.Pattern[str]

    def parts_of(self, tag: str) -> tuple[str, str]:
        """The part of a span that a tag says, in the letters of IOBES, and its kind; O and "" for no span."""
        found = self.spelling.fullmatch(tag)
        return (PARTS[found["part"]], found["kind"] or NO_KIND) if found else (OUTSIDE, "")

    def spans_of(self, tags: Sequence[str]) -> Iterator[Span]:
        """The spans of one text, also of one whose tags break the scheme, as conlleval and seqeval take them.

        A span begins with B or S, with I or E where none goes on, and where the kind changes.
        """
        first, last = 0, (OUTSIDE, "")
        for place, tag in enumerate((*tags, OUTSIDE)):
            now = self.parts_of(tag)
            changes = last[1] != now[1]
            if last[0] in "ES" or (last[0] in "BI" and (now[0] in "BSO" or changes)):
                yield first, place, last[1]
            if now[0] in "BS" or (now[0] in "IE" and (changes or last[0] in "ESO")):
                first = place
            last = now


def find_scheme(tags: Collection[str], texts: Iterable[Sequence[str]] = ()) -> TagScheme | None:
    """The scheme of tags, all of which have to follow it; None where they mark no spans.

    `texts` are the tags of texts, which tell IOB1 from IOB2: without any, it is called IOB.
    """
    inside = [tag for tag in tags if tag != OUTSIDE]
    if not inside:
        return None
    for spelling in _SPELLINGS:
        found = [spelling.fullmatch(tag) for tag in inside]
        letters = {each["part"] for each in found if each is not None}
        if None in found or not any(letters <= family for family in _FAMILIES):
            continue
        if spelling is _ALONE:
            is_meant = "B" in letters and bool(letters & set("IME"))
        else:
            is_meant = bool(letters & set("BIM")) or OUTSIDE in tags
        if not is_meant:
            continue
        return TagScheme(_name_of(letters, spelling, texts), min(inside), spelling)
    return None


def _name_of(letters: set[str], spelling: re.Pattern[str], texts: Iterable[Sequence[str]]) -> str:
    if letters & set("MW"):
        return "BMES"
    if letters & set("LU"):
        return "BILOU"
    if letters & set("ES"):
        return "IOBES"
    scheme = TagScheme("IOB", "", spelling)
    begun = {
        (scheme.parts_of(tags[first])[0], first > 0 and scheme.parts_of(tags[first - 1])[1] == kind)
        for tags in texts
        for first, _, kind in scheme.spans_of(tags)
    }
    if not begun:
        return "IOB"
    if not any(part == "I" for part, _ in begun):
        return "IOB2"
    return "IOB1" if all(follows for part, follows in begun if part == "B") else "IOB"
