"""Texts with spans by offsets, such as [0, 4, "PER"], turned into words with tags.

Programs for annotation write these: doccano, Prodigy, Label Studio, Dataturks, and spaCy's training data. A
span is a list of where it starts, where it ends and what it is, or an object that names the three. Places are
characters of the text, or words where the text is a list of them. A text is cut into words, and a word has
the tag B-PER where a span begins with it, I-PER where one goes on, and O elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from lmviz.text.json_objects import json_values
from lmviz.text.layout import Layout
from lmviz.text.table import Aside, Record
from lmviz.text.tag_schemes import OUTSIDE
from lmviz.text.words import WORD_PATTERN

NEARLY = 0.9
LOOKED_AT = 200

TEXT_NAMES = (
    "text",
    "content",
    "sentence",
    "document",
    "body",
    "data.text",
    "data",
    "tweet",
    "review",
    "comment",
)
SPAN_NAMES = (
    "entities",
    "spans",
    "labels",
    "label",
    "annotations",
    "annotation",
    "ner",
    "tags",
    "completions",
    "predictions",
)
WORD_NAMES = ("tokens", "words", "tokenized_text", "token", "sentence", "text")
_STARTS = (
    "start",
    "start_offset",
    "begin",
    "begin_offset",
    "from",
    "start_char",
    "startoffset",
    "start_index",
)
_ENDS = ("end", "end_offset", "stop", "to", "end_char", "endoffset", "end_index")
_KINDS = (
    "label",
    "labels",
    "tag",
    "type",
    "entity",
    "entity_group",
    "entity_type",
    "class",
    "category",
    "name",
    "kind",
)
_SAID = ("text", "surface", "value", "word", "mention")

CUTS = Aside(
    "span begins or ends within a word: it is read with the whole word",
    "spans begin or end within a word: they are read with the whole word",
)
OVERLAPS = Aside("span overlaps another: it is left out", "spans overlap others: they are left out")
BEYOND = Aside(
    "span is empty or goes beyond its text: it is left out",
    "spans are empty or go beyond their texts: they are left out",
)


@dataclass(frozen=True)
class Span:
    """A part of a text, from character `start` to before `end`, and what it is."""

    start: int
    end: int
    kind: str


def find_spans(data: bytes, *, force: bool) -> Layout | None:
    """The layout of a file whose values are texts with spans by offsets; None where they are not."""
    found = [value for _, value, reason in islice(json_values(data), LOOKED_AT) if not reason]
    entries = [entry for entry in map(_entry_of, found) if entry]
    if not entries or len(entries) < (0 if force else NEARLY) * len(found):
        return None
    names = dict.fromkeys(name for entry in entries for name, cell in entry.items() if isinstance(cell, list))
    good = [name for name in names if _are_spans(name, entries)]
    if not good:
        return None
    text = _text_name(entries, good)
    if text is None:
        return None
    best = min(good, key=lambda name: SPAN_NAMES.index(name) if name in SPAN_NAMES else len(SPAN_NAMES))
    return Layout("spans", "tagging", (text, *good), {"word": 0, "tag": 1 + good.index(best)})


def read_spans(data: bytes, layout: Layout) -> Iterator[Record]:
    """The words of such texts with their tags; each text, or each line of it, is a sentence."""
    text_name, spans_name = (layout.names[layout.roles[role]] for role in ("word", "tag"))
    beginning = [_entry_of(value) for _, value, reason in islice(json_values(data), LOOKED_AT) if not reason]
    last_counts = _last_counts(beginning, text_name, spans_name)
    for number, value, reason in json_values(data):
        entry = {} if reason else _entry_of(value)
        text, items = entry.get(text_name), entry.get(spans_name)
        words = _words_in(text)
        if words is not None:
            text = " ".join(words)
        if reason or not isinstance(text, str) or not text.strip():
            yield number, [], reason or "has no text"
            continue
        spans = list(_spans_of(items if isinstance(items, list) else [], "" if words else text))
        places = None
        if words is not None:
            places = _places_of(words)
            spans = [_in_characters(span, places, last_counts=last_counts) for span in spans]
        if items and not spans:
            yield number, [], "has no span that can be read"
            continue
        blank = [""] * len(layout.names)
        for found in _tagged(text, spans, places):
            if isinstance(found, Aside):
                yield number, [], found
                continue
            cells = list(blank) if found else []
            for role, cell in zip(("word", "tag"), found, strict=False):
                cells[layout.roles[role]] = cell
            yield number, cells, ""
        yield number, [], ""


def _words_in(cell: object) -> list[str] | None:
    """The words of a text that is a list of them; None for another."""
    if not isinstance(cell, list) or not cell or not all(isinstance(word, str) for word in cell):
        return None
    return [word or "_" for word in cell]


def _places_of(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where words stand that have a space between them, in characters."""
    ends = list(accumulate(len(word) + 1 for word in words))
    return [(end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True)]


