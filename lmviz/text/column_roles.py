"""The rule that says what the columns of a table are: by their names first, and then by what stands in them.

A column with a usual name of a text, beside none of a label or a side, is a corpus to go on from, a document
a row. Ids, addresses, dates, counts and scores are never labels or sides. Two columns are a pair only by
their names, or where what stands in them says so: the one is about as long as the other, row by row. Where
neither tells, the likeliest reading is given with a doubt, so that somebody is asked.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from lmviz.text.column_names import (
    FIRST_TEXT_NAMES,
    LABEL_NAMES,
    LISTED_TEXT_NAMES,
    PAIRED_NAMES,
    SHORT_TEXT_NAMES,
    SOURCE_NAMES,
    SURE_LABEL_NAMES,
    TARGET_NAMES,
    TEXT_NAMES,
    TEXTS_OF_ONE_LABEL,
    WHOLE_TEXT_NAMES,
    is_about,
    languages,
    named,
    parts_of,
)
from lmviz.text.conversations import Conversation
from lmviz.text.list_cells import is_nested, items_of

MOST_CLASSES, LONGEST_LABEL = 60, 48
FILLED = 0.8  # of the cells of a column that says something of every example
FEWEST_WORDS = 3  # that the cells of a column of texts have in the middle
SEVERAL_LABELS = "several columns could be the label"
SEVERAL_TEXTS = "several columns could be the text"
BOTH_TEXTS = "two columns could be the text, or both joined"
SEVERAL_FLAGS = "columns of 0 and 1 could be the labels"
NUMBERS = "the numbers may be what is to be written, or be about the texts"
MOST_ASKED = 20  # words of texts behind which a number may be an answer
NO_TEXTS = "no column has texts of several words"
MOST_IN_LISTS = 1000  # different labels
_FLAGS = (("0", "1"), ("false", "true"), ("0.0", "1.0"), ("no", "yes"))
FEWEST_FLAGS = 3  # columns of 0 and 1 that may be labels beside a column with a usual name of a text
FEW_ROWS = 10  # of which nothing can be said of how often something comes again
ALIKE = 0.4  # the correlation of the lengths of two sides, as logarithms, from which on they belong together
MOST_SIDES = 4
LONGEST_LOOKED_AT = 1000  # characters of a cell that are compared with what addresses and dates look like
BY_CHANCE = 2.5  # of it times the root of how many rows there are, which columns hardly reach by chance
NUMBER = re.compile(r"[-+]?[0-9.,:/%\s-]*(e[-+]?[0-9]+)?", re.IGNORECASE)
_ADDRESS = re.compile(r"<?([a-z][a-z0-9+.-]*://|www\.|urn:)\S+|\S+@\S+\.\S+", re.IGNORECASE)
_OF_DATE = (
    "mon|tues?|wed(?:nes)?|thurs?|fri|satur|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    "day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|am|pm|utc|gmt|[ecmp][sd]t|st|nd|rd|th|t|z"
)
_DATE = re.compile(
    rf"(?=.*\d)(?=.*[a-z]|(?:\D*\d++){{3}}|(?:19|20)\d{{6}}\Z)(?:(?:{_OF_DATE})(?![a-z])|[\d\s.,:/+()-])+",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?=\D*\d)[!-~]{6,}|[0-9a-f-]{8,}|[!-~]{24,}|[!-~]*/[!-~]+\.\w+", re.IGNORECASE)
_RIGHTS = re.compile(r"\b(CC[ -]BY|CC0|licen[cs]ed?\b|copyright|all rights reserved)|©", re.IGNORECASE)
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts that put no spaces between words."""


class Nested(str):
    """A cell that is a list or an object, written as JSON: it is never taken for its literal text."""

    __slots__ = ()


