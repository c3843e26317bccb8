"""How a page looks where it is not opened: what stands on it, and how large it is."""

from __future__ import annotations

from lmviz.base.figures import counted, with_unit
from lmviz.looks.look import Look
from lmviz.looks.parts import Table
from lmviz.pages.page import HtmlPage
from lmviz.showing.pieces import texts


def look_of_page(page: HtmlPage) -> Look:
    """Its sections."""
    looks = [section.look for section in page.sections]
    return Look(
        (
            Table(
                "sections",
                columns=[
                    texts("section", (look.title for look in looks)),
                    texts(" ", (look.aside for look in looks), spare=True),
                ],
            ),
        ),
        title=f"Page {page.title}".rstrip(),
        aside=f"{counted(len(looks), 'section')}, {with_unit(page.size, 'B')}",
    )


LOOKS = {HtmlPage: look_of_page}
"""How each kind of result looks, by its class."""
