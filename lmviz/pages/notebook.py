"""How a result shows itself in a notebook: drawn as SVG, and as a page in its place where scripts run.

The HTML begins as the static picture, which is all that is left where a viewer runs no script, as on GitHub.
Where scripts run, the first thing that ours does is to put a page into a frame in the picture's place: what
`lmviz.page` writes, with the policy that forbids it everything but its own script. No word of a result stands
anywhere but in these two, which escape them.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from uuid import uuid4

from lmviz.base.counting import count_from, counted_from
from lmviz.base.errors import LmvizError
from lmviz.looks.look import Look
from lmviz.looks.shown import Shown
from lmviz.pages.frame import in_frame
from lmviz.pages.page import HtmlPage, PageSection
from lmviz.pages.results import sections_of
from lmviz.showing.drawing import drawn
from lmviz.showing.terminal import written

LARGEST = 1_500_000
"""Bytes of the page of one result; of more, its look alone is shown, and of even more the picture."""


def bundle_of(result: Shown) -> dict[str, str]:
    """What a notebook keeps of a result, by kind: text, SVG and HTML."""
    look = result.look()
    picture = drawn(look)
    return {"text/plain": written(look), "image/svg+xml": picture, "text/html": _html(result, look, picture)}


def html_of(result: Shown) -> str:
    """The HTML alone: the picture, and the page in its place where scripts run."""
    look = result.look()
    return _html(result, look, drawn(look))


def _html(result: Shown, look: Look, picture: str) -> str:
    id, said = f"lmviz-{uuid4().hex}", written(look)
    content = b64encode(picture.encode()).decode("ascii")
    alone = f'alt="{escape(said, quote=True)}" src="data:image/svg+xml;base64,{content}"'
    image = f'<img style="max-width:100%" {alone}>'
    page = _page(result, look)
    if page is None:
        return f'<div id="{id}">{image}</div>'
    return f'<div id="{id}">{image}</div>{in_frame(id, look.title, page)}'


def _page(result: Shown, look: Look) -> str | None:
    """The page of a result; of its look alone where that is smaller, and None where even that is large.

    Layers and heads count from 0 in it, as everything does that belongs to Python.
    """
    if isinstance(result, HtmlPage):
        return result.html
    first = counted_from()
    count_from(0)
    try:
        pages = (_written(sections) for sections in (_sections(result), [PageSection(look)]))
        return next((page for page in pages if page is not None), None)
    finally:
        count_from(first)


def _written(sections: list[PageSection]) -> str | None:
    """The page of some sections; None without any, and where a part cannot be on a page or it is large."""
    if not sections:
        return None
    try:
        page = HtmlPage(sections).html
    except LmvizError:
        return None
    return page if len(page) <= LARGEST else None


def _sections(result: Shown) -> list[PageSection]:
    try:
        return sections_of(result)
    except LmvizError:  # such as a lens, which has words only beside its trace
        return []
