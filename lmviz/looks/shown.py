"""What every result derives from that shows itself: as a short table in a terminal, drawn in a notebook."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmviz.looks.look import Look


class Shown:
    """A value that shows itself by its look; a dataclass that derives from it is declared with `repr=False`.

    How it looks stands in the table `LOOKS` of the module `looks` of its package, by its class; where nothing
    stands there, it looks as its fields do. Values do not depend on how they are shown, and what writes and
    draws them is loaded when it is first needed. A terminal and a notebook take the same look, and so does a
    page.
    """

    __slots__ = ()

    def look(self) -> Look:
        """What is to be seen of it, as a value that knows no window."""
        for kind in type(self).__mro__:
            package, *inner = kind.__module__.split(".")
            if package != "lmviz" or len(inner) < 2 or kind is Shown:
                continue
            looks = _looks_of(inner[0])
            if kind in looks:
                found: Look = looks[kind](self)
                return found
        by_fields: Look = import_module("lmviz.showing.fields").look_of_fields(self)
        return by_fields

    def __repr__(self) -> str:
        """Its title and a short table, of bounded width and rows."""
        written: str = import_module("lmviz.showing.terminal").written(self.look())
        return written

    def _repr_html_(self) -> str:
        """As a notebook shows it: a picture, and where scripts run a page in its place."""
        html: str = import_module("lmviz.pages.notebook").html_of(self)
        return html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """All that a notebook keeps of it: the table, the picture as SVG, and the HTML."""
        bundle: dict[str, str] = import_module("lmviz.pages.notebook").bundle_of(self)
        wanted = set(bundle if include is None else include) - set(exclude or ())
        return {kind: content for kind, content in bundle.items() if kind in wanted}


def _looks_of(package: str) -> dict[type, Any]:
    """How the results of a package look, by their class; nothing where it does not say."""
    name = f"lmviz.{package}.looks"
    if find_spec(name) is None:
        return {}
    looks: dict[type, Any] = import_module(name).LOOKS
    return looks
