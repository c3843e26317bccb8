"""Whether a panel shows anything; of several that would say the same sentence, one says it."""

from __future__ import annotations

from pixels import pixels_of

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.empty_text import EmptyText

HEAD, EDGE = 46, 12  # pixels: the line of the title, and the frame of a card


def shows_something(panel: Panel) -> bool:
    """Whether more than the title stands in it, or what would stand there is said beside it."""
    return leaves_it_to_another(panel) or not _is_plain(panel)


def leaves_it_to_another(panel: Panel) -> bool:
    """Whether what would stand here is said beside it: one sentence is not read twice."""
    return any(text.is_quiet and text.isVisible() for text in panel.findChildren(EmptyText))


def _is_plain(panel: Panel) -> bool:
    """Whether all below the title has one colour."""
    inner = pixels_of(panel.grab().toImage())[HEAD:-EDGE, EDGE:-EDGE]
    return inner.size > 0 and bool((inner == inner[0, 0]).all())
