"""What a file is taken for, before it is read: its form in a sentence, some rows, what would be left out."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.base.reporting import Report, unheard
from lmviz.text.catalogue import find_entry
from lmviz.text.contents import Contents, read_contents
from lmviz.text.corpus_options import AFTER_DECODING, SEVERAL, TASKS, CorpusOptions
from lmviz.text.document_marks import find_marks
from lmviz.text.encodings import OFFERED, RECOGNISED, place_of_fault, title_of
from lmviz.text.forms import FORMS, lines_of
from lmviz.text.layout import BOTH, FURTHER_ROLES, ROLES, Layout, written_columns
from lmviz.text.list_cells import items_of
from lmviz.text.plain_documents import plain_documents
from lmviz.text.table import Aside
from lmviz.text.task_reading import FoundExamples, examples_of, say_scheme, settings_of
from lmviz.text.task_text import TaskText

FIRST = 8
LONGEST_LINE = 2000  # characters of a line of plain text that are shown
"""Rows that are shown from the beginning."""

ODD = 3
"""Rows that do not fit, or go on where nothing is read, that are shown beside them."""

COMPARED = ("utf-8", "cp1252", "iso8859-1", "mac-roman")
"""Encodings in which one row is shown where it is not certain."""


@dataclass(frozen=True)
class PreviewRow:
    """A row by the number of its line, and what is wrong with it, or ""."""

    number: int
    cells: tuple[str, ...]
    fault: str = ""


@dataclass(frozen=True)
class EncodedRow:
    """What one row is in an encoding; `stops` is the line that cannot be read in it, None where all can."""

    encoding: str
    text: str
    stops: int | None


@dataclass(frozen=True)
class Preview:
    """A file, several, or a folder, as it would be read with `options`.

    `target` is the file with the same lines in another language, where it was named apart, else "".
    `layout` says its form and columns, None for plain text. `rows` are the first, of plain text the first
    lines, and some that do not fit;
    `count` is how many examples there are. `labels` are the classes with their counts, the most frequent
    first. `left_out` are sentences about what is not read; `beyond` are the rows that go on in columns
    without a name, and `repeated` those that say what an earlier one says, None where rows are not compared,
    with `repetition` as an example. `marks` are those that may end documents, `divided` says in a sentence
    how they do, and `wrong` is how many bytes cannot be read.
    `encodings` show one row, that of `telling` line. `several` says how many texts have several labels, ""
    where none has. `contents` are what was read.
    """

    source: str | tuple[str, ...]
    options: CorpusOptions
    layout: Layout | None
    rows: tuple[PreviewRow, ...] = ()
    count: int = 0
    labels: tuple[tuple[str, int], ...] = ()
    left_out: tuple[str, ...] = ()
    encodings: tuple[EncodedRow, ...] = ()
    telling: int = 0
    guessed_encoding: bool = False
    complaint: str = ""
    beyond: int = 0
    repeated: int | None = None
    several: str = ""
    repetition: str = ""
    marks: tuple[str, ...] = ()
    divided: str = ""
    wrong: int = 0
    contents: Contents | None = field(default=None, repr=False, compare=False)
    target: str = ""

    @property
    def name(self) -> str:
        """What the file is called, or how many there are."""
        if self.target:
            return "2 files"
        if isinstance(self.source, str):
            return Path(self.source).name
        return Path(self.source[0]).name if len(self.source) == 1 else f"{len(self.source):,} files"

    @property
    def asks(self) -> bool:
        """Whether somebody should see it before it is read: something is a guess, or columns are left out."""
        several = self.layout is not None and FORMS[self.layout.form].read is None
        lost = several and bool(self.left_out)
        is_unsure = self.guessed_encoding or lost or self.wrong > 0 or bool(self.several)
        return is_unsure or (self.layout is not None and self.layout.asks)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the form can serve: of plain text any, of files that belong together also plain."""
        if self.layout is None:
            return TASKS
        form = FORMS[self.layout.form]
        return form.tasks if form.read is not None else (*form.tasks, "next-token")

    def with_task(self, task: str) -> tuple[str | tuple[str, ...], CorpusOptions, str]:
        """What is to be looked at for another task: the source, the options, and the target.

        Files belong together no longer where their form does not serve it.
        """
        if self.layout is not None and task in FORMS[self.layout.form].tasks:
            return self.source, changed_file(self.options, form=self.layout.form, task=task), self.target
        files = (self.source,) if isinstance(self.source, str) else self.source
        source = (*files, self.target) if self.target else self.source
        return source, changed_file(self.options, task=task), ""

    @property
    def sentence(self) -> tuple[tuple[str, str], ...]:
        """What it was taken for, in pieces, each with the role of the column that it names, or ""."""
        layout = self.layout
        if layout is None:
            return ((f"Plain text: a model learns the next token.{self.divided}", ""),)
        form = FORMS[layout.form].name
        if not layout.roles:
            return ((f"{form} of {len(layout.names)} columns: which of them is what?", ""),)
        examples = examples_of(layout)
        form = f"{form}," if "," in form else form  # Two files, line by line, of 7 pairs
        pieces = [(f"{form} of {self.count:,} {examples}: the ", "")]
        for number, role in enumerate((*self._further_roles, *ROLES[layout.task])):
            pieces += [(f"{', and the ' if number else ''}{role} is in ", ""), (layout.name_of(role), role)]
            if role in layout.further and role != "label":
                pieces.append((f", joined by {self.options.between}", ""))
            if role == "label" and 0 < len(self.labels) <= 4:
                pieces.append((f" ({', '.join(name for name, _ in self.labels)})", ""))
        found = self.contents.found if self.contents is not None else None
        scheme = say_scheme(found.text) if isinstance(found, FoundExamples) else ""
        doubt = f" Is that right? {layout.doubt[:1].upper()}{layout.doubt[1:]}." if layout.doubt else ""
        return (*pieces, (f".{scheme}{self.divided}{doubt}", ""))

    @property
    def _further_roles(self) -> tuple[str, ...]:
        """What columns say besides the parts of an example."""
        layout = self.layout
        known = FURTHER_ROLES.get(layout.task, ()) if layout is not None else ()
        return tuple(role for role in known if layout is not None and role in layout.roles)

    @property
    def roles(self) -> dict[str, str]:
        """What a column can be, as a person reads it: a part of an example, or one more column of a part."""
        assert self.layout is not None, "plain text has no columns"
        task, form = self.layout.task, FORMS[self.layout.form]
        tasks = [task] if task else self.tasks
        parts = list(dict.fromkeys(part for each in tasks for part in ROLES[each]))
        if task == "tagging" and form.tasks != ("tagging",):
            parts = [*FURTHER_ROLES[task], *parts]
        joins = task == "classification" and len(self.layout.names) > 2
        more = {f"{part}{BOTH}": f"{part}, too" for part in ROLES["classification"]} if joins else {}
        return {part: part for part in parts} | more

    def role_of(self, column: int) -> str:
        """What a column is, one of `roles`; "" for one that is not read."""
        layout = self.layout
        if layout is None:
            return ""
        found = next((role for role, place in layout.roles.items() if place == column), "")
        more = next((role for role, places in layout.further.items() if column in places), "")
        return found or (f"{more}{BOTH}" if more else "")

    def with_role(self, column: int, role: str) -> CorpusOptions:
        """The options with another use of a column: one of `roles`, or "" for none."""
        assert self.layout is not None, "plain text has no columns"
        part = role.removesuffix(BOTH)
        roles = dict(self.layout.roles)
        further = {
            name: tuple(place for place in places if place != column)
            for name, places in self.layout.further.items()
        }
        for name, place in self.layout.roles.items():
            if place == column:  # the next column of the part takes its place
                roles.pop(name)
                if further.get(name):
                    roles[name], *rest = further[name]
                    further[name] = tuple(rest)
        if role.endswith(BOTH) and part in roles:
            further[part] = tuple(sorted((*further.get(part, ()), column)))
        elif role:
            roles[part] = column
        return self.with_roles(roles, further)

    def with_roles(
        self, roles: dict[str, int], further: Mapping[str, tuple[int, ...]] | None = None
    ) -> CorpusOptions:
        """The options with these columns; where a part has none, the first that is free is its column."""
        assert self.layout is not None, "plain text has no columns"
        told_parts = {*roles} - {role for known in FURTHER_ROLES.values() for role in known}
        task = self.layout.task or next(task for task in self.tasks if told_parts <= {*ROLES[task]})
        further = {role: places for role, places in (further or {}).items() if role in ROLES[task] and places}
        chosen = {part: roles[part] for part in FURTHER_ROLES.get(task, ()) if part in roles}
        for part in ROLES[task]:
            taken = {*roles.values(), *chosen.values(), *(n for more in further.values() for n in more)}
            free = next((n for n in range(len(self.layout.names)) if n not in taken), 0)
            chosen[part] = roles.get(part, free)
        told = replace(self.layout, roles=chosen, further=further)
        return replace(self.options, task=task, columns=written_columns(told))


