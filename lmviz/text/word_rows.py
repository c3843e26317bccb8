"""Tagged sentences as tables have them: a word a row, or lists of words and tags in two cells of a row.

Where a word has a row, a column says to which sentence it belongs, in each row or only in the first of a
sentence; or a blank line ends a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from lmviz.text.column_names import parts_of
from lmviz.text.layout import Layout
from lmviz.text.list_cells import items_of
from lmviz.text.table import Record
from lmviz.text.tag_schemes import OUTSIDE, find_scheme

Cells = Sequence[str]
Roles = dict[str, int]

MOST_TAGS = 120
_WORDS = frozenset(["word", "words", "token", "tokens", "form", "forms"])
_SENTENCES = frozenset(["sentence", "sentences", "sent", "sents", "sid", "sentenceid", "sentid"])
_GROUPS = frozenset(["doc", "document", "line", "id", "idx", "index", "number", "nr", "no", "num", "key"])
_TAGS = (
    *("ner", "tag", "tags", "label", "labels", "iob", "bio"),
    *("entity", "entities", "upos", "pos", "xpos", "chunk"),
)
"""Words in the names of tags, the surest first."""

_FEWEST_ROWS = 8
_RUNS = 0.7
"""The largest share of rows that begin a sentence, where each row says its own."""


def find_word_rows(
    names: Sequence[str], columns: Sequence[Cells], *, has_gaps: bool = False
) -> tuple[Roles, bool] | None:
    """The columns of sentence, word and tag, and whether they are only guessed; None where there are none.

    `has_gaps` says that blank lines stand between some rows, so that no column has to say what is a sentence.
    """
    if not columns or len(columns[0]) < _FEWEST_ROWS:
        return None
    parts = [parts_of(name) for name in names]
    tag, is_named = _tag_of(parts, columns)
    if tag is None:
        return None
    words = [n for n, told in enumerate(parts) if told and told[-1] in _WORDS and _are_words(columns[n])]
    if not words:
        likely = [
            n for n, cells in enumerate(columns) if n != tag and _are_words(cells) and not _are_numbers(cells)
        ]
        kinds = {n: len(set(columns[n])) for n in likely}
        words = [max(likely, key=lambda n: kinds[n])] if likely else []
        is_named = False
    if not is_named and not _mark_spans(columns[tag]):
        return None
    if any(_has_sentences(cells) for cells in columns):
        return None  # a word beside a text is about it
    if not words or words[0] == tag or len(set(columns[words[0]])) <= len(set(columns[tag])):
        return None
    sentence = _sentence_of(parts, columns, {tag, words[0]})
    if sentence is None:
        return ({"word": words[0], "tag": tag}, not is_named) if has_gaps else None
    return {"sentence": sentence, "word": words[0], "tag": tag}, not is_named


def find_list_rows(names: Sequence[str], columns: Sequence[Cells]) -> Roles | None:
    """The columns of the words and the tags of a sentence a row, as many in the one as in the other."""
    parts = [parts_of(name) for name in names]
    named = [n for n in range(len(columns)) if _rank(parts[n]) < len(_TAGS)]
    tags = [n for n in named if _share(map(_are_lists, columns[n])) > 0.9 or _are_tags_in_a_row(columns[n])]
    for tag in sorted(tags, key=lambda n: _rank(parts[n])):
        for word in range(len(columns)):
            if word not in tags and _fit(columns[word], columns[tag]):
                return {"word": word, "tag": tag}
    return None


def _are_lists(cell: str) -> bool:
    return items_of(cell) is not None


def _are_tags_in_a_row(cells: Cells) -> bool:
    """Whether cells are tags with spaces or commas between them, which mark spans."""
    kinds = {tag for cell in cells for tag in _tags_of(cell)}
    return OUTSIDE in kinds and len(kinds) <= MOST_TAGS and find_scheme(kinds) is not None


def _share(truths: Iterable[bool]) -> float:
    listed = list(truths)
    return sum(listed) / max(1, len(listed))


def in_sentences(found: Iterator[Record], layout: Layout) -> Iterator[Record]:
    """The words of a table one by one, with a record without cells after each sentence."""
    roles, width = layout.roles, len(layout.names)
    if layout.has_rows_of_words:
        yield from _in_lists(found, roles, width)
        return
    place = roles.get("sentence")
    last, number_before = "", 0
    for number, cells, reason in found:
        if cells and not reason:
            now = cells[place].strip() if place is not None else ""
            if (now and now != last) or (place is None and number > number_before + 1):
                yield number, [], ""
            last = now or last
            if place is not None and not now:
                cells = [last if n == place else cell for n, cell in enumerate(cells)]
            if not cells[roles["word"]].strip() and not cells[roles["tag"]].strip():
                yield number, [], ""
                continue
        number_before = number
        yield number, cells, reason


def _in_lists(found: Iterator[Record], roles: Mapping[str, int], width: int) -> Iterator[Record]:
    for number, cells, reason in found:
        if reason or not cells:
            yield number, cells, reason
            continue
        words, tags = _words_of(cells[roles["word"]]), _tags_of(cells[roles["tag"]])
        if not words or len(words) != len(tags):
            yield number, cells, f"has {len(words)} words and {len(tags)} tags"
            continue
        for word, tag in zip(words, tags, strict=True):
            made = [""] * width
            made[roles["word"]], made[roles["tag"]] = word, tag
            yield number, made, ""
        yield number, [], ""


def _words_of(cell: str) -> Sequence[str]:
    """The words of a list, or of a sentence with spaces between them."""
    items = items_of(cell.strip())
    return cell.split() if items is None else items


def _tags_of(cell: str) -> Sequence[str]:
    """The tags of a list, or of a row of them with commas or spaces between."""
    items = items_of(cell.strip())
    return cell.replace(",", " ").split() if items is None else items


def _fit(cells: Cells, tags: Cells) -> bool:
    """Whether nearly all cells have as many words as there are tags."""
    both = [(_words_of(cell), _tags_of(each)) for cell, each in zip(cells, tags, strict=True)]
    alike = sum(len(words) == len(each) for words, each in both)
    return bool(both) and alike > 0.9 * len(both) and sum(len(each) for _, each in both) >= 2 * len(both)


def _tag_of(parts: Sequence[Sequence[str]], columns: Sequence[Cells]) -> tuple[int | None, bool]:
    """The column of tags by its name, or else by the scheme of what stands in it; and whether it is named."""
    good = [n for n, cells in enumerate(columns) if _are_tags(cells)]
    named = [n for n in good if _rank(parts[n]) < len(_TAGS)]
    if named:
        return min(named, key=lambda n: _rank(parts[n])), True
    spans = [n for n in good if _mark_spans(columns[n])]
    return (spans[-1], False) if spans else (None, False)


def _rank(parts: Sequence[str]) -> int:
    """How surely a name is that of tags, 0 the surest."""
    return min((_TAGS.index(part) for part in parts if part in _TAGS), default=len(_TAGS))


def _sentence_of(parts: Sequence[Sequence[str]], columns: Sequence[Cells], taken: set[int]) -> int | None:
    """The column that says where a sentence begins, by its name and by the runs that it has."""
    for n, told in enumerate(parts):
        is_named = bool(set(told) & _SENTENCES) or (
            set(told) <= _GROUPS | {"doc", "document", "line"} and told
        )
        if n not in taken and is_named and _has_runs(columns[n]):
            return n
    unnamed = [n for n, told in enumerate(parts) if n not in taken and not told and _has_runs(columns[n])]
    return unnamed[0] if unnamed else None


def _has_runs(cells: Cells) -> bool:
    """Whether a column says the same for several rows after another, or only what begins one."""
    solid = [cell for cell in cells if cell]
    if not solid or not cells[0]:
        return False
    begins = [cells[0], *(b for a, b in pairwise(solid) if a != b)]
    return len(begins) <= _RUNS * len(cells) and len(set(begins)) >= 0.9 * len(begins)


def _are_tags(cells: Cells) -> bool:
    solid = [cell for cell in cells if cell]
    kinds = set(solid)
    return (
        len(solid) >= 0.8 * len(cells)
        and 1 < len(kinds) <= min(MOST_TAGS, len(solid) / 2)
        and not any(" " in kind for kind in kinds)
        and max(map(len, kinds)) <= 32
    )


def _mark_spans(cells: Cells) -> bool:
    kinds = {cell for cell in cells if cell}
    return OUTSIDE in kinds and find_scheme(kinds) is not None


def _are_words(cells: Cells) -> bool:
    solid = [cell for cell in cells if cell]
    return len(solid) >= 0.8 * len(cells) and sum(" " in cell for cell in solid) <= 0.05 * len(solid)


def _has_sentences(cells: Cells) -> bool:
    """Whether most cells have several words."""
    solid = [cell for cell in cells if cell]
    return bool(solid) and 2 * sum(cell.count(" ") >= 2 for cell in solid) > len(solid)


def _are_numbers(cells: Cells) -> bool:
    solid = [cell for cell in cells if cell]
    return sum(cell.replace(".", "", 1).isdigit() for cell in solid) > 0.5 * len(solid)
