"""The typeface of the pictures: the same on every machine, or panels would have other room, and other tabs.

Fontconfig, which Qt asks on Linux, is told to leave out all other families before Qt begins.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import escape

FAMILIES = ("DejaVu Sans", "DejaVu Sans Mono")
MISSING = "Pictures are taken in DejaVu Sans, which is not installed here: apt-get install fonts-dejavu-core."


def keep_to_one_typeface(folder: Path) -> None:
    """Have this process find no fonts but these; what Fontconfig reads is written into a folder."""
    wanted = _patterns("family", *(f"<string>{escape(family)}</string>" for family in FAMILIES))
    others = _patterns("scalable", "<bool>true</bool>", "<bool>false</bool>")
    path = folder / "fonts.conf"
    path.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f'<include ignore_missing="yes">{escape(os.environ.get("FONTCONFIG_FILE", "/etc/fonts/fonts.conf"))}'
        f"</include><selectfont><acceptfont>{wanted}</acceptfont>"
        f"<rejectfont>{others}</rejectfont></selectfont></fontconfig>",
        encoding="utf-8",
    )
    os.environ["FONTCONFIG_FILE"] = str(path)


def _patterns(name: str, *values: str) -> str:
    return "".join(f'<pattern><patelt name="{name}">{value}</patelt></pattern>' for value in values)