@dataclass(frozen=True)
class Choice:
    """The number of the column, from 0, that has each part of an example; empty where nothing tells.

    `guessed` says that it follows from the cells and not from the names. `doubt` says why somebody should be
    asked, "" where there is no doubt. `further` are columns that a part has besides.
    """

    roles: Mapping[str, int] = field(default_factory=dict)
    guessed: bool = False
    doubt: str = ""
    further: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class TableColumn:
    """A column by its name, "" for none, and some of its cells."""

    def __init__(self, name: str, cells: Sequence[str]) -> None:
        self.name = name
        self.cells = cells

    @cached_property
    def solid(self) -> list[str]:
        """The cells with something in them."""
        return [cell for cell in self.cells if cell.strip()]

    @cached_property
    def kinds(self) -> set[str]:
        """The different cells."""
        return set(self.solid)

    @property
    def is_filled(self) -> bool:
        return bool(self.cells) and len(self.solid) >= FILLED * len(self.cells)

    @cached_property
    def size(self) -> float:
        """The mean length of its cells, in characters."""
        return sum(map(len, self.solid)) / max(1, len(self.cells))

    @cached_property
    def words(self) -> float:
        """How many words a cell has in the middle, two signs of a script without spaces for one."""
        from statistics import median  # and decimal with it, while the first paint waits for this module

        counts = [len(cell.split()) + len(_WITHOUT_SPACES.findall(cell)) / 2 for cell in self.solid]
        return median(counts) if counts else 0.0

    @cached_property
    def is_nested(self) -> bool:
        """Whether its cells are lists or objects."""
        return _share(isinstance(cell, Nested) or is_nested(cell) for cell in self.solid) > 0.5

    @cached_property
    def lists(self) -> list[tuple[str, ...]]:
        """The items of the cells that are lists."""
        return [items for items in map(items_of, self.solid) if items is not None]

    @property
    def is_list(self) -> bool:
        """Whether its cells are lists of words or numbers."""
        return bool(self.lists) and len(self.lists) > 0.5 * len(self.solid)

    @cached_property
    def has_labels_in_lists(self) -> bool:
        """Whether its cells are lists of labels, which come again."""
        kinds = Counter(item for items in self.lists for item in items)
        return (
            self.is_list
            and 0 < len(kinds) <= MOST_IN_LISTS
            and (len(self.lists) < FEW_ROWS or 2 * len(kinds) <= kinds.total())
            and max(map(len, kinds)) <= LONGEST_LABEL
        )

    @cached_property
    def has_words_in_lists(self) -> bool:
        """Whether its cells are lists of the words of texts."""
        return self.is_list and not all(item.isdigit() for items in self.lists[:FEW_ROWS] for item in items)

    @cached_property
    def is_flag(self) -> bool:
        """Whether its cells are 0 and 1, or false and true, both of them."""
        kinds = {cell.lower() for cell in self.solid}
        return self.is_filled and len(kinds) == 2 and any(kinds == set(both) for both in _FLAGS)

    @cached_property
    def is_never(self) -> bool:
        """Whether its cells are all 0 or false, as those of a rare label may be for a while."""
        kinds = {cell.lower() for cell in self.solid}
        return self.is_filled and len(kinds) == 1 and kinds <= {never for never, _ in _FLAGS}

    @cached_property
    def has_turns(self) -> bool:
        """Whether its cells are conversations."""
        return _share(isinstance(cell, Conversation) for cell in self.solid) > 0.5

    @cached_property
    def is_number(self) -> bool:
        return self._share(NUMBER.fullmatch) > 0.5

    @cached_property
    def is_measured(self) -> bool:
        """Whether its cells are numbers that hardly come again, or are broken ones: counts and scores.

        4.0 is whole: so stars and classes are written where a column was one of floating-point numbers.
        """
        broken = self._share(lambda cell: re.fullmatch(r"[-+]?\d*[.](?!0+$)\d+(e[-+]?\d+)?", cell.lower()))
        return self.is_number and (broken > 0.5 or self.is_varied)

    @cached_property
    def is_date(self) -> bool:
        return self._share(_DATE.fullmatch) >= FILLED

    @cached_property
    def is_address(self) -> bool:
        return self._share(_ADDRESS.fullmatch) >= FILLED

    @cached_property
    def is_code(self) -> bool:
        """Whether its cells are addresses, paths or ids."""
        return self.is_address or self._share(_CODE.fullmatch) >= 0.9

    @property
    def tells_about(self) -> bool:
        """Whether what stands in it is about a text, and is none: a number, a date, an address, a list."""
        return self.is_nested or self.is_number or self.is_date or self.is_code or self.says_rights

    @cached_property
    def says_rights(self) -> bool:
        """Whether its cells name licences, as those of Tatoeba do."""
        return self._share(_RIGHTS.search) >= FILLED

    @property
    def is_varied(self) -> bool:
        """Whether its cells hardly come again."""
        return 2 * len(self.kinds) > len(self.solid)

    @cached_property
    def can_be_text(self) -> bool:
        """Whether a usual name is enough for it to be a text."""
        return 2 * len(self.solid) > len(self.cells) and not self.tells_about

    @cached_property
    def is_text(self) -> bool:
        """Whether it reads like texts: of several words, that are not always the same."""
        is_one = len(self.kinds) == 1 and len(self.solid) >= 4
        return self.is_filled and not self.tells_about and self.words >= FEWEST_WORDS and not is_one

    @cached_property
    def are_labels(self) -> bool:
        """Whether it has few short cells that come again."""
        return (
            self.is_filled
            and not (self.is_nested or self.is_date or self.is_measured or self.is_address)
            and 2 <= len(self.kinds) <= min(MOST_CLASSES, len(self.cells) / 2)
            and max(map(len, self.kinds)) <= LONGEST_LABEL
        )

    def can_be_labels(self, *, surely: bool) -> bool:
        """Whether a usual name is enough for it to have labels; `surely` says that the name is a sure one."""
        if self.is_list:
            return self.has_labels_in_lists
        if not self.solid or self.is_nested or self.is_date or max(map(len, self.kinds)) > 4 * LONGEST_LABEL:
            return False
        if len(self.solid) < FEW_ROWS:
            return True
        return not self.is_measured and (surely or not self.is_varied)

    def _share(self, holds: Callable[[str], object]) -> float:
        return _share(holds(cell[:LONGEST_LOOKED_AT]) for cell in self.solid)


