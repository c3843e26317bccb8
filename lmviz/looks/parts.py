"""The parts of a look: what can stand in a panel, each as a value that knows no window.

Each says what is shown and what a click does. Parts are compared, so that what has not changed is not drawn
again. What a click does is not compared, and that of the newest part counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.looks.answer_column import AnswerColumn
from lmviz.looks.by_value import ByValue
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Ink, Inked
from lmviz.looks.label_row import LabelRow
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.word_curve import WordCurve

if TYPE_CHECKING:
    from lmviz.looks.firing import FiringLine
    from lmviz.looks.pushed import PushedRow

Range = tuple[float, float]
Readout = tuple[str, Sequence[str]]
"""What the pointer brings: a line in bold, and lines below it."""


def _nothing(*_: Any) -> None:
    """What a click does that nothing follows."""


def _no_words(*_: Any) -> Readout:
    return "", ()


NOTHING = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class DotRow(ByValue):
    """One row of dots: its label, in lines, the value (dot,) of each, and the number that each stands for.

    The `band` is washed in; the mean is a line.
    """

    label: str
    values: np.ndarray
    numbers: Sequence[int]
    ink: Ink = "accent"
    band: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class LookPart(ByValue):
    """One part. By its `name` lessons, scripts and tests find it; `says` is what is read aloud of it.

    `share` is its share of the height, or the width, that is left over. It is in sight where it is `shown`;
    what a look has no more is not.
    """

    name: str = ""
    says: str = field(default="", kw_only=True)
    share: int = field(default=0, kw_only=True)
    shown: bool = field(default=True, kw_only=True)

    @property
    def inner(self) -> Sequence[LookPart]:
        """The parts that stand within it."""
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Stacked(LookPart):
    """Parts one below the other."""

    parts: Sequence[LookPart] = ()

    @property
    def inner(self) -> Sequence[LookPart]:
        return self.parts


@dataclass(frozen=True, eq=False, kw_only=True)
class SideBySide(LookPart):
    """Two parts side by side, one below the other where there is little width; `shares` are of the width."""

    first: LookPart
    second: LookPart
    shares: tuple[int, int] = (1, 1)

    @property
    def inner(self) -> Sequence[LookPart]:
        return self.first, self.second


@dataclass(frozen=True, eq=False, kw_only=True)
class Space(LookPart):
    """Room that takes what is left over."""

    share: int = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Words(LookPart):
    """A text of as many lines as it needs, or pieces of one in inks of their own; `tip` explains it.

    `role` is one of the style sheet's, such as "muted". `given` texts are those of a text, a model or a
    person: nothing of them is put in other words.
    """

    text: str | Sequence[Inked] = ""
    given: bool = False
    role: str = ""
    centred: bool = False
    tip: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class OneLine(LookPart):
    """A muted text on one line, which is shortened where there is no room for all of it."""

    text: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Button(LookPart):
    """A button; `role` is one of the style sheet's, such as "link"."""

    text: str = ""
    role: str = ""
    enabled: bool = True
    tip: str = ""
    clicked: Callable[[], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Picker(LookPart):
    """One of several words that can be chosen; `chosen` is its place, of which `chose` is told.

    `tips` explain the words, each its own. `given` choices are words of a text, or names that a person gave:
    nothing of them is put in other words.
    """

    choices: Sequence[str] = ()
    given: bool = False
    tips: Sequence[str] = ()
    chosen: int = 0
    chose: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Field(LookPart):
    """A line to type in; `hint` stands in it while it is empty. `entered` is told what was typed.

    Where it `keeps` its `text`, this happens also as the line is left; otherwise by Enter alone, and the
    line is empty again.
    """

    text: str = ""
    hint: str = ""
    keeps: bool = True
    enabled: bool = True
    entered: Callable[[str], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class SliderLine(LookPart):
    """A number that is dragged: one of `count` places from 0, at `place`; what is `written` stands beside it.

    `title` stands before it. `moved` is told the place where a person has moved it to.
    """

    title: str = ""
    count: int = 2
    place: int = 0
    written: str = ""
    moved: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shifts(LookPart):
    """Shares that went from `before` to `after`, (row,): an arrow for each, and its change in points.

    The first that rose and the first that fell are bold. `clicked` is told the row.
    """

    labels: Sequence[str] = ()
    before: Sequence[float] | np.ndarray = ()
    after: Sequence[float] | np.ndarray = ()
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers(LookPart):
    """What models say to the same `prompts` (row,), a column for each: the first is the model before.

    `words` (row,) are what it expects. `clicked` is told the row.
    """

    columns: Sequence[AnswerColumn] = ()
    prompts: Sequence[str] = ()
    words: Sequence[str] = ()
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix(LookPart):
    """Numbers (row, column) as coloured cells, with `words` in them, row by row, where there are some.

    `scale` is one of `lmviz.models.tap.SCALES`, `limit` the number of the strongest colour, found where it is
    None; with a `floor`, colours go by the logarithm from there on. `row` and `column` are outlined, −1 for
    none; `pinned` and `suggested` are marked cells. `stairs` (column,) are rows from which on a line is drawn
    over a column, which `stairs_mean`; `notes` (row,) stand beside the rows under `notes_title`. `readout`
    says what the pointer brings at a cell.
    """

    values: np.ndarray = field(default_factory=lambda: NOTHING)
    scale: str = "signed"
    limit: float | None = None
    floor: float = 0.0
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    words: Sequence[Sequence[str]] = ()
    row: int = -1
    column: int = -1
    pinned: tuple[int, int] | None = None
    suggested: tuple[int, int] | None = None
    stairs: Sequence[int] = ()
    stairs_mean: str = ""
    notes: Sequence[str] = ()
    notes_title: str = ""
    readout: Callable[[int, int], Readout] = field(default=_no_words, compare=False)
    clicked: Callable[[int, int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Curves(LookPart):
    """Curves over one axis. How the axes count never changes: their names, what is `possible` along x and y,
    which of them are `logarithmic`, and how an amount of each is written (`writes`).

    `marks` are places along x with their names, `references` dashed lines at a height; `cursor` is a place
    along x, and `moved` is told where it is set.
    """

    curves: Sequence[PlotCurve] = ()
    x_name: str = "step"
    y_name: str = ""
    possible: tuple[Range, Range] = ((0.0, np.inf), (-np.inf, np.inf))
    logarithmic: tuple[bool, bool] = (False, False)
    writes: tuple[Callable[[float], str] | None, Callable[[float], str] | None] = field(
        default=(None, None), compare=False
    )
    marks: Sequence[tuple[float, str]] = ()
    references: Sequence[tuple[str, float]] = ()
    cursor: float | None = None
    moved: Callable[[float], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class WordCurves(LookPart):
    """Curves over the `words` of a text, those that are shown, and `below` each word how far they disagree.

    `below` (word,) is in bits, NaN where there is none. The places of words that `pointed` and `clicked` are
    told are places among `words`, `pointed` −1 when the pointer leaves.
    """

    words: Sequence[str] = ()
    curves: Sequence[WordCurve] = ()
    below: np.ndarray | None = None
    current: int = -1
    hovered: int = -1
    pointed: Callable[[int], object] = field(default=_nothing, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class WordBars(LookPart):
    """A signed bar over each of the `words` of a text: `values` (word,), NaN for none, and their `errors`.

    `line` (word,) is a dashed curve; `below` are words under the words. `pointed` and `clicked` are told the
    word, `pointed` −1 when the pointer leaves.
    """

    words: Sequence[str] = ()
    values: np.ndarray = field(default_factory=lambda: NOTHING[0:0].ravel())
    errors: np.ndarray | None = None
    line: np.ndarray | None = None
    below: Sequence[str] = ()
    current: int = -1
    hovered: int = -1
    readout: Callable[[int], Readout] = field(default=_no_words, compare=False)
    pointed: Callable[[int], object] = field(default=_nothing, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(LookPart):
    """Labels of models under the words of a text, a row for each model, and the right ones where known.

    Where they disagree is marked. `pointed` is told the word under the pointer, −1 when it leaves.
    """

    words: Sequence[str] = ()
    rows: Sequence[LabelRow] = ()
    gold: Sequence[str] = ()
    current: int = -1
    pointed: Callable[[int], object] = field(default=_nothing, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Occurrences(LookPart):
    """Places in a text, a line each, with the phrase in the middle; `clicked` is told which."""

    lines: Sequence[OccurrenceLine] = ()
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveNames(LookPart):
    """The names of curves beside a piece of their lines, fainter where a curve is not shown.

    `clicked` is told the name of a curve, which is to be shown or hidden.
    """

    curves: Sequence[WordCurve] = ()
    clicked: Callable[[str], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Dots(LookPart):
    """Rows of dots along one axis; `ringed` is the number of which dots are ringed, −1 for none.

    `clicked` is told the number that a dot stands for, and `readout` says what the pointer brings there.
    """

    rows: Sequence[DotRow] = ()
    ringed: int = -1
    readout: Callable[[int], Readout] = field(default=_no_words, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(LookPart):
    """Points at `x` and `y` (point,), of the axes `x_name` and `y_name`; one is `ringed`, −1 for none."""

    x: np.ndarray = field(default_factory=lambda: NOTHING[0:0].ravel())
    y: np.ndarray = field(default_factory=lambda: NOTHING[0:0].ravel())
    inks: Sequence[Ink] = ()
    x_name: str = ""
    y_name: str = ""
    ringed: int = -1
    readout: Callable[[int], Readout] = field(default=_no_words, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sized(LookPart):
    """Cells (row, column) with a colour for their `values` and a size for their `sizes`, from 0 to 1.

    `names` are what rows and columns are; `marked` are up to two cells that are framed. `readout` and
    `clicked` are told row and column.
    """

    values: np.ndarray = field(default_factory=lambda: NOTHING)
    sizes: np.ndarray = field(default_factory=lambda: NOTHING)
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    names: tuple[str, str] = ("", "")
    marked: Sequence[tuple[int, int]] = ()
    readout: Callable[[int, int], Readout] = field(default=_no_words, compare=False)
    clicked: Callable[[int, int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(LookPart):
    """Columns of equal length; `clicked` is told the row. One is `current`, −1 for none.

    Only rows with the text `holding` in them are shown.
    """

    columns: Sequence[Column] = ()
    current: int = -1
    holding: str = ""
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars(LookPart):
    """A bar for each label (bar,), with its number written as `texts` (percentages where None).

    `notes` stand at the right edge, `highlighted` bars are stronger and `faded` ones weaker; `limit` is the
    number of a full bar, by default the largest. One is `current`, −1 for none.
    """

    labels: Sequence[str] = ()
    values: Sequence[float] | np.ndarray = ()
    texts: Sequence[str] | None = None
    notes: Sequence[str] = ()
    highlighted: Collection[int] = ()
    faded: Collection[int] = ()
    limit: float | None = None
    current: int = -1
    hovered: Callable[[int], object] = field(default=_nothing, compare=False)
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Firings(LookPart):
    """Lines of text around tokens at which a feature fires; `clicked` is told which line."""

    lines: Sequence[FiringLine] = ()
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class PushedLines(LookPart):
    """Lines of a text whose tokens are coloured, under the `heads` of columns; `clicked` is told the row.

    The heads are those of label, times, line, bars and what is said.
    """

    heads: tuple[str, str, str, str, str] = ("", "", "", "", "")
    rows: Sequence[PushedRow] = ()
    clicked: Callable[[int], object] = field(default=_nothing, compare=False)
