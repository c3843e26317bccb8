"""Tooltips that wrap long texts."""

from __future__ import annotations

import html


def paragraph(text: str) -> str:
    """Plain text as a tooltip whose lines break: Qt breaks the lines of rich text only."""
    return f"<p>{html.escape(text, quote=False)}</p>" if text else ""
