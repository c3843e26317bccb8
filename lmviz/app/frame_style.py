"""The style of the window's own frame: quiet surfaces with thin lines between them."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmviz.app.theme import Theme

_TEMPLATE = Template("""
#frame { background: $background; }
#header, #prefix_bar { background: $surface; border: none; border-bottom: 1px solid $line; }
#transport, #job_strip { background: $surface; border: none; border-top: 1px solid $line; }
#perspective_rail { background: $surface; border: none; border-right: 1px solid $line; }
#header QMenuBar { border: none; }
#prefix_edit { padding-left: ${padding}px; border-radius: ${radius}px; min-height: ${edit}px; }
""")


def frame_style(theme: Theme) -> str:
    """The style sheet of the frame in a theme."""
    return _TEMPLATE.substitute(
        edit=round(26 * theme.scale),
        background=theme.background.name(),
        surface=theme.surface.name(),
        line=theme.line.name(),
        padding=round(10 * theme.scale),
        radius=round(8 * theme.scale),
    )
