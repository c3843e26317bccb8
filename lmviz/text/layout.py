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


@dataclass(frozen=True)
class Layout:
    """How a file writes its examples, and which of its columns are what.

    `form` is a key of FORMS. `names` are those of its columns, "" where one has none; `roles` say the number
    of the column, from 0, that has each part of an example, and are empty where nothing tells. `guessed` says
    that they follow from the cells, and not from names or the form itself; `doubt` says why somebody has to
    be asked before it is read so, "" where nobody has to.
    """

    form: str
    task: str
    names: tuple[str, ...]
    roles: Mapping[str, int] = field(default_factory=dict)
    dialect: Dialect | None = None
    heading: bool = False
    guessed: bool = False
    doubt: str = ""

    @property
    def asks(self) -> bool:
        """Whether a person should see how it is read before it is: it is a guess, or columns are left out."""
        unsure = self.guessed or bool(self.doubt) or not self.roles
        return bool(self.names) and (unsure or len(self.roles) < len(self.names))

    def name_of(self, role: str) -> str:
        """The column of a role as a person reads it."""
        return column_name(self.names, self.roles[role])


def column_name(names: Sequence[str], place: int) -> str:
    """The name of a column, or its number, from 1, where it has none of its own."""
    name = names[place]
    return name if name and list(names).count(name) == 1 else f"column {place + 1}"


def written_columns(layout: Layout) -> str:
    """The roles as the setting `columns` has them: label=v1,text=v2."""
    names = list(layout.names)
    cells = [
        f"{role}={names[place] if names[place] and names.count(names[place]) == 1 else place + 1}"
        for role, place in layout.roles.items()
    ]
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
    if len(told) != len(cells) or set(told) not in map(set, ROLES.values()):
        ways = "label=…,text=… or source=…,target=… or word=…,tag=… or text=…"
        raise SettingError(f"Write columns as {ways}, and not as {columns!r}.", "columns")
    return told


def task_of(roles: Mapping[str, object]) -> str:
    """The task whose examples have exactly these parts."""
    return next(task for task, parts in ROLES.items() if set(parts) == set(roles))


def places_of(told: Mapping[str, str], names: Sequence[str]) -> dict[str, int]:
    """The numbers of told columns, from 0; SettingError where there is no such column."""
    return {role: _place_of(name, names) for role, name in told.items()}


def _place_of(wanted: str, names: Sequence[str]) -> int:
    known = [name.strip() for name in names]
    if wanted in known:
        return known.index(wanted)
    number = wanted.removeprefix("column ").strip()
    if number.isascii() and number.isdigit() and 1 <= int(number) <= len(names):
        return int(number) - 1
    offered = ", ".join(column_name(names, place) for place in range(len(names)))
    raise SettingError(f"There is no column {wanted!r}: there are {offered}.", "columns")
