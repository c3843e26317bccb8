"""The forms in which examples are written: how each is recognised, how it is read, and what its columns are.

Only the beginning of a file is looked at to recognise it, and in doubt a text is plain: each form asks for
something that running text does not have on nearly every line. Reading gives records: the number of a line,
its cells, and what is wrong with it. A record without cells ends a sentence of tagged text.
"""

from __future__ import annotations

import collections
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from lmviz.base.errors import LmvizError, SettingError
from lmviz.text.bar_pairs import find_bar_pairs, read_bar_pairs
from lmviz.text.column_names import is_known, parts_of
from lmviz.text.column_roles import (
    LONGEST_LABEL,
    NUMBERS,
    Nested,
    TableColumn,
    choose_roles,
    may_be_answers,
)
from lmviz.text.conversations import Conversation
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.document_marks import find_marks
from lmviz.text.encodings import RECOGNISED
from lmviz.text.heading import is_heading, is_text_name
from lmviz.text.json_forms import records_of, rows_of_lines, rows_of_values
from lmviz.text.layout import BOTH, Layout, places_of, task_of, told_columns
from lmviz.text.packing import PACKED_ENDINGS, TABLE_ENDING
from lmviz.text.pictures import is_picture, picture_of, pixels_of
from lmviz.text.table import Dialect, Record, find_dialect, find_single, in_quotes, records
from lmviz.text.tag_schemes import OUTSIDE, find_scheme
from lmviz.text.tagged_lists import find_lists, read_lists
from lmviz.text.tagged_spans import find_spans, read_spans
from lmviz.text.translation_memory import find_memory, read_memory
from lmviz.text.word_rows import find_list_rows, find_word_rows
from lmviz.text.words import SPACES

SAMPLE = 1 << 16
"""Bytes of a file that are looked at."""

LONG_SAMPLE = 1 << 22
"""Bytes among which a few long lines of JSON are looked for."""

LONG_LINES = 4
"""Lines of JSON that are looked at, however long they are."""

NEARLY = 0.95
"""The share of lines, or of words, that have to be of a form."""

MOSTLY = 0.8
"""The share of the rows of a table whose file is named as one."""

PLAIN = "plain"
CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
CONLL_2003 = ("word", "part of speech", "chunk", "name")
WORD_ID, OTHER_ID = re.compile(r"[1-9][0-9]*"), re.compile(r"[0-9]+[-.][0-9]+")
"""The number of a word; and those of a range of words written as one, and of a node without a word."""

MOST_TAGS = 60
LONGEST_TAG = 12
MOST_SPAN_TAGS, LONGEST_SPAN_TAG = 400, 48
_HEADS = {
    *("id", "word", "words", "token", "tokens", "form", "lemma", "tag", "tags", "label", "labels"),
    *("ner", "pos", "upos", "xpos", "chunk", "iob", "bio", "entity"),
}
"""Words in the heading of words and tags in columns."""

FEWEST_LINES = 4
MANY_LINES = 8
FEWEST_WORDS = 8
MOST_COLUMNS = 10
_LABEL = "__label__"
_LABELLED = re.compile(r"\s*(?<!\S)__label__(\S+)(?:\s+,(?=\s|$))?\s*")
SAMPLED_LINES = 200
_BEGINS_DOCUMENT = "-DOCSTART-"
_CHUNK_TAG = re.compile(r"O|[BIESLU]-\S+")
_SPACE = re.compile(f"[{SPACES}]+")
_TABLE_ENDINGS = (".csv", ".tsv", ".tab")


