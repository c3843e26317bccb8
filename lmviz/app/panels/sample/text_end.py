"""The end of a text, for the root of a tree of what comes after it."""

from __future__ import annotations

from lmviz.text.tokenizer import START, visible

LENGTH = 10


def end_of(text: str) -> str:
    """The last word, or a few characters, after dots: "… brown"; of no text where it begins."""
    if not text:
        return START
    shown = " ".join(visible(part) for part in text.split(" "))
    return shown if len(shown) <= LENGTH else f"… {shown[-LENGTH:].partition(' ')[2] or shown[-6:]}"
