"""How a file writes its examples, and which of its columns has which part of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lmviz.base.errors import SettingError
from lmviz.text.table import Dialect

ROLES: dict[str, tuple[str, ...]] = {
    "classification": ("label", "text"),
    "translation": ("source", "target"),
    "tagging": ("word", "tag"),
    "captioning": ("picture", "caption"),
    "next-token": ("text",),
}
"""What a task needs of each example; a text that has columns says which of them it is."""

FURTHER_ROLES: dict[str, tuple[str, ...]] = {"tagging": ("sentence",)}
"""What may be said besides: to which sentence a word belongs, where each has a row of its own."""

JOINABLE = ("label", "text", "source", "target")
"""The parts that may be in several columns: labels of 0 and 1, or texts that are joined."""


BOTH = "+"
"""What stands between the names of several columns that are one part: text=premise+hypothesis."""


@dataclass(frozen=True)
class Layout:
    """How a file writes its examples, and which of its columns are what.

    `form` is a key of FORMS. `names` are those of its columns, "" where one has none; `roles` say the number
    of the column, from 0, that has each part of an example, and are empty where nothing tells. `guessed` says
    that they follow from the cells, and not from names or the form itself; `doubt` says why somebody has to
    be asked before it is read so, "" where nobody has to. `further` are the columns that a part has besides
    the one in `roles`, and `lists` those whose cells are lists.
    """

    form: str
    task: str
    names: tuple[str, ...]
    roles: Mapping[str, int] = field(default_factory=dict)
    dialect: Dialect | None = None
    heading: bool = False
    guessed: bool = False
    doubt: str = ""
    further: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lists: frozenset[int] = frozenset()

    def places(self, role: str) -> tuple[int, ...]:
        """The numbers of the columns of a role."""
        return self.roles[role], *self.further.get(role, ())

    @property
    def has_rows_of_words(self) -> bool:
        """Whether a row has all words of a sentence, and its tags, rather than one of each."""
        return self.task == "tagging" and self.roles.get("tag") in self.lists

    @property
    def used(self) -> frozenset[int]:
        """The numbers of all columns that are read."""
        return frozenset(place for role in self.roles for place in self.places(role))

    @property
    def asks(self) -> bool:
        """Whether a person should see how it is read before it is: it is a guess, or columns are left out."""
        unsure = self.guessed or bool(self.doubt) or not self.roles
        return bool(self.names) and (unsure or len(self.used) < len(self.names))

    def name_of(self, role: str) -> str:
        """The column of a role as a person reads it."""
        names = [column_name(self.names, place) for place in self.places(role)]
        return names[0] if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def column_name(names: Sequence[str], place: int) -> str:
    """The name of a column, or its number, from 1, where it has none of its own."""
    name = names[place]
    return name if name and list(names).count(name) == 1 else f"column {place + 1}"


def written_columns(layout: Layout) -> str:
    """The roles as the setting `columns` has them: label=v1,text=v2."""
    names = list(layout.names)

    def written(place: int) -> str:
        name = names[place]
        return name if name and names.count(name) == 1 and BOTH not in name else str(place + 1)

    cells = [f"{role}={BOTH.join(map(written, layout.places(role)))}" for role in layout.roles]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def told_columns(columns: str) -> dict[str, str]:
    """The names or numbers of columns by their roles, as the setting `columns` has them; SettingError."""
    if not columns.strip():
        return {}
    try:
        cells = next(csv.reader([columns], skipinitialspace=True, strict=True))
    except (csv.Error, StopIteration):
        cells = [columns]
    told = {
        role.strip(): name.strip() for role, mark, name in (cell.partition("=") for cell in cells) if mark
    }
    if len(told) != len(cells) or _task_of(told) is None:
        ways = "label=…,text=… or source=…,target=… or word=…,tag=… or text=…"
        raise SettingError(f"Write columns as {ways}, and not as {columns!r}.", "columns")
    return told


def task_of(roles: Mapping[str, object]) -> str:
    """The task whose examples have exactly these parts."""
    task = _task_of(roles)
    assert task is not None, "roles are those of a task"
    return task


def _task_of(roles: Mapping[str, object]) -> str | None:
    for task, parts in ROLES.items():
        if set(roles) - set(FURTHER_ROLES.get(task, ())) == set(parts):
            return task
    return None


def places_of(
    told: Mapping[str, str], names: Sequence[str]
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """The numbers of told columns, from 0, and further ones of parts; SettingError where one is not there."""
    places = {role: _places_of(role, name, names) for role, name in told.items()}
    further = {role: tuple(more) for role, (_, *more) in places.items() if more}
    return {role: first for role, (first, *_) in places.items()}, further


def _places_of(role: str, wanted: str, names: Sequence[str]) -> list[int]:
    """The columns of a part: one by its name, or several with + between them."""
    whole = wanted in [name.strip() for name in names] or role not in JOINABLE
    return [_place_of(part.strip(), names) for part in ([wanted] if whole else wanted.split(BOTH))]


def _place_of(wanted: str, names: Sequence[str]) -> int:
    known = [name.strip() for name in names]
    if wanted in known:
        return known.index(wanted)
    number = wanted.removeprefix("column ").strip()
    if number.isascii() and number.isdigit() and 1 <= int(number) <= len(names):
        return int(number) - 1
    offered = ", ".join(column_name(names, place) for place in range(len(names)))
    raise SettingError(f"There is no column {wanted!r}: there are {offered}.", "columns")
