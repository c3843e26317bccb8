"""What a picture of the window says: noted when it is taken, and compared with the window later.

`pictures/said.json` has, for each picture, the words of the rail, the menus, the titles of cards and the
tabs, and the commit of the program that was photographed.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QTabBar, QWidget

from lmviz.app.widgets.base.card import Card
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.perspective_rail import RailButton

PICTURES = Path(__file__).resolve().parent / "pictures"
TABLE = PICTURES / "said.json"
KINDS = ("rail", "menus", "titles", "tabs")

_STEP = re.compile(r"\bat step [\d,]+|\bsteps [\d,]+ to [\d,]+")
"""Of a training under way, which is another in each picture."""

Kind = TypeVar("Kind", bound=QWidget)

Words = dict[str, list[str]]
"""The words of each of the `KINDS`, from left to right and from above to below."""


def said(window: MainWindow) -> Words:
    """What a window says now."""
    rail = [button.text() for button in _in_sight(window, RailButton)]
    menus = [
        action.text().replace("&", "") for action in window.header.menu_bar.actions() if action.isVisible()
    ]
    titles = [card.title for card in _in_sight(window, Card) if card.title]
    bars = _in_sight(window, QTabBar)
    tabs = [bar.tabText(at) for bar in bars for at in range(bar.count()) if bar.isTabVisible(at)]
    return dict(zip(KINDS, (rail, menus, titles, tabs), strict=True))


def _in_sight(window: MainWindow, kind: type[Kind]) -> list[Kind]:
    found = [widget for widget in window.findChildren(kind) if widget.isVisible()]
    return sorted(found, key=lambda widget: widget.mapTo(window, QPoint()).toTuple())


class Book:
    """What pictures say: written down as they are taken or, to `check`, compared with what was written."""

    def __init__(self, *, check: bool = False) -> None:
        self.is_checking = check
        self.differences: list[str] = []
        self._commit = "" if check else commit()

    def note(self, picture: str, words: Words) -> None:
        """Write down what a picture says, or say in which words it differs from the window."""
        table = read_table()
        if self.is_checking:
            self.differences += differences(picture, table.get(picture), words)
            return
        table[picture] = {"commit": self._commit, **words}
        lines = (
            f"{json.dumps(name)}: {json.dumps(table[name], ensure_ascii=False)}" for name in sorted(table)
        )
        TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read_table() -> dict[str, dict[str, object]]:
    """What is written down, by the name of the picture."""
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}


def differences(picture: str, written: dict[str, object] | None, words: Words) -> list[str]:
    """A sentence for each kind of words in which a picture is not today's."""
    again = f"python3 start.py pictures {picture}"
    if written is None:
        return [f"Nobody has noted what the picture {picture} says: {again}"]
    return [
        f"The picture {picture}, of {written['commit']}, has other {kind} than the window: {change}. {again}"
        for kind in KINDS
        if (change := _change(written[kind], words[kind]))
    ]


def _change(before: Sequence[str], now: Sequence[str]) -> str:
    before, now = ([_STEP.sub("at a step", word) for word in words] for words in (before, now))
    gone = [word for word in before if word not in now]
    new = [word for word in now if word not in before]
    parts = [f"no {', '.join(map(repr, gone))}"] * bool(gone) + [f"now {', '.join(map(repr, new))}"] * bool(
        new
    )
    return "; ".join(parts) or ("in another order" if [*before] != [*now] else "")


def commit() -> str:
    """The last commit that changed the program, with a plus where files of it are changed."""

    def ask(*words: str) -> str:
        given = subprocess.run(["git", *words], cwd=PICTURES, capture_output=True, text=True, check=True)
        return given.stdout.strip()

    last = ask("log", "-1", "--format=%h", "--abbrev=8", "--", "../../lmviz")
    return last + "+" * bool(ask("status", "--porcelain", "../../lmviz"))
