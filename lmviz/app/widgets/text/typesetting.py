"""LaTeX to SVG with ziamath, which is loaded in the background; each equation is rendered once."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

from lmviz.app.look.roles import Theme
from lmviz.app.workers.threads import BackgroundThread

_COLOR = re.compile(r"\\(text)?color\{([a-z_]+)\}")
_ready = threading.Event()
_loader: BackgroundThread | None = None


def load() -> None:
    """Import ziamath and set a first letter, which reads its font; about half a second, once."""
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # Qt's SVG renderer shows SVG 1.1 correctly, and SVG 2 broken
    Latex("x").svg()
    _ready.set()


def load_in_background() -> None:
    """Begin to load, without waiting; `ready` says when it is done."""
    global _loader
    if _loader is None and not _ready.is_set():
        _loader = BackgroundThread("typesetting", load)
        _loader.start()


def ready() -> bool:
    """Whether equations can be set at once."""
    return _ready.is_set()


@lru_cache(maxsize=512)
def equation_picture(latex: str, size: float, color: str) -> bytes | None:
    """The equation as SVG, `size` logical pixels to a letter's height; None for what is not LaTeX."""
    from ziamath.zmath import Latex

    try:
        return Latex(latex, size=size, color=color).svg().encode()
    except Exception:  # ziamath raises whatever its parser stumbles over, AssertionError included
        return None


def with_roles(latex: str, theme: Theme) -> str:
    r"""Replace roles of the theme in `\\color{query}` and `\\textcolor{query}{q}` by their colours."""

    def named(found: re.Match[str]) -> str:
        color = getattr(theme, found[2], None)
        return f"\\{found[1] or ''}color{{{color.name()}}}" if color is not None else found[0]

    return _COLOR.sub(named, latex)