def choose_roles(columns: Sequence[TableColumn], task: str = "") -> Choice:
    """What the columns are, where `task` is asked about them, "" where nobody says which."""
    ways = {
        "classification": (_two_texts_named, _labels_named, _flags_found, _labels_found),
        "translation": (_sides_named, _pair_named, _sides_found),
        "next-token": (_text_named, _text_found),
        "": (
            _sides_named,
            _two_texts_named,
            _labels_named,
            _pair_named,
            _flags_found,
            _label_alone,
            _text_named,
            _labels_found,
            _pair_found,
            _text_found,
        ),
    }.get(task, ())
    for way in ways:
        found = way(columns)
        if found is not None and (not task or set(found.roles) == set(_PARTS[task])):
            return found
    return Choice()


_PARTS = {
    "classification": ("label", "text"),
    "translation": ("source", "target"),
    "next-token": ("text",),
}


def _sides_named(columns: Sequence[TableColumn]) -> Choice | None:
    """Two columns that are named as sides or after languages."""
    names = [column.name for column in columns]
    sources, targets = named(names, SOURCE_NAMES), named(names, TARGET_NAMES)
    if len(sources) == len(targets) == 1 and not columns[sources[0]].is_nested:
        return Choice({"source": sources[0], "target": targets[0]})
    rest = {tuple(parts_of(name)[1:]): n for n, name in enumerate(names) if _begins(name, SOURCE_NAMES)}
    for target in (n for n, name in enumerate(names) if _begins(name, TARGET_NAMES)):
        source = rest.get(tuple(parts_of(names[target])[1:]))
        if source is not None and _is_usable(columns[source]) and _is_usable(columns[target]):
            return Choice({"source": source, "target": target})
    sides = [n for n in languages(names) if _is_usable(columns[n])]
    return Choice({"source": sides[0], "target": sides[1]}) if len(sides) > 1 else None