@loads("text")
def look(
    source: str | Path | Sequence[str | Path],
    options: CorpusOptions | None = None,
    progress: Report = unheard,
    target: str = "",
) -> Preview | None:
    """How a file, several, or a folder would be read; None for what is in the catalogue.

    `target` is a file with the same lines in another language. LmvizError where it cannot be read at all.
    """
    if isinstance(source, str) and find_entry(source):
        return None
    options = options or CorpusOptions()
    paths = source if isinstance(source, str | Path) else tuple(map(str, source))
    given = Preview(str(paths) if isinstance(paths, Path) else paths, options, None, target=target)
    try:
        contents = read_contents(source, options, target=target or None, counted=True, progress=progress)
    except LmvizError as error:
        together = None if target else _together(paths, options)
        if together is not None:
            belonging, options, target = together
            return look(belonging, options, progress, target)
        if options.task == RECOGNISED and options.form == RECOGNISED and not options.columns:
            raise
        return replace(given, complaint=str(error))
    encodings = {found.encoding for found in contents.encodings}
    if len(encodings) == 1:
        given = replace(given, options=replace(options, encoding=encodings.pop()))
    if target:  # which of the two is the target may have been told
        [one], [other] = contents.origin.sources, contents.origin.target_sources
        given = replace(given, source=one, target=other, options=replace(given.options, columns=""))
    raw = next(filter(None, contents.raws), b"")
    shown, telling = _encoded(raw) if raw else ((), 0)
    return _examined(
        replace(
            given,
            encodings=shown,
            telling=telling,
            guessed_encoding=any(found.guessed for found in contents.encodings),
            wrong=sum(found.wrong.count for found in contents.encodings if found.wrong is not None),
            left_out=contents.origin.notes,
            contents=contents,
        ),
        contents,
    )


