"""A handout as a tagged PDF, made in a process beside the program."""

from __future__ import annotations

import base64
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lmviz.base.errors import LmvizError
from lmviz.base.side_process import SideProcess

LONGEST_TIME = 60.0
"""Seconds of a core for a handout: a hundred items take two."""

LONGEST_WAIT = 120.0
"""Seconds until there is one: a machine that has just been started reads its typefaces from a slow disk."""


class TaggedPdf(NamedTuple):
    """The bytes of a PDF, and why it does not say that it is PDF/UA, "" where it does."""

    content: bytes
    refused: str


def tagged_pdf(document: dict[str, Any]) -> TaggedPdf:
    """What `handout.typ` lays out, as a PDF; LmvizError where there is none. Any thread may ask."""
    process = SideProcess("lmviz.pages.typesetting", LONGEST_TIME, LONGEST_WAIT)
    try:
        with TemporaryDirectory() as empty:
            told = process.ask({"document": document, "empty": empty})
    except (LmvizError, OSError) as error:
        raise LmvizError(f"The PDF cannot be made, {error}: save an HTML file.") from None
    finally:
        process.close()  # a handout is made now and then, and Typst keeps what it has read
    return TaggedPdf(base64.b64decode(told["pdf"]), told["refused"])