class FileBeginning:
    """The beginning of a file: its whole lines, and the name of the file."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name.lower()
        for ending in PACKED_ENDINGS:
            self.name = self.name.removesuffix(ending)
        size = SAMPLE
        if data[:SAMPLE].lstrip()[:1] == b"{":  # maybe with whole books on its lines
            ends = [met.end() for met in islice(re.finditer(rb"\n", data[:LONG_SAMPLE]), LONG_LINES)]
            size = max(SAMPLE, ends[-1]) if len(ends) > 1 else SAMPLE
        piece = data[:size]
        self.data = piece if len(data) <= size else piece[: piece.rfind(b"\n") + 1] or piece

    @cached_property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8", "ignore").split("\n")

    @property
    def has_gaps(self) -> bool:
        """Whether there are blank lines, or lines of blank cells, between others."""
        return any(not line.strip(',;|"\t ') for line in self.lines[1:-1])

    @property
    def begins_json(self) -> bool:
        """Whether it begins as an array or an object of JSON does."""
        return self.data.lstrip()[:1] in (b"[", b"{")

    @property
    def is_named_table(self) -> bool:
        """Whether the name says that it is a table."""
        return self.name.endswith(_TABLE_ENDINGS)

    @property
    def has_one_name(self) -> bool:
        """Whether it is named as a table, and the name of a text stands alone on its first line."""
        return self.is_named_table and is_text_name(self.lines[0].strip().strip("\ufeff\"'"))

    @property
    def is_named_json(self) -> bool:
        """Whether the name says that it is JSON."""
        return self.name.endswith((".json", ".jsonl", ".ndjson"))

    @property
    def has_marks(self) -> bool:
        """Whether marks say where documents end."""
        return bool(find_marks([self.data]))

    @cached_property
    def has_conversations(self) -> bool:
        """Whether its first values of JSON hold the turns of a conversation."""
        first = islice(rows_of_values(self.data), 3)
        return any(isinstance(cell, Conversation) for _, entry, _ in first for cell in (entry or {}).values())

    @cached_property
    def solid(self) -> list[str]:
        """The lines with something on them."""
        return [line for line in self.lines if line.strip()]


@dataclass(frozen=True)
class Form:
    """A way of writing examples.

    `tasks` are those that it can serve, the likeliest first, and `examples` what its examples are called.
    `find` gives the layout of a file's beginning, or None where it is not of this form; `force` says that
    somebody has told that it is. `read` gives the records. Both are None where several files make a text.
    `unit` is what the numbers of its records count.
    """

    name: str
    tasks: tuple[str, ...]
    examples: str
    find: Callable[[FileBeginning, CorpusOptions, bool], Layout | None] | None = None
    read: Callable[[bytes, Layout], Iterator[Record]] | None = None
    unit: str = "Line"


def recognise(name: str, data: bytes, options: CorpusOptions | None = None) -> Layout | None:
    """How a file writes its examples; None for plain text.

    `name` is that of the file, and `data` its content in UTF-8. What `options` say of the task, the form, the
    columns and how a table is written holds, where it can; LmvizError where it cannot.
    """
    options = options or CorpusOptions()
    told = told_columns(options.columns)
    task = options.task if options.task != RECOGNISED else task_of(told) if told else ""
    is_of_table = any(value != RECOGNISED for value in (options.separator, options.quotes, options.heading))
    form = options.form if options.form != RECOGNISED else "table" if is_of_table else ""
    if form == PLAIN or (task == "next-token" and not form and not told):
        return None
    if form and task and task not in FORMS[form].tasks:
        raise SettingError(
            f"{FORMS[form].name} is for {' or '.join(FORMS[form].tasks)}, not for {task}.", "form", "task"
        )
    sample = FileBeginning(name, data)
    if not sample.solid:
        return None
    if not (form or told or task or sample.begins_json or sample.is_named_table) and sample.has_marks:
        return None
    fitting = [form] if form else [key for key in FORMS if task in ("", *FORMS[key].tasks)]
    found = _surest(_find(key, sample, options, bool(form)) for key in fitting)
    if found is None and task:
        found = _find(_likeliest(sample, task), sample, options, True)
    if found is None:
        return None
    if not told:
        return replace(found, doubt="") if task or form else found
    places, further = places_of(told, found.names)
    return replace(found, roles=places, further=further, task=task_of(told), guessed=False, doubt="")


def _surest(tried: Iterable[Layout | None]) -> Layout | None:
    """The first layout of which there is no doubt, or else the first."""
    doubtful = None
    for layout in tried:
        if layout is not None and not layout.doubt:
            return layout
        doubtful = doubtful or layout
    return doubtful


def lines_of(data: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a text in UTF-8 with their numbers, one at a time."""
    for number, line in enumerate(io.BytesIO(data), start=1):
        yield number, line.decode("utf-8").rstrip("\n")


