"""How several results of one question look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lmviz.base.figures import counted
from lmviz.looks.look import Look
from lmviz.looks.parts import Table
from lmviz.looks.shown import Shown
from lmviz.showing.pieces import MOST, counts, texts
from lmviz.showing.several import ResultList, ResultsByStep


def look_of_several(found: ResultList[Any]) -> Look:
    """A row for each, with what stands above it when it is shown alone."""
    return _rows("row", enumerate(found), len(found))


def look_of_steps(found: ResultsByStep[Any]) -> Look:
    """The same, by step."""
    return _rows("step", found.items(), len(found))


def _rows(name: str, results: Iterable[tuple[int, Any]], count: int) -> Look:
    kept = [(at, _titled(one)) for at, one in list(results)[:MOST]]
    return Look(
        (
            Table(
                "results",
                columns=[
                    counts(name, (at for at, _ in kept)),
                    texts("result", (look.title for _, look in kept)),
                    texts("", (look.aside for _, look in kept), spare=True),
                ],
            ),
        ),
        title=counted(count, "result"),
    )


def _titled(value: Any) -> Look:
    return value.look() if isinstance(value, Shown) else Look(title=str(value))


LOOKS = {ResultList: look_of_several, ResultsByStep: look_of_steps}
"""How each kind of result looks, by its class."""