def _together(
    source: str | Path | tuple[str, ...], options: CorpusOptions
) -> tuple[str | tuple[str, ...], CorpusOptions, str] | None:
    """Files that cannot be read for a task one by one as files that belong together: what to look at.

    So texts in several folders have labels, and two texts are two languages, also once they have been read as
    plain text. None where they do not belong together.
    """
    if isinstance(source, str | Path) or options.form != RECOGNISED:
        return None
    if options.task == "classification" and len({Path(file).parent for file in source}) > 1:
        return source, replace(options, form="folders"), ""
    if options.task == "translation" and len(source) == 2:
        return source[0], options, source[1]
    return None


def _examined(given: Preview, contents: Contents) -> Preview:
    """A preview with what the files hold."""
    found = contents.found
    if not isinstance(found, FoundExamples) or found.documents is not None:
        given = _divided(given, contents)
    if found is None:
        return replace(given, rows=_first_lines(contents.files[0][1])) if contents.files else given
    if isinstance(found, Layout):
        rows, count = _rows_of(contents.files[0][1], found)
        return replace(given, layout=found, rows=rows, count=count)
    layout, text = found.layout, found.text
    if FORMS[layout.form].read is None:
        assert text is not None, "files that belong together are examples of a task"
        rows, count = _rows_of_examples(text), len(text.sources)
        told = {"form": layout.form} if layout.form == "folders" else {}
    else:
        rows, _ = _rows_of(contents.files[0][1], layout)
        count = len(text.sources) if text is not None else len(found.documents or ())
        told = settings_of(layout)
    labels: tuple[tuple[str, int], ...] = ()
    if text is not None and text.answers is not None:
        counted = collections.Counter(text.answers.ids.tolist())
        labels = tuple((label, counted[id]) for id, label in enumerate(text.labels))
    values: dict[str, Any] = told
    if found.several and given.options.several == RECOGNISED:
        values["several"] = SEVERAL[0]
    return replace(
        given,
        options=replace(given.options, **values),
        layout=layout,
        rows=rows,
        count=count,
        labels=labels,
        left_out=(*given.left_out, *found.complaints.sentences),
        beyond=found.beyond,
        repeated=found.repeated,
        several=found.several,
        repetition=found.repetition,
    )


