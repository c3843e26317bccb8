"""An entry of a menu that cannot be chosen says why."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from lmviz.app.widgets.base.plain import caption, paragraph


def refuse(menu: QMenu, action: QAction, reason: str, sentence: str) -> None:
    """Grey an entry; the reason, in a word or two, stands behind its name, the sentence under the pointer."""
    action.setEnabled(False)
    action.setText(f"{action.text()}  ·  {caption(reason)}")
    action.setToolTip(paragraph(sentence))
    menu.setToolTipsVisible(True)
