"""One row of the table of panels: which class a panel is of, in which perspective, and where.

`area` is "left", "centre" or "right", columns that stack their panels in the order of the table, or
"bottom", a row below them that spans the window and sets its panels side by side, and "foot", one more
row below that. `weight` is a panel's share of its column or row relative to its neighbours. `width` is that
of a column and `height` that of a row, in pixels of a window of 1440 × 900; 0 takes what is left. A `tabbed`
panel shares the place of the row before it; one that stands `beside` is to the right of the row before it,
`width` wide.
`least` is the width and height below which a panel is of no use: where the window has less room, the
perspective scrolls. A width of 0 is a share of the one that the panel usually has. Of each perspective the
panels of one or two places are `projected`: projector mode leaves them, so that the last row can read them.
What `translates` comes in front of the others in its place when a model is opened that does. While a panel
that `clears` an area is in front, it has the room of that area, whose panels show less of the same, or none
of it. In a small window, and beside a lesson that leaves less than the usual width, a panel and its tabs
share the place of the row that it `joins`, and what stands between them has its room.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from lmviz.app.panels.panel import Panel
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session


@dataclass(frozen=True)
class Perspective:
    """A group of panels that are shown together; `has_prefix` where they show what is typed above them, and
    `keys` lead there."""

    name: str
    title: str
    keys: str
    has_prefix: bool = True


@dataclass(frozen=True)
class PanelRow:
    """One panel in one perspective; `panel` is "folder.module:Class", loaded when it is first shown.

    Where it is not given it follows from names: "over_time" in "train" is "train.over_time:OverTimePanel".
    """

    name: str
    title: str
    perspective: str
    area: str
    panel: str = ""
    weight: int = 1
    width: int = 0
    height: int = 0
    tabbed: bool = False
    beside: bool = False
    least: tuple[int, int] = (0, 0)
    projected: bool = False
    translates: bool = False
    clears: str = ""
    joins: str = ""

    def is_first_for(self, model: OpenedModel) -> bool:
        """Whether it is what one looks at first of a model, in front of others that show it too."""
        return self.translates and model.reads_source and not model.reads_picture

    def load(self) -> type[Panel]:
        """Import the panel's module."""
        named = f"{self.perspective}.{self.name}:{self.name.title().replace('_', '')}Panel"
        module, name = (self.panel or named).split(":")
        return getattr(import_module(f"lmviz.app.panels.{module}"), name)

    def build(self, session: Session) -> Panel:
        """Make the panel; where that fails, one that says so in its place."""
        try:
            return self.load()(session)
        except Exception as fault:
            from lmviz.app.panels.unmade_panel import UnmadePanel  # hardly ever needed
            from lmviz.app.workers.faults import sentence_for

            sentence = sentence_for(fault, "Making this panel")
            return UnmadePanel(session, self.name, self.title, sentence)
