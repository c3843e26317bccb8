"""Writes the names of all controls: docs/control-names.md, and the list that lessons are checked by."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.controls import LIST, OF_MODULES

DOCS = Path(__file__).parent
NAME = re.compile(r"(?!qt_|page_|board_|frame$|late$)[a-z][a-z0-9_]*")
KINDS = (
    (QAbstractButton, "button"),
    (QComboBox, "choice"),
    (QSpinBox | QDoubleSpinBox, "number"),
    (QAbstractSlider, "slider"),
    (QLineEdit, "line to type into"),
    (QPlainTextEdit, "page to type into"),
    (QLabel, "words"),
)
TOP = """# The names of controls

`python docs/write_controls.py` writes this page. A lesson names a control or a panel by these names, in
`control:`, in `control(NAME)` and in `pressed(NAME)`: see [writing a lesson](writing-a-lesson.md). A panel's
own name outlines all of it. 0 stands for any number.
"""


class Control(NamedTuple):
    """One control: the perspective and panel where it stands, empty around them, and what it is."""

    perspective: str
    panel: str
    name: str
    kind: str
    words: str


def found_controls(window: MainWindow) -> list[Control]:
    """All of a window that has nothing open; each perspective is shown for that."""
    found: dict[tuple[str, str], Control] = {}
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        for part in window.findChildren(QWidget):  # what is else made when it is first needed
            if hasattr(part, "make_all"):
                part.make_all()
        for panel in window.perspective.panels:
            for widget in (panel, *panel.findChildren(QWidget)):
                control = _control(widget, perspective.title, panel)
                if control is not None:
                    found.setdefault((perspective.name, control.name), control)
    inside = {name for _, name in found}
    for widget in window.findChildren(QWidget):
        control = _control(widget, "", None)
        if control is not None and control.name not in inside:
            found.setdefault(("", control.name), control)
    return list(found.values())


def _control(widget: QWidget, perspective: str, panel: Panel | None) -> Control | None:
    name = re.sub(r"\d+", "0", widget.objectName())
    if not NAME.fullmatch(name) or (name.startswith(OF_MODULES) and name != "check_all_button"):
        return None
    kind = (
        "panel" if widget is panel else next((word for of, word in KINDS if isinstance(widget, of)), "area")
    )
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    words = "" if isinstance(widget, QLabel) else widget.accessibleName() or text or widget.toolTip()
    return Control(perspective, "" if panel is None else panel.objectName(), name, kind, _plain(words))


def _plain(words: str) -> str:
    """Words on one line of a table, without what varies with the model that is open."""
    words = re.sub(r"<[^>]*>", "", words).split(";")[0]
    return " ".join(words.replace("|", "\\|").split())


def page(controls: list[Control]) -> str:
    """The page: for each perspective its picture, and a row for each control."""
    parts = [TOP]
    for title in ("", *(each.title for each in shown_perspectives())):
        rows = [each for each in controls if each.perspective == title]
        parts.append(f"## {title or 'Around every perspective'}\n")
        picture = DOCS / "pictures" / f"{title.lower()}-light.png"
        if title and picture.exists():
            parts.append(f"![{title}](pictures/{picture.name})\n")
        parts.append("| name | is | says |\n|---|---|---|")
        parts += [f"| `{each.name}` | {each.kind} | {each.words} |" for each in rows]
        parts.append("")
    return "\n".join(parts)


def names(controls: list[Control]) -> str:
    """The list by which a lesson is checked, a name a line."""
    return "".join(f"{name}\n" for name in sorted({each.name for each in controls}))


def outputs(controls: list[Control]) -> Iterator[tuple[Path, str]]:
    """Each file with what is to stand in it."""
    yield DOCS / "control-names.md", page(controls)
    yield DOCS.parent.joinpath("resources", *LIST), names(controls)


def main() -> None:
    """Build a window, and write both files."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from lmviz.app.look.theme import make_application
    from lmviz.app.opening.settings import Settings
    from lmviz.app.session.session import Session

    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(Session(Path(folder) / "runs"), Settings(Path(folder) / "settings.json"))
        window.show()
        application.processEvents()
        for path, text in outputs(found_controls(window)):
            path.write_text(text, encoding="utf-8")
            print(f"Wrote {path}.")
        window.close()


if __name__ == "__main__":
    sys.exit(main())
