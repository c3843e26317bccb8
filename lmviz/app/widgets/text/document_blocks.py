"""The blocks of a document of Qt's as data: headings, paragraphs, code, quotations, lists and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtGui import (
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextListFormat,
    QTextTable,
)

DEEPEST = 6
"""Levels of headings."""

DEEPEST_LIST = 8
"""Lists within one another: what is deeper stands beside the items of the deepest."""

_NUMBERED = (
    QTextListFormat.Style.ListDecimal,
    QTextListFormat.Style.ListLowerAlpha,
    QTextListFormat.Style.ListUpperAlpha,
    QTextListFormat.Style.ListLowerRoman,
    QTextListFormat.Style.ListUpperRoman,
)
_BOXES = {QTextBlockFormat.MarkerType.Unchecked: "☐", QTextBlockFormat.MarkerType.Checked: "☑"}
_BREAKS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufffc": ""})  # Qt's own, and where a picture was

Block = dict[str, Any]
Run = dict[str, Any]


def blocks_of(document: QTextDocument, above: int, say: Callable[[str], str]) -> list[Block]:
    """The blocks, as JSON has them, below a heading of level `above`; `say` makes words fit to be set.

    Each has a "kind": "paragraph", "heading" and "quote" have "runs", "code" has "words", "list" has "items"
    and "table" has "head" and "rows". No heading is more than one level below the one before.
    """
    found: list[Block] = []
    lists: list[Block] = []  # those under way, each within the one before
    for part in _parts(document.rootFrame()):
        if isinstance(part, QTextTable):
            found.append(_table(part, say))
            lists = []
        elif part.textList() is not None:
            _add_item(part, found, lists, say)
        else:
            _add(_block(part, say), found)
            lists = []
    level = above
    for block in found:
        if block["kind"] == "heading":
            level = block["level"] = min(level + 1, above + block["level"], DEEPEST)
    return found


def _parts(frame: QTextFrame) -> Iterator[QTextBlock | QTextTable]:
    place = frame.begin()
    while not place.atEnd():
        within = place.currentFrame()
        if isinstance(within, QTextTable):
            yield within
        elif within is not None:
            yield from _parts(within)
        elif place.currentBlock().isValid():
            yield place.currentBlock()
        place += 1


def _block(block: QTextBlock, say: Callable[[str], str]) -> Block:
    look, runs = block.blockFormat(), _runs(block, say)
    if look.headingLevel():
        return {"kind": "heading", "level": look.headingLevel(), "runs": runs}
    if look.hasProperty(QTextFormat.Property.BlockCodeFence.value) or look.hasProperty(
        QTextFormat.Property.BlockCodeLanguage.value
    ):
        return {"kind": "code", "words": say(block.text().translate(_BREAKS))}
    is_quote = look.intProperty(QTextFormat.Property.BlockQuoteLevel.value) > 0
    return {"kind": "quote" if is_quote else "paragraph", "runs": runs}


def _add(block: Block, found: list[Block]) -> None:
    """Add a block that says something; each line of code is one for Qt."""
    if block["kind"] == "code" and found and found[-1]["kind"] == "code":
        found[-1]["words"] += f"\n{block['words']}"
    elif block["kind"] == "code" or block["runs"]:
        found.append(block)


def _add_item(block: QTextBlock, found: list[Block], lists: list[Block], say: Callable[[str], str]) -> None:
    """Add an item to the list it is in, or to a new one below the last item."""
    kind = block.textList().format()
    depth = min(max(1, kind.indent()), DEEPEST_LIST)
    del lists[depth:]
    is_numbered = kind.style() in _NUMBERED
    if lists and len(lists) == depth and lists[-1]["numbered"] != is_numbered:
        lists.pop()
    if len(lists) < depth:
        new = {"kind": "list", "numbered": is_numbered, "first": max(1, kind.start()), "items": []}
        (lists[-1]["items"][-1]["below"] if lists else found).append(new)
        lists.append(new)
    box = _BOXES.get(block.blockFormat().marker())
    runs = _runs(block, say)
    lists[-1]["items"].append({"runs": [_run(f"{box} "), *runs] if box else runs, "below": []})


def _table(table: QTextTable, say: Callable[[str], str]) -> Block:
    rows = [
        [_cell(table, row, column, say) for column in range(table.columns())] for row in range(table.rows())
    ]
    return {"kind": "table", "columns": table.columns(), "head": rows[0], "rows": rows[1:]}


def _cell(table: QTextTable, row: int, column: int, say: Callable[[str], str]) -> list[Run]:
    place, runs = table.cellAt(row, column).begin(), []
    while not place.atEnd():
        runs += _runs(place.currentBlock(), say)
        place += 1
    return runs


def _runs(block: QTextBlock, say: Callable[[str], str]) -> list[Run]:
    """What a block says, in pieces of one look."""
    runs, place = [], block.begin()
    while not place.atEnd():
        fragment = place.fragment()
        look, words = fragment.charFormat(), fragment.text().translate(_BREAKS)
        if words:
            runs.append(_run(say(words), look))
        place += 1
    return runs


def _run(words: str, look: QTextCharFormat | None = None) -> Run:
    look = look or QTextCharFormat()
    looks = {"bold": look.fontWeight() >= 600, "slanted": look.fontItalic(), "code": look.fontFixedPitch()}
    return {"words": words, **looks}