def _in_characters(span: Span, places: Sequence[tuple[int, int]], *, last_counts: bool) -> Span:
    """A span of words, whose last may be counted in, as one of characters; an empty one if there is none."""
    last = span.end if last_counts else span.end - 1
    if not 0 <= span.start <= last < len(places):
        return Span(0, 0, span.kind)
    return Span(places[span.start][0], places[last][1], span.kind)


def _last_counts(entries: Sequence[Mapping[str, object]], text: str, spans: str) -> bool:
    """Whether the end of a span is its last word, rather than the one behind it: then some spans have one."""
    found = [
        span
        for entry in entries
        for items in [entry.get(spans)]
        if isinstance(items, list) and _words_in(entry.get(text)) is not None
        for span in _spans_of(items, "")
    ]
    return any(span.start == span.end for span in found)


def _tagged(
    text: str, spans: Sequence[Span], places: Sequence[tuple[int, int]] | None = None
) -> Iterator[list[str] | Aside]:
    """The words of a text with their tags, and what is to be said of its spans; no cells end a sentence.

    `places` are where its words stand, if that is known.
    """
    words = _cut(text) if places is None else places
    first_of: dict[int, tuple[int, str]] = {}
    last = 0
    for span in sorted(set(spans), key=lambda span: (span.start, -span.end, span.kind)):
        start, end = _trimmed(span, text)
        shown = f"{span.kind} in “{text[max(0, start - 12) : end + 12]}”".replace("\n", " ")
        if start >= end or end > len(text):
            yield BEYOND.of(shown)
            continue
        inside = [n for n, (first, after) in enumerate(words) if first < end and after > start]
        if not inside or inside[0] < last:
            yield OVERLAPS.of(shown)
            continue
        if words[inside[0]][0] < start or words[inside[-1]][1] > end:
            yield CUTS.of(shown)
        last = inside[-1] + 1
        first_of[inside[0]] = (last, span.kind)
    goes_on = 0
    kind = ""
    for number, (first, after) in enumerate(words):
        word = text[first:after]
        begins = number in first_of
        if begins:
            goes_on, kind = first_of[number]
        if word == "\n":
            if number >= goes_on:
                yield []
            continue
        tag = OUTSIDE if number >= goes_on else f"B-{kind}" if begins else f"I-{kind}"
        yield [word, tag]


