"""What the columns of a text are for: a label, a text, a word, a tag, or the two sides of a pair."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LABEL_NAMES = _words(
    "label labels class category sentiment polarity rating stars topic target intent emotion"
)
TEXT_NAMES = _words("text texts sentence review reviews content document message comment tweet headline body")
SOURCE_NAMES, TARGET_NAMES = _words("source src"), _words("target tgt trg")
LANGUAGES = _words(
    "aa ab af ak an ar av ay az ba bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el "
    "en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi hr ht hu hy hz ia ig it ja jv ka kg "
    "ki kk kl km kn ko ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt na nb ne nl nn "
    "nv ny oc om os pa pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn tr ts tt tw ug uk ur uz vi wo xh yi yo za zh zu english german french spanish "
    "italian portuguese dutch russian chinese japanese czech polish turkish arabic korean swedish "
    "danish finnish greek hebrew hindi hungarian romanian ukrainian vietnamese"
)
"""Languages by name and by ISO 639-1, but for id and for common English words, such as is and no."""

MOST_CLASSES, LONGEST_LABEL = 60, 48
FILLED = 0.8  # of the cells of a column that says something of every example
FEWEST_WORDS = 3  # that the cells of a column of texts have in the middle
NUMBER = re.compile(r"[-+]?[0-9.,:/\s-]*")


@dataclass(frozen=True)
class Layout:
    """How a file writes its examples, and which of its columns are what.

    `form` is a key of FORMS. `names` are those of its columns, "" where one has none; `roles` say the number
    of the column, from 0, that has each part of an example, and are empty where nothing tells. `guessed` says
    that they follow from the cells, and not from names or the form itself.
    """

    form: str
    task: str
    names: tuple[str, ...]
    roles: Mapping[str, int] = field(default_factory=dict)
    dialect: Dialect | None = None
    heading: bool = False
    guessed: bool = False

    @property
    def asks(self) -> bool:
        """Whether a person should see how it is read before it is: it is a guess, or columns are left out."""
        return bool(self.names) and (self.guessed or not self.roles or len(self.roles) < len(self.names))

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


def by_names(names: Sequence[str], task: str = "") -> dict[str, int]:
    """The roles that the names of columns tell; none where they do not, or tell several."""
    told = [name.strip().lower() for name in names]
    if task in ("", "classification"):
        labels, texts = _named(told, LABEL_NAMES), _named(told, TEXT_NAMES)
        if len(labels) == len(texts) == 1 and labels != texts:
            return {"label": labels[0], "text": texts[0]}
    if task in ("", "translation"):
        sources, targets = ([n for n, name in enumerate(told) if name in known] for known in _SIDES)
        if len(sources) == len(targets) == 1:
            return {"source": sources[0], "target": targets[0]}
        languages = [n for n, name in enumerate(told) if re.split(r"[._\s-]+", name)[-1] in LANGUAGES]
        if len(languages) >= 2:
            return {"source": languages[0], "target": languages[1]}
    if task == "next-token":
        texts = _named(told, TEXT_NAMES)
        return {"text": texts[0]} if len(texts) == 1 else {}
    return {}


_SIDES = (SOURCE_NAMES, TARGET_NAMES)


def _named(told: Sequence[str], known: frozenset[str]) -> list[int]:
    """The columns of such a name, or else those whose name ends in one: airline_sentiment."""
    found = [n for n, name in enumerate(told) if name in known]
    return found or [n for n, name in enumerate(told) if re.split(r"[._\s-]+", name)[-1] in known]


def by_cells(columns: Sequence[Sequence[str]], names: Sequence[str], task: str = "") -> dict[str, int]:
    """The roles that the cells of columns, each (row,), suggest; none where nothing does.

    Labels are few, short and repeated; texts are the longest cells. Where there are no labels, two columns of
    words that hardly repeat are a pair.
    """
    from statistics import median  # and decimal with it, while the first paint waits for this module

    filled = [n for n, cells in enumerate(columns) if _share(map(bool, cells)) >= FILLED]
    words = {n: median(len(cell.split()) for cell in columns[n]) for n in filled}
    told = [name.strip().lower() for name in names]
    texts = [n for n in filled if not _share(bool(NUMBER.fullmatch(cell)) for cell in columns[n]) > 0.5]
    by_name = [n for n in _named(told, TEXT_NAMES) if n in texts]
    text = by_name[0] if len(by_name) == 1 else max(texts, key=lambda n: _size(columns[n]), default=None)
    if task == "next-token":
        return {} if text is None else {"text": text}
    kinds = len(set(columns[text])) if text is not None else 0
    labels = [n for n in filled if n != text and _are_labels(columns[n]) and len(set(columns[n])) < kinds]
    known = [n for n in _named(told, LABEL_NAMES) if n in labels]
    label = min(known or labels, key=lambda n: (len(set(columns[n])), n), default=None)
    enough = text is not None and (words[text] >= FEWEST_WORDS or task == "classification")
    if task in ("", "classification") and enough and label is not None and text is not None:
        return {"label": label, "text": text}
    sides = [n for n in texts if 2 * len(set(columns[n])) > len(columns[n])]
    if task in ("", "translation") and len(sides) >= 2:
        return {"source": sides[0], "target": sides[1]}
    return {}


def _are_labels(cells: Sequence[str]) -> bool:
    kinds = {cell for cell in cells if cell}
    return 2 <= len(kinds) <= min(MOST_CLASSES, len(cells) / 2) and max(map(len, kinds)) <= LONGEST_LABEL


def _size(cells: Sequence[str]) -> float:
    return sum(map(len, cells)) / max(1, len(cells))


def _share(truths: Iterable[bool]) -> float:
    listed = list(truths)
    return sum(listed) / max(1, len(listed))
