"""Which places a person has chosen a tab for, so that no panel comes in front there by itself."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtWidgets import QTabBar

WATCHED = "is_watched"


class ChosenTabs:
    """`watch(bar)`: a click on one of its tabs is a choice, for the panels that share this bar."""

    def __init__(self) -> None:
        self._chosen: set[frozenset[str]] = set()

    def watch(self, bar: QTabBar) -> None:
        """Take notice of the clicks on a bar of tabs; Qt makes bars anew whenever it likes."""
        if not bar.property(WATCHED):
            bar.setProperty(WATCHED, True)
            bar.tabBarClicked.connect(partial(self._note, bar))

    def has_choice(self, titles: Iterable[str]) -> bool:
        """Whether a person has chosen among the panels of these titles, which share a place."""
        return frozenset(titles) in self._chosen

    def forget(self) -> None:
        """Nothing was chosen: the panels stand where they stood at first."""
        self._chosen.clear()

    def _note(self, bar: QTabBar, at: int) -> None:
        if at >= 0:
            self._chosen.add(frozenset(bar.tabText(tab) for tab in range(bar.count())))
