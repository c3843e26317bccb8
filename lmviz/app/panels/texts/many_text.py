"""What panels about many texts say alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.counting import head_name, numbered
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.app.session.many_texts import ManyTexts
    from lmviz.app.session.session import Session

NO_SET = "Take a set of texts on the left: from a pattern, a file, or the open text."
NO_MODEL = "Open or train a model to ask it about many texts."
WAITS = "The texts are being asked."


def why_empty(session: Session) -> str:
    """Why nothing can be drawn of the rows; empty where it can."""
    many = session.many
    if session.library.model is None:
        return NO_MODEL
    if many.given is None:
        return NO_SET
    return WAITS if many.values is None else ""


def part_name(addresses: tuple[str, ...], cell: tuple[int, ...]) -> str:
    """What a cell of the effects is called: "head 3·2", "layer 2", "order 4"."""
    at = Address.parse(addresses[cell[0]])
    if at.order is not None:
        return f"order {at.order}"
    layer = at.layer or 0
    if len(cell) > 1 and at.block in ("attention", "cross"):
        return f"head {head_name(layer, cell[1])}"
    place = f"layer {numbered(layer)}"
    return f"unit {cell[1] + 1} of {place}" if len(cell) > 1 else place


def grouped_by(many: ManyTexts) -> str:
    """What the rows are divided by: their labels, or the column of the fewest different words."""
    given = many.given
    if given is None:
        return ""
    if 2 <= len(given.labels) <= 6:
        return "label"
    sizes = {
        name: len({row.fields.get(name, "") for row in given}) for name in given.columns if len(given) >= 6
    }
    fitting = [name for name, size in sizes.items() if 2 <= size <= 6]
    return min(fitting, key=sizes.__getitem__) if fitting else ""


def groups_of(many: ManyTexts, by: str) -> list[tuple[str, list[int]]]:
    """The rows with a value, by group."""
    given, values = many.given, many.values
    if given is None or values is None:
        return []
    found: dict[str, list[int]] = {}
    for number in np.flatnonzero(np.isfinite(values.values)).tolist():
        row = given[number]
        name = "all" if not by else row.label if by == "label" else row.fields.get(by, "")
        found.setdefault(name, []).append(number)
    return sorted(found.items())
