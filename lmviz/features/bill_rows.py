"""The rows of a bill of features, as a person reads them: features, errors, averages, and all other parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmviz.circuits.named_parts import named_parts
from lmviz.features.bill_kinds import AVERAGE, ERROR, FEATURE

if TYPE_CHECKING:
    from lmviz.features.bill import FeatureBill

SHOWN = 8
"""So many features are named, and as many other parts; the rest of each is added up."""


@dataclass(frozen=True)
class BillRow:
    """A row: what it is called, its share, a note beside it, and whether it is an error or stands for many.

    `dictionary` and `feature` are those of a feature, −1 otherwise.
    """

    name: str
    share: float
    note: str = ""
    is_error: bool = False
    is_many: bool = False
    dictionary: int = -1
    feature: int = -1


def bill_rows(
    bill: FeatureBill, names: Mapping[tuple[int, int], str] | None = None, shown: int = SHOWN
) -> list[BillRow]:
    """Rows that add up to the measure; `names` are those of features by dictionary and number."""
    several, names = len(bill.dictionaries) > 1, names or {}
    rows = []
    for found in bill.features[:shown]:
        of = f"{bill.name_of(found.dictionary)}, " if several else ""
        note = names.get((found.dictionary, found.feature), "")
        name = f"{of}feature {found.feature}"
        rows.append(BillRow(name, found.share, note, dictionary=found.dictionary, feature=found.feature))
    rows = [row for row in rows if row.share > 0] + [row for row in rows if row.share <= 0]
    rest = bill.features[shown:]
    if rest:
        rows.append(BillRow(_others(len(rest), "feature"), sum(found.share for found in rest), is_many=True))
    for number in sorted(range(len(bill.dictionaries)), key=lambda at: -abs(bill.errors[at])):
        rows.append(BillRow(_error_of(bill, number), float(bill.errors[number]), is_error=True))
    averages = "the average" if not several else "the averages"
    rows.append(BillRow(averages, float(bill.averages.sum()), is_many=True))
    own = {FEATURE, ERROR, AVERAGE}
    others = replace(
        bill.attribution,
        kinds={kind: found for kind, found in bill.attribution.kinds.items() if kind not in own},
    )
    return rows + [
        BillRow(part.name, part.share, part.word, is_many=part.is_many)
        for part in named_parts(others)
        if abs(part.share) > 0
    ]


def _error_of(bill: FeatureBill, number: int) -> str:
    return f"error of {bill.name_of(number)}" if len(bill.dictionaries) > 1 else "error"


def bill_in_words(bill: FeatureBill) -> str:
    """What the bill says: the features, and in the same breath what they leave unexplained."""
    from lmviz.base.figures import percentage, signed_figure

    count, errors = len(bill.features), float(bill.errors.sum())
    said = (
        f"{count} features write {signed_figure(bill.explained)} of {signed_figure(bill.value)}. What they "
        f"leave unexplained writes {signed_figure(errors)}."
    )
    if bill.features and abs(errors) > abs(bill.features[0].share):
        times = abs(errors) / max(abs(bill.features[0].share), 1e-12)
        said += f" That is {times:.1f} times the largest feature."
    if bill.alone is not None:
        said += (
            f" Taken from the changed text, all features alone take {percentage(bill.alone.features)} of the "
            f"answer away, all errors alone {percentage(bill.alone.errors)}."
        )
    return said


def _others(count: int, what: str) -> str:
    return f"1 other {what}" if count == 1 else f"{count} other {what}s"
