"""Properties that the style sheet looks at, such as the role of a label."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def set_role(widget: QWidget, value: object, of: str = "role") -> None:
    """Set the property `of` of a widget, and have the style sheet look at it again.

    Before a widget is first shown the style sheet has yet to look; asking for the style then would create the
    many enumerations of QStyle before the first paint.
    """
    if widget.property(of) == value:
        return
    widget.setProperty(of, value)
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        style = widget.style()
        style.unpolish(widget)
        style.polish(widget)
        widget.updateGeometry()
