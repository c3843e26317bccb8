"""Nothing in the window takes a text from anywhere for HTML, or an & in it for the mark of a key."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "lmviz" / "app"
MAKERS = tuple(
    APP / "widgets" / name for name in ("base/plain.py", "text/unlinked_document.py", "text/printed_html.py")
)
"""The files that make labels and HTML; all others use theirs."""

RICH_WIDGETS = {
    "QLabel", "QTextBrowser", "QTextEdit", "QTextDocument", "QGraphicsTextItem", "QMessageBox",
    "QErrorMessage", "QProgressDialog", "QSplashScreen", "QWhatsThis", "QTextDocumentFragment", "LabelItem",
}  # fmt: skip
"""What guesses the format of its text, or takes HTML."""

RICH_CALLS = {
    "setHtml", "insertHtml", "setMarkdown", "insertMarkdown", "setOpenExternalLinks", "setWhatsThis",
    "setStatusTip", "setLabel", "setLabels", "RichText", "AutoText", "MarkdownText",
}  # fmt: skip
"""What takes HTML, or makes something else do so; `setLabel` is pyqtgraph's."""

FITTED = {
    **dict.fromkeys(("setToolTip", "showText"), "paragraph"),
    **dict.fromkeys(("addAction", "addMenu", "addTab", "setTabText", "QAction"), "caption"),
    "setWindowTitle": "window_title",
}
"""What shows words in its own way, and the function that makes a text fit for it."""


def complaints(tree: ast.AST) -> Iterator[str]:
    """What in a file could show a text otherwise than it is written."""
    called = {_name(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    if {"QPainter", "drawText"} <= called.keys():
        yield f"line {called['QPainter'].lineno}: QPainter where Painter draws texts"
    for node in ast.walk(tree):
        if (name := _name(node)) in RICH_CALLS:
            yield f"line {node.lineno}: {name}"
        made = (node.func,) if isinstance(node, ast.Call) else getattr(node, "bases", ())
        for name in RICH_WIDGETS.intersection(map(_name, made)):
            yield f"line {node.lineno}: {name}"
        if isinstance(node, ast.keyword) and node.arg == "html":
            yield f"line {node.lineno}: html="
        if isinstance(node, ast.Call) and (fitting := FITTED.get(_name(node.func))):
            said = [part for part in node.args if not _is_fit(part, fitting)]
            if len(said) == len(node.args) and said:
                yield f"line {node.lineno}: {ast.unparse(node)} without {fitting}(…)"


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_fit(node: ast.expr, fitting: str) -> bool:
    """Whether an expression is words of our own, or a text that has been made fit."""
    match node:
        case ast.Constant(value=str(words)):
            return "<" not in words
        case ast.Call():
            return _name(node.func) == fitting
        case ast.IfExp():
            return _is_fit(node.body, fitting) and _is_fit(node.orelse, fitting)
        case ast.JoinedStr():
            return all(_is_fit(part, fitting) for part in node.values)
        case ast.FormattedValue():
            return _is_fit(node.value, fitting)
        case ast.Name():
            return node.id == "action"  # a QAction, whose words were checked where it was made
    return False


def test_no_file_shows_a_text_from_anywhere_as_html_or_with_marks_of_keys() -> None:
    found = {}
    for path in APP.rglob("*.py"):
        if path not in MAKERS:
            said = list(complaints(ast.parse(path.read_text(encoding="utf-8"))))
            if said:
                found[str(path.relative_to(APP))] = said
    assert not found, "\n".join(f"{path} {line}" for path, lines in found.items() for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "label = QLabel(name)",
        "class Own(QLabel): pass",
        "label.setTextFormat(Qt.TextFormat.RichText)",
        "view.setHtml(name)",
        "view.setMarkdown(name)",
        "button.setToolTip(name)",
        "button.setToolTip(f'{name}')",
        "button.setToolTip('<b>bold</b>')",
        "item.setToolTip(0, name)",
        "QToolTip.showText(place, name, self)",
        "menu.addAction(model.name)",
        "menu.addAction(icon, f'Close {name}')",
        "menu.addMenu(name)",
        "dialog.setWindowTitle(f'Rename {name}')",
        "TextItem(html=name)",
        "painter = QPainter(self)\npainter.drawText(place, name)",
        "box = QMessageBox(self)",
        "plot.setLabel('left', name)",
    ],
)
def test_the_check_finds(line: str) -> None:
    assert list(complaints(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "from PySide6.QtWidgets import QLabel",
        "label = Label(name)",
        "button.setToolTip('Undo')",
        "button.setToolTip(paragraph(name) if name else '')",
        "menu.addAction(icon, caption(model.name))",
        "group.addAction(action)",
        "bar.addMenu(f'&{caption(name)}')",
    ],
)
def test_the_check_lets_pass(line: str) -> None:
    assert not list(complaints(ast.parse(line)))