def _first_lines(data: bytes) -> tuple[PreviewRow, ...]:
    """The first lines of a plain text with something in them, with their numbers."""
    lines = ((number, line) for number, line in lines_of(data) if line.strip())
    return tuple(PreviewRow(number, (line[:LONGEST_LINE],), "") for number, line in islice(lines, FIRST))


def _divided(given: Preview, contents: Contents) -> Preview:
    """A preview with the marks that end documents, and what they do."""
    found = contents.found if isinstance(contents.found, FoundExamples) else None
    files = [data for _, data in contents.files]
    plain = plain_documents(files, found, given.options)
    marks = find_marks(files if found is None or found.documents is None else [found.documents.data])
    lost = (plain.complaint,) if plain.complaint else ()
    return replace(given, marks=marks, divided=plain.sentence, left_out=(*given.left_out, *lost))


def _rows_of(data: bytes, layout: Layout) -> tuple[tuple[PreviewRow, ...], int]:
    """The first rows of a file and some odd ones, if it is read as a layout says, and how many there are."""
    read = FORMS[layout.form].read
    assert read is not None, "a form that is recognised can be read"
    rows: list[PreviewRow] = []
    odd: list[PreviewRow] = []
    total = 0
    unused = set(range(len(layout.names))) - layout.used
    needed = (
        [place for role, place in layout.roles.items() if role in ROLES[layout.task]] if layout.task else []
    )
    nameless = [place for place in unused if layout.heading and not layout.names[place]]
    for number, cells, fault in read(data, layout):
        if isinstance(fault, Aside) or (not cells and not fault):
            continue
        total += 1
        lacks = not fault and not all(cells[place].strip() for place in needed)
        is_odd = bool(fault) or lacks or any(cells[place].strip() for place in nameless)
        fault = "lacks what the others have" if lacks else fault
        for place in layout.lists & set(range(len(cells))):
            cells = [_listed(cell) if n == place else cell for n, cell in enumerate(cells)]
        row = PreviewRow(number, tuple(cells), fault)
        if len(rows) < FIRST:
            rows.append(row)
        elif is_odd and len(odd) < ODD:
            odd.append(row)
    return (*rows, *odd), total


def _listed(cell: str) -> str:
    """A cell with the items of its list as a person reads them."""
    items = items_of(cell.strip())
    return cell if items is None else ", ".join(items)


def _rows_of_examples(text: TaskText) -> tuple[PreviewRow, ...]:
    """The first examples of files that belong together: label and text, or both sides of a pair."""
    rows = []
    for number in range(min(FIRST, len(text.sources))):
        source = text.sources[number]
        if text.targets is not None:
            cells = (source, text.targets[number])
        else:
            assert text.answers is not None, "what has no targets has labels"
            cells = (text.labels[int(text.answers[number][0])], source)
        rows.append(PreviewRow(number + 1, cells))
    return tuple(rows)


def _encoded(raw: bytes) -> tuple[tuple[EncodedRow, ...], int]:
    """The first row with something beyond ASCII in several encodings, and its number."""
    place = next((n for n, byte in enumerate(raw) if byte > 127), 0)
    start, end = raw.rfind(b"\n", 0, place) + 1, raw.find(b"\n", place)
    line = raw[max(start, place - 16) : min(end if end >= 0 else len(raw), place + 24)].strip()
    rows = []
    for encoding in COMPARED:
        fault = place_of_fault(raw, encoding)
        stops = None if fault is None else raw.count(b"\n", 0, fault) + 1
        rows.append(EncodedRow(encoding, line.decode(encoding, "replace"), stops))
    return tuple(rows), raw.count(b"\n", 0, place) + 1


def offered_encodings(current: str) -> dict[str, str]:
    """Encodings to choose from, by Python's names, as a person reads them."""
    return {**OFFERED, current: title_of(current)}


def changed_file(options: CorpusOptions, **settings: str) -> CorpusOptions:
    """The options with other settings of the file, and all that follows from them recognised anew."""
    usual = CorpusOptions()
    forgotten = {name: getattr(usual, name) for name in AFTER_DECODING}
    if "encoding" in settings:
        forgotten = {}
    if {"separator", "quotes", "heading"} & set(settings):
        forgotten = {"columns": ""}
    return replace(options, **{**forgotten, **settings})