def _find(form: str, sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    find = FORMS[form].find
    return find(sample, options, force) if find else None


def _likeliest(sample: FileBeginning, task: str) -> str:
    """The form of a file that somebody says is of a task, and that cannot be recognised."""
    if task == "tagging":
        slashed = sum(1 for line in sample.solid if "/" in line and "\t" not in line)
        return "slashes" if 2 * slashed > len(sample.solid) else "columns"
    if task == "classification":
        tabbed = sum(1 for line in sample.solid if "\t" in line)
        return "labels" if 2 * tabbed > len(sample.solid) else "table"
    if task == "next-token":
        return "json" if sample.begins_json else "table"
    return "captions" if task == "captioning" else "pairs"


def _find_conllu(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    rows = [line.split("\t") for line in sample.solid if not line.startswith("#")]
    good = sum(len(row) == len(CONLLU) and _is_numbered(row) for row in rows)
    if not force and (not rows or good <= 0.5 * len(rows)):
        return None
    return Layout("conllu", "tagging", CONLLU, {"word": CONLLU.index("FORM"), "tag": CONLLU.index("UPOS")})


def _is_numbered(row: Sequence[str]) -> bool:
    return bool(WORD_ID.fullmatch(row[0]) or OTHER_ID.fullmatch(row[0]))


def _read_conllu(data: bytes, layout: Layout) -> Iterator[Record]:
    """The words of CoNLL-U, the format of Universal Dependencies (Nivre et al. 2020).

    Comments, ranges of words and empty nodes are passed over.
    """
    for number, line in lines_of(data):
        row = line.split("\t")
        if not line.strip():
            yield number, [], ""
        elif line.startswith("#") or (len(row) == len(CONLLU) and OTHER_ID.fullmatch(row[0])):
            continue
        elif len(row) != len(CONLLU):
            yield number, row, f"has {_counted(len(row), 'column')} in place of {len(CONLLU)}"
        elif not WORD_ID.fullmatch(row[0]):
            yield number, row, f"begins with {row[0][:20]!r} in place of the number of a word"
        else:
            lacking = next((role for role, n in layout.roles.items() if _is_blank(row[n], role)), "")
            if row[0] == "1" and not lacking:  # also where the blank line before it is missing
                yield number, [], ""
            where = layout.name_of(lacking) if lacking else ""
            yield number, row, f"has no {lacking} in its column {where}" if lacking else ""


def _is_blank(cell: str, role: str) -> bool:
    return not cell.strip() or (role == "tag" and cell.strip() == "_")


def _find_columns(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    """A word on each line with its tags, blank lines between sentences, and few different tags."""
    rows = [_cells_of(line) for line in sample.lines]
    solid = [row for row in rows if row and row[0] != _BEGINS_DOCUMENT and row[0] != "#"]
    widths = collections.Counter(map(len, solid))
    width = max(widths, key=lambda size: widths[size], default=0)
    if force and width < 2:
        width = 2
    good = [row for row in solid if len(row) == width and all(row)]
    heading = tuple(good[0]) if good and all(map(_heads_words, good[0])) else ()
    good = good[1:] if heading else good
    is_turned = width == 2 and _mark_spans({row[0] for row in good})  # the tag first, as some have it
    place = 0 if is_turned else width - 1
    tags = collections.Counter(row[place] for row in good)
    blank = sum(1 for row in rows[:-1] if not row)
    if not force and not (
        2 <= width <= MOST_COLUMNS
        and len(good) >= max(FEWEST_WORDS, NEARLY * len(solid) - 1)
        and _can_be_tags(tags)
        and 2 * len(tags) <= len(good)
        and 0 < blank <= len(solid)
        and (width == 2 or all(tag == tag.upper() or _CHUNK_TAG.fullmatch(tag) for tag in tags))
    ):
        return None
    told = [n for n in range(1, width) if len({row[n] for row in good}) > 1]
    numbered = width > 2 and all(row[0].isdigit() for row in good)
    conll = width == len(CONLL_2003) and not numbered and all(map(_CHUNK_TAG.fullmatch, tags))
    names = heading or (CONLL_2003 if conll else ("",) * width)
    roles = {"word": int(numbered), "tag": max(told, default=width - 1)}
    roles = {"word": 1, "tag": 0} if is_turned else roles
    return Layout("columns", "tagging", names, roles, heading=bool(heading))


def _heads_words(cell: str) -> bool:
    """Whether a cell names a column of words or of their tags."""
    parts = parts_of(cell)
    return bool(parts) and parts[-1] in _HEADS


def _mark_spans(tags: Collection[str]) -> bool:
    """Whether tags mark spans of words, with some words outside of any."""
    return OUTSIDE in tags and find_scheme(tags) is not None


def _can_be_tags(tags: Collection[str]) -> bool:
    """Whether there are few short tags, or more and longer ones that mark spans: B-organization."""
    longest = max(map(len, tags), default=0)
    if _mark_spans(tags):
        return len(tags) <= MOST_SPAN_TAGS and longest <= LONGEST_SPAN_TAG
    return len(tags) <= MOST_TAGS and longest <= LONGEST_TAG


def _read_columns(data: bytes, layout: Layout) -> Iterator[Record]:
    """A word and its tags on each line, a blank line after each sentence; a mark of a document is no word."""
    for number, line in lines_of(data):
        cells = _cells_of(line)
        if not cells or cells[0] == _BEGINS_DOCUMENT or (layout.heading and tuple(cells) == layout.names):
            yield number, [], ""
        elif len(cells) == len(layout.names) and all(cells):
            yield number, cells, ""
        elif cells[0] != "#":  # a comment, as some have it
            columns = _counted(len([cell for cell in cells if cell]), "column")
            wanted = "a word and its tag" if len(layout.names) == 2 else f"{len(layout.names)}"
            yield number, cells, f"has {columns} in place of {wanted}"


def _find_slashes(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    parts = [chunk.rpartition("/") for line in sample.solid for chunk in _spaced(line)]
    tags = {tag for word, _, tag in parts if word and tag}
    longest = LONGEST_SPAN_TAG if _mark_spans(tags) else LONGEST_TAG
    good = sum(1 for word, _, tag in parts if word and tag and len(tag) <= longest)
    addresses = sum(1 for word, _, _ in parts if "/" in word)
    if force or (
        len(parts) >= FEWEST_WORDS
        and good >= NEARLY * len(parts)
        and addresses <= (1 - NEARLY) * len(parts)
        and len(tags) <= (MOST_SPAN_TAGS if _mark_spans(tags) else MOST_TAGS)
        and 2 * len(tags) <= len(parts)
    ):
        return Layout("slashes", "tagging", ("word", "tag"), {"word": 0, "tag": 1})
    return None


def _read_slashes(data: bytes, layout: Layout) -> Iterator[Record]:
    """A sentence on each line, its words with their tags behind a slash: time/n flies/v."""
    for number, line in lines_of(data):
        parts = [chunk.rpartition("/") for chunk in _spaced(line)]
        lacking = next((word + slash + tag for word, slash, tag in parts if not word or not tag), None)
        if lacking is not None:
            yield number, [line], f"has no word and tag in {lacking[:20]!r}"
            continue
        for word, _, tag in parts:
            yield number, [word, tag], ""
        yield number, [], ""


def _find_lists(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    if not sample.begins_json or (not force and sample.has_conversations):
        return None
    return find_lists(sample.data, force=force)


def _find_spans(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    return find_spans(sample.data, force=force) if sample.begins_json else None


def _find_fasttext(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    good = sum(1 for line in sample.solid if any(map(_is_label, line.split())))
    if force or good > max(FEWEST_LINES - 1, 0.5 * len(sample.solid)):
        several = frozenset({0})
        return Layout("fasttext", "classification", ("label", "text"), {"label": 0, "text": 1}, lists=several)
    return None


def _is_label(word: str) -> bool:
    return word.startswith(_LABEL) and len(word) > len(_LABEL)


def _read_fasttext(data: bytes, layout: Layout) -> Iterator[Record]:
    """Labels with __label__ before each, and their text on the same line."""
    beginning = [line for _, line in islice(lines_of(data), SAMPLED_LINES)]
    ends_at_comma = _ends_at_comma(beginning)
    for number, line in lines_of(data):
        labels: list[str] = []

        def take(found: re.Match[str], labels: list[str] = labels) -> str:
            label, _, rest = found[1].partition(",") if ends_at_comma else (found[1], "", "")
            labels.append(label)
            return f" {rest} "

        text = _LABELLED.sub(take, line).strip()
        if labels:
            cell = labels[0] if len(labels) == 1 else Nested(json.dumps(labels, ensure_ascii=False))
            yield number, [cell, text], ""
        elif line.strip():
            yield number, [line], "has no label"


def _ends_at_comma(lines: Sequence[str]) -> bool:
    """Whether a comma after each label belongs to the text: labels come again then as they do not with it."""
    labels = [found[1] for line in lines for found in _LABELLED.finditer(line)]
    if not labels or sum("," in label for label in labels) < NEARLY * len(labels):
        return False
    return 2 * len({label.partition(",")[0] for label in labels}) <= len(labels)


def _find_jsonl(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    rows = list(rows_of_lines(enumerate(sample.solid)))
    good = [entry for _, entry, _ in rows if entry is not None]
    is_strings = all(line.lstrip().startswith('"') and '"' in line[1:] for line in sample.solid)
    if not good or not (force or (len(good) > 1 and len(good) > 0.5 * len(rows))):
        return None
    if not force and not sample.begins_json and not is_strings:
        return None
    return _of_entries("jsonl", good, options)


def _find_parquet(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    if not force and not sample.name.endswith(TABLE_ENDING):
        return None
    good = [entry for _, entry, _ in rows_of_lines(enumerate(sample.solid)) if entry is not None]
    return _of_entries("parquet", good, options) if good else None


def _read_jsonl(data: bytes, layout: Layout) -> Iterator[Record]:
    """An object of JSON on each line; what its names have in common are the columns."""
    return records_of(rows_of_lines(lines_of(data)), layout.names)


def _find_json(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    if not force and not sample.begins_json:
        return None
    rows = list(rows_of_values(sample.data))
    good = [entry for _, entry, _ in rows if entry is not None]
    fewest = 1 if sample.is_named_json else 2
    if not good or not (force or (len(good) >= fewest and len(good) + 1 >= len(rows))):  # the last may be cut
        return None
    return _of_entries("json", good, options)


def _read_json(data: bytes, layout: Layout) -> Iterator[Record]:
    """The objects of an array of JSON, or of what else holds them."""
    return records_of(rows_of_values(data), layout.names)


def _of_entries(form: str, entries: Sequence[dict[str, str]], options: CorpusOptions) -> Layout:
    """The layout of rows of JSON; of such rows it is always a question which of their columns is what."""
    names = tuple(dict.fromkeys(name for entry in entries for name in entry))
    layout = _choose(
        Layout(form, "", names), [[entry.get(name, "") for entry in entries] for name in names], options
    )
    return layout if layout.roles else replace(layout, doubt="nothing in them reads like a text")


def _find_table(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    separator, quotes = ("" if told == RECOGNISED else told for told in (options.separator, options.quotes))
    is_named = sample.is_named_table
    if not force and (_find_jsonl(sample, options, False) or _find_json(sample, options, False)):
        return None  # objects have as many commas as each other, too
    if not separator and sample.has_one_name:
        return _find_one_column(sample, options, force)
    found = find_dialect(sample.data, separator, quotes)
    if found is None or (not force and found[2] < (MOSTLY if is_named else NEARLY)):
        return _find_one_column(sample, options, force)
    dialect, width, _ = found
    rows = [
        cells for _, cells, reason in records(sample.data, dialect, range(width, width + 1)) if not reason
    ]
    if not rows:
        return None
    layout = _of_rows(rows, dialect, options, has_gaps=sample.has_gaps)
    if force:
        return layout
    is_told = layout.heading and not layout.guessed
    if len(rows) < (FEWEST_LINES if is_named or is_told else MANY_LINES):
        return None
    if dialect.separator == "tab" and dialect.quotes == "none" and not layout.heading:
        is_simple = width == 2 and layout.roles.get("label") == 0
        if (
            is_simple
            or "source" in layout.roles
            or ("label" not in layout.roles and _sides_of(_columns(rows)))
        ):
            return None  # labels and texts, or pairs, which have no quotes
    if not is_named and dialect.separator != "tab" and not is_told and "label" not in layout.roles:
        return None  # lines with the same number of commas
    return None if not is_named and not layout.roles else layout


def _find_one_column(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    """A table of one column: under its name, or each cell in quotes."""
    if options.task not in (RECOGNISED, "next-token"):
        return None
    separator, quotes = ("" if told == RECOGNISED else told for told in (options.separator, options.quotes))
    dialect = find_single(sample.data, separator, quotes)
    rows = [cells for _, cells, reason in records(sample.data, dialect, range(1, 2)) if not reason]
    if not rows:
        return None
    layout = _of_rows(rows, dialect, options)
    if force:
        return layout
    is_named = sample.is_named_table
    is_quoted = in_quotes(sample.data, dialect) and len(rows) >= FEWEST_LINES
    if is_quoted or (is_named and layout.heading and is_known(layout.names[0]) and len(rows) > 1):
        return layout
    return layout if is_named and layout.roles and not layout.doubt and len(rows) >= FEWEST_LINES else None


def _of_rows(
    rows: Sequence[Sequence[str]], dialect: Dialect, options: CorpusOptions, *, has_gaps: bool = False
) -> Layout:
    """The layout of a table by its rows, the first of which may be its heading.

    `has_gaps` says that blank lines stand between some of them.
    """
    if options.heading == RECOGNISED:
        columns = told_columns(options.columns).values()
        told = {name for column in columns for name in (column, *column.split(BOTH))}
        cells = {cell.strip() for cell in rows[0]}
        has_heading = is_heading(rows) or any(name in cells and not name.isdigit() for name in told)
    else:
        has_heading = options.heading == "yes"
    names = tuple(cell.strip() for cell in rows[0]) if has_heading else ("",) * len(rows[0])
    layout = Layout("table", "", names, {}, dialect, has_heading)
    return _choose(layout, _columns(rows[1:] if has_heading else rows), options, has_gaps=has_gaps)


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]


def _choose(
    layout: Layout, columns: Sequence[Sequence[str]], options: CorpusOptions, *, has_gaps: bool = False
) -> Layout:
    """The layout with the roles that the rule finds for its columns."""
    task = "" if options.task == RECOGNISED else options.task
    cells = columns or [[] for _ in layout.names]
    made = list(map(TableColumn, layout.names, cells))
    lists = frozenset(place for place, column in enumerate(made) if column.is_list)
    layout = replace(layout, lists=lists)
    if task in ("", "tagging"):
        listed = find_list_rows(layout.names, cells)
        found_rows = (
            (listed, False)
            if listed is not None
            else find_word_rows(layout.names, cells, has_gaps=has_gaps or task == "tagging")
        )
        if found_rows is not None:
            roles, guessed = found_rows
            lists |= {roles["tag"]} if listed is not None else set()
            return replace(layout, roles=roles, task="tagging", guessed=guessed, lists=lists)
    found = choose_roles(made, task)
    return replace(
        layout,
        further=dict(found.further),
        roles=dict(found.roles),
        task=task_of(found.roles) if found.roles else "",
        guessed=found.guessed,
        doubt=found.doubt,
    )


def _read_table(data: bytes, layout: Layout) -> Iterator[Record]:
    assert layout.dialect is not None, "a table has one"
    named = max((place + 1 for place, name in enumerate(layout.names) if name), default=0)
    used = max(layout.used, default=0) + 1
    least = max(named, used) if layout.heading else len(layout.names)
    found = records(data, layout.dialect, range(least, len(layout.names) + 1))
    to_come = layout.heading
    for number, cells, reason in found:
        if to_come and tuple(cell.strip() for cell in cells) == layout.names:
            to_come = False
        else:
            yield number, cells if reason else [*cells, *[""] * (len(layout.names) - len(cells))], reason


def _find_labels(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    rows = _tabbed(sample)
    labels = {row[0] for row in rows}
    if force or (
        rows
        and 2 * len(labels) <= len(rows)
        and all(len(label) <= LONGEST_LABEL for label in labels)
        and len({row[1] for row in rows}) > len(labels)
    ):
        if not force and _is_table(sample, options, rows):
            return None
        return Layout("labels", "classification", ("label", "text"), {"label": 0, "text": 1})
    return None


def _is_table(sample: FileBeginning, options: CorpusOptions, rows: Sequence[Sequence[str]]) -> bool:
    """Whether two columns have a heading, and are a table, if one of which there is doubt."""
    bare = [[cell.strip('"') for cell in row] for row in rows]
    return is_heading(bare) and _find_table(sample, options, False) is not None


def _read_labels(data: bytes, layout: Layout) -> Iterator[Record]:
    """A label, a tab and a text on each line; further tabs are the text's."""
    for number, line in lines_of(data):
        label, _, text = (part.strip() for part in line.partition("\t"))
        if label or text:
            whole = bool(label and text)
            yield number, [label, text], "" if whole else "has not a label and a text with a tab between them"


def _find_captions(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    rows = _tabbed(sample)
    if force or (rows and sum(is_picture(row[0]) for row in rows) >= NEARLY * len(sample.solid)):
        return Layout("captions", "captioning", ("picture", "caption"), {"picture": 0, "caption": 1})
    return None


def _read_captions(data: bytes, layout: Layout) -> Iterator[Record]:
    """A picture, a tab and its caption on each line."""
    for number, cells, reason in _read_pairs(data, layout):
        if reason:
            yield number, cells, "has not a picture and a caption with one tab between them"
            continue
        try:
            yield number, [picture_of(pixels_of(cells[0])), cells[1]], ""
        except LmvizError as error:
            yield number, cells, f"has no picture. {str(error).removesuffix('.')}"


def _find_bars(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    return find_bar_pairs(sample.solid, force=force)


def _find_memory(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    return find_memory(sample.data, force=force)


def _find_pairs(sample: FileBeginning, options: CorpusOptions, force: bool) -> Layout | None:
    rows = [_tab_cells(line) for line in sample.solid]
    widths = collections.Counter(map(len, rows))
    width = max(widths, key=lambda size: (widths[size], size))
    good = [row for row in rows if len(row) == width]
    if not force and (is_heading(good) if width > 2 else _is_table(sample, options, good)):
        return None
    usual = {"source": 0, "target": 1}
    names = ("source", "target") if width <= 2 else ("",) * width
    layout = Layout("pairs", "translation", names, usual, guessed=width > 2)
    whole = [row for row in good if width > 2 or all(row)]
    longer = sum(len(row) > width for row in rows) if width > 2 else 0  # which are read as well
    if width > 1 and (force or len(whole) + longer >= max(FEWEST_LINES, NEARLY * len(rows))):
        columns = _columns(whole or good)
        sides = _sides_of(columns)
        if not sides and (force or width > 2):
            found = choose_roles(
                [TableColumn("", cells) for cells in columns], "translation" if force else ""
            )
            sides = dict(found.roles) if "source" in found.roles else {}
            layout = replace(layout, doubt=found.doubt)
        elif not sides and may_be_answers(*(TableColumn("", cells) for cells in columns)):
            sides, layout = usual, replace(layout, doubt=NUMBERS)
        if sides:
            return replace(layout, roles=sides)
    return layout if force else None


def _sides_of(columns: Sequence[Sequence[str]]) -> dict[str, int]:
    """The only two columns that say something of their own, as a source and its target; none otherwise.

    Nothing but a tab stands between two columns, so that it is enough that they can be sides: no number or
    address, and neither much longer than the other.
    """
    told = [TableColumn("", cells) for cells in columns]
    left = [n for n, column in enumerate(told) if len(told) == 2 or not column.tells_about]
    if len(left) != 2:
        return {}
    one, other = (told[n] for n in left)
    is_number = other.is_number and not other.is_date
    can_be = not (one.is_code or one.is_number or other.is_address or is_number)
    alike = one.is_date <= other.is_date and max(one.size, other.size) <= 4 * min(one.size, other.size)
    return {"source": left[0], "target": left[1]} if can_be and alike else {}


def _read_pairs(data: bytes, layout: Layout) -> Iterator[Record]:
    """A source and its target on each line, parted by a tab, and maybe further columns."""
    width = len(layout.names)
    used = layout.roles.values()
    for number, line in lines_of(data):
        cells = _tab_cells(line)
        fits = len(cells) == width or (width > 2 and len(cells) > max(used))
        if fits and all(cells[place] for place in used):
            yield number, [*cells, *[""] * (width - len(cells))][:width], ""
        elif any(cells):
            wanted = "one tab" if width == 2 else f"{width - 1} tabs"
            yield number, cells, f"has not a source and a target with {wanted} between them"


def _tabbed(sample: FileBeginning) -> list[list[str]]:
    """The two cells of each line, where nearly all have one tab with something on both sides; else none."""
    good = [row for row in map(_tab_cells, sample.solid) if len(row) == 2 and all(row)]
    return good if len(good) >= max(FEWEST_LINES, NEARLY * len(sample.solid)) else []


def _tab_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")]


def _cells_of(line: str) -> list[str]:
    """The cells of a line: what stands between tabs, or else between white space; none of a blank line."""
    if "\t" not in line:
        return _spaced(line)
    cells = _tab_cells(line)
    return cells if any(cells) else []


def _spaced(line: str) -> list[str]:
    """What stands between white space in a line."""
    return [cell for cell in _SPACE.split(line) if cell]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"


_OF_COLUMNS = ("classification", "translation", "next-token", "tagging")

FORMS: dict[str, Form] = {
    "conllu": Form("CoNLL-U", ("tagging",), "sentences", _find_conllu, _read_conllu),
    "columns": Form("Words and tags in columns", ("tagging",), "sentences", _find_columns, _read_columns),
    "slashes": Form(
        "Words with a tag behind a slash", ("tagging",), "sentences", _find_slashes, _read_slashes
    ),
    "lists": Form("Words and tags in lists", ("tagging",), "sentences", _find_lists, read_lists),
    "spans": Form("Texts with marked spans", ("tagging",), "sentences", _find_spans, read_spans),
    "fasttext": Form(
        "Labels as fastText has them", ("classification",), "texts", _find_fasttext, _read_fasttext
    ),
    "parquet": Form("Parquet", _OF_COLUMNS, "texts", _find_parquet, _read_jsonl, unit="Row"),
    "jsonl": Form("JSON Lines", _OF_COLUMNS, "texts", _find_jsonl, _read_jsonl),
    "json": Form("JSON", _OF_COLUMNS, "texts", _find_json, _read_json, unit="Item"),
    "bars": Form("Lines with |||", ("translation",), "pairs", _find_bars, read_bar_pairs),
    "tmx": Form("TMX", ("translation",), "pairs", _find_memory, read_memory),
    "captions": Form("Pictures with captions", ("captioning",), "pictures", _find_captions, _read_captions),
    "table": Form("A table", _OF_COLUMNS, "texts", _find_table, _read_table),
    "labels": Form("Labels and texts", ("classification",), "texts", _find_labels, _read_labels),
    "pairs": Form("Pairs", ("translation",), "pairs", _find_pairs, _read_pairs),
    "folders": Form("Folders of texts", ("classification",), "texts"),
    "parallel": Form("Two files, line by line", ("translation",), "pairs"),
}
"""The forms, in the order in which they are tried; the last two are of several files."""