def _pair_named(columns: Sequence[TableColumn]) -> Choice | None:
    """Two columns of whose names the second is written for the first, such as a question and its answer."""
    if _usable(columns, WHOLE_TEXT_NAMES):
        return None
    for firsts, seconds in PAIRED_NAMES:
        one, other = _usable(columns, firsts), _usable(columns, seconds)
        if one and len(other) == 1:
            return Choice({"source": one[0], "target": other[0]})
    return None


def _two_texts_named(columns: Sequence[TableColumn]) -> Choice | None:
    """Two columns that are named as texts with one label together, such as premise and hypothesis."""
    told = ["".join(parts_of(column.name)) for column in columns]
    for first, second in TEXTS_OF_ONE_LABEL:
        places = [[n for n, name in enumerate(told) if name == wanted] for wanted in (first, second)]
        one, other = ([n for n in some if _is_usable(columns[n])] for some in places)
        if len(one) != 1 or len(other) != 1:
            continue
        both = {one[0], other[0]}
        labels = sorted(
            (n for n in _named_labels(columns) if n not in both), key=lambda n: columns[n].is_list
        )
        found = [n for n, column in enumerate(columns) if n not in both and column.are_labels]
        labels = labels or min([[n] for n in found], key=lambda n: len(columns[n[0]].kinds), default=[])
        if labels:
            roles = {"label": labels[0], "text": one[0]}
            return Choice(roles, doubt=BOTH_TEXTS, further={"text": (other[0],)})
    return None


def _flags_found(columns: Sequence[TableColumn]) -> Choice | None:
    """Columns of 0 and 1, each a label that a text has or has not, beside one of texts."""
    flags = [n for n, column in enumerate(columns) if column.is_flag and not is_about(column.name)]
    text = _first_text(columns)
    fewest = 2 if text is None else FEWEST_FLAGS
    if text is None:
        text = max(_texts(columns), key=lambda n: columns[n].size, default=None)
    rare = [n for n, column in enumerate(columns) if column.is_never and not is_about(column.name)]
    if len(flags) < 2 or len(flags) + len(rare) < fewest or text is None or _named_labels(columns):
        return None
    first, *further = sorted((*flags, *rare))
    return Choice({"label": first, "text": text}, doubt=SEVERAL_FLAGS, further={"label": tuple(further)})


def _labels_named(columns: Sequence[TableColumn]) -> Choice | None:
    """A column that is named as labels beside one that is named as texts."""
    labels, text = _named_labels(columns), _first_text(columns)
    if text is not None and columns[text].has_turns:  # a list beside them is about each of the turns
        labels = [n for n in labels if not columns[n].is_list]
    if not labels or text is None or labels == [text]:
        return None
    return Choice({"label": labels[0], "text": text}, doubt=SEVERAL_LABELS if len(labels) > 1 else "")


def _label_alone(columns: Sequence[TableColumn]) -> Choice | None:
    """The one column beside a named text, where few short cells come again in it: labels of any name.

    A table that has been brought down to two columns is mostly one of labels, such as `text,spam`; that its
    second column is only about the texts, such as their language, cannot be told. So somebody is asked.
    """
    text = _first_text(columns)
    if text is None or len(columns) != 2:
        return None
    other = columns[1 - text]
    if not other.are_labels or is_about(other.name) or len(other.solid) < FEW_ROWS:
        return None
    return Choice(
        {"label": 1 - text, "text": text}, guessed=True, doubt=f"{other.name or 'the other'} may be the label"
    )


def _text_named(columns: Sequence[TableColumn]) -> Choice | None:
    """A column that is named as texts."""
    text = _first_text(columns)
    if text is None:
        return None
    names = [column.name for column in columns]
    lists = [n for n in named(names, LABEL_NAMES) if columns[n].is_nested and not columns[text].has_turns]
    return Choice({"text": text}, doubt=f"{columns[lists[0]].name} has lists" if lists else "")


