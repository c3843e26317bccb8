"""Spin boxes inside a line of text: no frame, and as wide as their content."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.role import set_role

AROUND = 30  # pixels at scale 1 for the arrows, and for the room around the figures


def fit_width(spin: QSpinBox | QDoubleSpinBox, largest: float | None = None) -> None:
    """Make room for values up to `largest`, by default all, for the present value, and for the word for 0.

    Call it again when the type changes, and when a larger value is shown.
    """
    set_role(spin, "link")
    spin.ensurePolished()  # the figures become bold, and the frame goes
    most = spin.maximum() if largest is None else largest
    figures = spin.textFromValue(int(most)) if isinstance(spin, QSpinBox) else spin.textFromValue(most)
    longest = f"{spin.prefix()}{figures}{spin.suffix()}"
    said = (longest, spin.text(), spin.specialValueText())
    width = max(spin.fontMetrics().horizontalAdvance(text) for text in said)
    spin.setFixedWidth(math.ceil(width + AROUND * current_theme().scale))
