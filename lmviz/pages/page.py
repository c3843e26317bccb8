"""A page: looks and what is known of their numbers, written as one HTML file that loads nothing.

Its script and its style are named by their hashes in a Content-Security-Policy that forbids everything else,
so no word of a stranger can become more than a word, whatever it holds. The numbers stand in one block of
JSON, which docs/file-formats.md describes.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lmviz.base.arguments import file_path
from lmviz.base.counting import counted_from
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.plain_text import on_one_line, seen
from lmviz.looks.look import Look
from lmviz.looks.palette import DARK, INK, LIGHT, PAPER, Palette, mix, on
from lmviz.looks.shown import Shown
from lmviz.pages.described import Describing

FORMAT, VERSION = "lmviz page", 1
BLOCK = "lmviz-page"
"""The id of the element that holds the JSON."""

SCRIPTS = ("numbers", "figures", "decoding", "elements", "matrices", "plots", "lists", "reading", "start")


MIXED = ("rose", "fell", "right", "right_wash", "chip", "hover", "strong_line", "faint_text")
"""What is mixed from the roles, and used as one."""


@dataclass(frozen=True, eq=False)
class PageSection:
    """One look on a page. `about` says whose numbers they are, in pairs such as ("step", "6,000").

    `left_out` are sentences on what was not exported.
    """

    look: Look
    about: Sequence[tuple[str, str]] = ()
    left_out: Sequence[str] = ()


@dataclass(frozen=True, eq=False, repr=False)
class HtmlPage(Shown):
    """Sections under a title; `lead` are the sentences that it begins with, and `made` the day.

    `links` to pages beside it, as (words, name of the file), stand at its end.

    `html` is the file, and `size` how many bytes it has.
    """

    sections: Sequence[PageSection]
    title: str = ""
    lead: Sequence[str] = ()
    made: date = field(default_factory=date.today)
    links: Sequence[tuple[str, str]] = ()

    @cached_property
    def values(self) -> dict[str, Any]:
        """What the JSON block holds; LmvizError where a part cannot be on a page."""
        describing = Describing()
        sections = [_section(section, describing) for section in self.sections]
        values = {
            "format": FORMAT,
            "format_version": VERSION,
            "lmviz": _version(),
            "made": self.made.isoformat(),
            "counted_from": counted_from(),
            "title": self._named,
            "lead": list(self.lead),
            "texts": describing.texts,
            "vocabularies": describing.vocabularies,
            "sections": sections,
        }
        return {key: _shown(value) for key, value in values.items()}

    @cached_property
    def html(self) -> str:
        """The whole file."""
        script, style = page_script(), page_style()
        title = escape(on_one_line(self._named), quote=True)
        policy = (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        lead = "".join(f'<p class="lead">{escape(seen(line))}</p>\n' for line in self.lead)
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="generator" content="lmviz {_version()}">\n'
            f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<main id="page">\n<h1>{title}</h1>\n'
            f"{lead}"
            "<noscript><p>The pictures of this page are drawn by its own script, which does not run here. "
            "Its numbers are in it as JSON.</p></noscript>\n</main>\n"
            f"{self._navigation}"
            f'<script type="application/json" id="{BLOCK}">{in_script(self.values)}</script>\n'
            f"<script>{script}</script>\n</body>\n</html>\n"
        )

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return len(self.html.encode("utf-8", "replace"))

    def save(self, path: str | Path) -> Path:
        """Write the file; LmvizError where it cannot be written."""
        return write_atomically(file_path(path), self.html.encode("utf-8", "replace"))

    @property
    def _navigation(self) -> str:
        places = (f'<a href="{quote(name)}">{escape(on_one_line(words))}</a>' for words, name in self.links)
        return f'<nav aria-label="pages">{" · ".join(places)}</nav>\n' if self.links else ""

    @property
    def _named(self) -> str:
        """The title, or that of the first section."""
        return self.title or next((each.look.title for each in self.sections if each.look.title), "lmviz")


def simple_page(title: str, body: str, language: str = "en") -> str:
    """A page of text and links alone, in the style of all pages; `body` is HTML whose words are escaped."""
    style, named = page_style(), escape(on_one_line(title), quote=True)
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    return (
        f'<!doctype html>\n<html lang="{escape(language, quote=True)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{named}</title>\n<style>{style}</style>\n</head>\n<body>\n<main id="page">{body}</main>\n'
        "</body>\n</html>\n"
    )


def in_script(values: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element, or a line."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    marks: dict[str, str | int | None] = {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
    return text.translate(str.maketrans(marks))


def values_in(html: str) -> dict[str, Any]:
    """The values in the JSON block of a page; LmvizError where it is none, or one of a later version."""
    _, _, after = html.partition(f'id="{BLOCK}">')
    try:
        values = json.loads(after.partition("</script>")[0])
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise LmvizError("This is not a page of lmviz: choose a file that lmviz has exported as a page.")
    if values.get("format_version") != VERSION:
        raise LmvizError("This page was written by a later version of lmviz: install that version.")
    return values


@cache
def page_script() -> str:
    """The script of every page."""
    folder = files("lmviz.pages") / "script"
    parts = (folder.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{"".join(parts)}}})();\n'


@cache
def page_style() -> str:
    """The style of every page, with the colours of both themes."""
    style = (files("lmviz.pages") / "script" / "page.css").read_text("utf-8")
    light, dark = _colors(LIGHT), _colors(DARK)
    return (
        f":root{{color-scheme:light dark;--ink:{INK};--paper:{PAPER};{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{light}}}}}\n"
        f":root.printing{{color-scheme:light;{light}}}\n{style}"
    )


def _colors(palette: Palette) -> str:
    """The custom properties of a theme, named as its roles are."""
    count = mix(palette["surface"], palette["text"], 0.8)
    further = {
        "slate": mix(palette["line"], palette["muted_text"], 0.4),
        "count_all": count,
        "on_count": on(count),
        "on_share": on(palette["share_all"]),
        "on_accent": on(palette["accent"]),
    }
    roles = {role: palette[role] for role in (*palette.roles, *MIXED)}
    numbered = {f"series-{place}": color for place, color in enumerate(palette.series)}
    colors = {**roles, **further, **numbered}
    return "".join(f"--{name.replace('_', '-')}:{color};" for name, color in colors.items())


def _section(section: PageSection, describing: Describing) -> dict[str, Any]:
    look = section.look
    describing.left_out = []
    parts = describing.all_of(look.parts)
    return {
        "title": look.title,
        "aside": look.aside,
        "instead": look.instead,
        "about": [list(pair) for pair in section.about],
        "parts": parts,
        "left_out": [*section.left_out, *describing.left_out],
        "recipe": look.recipe,
    }


def _shown(value: Any) -> Any:
    """The same values with every text fit to be shown: no control in it is invisible, or turns others."""
    if isinstance(value, str):
        return seen(value)
    if isinstance(value, dict):
        return {key: _shown(each) for key, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _version() -> str:
    return str(sys.modules["lmviz"].__version__)  # it stands above what this package may import