def _labels_found(columns: Sequence[TableColumn]) -> Choice | None:
    """A column of few short cells that come again, beside one of texts."""
    if not columns or not columns[0].cells:
        return None
    told, named_text = _named_labels(columns), _first_text(columns)
    texts = [named_text] if named_text is not None else _texts(columns)
    labels = told or _labels(columns, texts)
    texts = texts or [n for n in _open(columns) if n not in labels]
    if not texts and told and len(columns) == 2:  # such as addresses, or the letters of DNA
        texts = [n for n, column in enumerate(columns) if n not in told and not column.is_number]
    if not texts:
        return None
    text = max(texts, key=lambda n: columns[n].size)
    kinds = len(columns[text].kinds)
    labels = [n for n in labels if n != text and (n in told or len(columns[n].kinds) < kinds)]
    if not labels:
        return None
    label = min(labels, key=lambda n: (len(columns[n].kinds), n))
    doubt = ""
    if len(labels) > 1:
        doubt = SEVERAL_LABELS
    elif columns[text].words < FEWEST_WORDS and (not told or columns[text].tells_about):
        doubt = NO_TEXTS
    elif len(texts) > 1 and columns[text].size < 2 * sorted(columns[n].size for n in texts)[-2]:
        doubt = SEVERAL_TEXTS
        if len(texts) == 2:
            first, second = sorted(texts)
            both = {"label": label, "text": first}
            return Choice(both, guessed=True, doubt=BOTH_TEXTS, further={"text": (second,)})
    return Choice({"label": label, "text": text}, guessed=True, doubt=doubt)


def _pair_found(columns: Sequence[TableColumn]) -> Choice | None:
    """Two columns of texts, the one about as long as the other row by row, as no other two are."""
    texts = _texts(columns) or [n for n in _open(columns) if columns[n].is_varied]
    if len(texts) > MOST_SIDES:
        return None
    found = [pair for pair in combinations(texts, 2) if belong_together(*(columns[n].cells for n in pair))]
    if len(found) != 1:
        return None
    source, target = found[0]
    doubt = "" if min(columns[source].words, columns[target].words) > 1 else NO_TEXTS
    return Choice({"source": source, "target": target}, guessed=True, doubt=doubt)


def may_be_answers(text: TableColumn, other: TableColumn) -> bool:
    """Whether whole numbers behind short texts, in columns without names, may be what is to be written.

    So sums and numbers in words are written, and also counts and scores: nothing tells.
    """
    are_whole = all(re.fullmatch(r"[-+]?\d+", cell.strip()) for cell in other.solid)
    is_named = bool(text.name or other.name)
    is_read = text.is_filled and not text.is_date and not text.is_code and 1 < text.words <= MOST_ASKED
    is_varied = text.is_varied and other.is_varied and other.is_filled
    return not is_named and are_whole and is_read and is_varied and len(other.solid) >= FEW_ROWS


def _sides_found(columns: Sequence[TableColumn]) -> Choice | None:
    """The two columns that are likeliest the sides of pairs, where somebody says that there are pairs."""
    texts = [n for n in _open(columns) if columns[n].is_varied] or _open(columns)
    if len(texts) < 2:
        texts = [n for n, column in enumerate(columns) if column.is_filled and not column.is_number]
    if len(texts) < 2:
        texts = list(range(len(columns)))
    return Choice({"source": texts[0], "target": texts[1]}, guessed=True) if len(texts) > 1 else None


def _text_found(columns: Sequence[TableColumn]) -> Choice | None:
    """A column of texts beside others that are about them; in doubt the longest."""
    texts = _texts(columns) or [n for n, column in enumerate(columns) if column.is_text]
    few = not texts
    texts = texts or [n for n, column in enumerate(columns) if column.can_be_text]
    if not texts:
        return None
    text = max(texts, key=lambda n: columns[n].size)
    sizes = sorted((columns[n].size for n in texts), reverse=True)
    doubt = ""
    nested = next((column.name for column in columns if column.is_nested or column.is_list), "")
    if few and len(columns) > 1:
        doubt = NO_TEXTS
    elif nested and is_about(columns[text].name):
        doubt = f"{nested} has lists"
    elif len(texts) > 1 and sizes[0] < 3 * sizes[1]:
        doubt = SEVERAL_TEXTS
    elif len(columns) == 2 and text == 0 and may_be_answers(*columns):
        doubt = NUMBERS
    return Choice({"text": text}, guessed=True, doubt=doubt)