def _cut(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand, in characters."""
    from tokenizers import Regex, pre_tokenizers

    cutter = pre_tokenizers.Split(Regex(WORD_PATTERN), "removed", invert=True)
    return [place for _, place in cutter.pre_tokenize_str(text)]


def _trimmed(span: Span, text: str) -> tuple[int, int]:
    """Where a span stands without the white space at its ends."""
    part = text[span.start : span.end]
    start = span.start + len(part) - len(part.lstrip())
    return start, span.end - (len(part) - len(part.rstrip())) if part.strip() else start


def _entry_of(value: object) -> dict[str, object]:
    """What an annotated text says, by name: what is nested by both names, the spans of Label Studio bare."""
    if isinstance(value, dict) and isinstance(value.get("row"), dict):  # as the server of datasets has them
        value = value["row"]
    if (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], dict)
    ):
        value = {"text": value[0], **value[1]}  # spaCy's training data
    if not isinstance(value, dict):
        return {}
    found: dict[str, object] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            found |= {f"{name}.{each}": cell for each, cell in inner.items()}
        elif isinstance(inner, list) and any(isinstance(item, dict) and "result" in item for item in inner):
            first = next(item for item in inner if isinstance(item, dict) and "result" in item)
            found[str(name)] = first["result"]
        else:
            found[str(name)] = inner
    return found


def _text_name(entries: Sequence[Mapping[str, object]], spans: Sequence[str]) -> str | None:
    """The name of the text, which its spans fit, or else of the list of its words."""
    counts: dict[str, int] = {}
    for entry in entries:
        for name, cell in entry.items():
            if isinstance(cell, str) and cell.strip():
                counts[name] = counts.get(name, 0) + len(cell)
    known = [name for name in TEXT_NAMES if name in counts]
    likely = known or sorted(counts, key=lambda name: -counts[name])[:1]
    lists = [
        name
        for name in WORD_NAMES
        if sum(_words_in(entry.get(name)) is not None for entry in entries) >= NEARLY * len(entries)
    ]
    return next((name for name in likely if _fit(name, spans, entries)), lists[0] if lists else None)


def _fit(text: str, names: Sequence[str], entries: Sequence[Mapping[str, object]]) -> bool:
    """Whether spans stand within the text."""
    inside = total = 0
    for entry in entries:
        whole = entry.get(text)
        for items in (entry.get(name) for name in names):
            if isinstance(whole, str) and isinstance(items, list):
                ends = [span.end for span in _spans_of(items, "")]
                inside, total = inside + sum(end <= len(whole) for end in ends), total + len(ends)
    return 2 * inside > total


def _are_spans(name: str, entries: Sequence[Mapping[str, object]]) -> bool:
    """Whether nearly all that stands under a name are lists of spans, and some are not empty."""
    lists = [entry[name] for entry in entries if isinstance(entry.get(name), list)]
    solid = [items for items in lists if isinstance(items, list) and items]
    if name.rpartition(".")[2] not in SPAN_NAMES:  # three numbers may be anything
        solid = [
            items
            for items in solid
            if not any(isinstance(i, list) and isinstance(i[-1], int) for i in items if i)
        ]
    good = sum(all(_span_of(item, "") is not None for item in items) for items in solid)
    return bool(solid) and good >= NEARLY * len(solid) and len(lists) >= 0.5 * len(entries)


def _spans_of(items: Sequence[object], text: str) -> Iterator[Span]:
    for item in items:
        span = _span_of(item, text)
        if span is not None:
            yield span


def _span_of(item: object, text: str) -> Span | None:
    """A span as a list or an object says it; None where it is none.

    Where it also says the text that it covers, and this ends one character later, its end is counted in.
    """
    if isinstance(item, list | tuple) and len(item) >= 3:
        start, end, kind = item[:3]
        if isinstance(start, str) and isinstance(end, int):  # the kind first
            kind, start, end = item[:3]
        return _made(start, end, kind, None, text)
    if not isinstance(item, dict):
        return None
    lower = {str(name).lower(): cell for name, cell in item.items()}
    inner = next(
        (lower[name] for name in ("value", "points", "offset", "location") if _is_nested(lower.get(name))),
        None,
    )
    if isinstance(inner, list):
        inner = inner[0]
    if isinstance(inner, dict):
        lower = {**lower, **{str(name).lower(): cell for name, cell in inner.items()}}
    start, end, kind = (
        next((lower[n] for n in names if n in lower), None) for names in (_STARTS, _ENDS, _KINDS)
    )
    if end is None and isinstance(start, int) and isinstance(lower.get("length"), int):
        end = start + lower["length"]
    return _made(
        start, end, kind, next((lower[n] for n in _SAID if isinstance(lower.get(n), str)), None), text
    )


def _is_nested(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _made(start: object, end: object, kind: object, said: str | None, text: str) -> Span | None:
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if isinstance(kind, bool) or not isinstance(kind, str | int):
        return None
    places = [
        int(place) if isinstance(place, float) and place.is_integer() else place for place in (start, end)
    ]
    if any(isinstance(place, bool) or not isinstance(place, int) or place < 0 for place in places):
        return None
    first, after = (int(str(place)) for place in places)
    if said and text and text[first:after] != said and text[first : after + 1] == said:
        after += 1
    return Span(first, after, str(kind).strip() or "span")
