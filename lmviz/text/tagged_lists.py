"""Tagged sentences as JSON has them: a list of words, and lists of as many tags.

So Hugging Face's datasets write them: {"tokens": ["Ada", "left"], "ner_tags": ["B-PER", "O"]}; the tags may
be numbers. Words and tags may also stand together: {"tokens": [{"text": "Ada", "tag": "B-PER"}, …]}, or as
pairs, [["Ada", "B-PER"], ["left", "O"]].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from lmviz.text.json_objects import json_values
from lmviz.text.layout import Layout
from lmviz.text.table import Record

NEARLY = 0.9
"""The share of the first values that have to be tagged sentences."""

LOOKED_AT = 200
"""Values that are looked at."""

MOST_TAGS = 120

Lists = dict[str, list[str]]
"""Cells of the words of a sentence, by the name of their column."""

WORD_NAMES = ("tokens", "words", "token", "word", "tokenized_text", "forms", "form", "text", "sentence")
"""Names of words, the surest first; also as the last part of a name, as in tokens.text."""

TAG_NAMES = (
    "ner_tags",
    "ner",
    "ner_tag",
    "ner_labels",
    "word_labels",
    "tags",
    "tag",
    "labels",
    "label",
    "entity",
    "entities",
    "iob",
    "bio",
    "upos",
    "pos_tags",
    "pos_tag",
    "pos",
    "xpos",
    "tag_",
    "pos_",
    "chunk_tags",
    "chunk",
)
"""Names of tags, those that are meant first."""

_NO_TAGS = frozenset(
    [
        "input_ids",
        "attention_mask",
        "token_type_ids",
        "word_ids",
        "offsets",
        "offset_mapping",
        "ids",
        "id",
        "head",
        "heads",
        "lemma",
        "lemmas",
        "start",
        "end",
        "idx",
        "index",
        "misc",
        "feats",
        "deps",
        "space_after",
        "whitespace",
    ]
)


def find_lists(data: bytes, *, force: bool) -> Layout | None:
    """The layout of a file whose values are lists of words and tags; None where they are not."""
    found = [value for _, value, reason in islice(json_values(data), LOOKED_AT) if not reason]
    sentences = [lists for lists in map(lists_of, found) if lists]
    if not sentences or (len(sentences) < NEARLY * len(found) and not force):
        return None
    names = list(dict.fromkeys(name for lists in sentences for name in lists))
    words = min((n for n in names if _rank(n, WORD_NAMES) is not None), key=_by(WORD_NAMES), default=None)
    words = words if words is not None else _most_varied(names, sentences)
    tags = [name for name in names if name != words and words and _are_tags(name, words, sentences)]
    if words is None or not tags:
        return None
    known = [name for name in tags if _rank(name, TAG_NAMES) is not None]
    tag = min(known, key=_by(TAG_NAMES)) if known else tags[-1]
    columns = [words, *tags]
    roles = {"word": 0, "tag": columns.index(tag)}
    return Layout("lists", "tagging", tuple(columns), roles, guessed=not known and len(tags) > 1)


def read_lists(data: bytes, layout: Layout) -> Iterator[Record]:
    """The words of such sentences with their tags; a record without cells ends one."""
    for number, value, reason in json_values(data):
        if reason:
            yield number, [], reason
            continue
        lists = lists_of(value)
        cells = [lists.get(name, []) for name in layout.names]
        lacking = next((role for role, place in layout.roles.items() if not cells[place]), "")
        words, tags = (cells[layout.roles[role]] for role in ("word", "tag"))
        if lacking:
            yield number, [], f"has no {lacking}s"
        elif len(words) != len(tags):
            yield number, [], f"has {len(words)} words and {len(tags)} tags"
        else:
            for place in range(len(words)):
                yield number, [column[place] if place < len(column) else "" for column in cells], ""
            yield number, [], ""


def lists_of(value: object) -> Lists:
    """The lists of cells that a value of JSON holds, by name; none where it holds nothing of the kind."""
    if isinstance(value, dict) and isinstance(value.get("row"), dict):  # as the server of datasets has them
        value = value["row"]
    if isinstance(value, list):
        return {f"column {n + 1}": cells for n, cells in enumerate(_of_rows(value))}
    if not isinstance(value, dict):
        return {}
    found: Lists = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            found |= {f"{name}.{each}": cells for each, cells in lists_of(inner).items()}
        elif isinstance(inner, list) and inner:
            found |= _of_list(str(name), inner)
    if found and not any(_rank(name, WORD_NAMES) is not None for name in found):
        length = max(map(len, found.values()))
        for name, inner in value.items():  # a sentence whose words have spaces between them
            if (
                isinstance(inner, str)
                and _rank(name, WORD_NAMES) is not None
                and len(inner.split()) == length
            ):
                found.setdefault(name, inner.split())
    return found


def _of_list(name: str, items: Sequence[object]) -> Lists:
    if all(isinstance(item, dict) for item in items):
        inner = dict.fromkeys(key for item in items if isinstance(item, dict) for key in item)
        columns = {key: [item.get(key) for item in items if isinstance(item, dict)] for key in inner}
        return {
            f"{name}.{key}": list(map(_cell, cells))
            for key, cells in columns.items()
            if all(isinstance(cell, str | int | float) for cell in cells)
        }
    if all(isinstance(item, str | int) for item in items):
        return {name: list(map(_cell, items))}
    return {f"{name}.{n + 1}": cells for n, cells in enumerate(_of_rows(items))}


def _of_rows(items: Sequence[object]) -> list[list[str]]:
    """The columns of rows such as ["Ada", "B-PER"]; none where these are none."""
    rows = [item for item in items if isinstance(item, list) and len(item) > 1]
    if not rows or len({len(row) for row in rows}) > 1 or len(rows) != len(items):
        return []
    if not all(isinstance(cell, str) for row in rows for cell in row):
        return []
    return [list(column) for column in zip(*rows, strict=True)]


def _cell(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _rank(name: str, known: Sequence[str]) -> int | None:
    """The place of a name, or of the last part of it, among known ones."""
    last = re.split(r"[.\s]", name.lower())[-1]
    return known.index(last) if last in known else None


def _by(known: Sequence[str]) -> Callable[[str], int]:
    return lambda name: _rank(name, known) or 0


def _most_varied(names: Sequence[str], sentences: Sequence[Mapping[str, Sequence[str]]]) -> str | None:
    """The column whose cells differ most, where it is one of words."""
    kinds = {name: len({cell for lists in sentences for cell in lists.get(name, ())}) for name in names}
    best = max(kinds, key=lambda name: kinds[name], default=None)
    if best is None or not any(cell.isalpha() for lists in sentences for cell in lists.get(best, ())):
        return None
    return best


def _are_tags(name: str, words: str, sentences: Sequence[Mapping[str, Sequence[str]]]) -> bool:
    """Whether a column has as many cells as there are words, and they are of few kinds."""
    both = [(lists[words], lists[name]) for lists in sentences if words in lists and name in lists]
    alike = sum(len(one) == len(other) for one, other in both)
    if not both or alike < NEARLY * len(both) or len(both) < NEARLY * len(sentences):
        return False
    if re.split(r"[.\s]", name.lower())[-1] in _NO_TAGS:
        return False
    kinds = {cell for _, cells in both for cell in cells}
    return _rank(name, TAG_NAMES) is not None or 1 < len(kinds) <= min(
        MOST_TAGS, sum(len(cells) for _, cells in both) / 2
    )