def belong_together(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two columns are about as long as each other, row by row, as a text and its translation are."""
    pairs = [(len(a), len(b)) for a, b in zip(one, other, strict=True) if a.strip() and b.strip()]
    if not pairs:
        return False
    lengths = [[math.log(size) for size in side] for side in zip(*pairs, strict=True)]
    ratios = sorted(b - a for a, b in zip(*lengths, strict=True))
    if not math.log(1 / 3) <= ratios[len(ratios) // 2] <= math.log(3):
        return False
    means = [sum(side) / len(side) for side in lengths]
    apart = [[size - mean for size in side] for side, mean in zip(lengths, means, strict=True)]
    squares = [sum(size * size for size in side) for side in apart]
    shared = sum(a * b for a, b in zip(*apart, strict=True))
    return shared > 0 and shared >= max(ALIKE, BY_CHANCE / math.sqrt(len(pairs))) * math.sqrt(
        math.prod(squares)
    )


def _named_labels(columns: Sequence[TableColumn]) -> list[int]:
    """The columns that are named as labels, and can have them: the one with the surest name, or several."""
    names = [column.name for column in columns]
    for known in ({"label"}, SURE_LABEL_NAMES, LABEL_NAMES):
        surely = known is not LABEL_NAMES
        places = _exactly(columns, known) if len(known) == 1 else named(names, known)
        found = [n for n in places if not columns[n].cells or columns[n].can_be_labels(surely=surely)]
        if found:
            return found
    return []


def _first_text(columns: Sequence[TableColumn]) -> int | None:
    """The column with the surest name of a text, of two that are as sure the longer one."""
    for known in (*({name} for name in FIRST_TEXT_NAMES), TEXT_NAMES, SHORT_TEXT_NAMES):
        found = _usable(columns, known)
        if found:
            return max(found, key=lambda n: columns[n].size)
    ending = named([column.name for column in columns], TEXT_NAMES | SHORT_TEXT_NAMES)
    lists = named([column.name for column in columns], LISTED_TEXT_NAMES)
    if not any(_is_usable(columns[n]) for n in ending):
        return next((n for n in lists if columns[n].has_words_in_lists), None)
    return max((n for n in ending if _is_usable(columns[n])), key=lambda n: columns[n].size, default=None)


def _begins(name: str, known: Iterable[str]) -> bool:
    """Whether a name that is about nothing else begins with a known one, such as source_text."""
    return parts_of(name)[:1] in [[each] for each in known] and not is_about(name)


def _is_usable(column: TableColumn) -> bool:
    """Whether a column can be a text, as far as its name alone has to tell, or its cells do."""
    return not column.cells or column.can_be_text


def _usable(columns: Sequence[TableColumn], known: Iterable[str]) -> list[int]:
    """The columns with exactly one of the known names that can be texts."""
    return [n for n in _exactly(columns, known) if _is_usable(columns[n])]


def _exactly(columns: Sequence[TableColumn], known: Iterable[str]) -> list[int]:
    wanted = frozenset(known)
    return [n for n, column in enumerate(columns) if column.name.strip().lower() in wanted]


def _open(columns: Sequence[TableColumn]) -> list[int]:
    """The columns that neither their names nor their cells call something about a text."""
    return [
        n
        for n, column in enumerate(columns)
        if column.is_filled and not column.tells_about and not is_about(column.name)
    ]


def _texts(columns: Sequence[TableColumn]) -> list[int]:
    return [n for n in _open(columns) if columns[n].is_text]


def _labels(columns: Sequence[TableColumn], texts: Sequence[int]) -> list[int]:
    """Columns that have labels by what stands in them; their names call them nothing else."""
    return [
        n
        for n, column in enumerate(columns)
        if n not in texts and column.are_labels and not is_about(column.name)
    ]


def _share(truths: Iterable[object]) -> float:
    listed = [bool(truth) for truth in truths]
    return sum(listed) / max(1, len(listed))
