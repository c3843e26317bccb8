"""The colours that tell compared models apart."""

from __future__ import annotations

from PySide6.QtGui import QColor

from lmviz.app.look.theme import current_theme
from lmviz.app.session.opened_model import Moment


def color_of(moment: Moment) -> QColor:
    """The colour of the moment's model."""
    return current_theme().series_color(moment[0].color_index)
