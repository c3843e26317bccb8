"""What a person has made of a board: lengths, tabs in front, and panels hidden or in windows, as text."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field

from lmviz.app.session.opened_model import OpenedModel

MOST_PIXELS = 100_000

Lengths = dict[str, dict[str, int]]


@dataclass
class Choices:
    """The lengths of parts of a board as a person has drawn them, and which page of a place is in front:
    chosen by a person, after it was chosen for the model `fitted_for`. The page that was `brought` forward
    last stays in front in whatever place it comes to stand."""

    lengths: Lengths = field(default_factory=dict)
    fronts: dict[str, str] = field(default_factory=dict)
    fitted_for: OpenedModel | None = None
    brought: str = ""

    def copy(self) -> Choices:
        """The same, to be changed apart."""
        return Choices(dict(self.lengths), dict(self.fronts), self.fitted_for, self.brought)


@dataclass
class KeptBoard:
    """A board as it is remembered: `windows` has the geometry of each panel in a window of its own."""

    view: Choices = field(default_factory=Choices)
    hidden: set[str] = field(default_factory=set)
    windows: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """The arrangement as a text."""
        parts = {"lengths": self.view.lengths, "fronts": self.view.fronts, "windows": self.windows}
        return json.dumps({**parts, "hidden": sorted(self.hidden)})

    @classmethod
    def from_text(cls, text: str, panels: Collection[str]) -> KeptBoard:
        """That of a text, as far as it is one, and of these panels: settings may come from any version."""
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return cls()
        given = read if isinstance(read, dict) else {}

        def table(name: str) -> dict[str, object]:
            found = given.get(name)
            return found if isinstance(found, dict) else {}

        def words(name: str) -> dict[str, str]:
            return {key: value for key, value in table(name).items() if isinstance(value, str)}

        lengths = {part: _lengths(of_parts) for part, of_parts in table("lengths").items()}
        fronts = {place: name for place, name in words("fronts").items() if name in panels}
        hidden, windows = given.get("hidden"), words("windows")
        return cls(
            Choices(lengths, fronts),
            {name for name in panels if isinstance(hidden, list) and name in hidden},
            {name: place for name, place in windows.items() if name in panels},
        )


def _lengths(found: object) -> dict[str, int]:
    items = found.items() if isinstance(found, dict) else ()
    return {name: size for name, size in items if type(size) is int and 0 < size <= MOST_PIXELS}
