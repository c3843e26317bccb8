"""Whether anything may move: not where the system is set to show no animations, nor out of sight."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def may_move(widget: QWidget) -> bool:
    """Whether a widget may animate what it draws."""
    from PySide6.QtWidgets import QStyle  # which takes its time: after the first paint

    wanted = widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
    return widget.isVisible() and bool(wanted)
