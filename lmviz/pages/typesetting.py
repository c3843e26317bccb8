"""Has Typst lay out a handout; only in the process beside the program (`lmviz.base.side_process`)."""

from __future__ import annotations

import base64
import json
import os
from functools import cache
from importlib.resources import files
from typing import Any

MEMORY = 1500 * 2**20
"""Bytes that answers may take: Typst reads every typeface of the machine."""

UNIVERSAL = "ua-1"
"""PDF/UA-1, ISO 14289-1: Typst refuses what is not accessible."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The "document" as a PDF, in base 64, with "refused", why it is not PDF/UA, or "" where it is.

    "empty" is a folder with nothing in it, beyond which Typst reads no file.
    """
    import typst

    try:
        return _told(typeset(request["document"], request["empty"], standard=UNIVERSAL), "")
    except typst.TypstError as error:  # such as a letter that no typeface has
        reason = error.message.removeprefix("PDF/UA-1 error: ").replace("`", "")
        return _told(typeset(request["document"], request["empty"]), reason)


def typeset(document: dict[str, Any], empty: str, kind: str = "pdf", standard: str | None = None) -> Any:
    """A handout as a tagged PDF, or the list of its pages as PNG, of a dot for each point.

    Raises typst.TypstError.
    """
    os.environ["RAYON_NUM_THREADS"] = "1"  # a machine of many cores would reserve memory for each of them
    import typst

    return typst.compile(  # type: ignore[call-overload]  # the stub has the folder be bytes as well
        _layout(),
        root=empty,
        package_path=empty,
        package_cache_path=empty,
        sys_inputs={"document": json.dumps(document)},
        format=kind,
        ppi=72,
        pdf_standards=standard,
    )


@cache
def _layout() -> bytes:
    return (files("lmviz.pages") / "handout.typ").read_bytes()


def _told(pdf: bytes, refused: str) -> dict[str, Any]:
    return {"pdf": base64.b64encode(pdf).decode("ascii"), "refused": refused}
