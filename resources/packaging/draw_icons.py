"""Draw the application's icon again, from its SVG in the sizes that menus and Windows ask for."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QColor, QGuiApplication

from lmviz.app.look.icons import APPLICATION_SIZES, icon_path, pixmap


def draw_icons(folder: Path) -> None:
    """Write `lmviz-48.png` and so on into a folder. A QGuiApplication must be there."""
    for size in APPLICATION_SIZES:
        pixmap("lmviz", QColor("black"), size).save(str(folder / f"lmviz-{size}.png"))


if __name__ == "__main__":
    application = QGuiApplication([])
    draw_icons(icon_path("lmviz").parent)
