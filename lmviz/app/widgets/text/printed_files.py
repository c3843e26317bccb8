"""Writes what is handed out as PDF or HTML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lmviz.app.widgets.text.printed import Printed
from lmviz.app.widgets.text.printed_html import html_of
from lmviz.app.widgets.text.printed_pages import document_of
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.plain_text import on_one_line
from lmviz.pages.tagged_pdf import tagged_pdf


def writing_of(printed: Printed, path: Path) -> Callable[[], str]:
    """What writes a PDF or HTML file, by its ending, in any thread, and returns a sentence on what it is not.

    LmvizError for another ending, and, as it is written, where it cannot be.
    """
    match path.suffix.lower():
        case ".pdf":
            document = document_of(printed)
        case ".html":
            content = html_of(printed)
            return lambda: _write(path, content)
        case _:
            raise LmvizError(f"{path.name} is neither PDF nor HTML: end the name with .pdf or .html.")

    def write() -> str:
        pdf = tagged_pdf(document)
        _write(path, pdf.content)
        return pdf.refused and f"It has tags, but is no PDF/UA: {on_one_line(pdf.refused)}."

    return write


def write_printed(printed: Printed, path: Path) -> None:
    """Write it here and now, as `writing_of` does."""
    writing_of(printed, path)()


def _write(path: Path, content: bytes) -> str:
    write_atomically(path, content)
    return ""
