"""Words in controls, always as they are written: Qt would take a text that looks like HTML for HTML.

A test lets only this file make a QLabel and HTML (`tests/app/test_plain_text.py`).
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.base.plain_text import on_one_line, seen
from lmviz.looks.ink import Inked


class Label(QLabel):
    """`Label(text="", parent=None)`: shows any text as it is written.

    `name` is its object's name, `role` one of the style sheet's; `wraps` gives it as many lines as it needs.
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        name: str = "",
        role: str = "",
        wraps: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        if role:
            self.setProperty("role", role)
        self.setWordWrap(wraps)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(seen(text))


class InkedLabel(Label):
    """`set_pieces(pieces)`: a text of which some parts are bold or in another ink."""

    def setText(self, text: str) -> None:
        """Show a text without pieces."""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAccessibleName("")
        super().setText(text)

    def set_pieces(self, pieces: Sequence[Inked], size: int = 0) -> None:
        """Show other pieces, where asked for in a type of so many pixels."""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAccessibleName(seen("".join(piece.text for piece in pieces)))
        sized = f' style="font-size: {size}px"' if size else ""
        QLabel.setText(self, f"<span{sized}>{''.join(map(_written, pieces))}</span>" if pieces else "")


def paragraph(*texts: str) -> str:
    """Plain texts as a tooltip, each a paragraph whose lines wrap: Qt wraps those of rich text only."""
    return "".join(f"<p>{_escaped(text)}</p>" for text in texts if text)


def caption(text: str) -> str:
    """A text as the words on a button, a tab, a menu's entry: on one line, & standing for itself."""
    return on_one_line(text).replace("&", "&&")


def window_title(text: str) -> str:
    """A text as the title of a window: on one line, and no mark for what is unsaved."""
    return on_one_line(text).replace("[*]", "[*][*]")


def _written(piece: Inked) -> str:
    style = f"color: {current_theme().ink(piece.ink).name()};" if piece.ink is not None else ""
    style += "font-weight: bold" if piece.is_bold else ""
    return f'<span style="{style}">{_escaped(piece.text)}</span>'


def _escaped(text: str) -> str:
    return html.escape(seen(text), quote=False).replace("\n", "<br>")
