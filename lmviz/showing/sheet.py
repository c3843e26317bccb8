"""A sheet on which a look is drawn as SVG, from top to bottom: texts, rectangles, lines, pixels.

All words are escaped, and their controls to be seen: nothing of a stranger becomes markup.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from html import escape

import numpy as np

from lmviz.base.plain_text import seen
from lmviz.looks.ink import Ink
from lmviz.looks.palette import Palette
from lmviz.showing.width import shortened, width_of

WIDTH = 760
MARGIN = 16
SIZE, SMALL = 13.0, 11.5
"""Pixels of type, and of muted words."""

SANS = "Inter,'Segoe UI','Liberation Sans',Helvetica,Arial,sans-serif"
MONO = "'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace"

WIDE = {"sans": 0.56, "bold": 0.6, "mono": 0.61}
"""About how much of the size of type a column takes."""

NOT_XML = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}


class SvgSheet:
    """What has been drawn so far, and `y`, the height at which the next part begins."""

    def __init__(self, palette: Palette, width: int = WIDTH) -> None:
        self.palette = palette
        self.width = width
        self.y = float(MARGIN)
        self._drawn: list[str] = []

    @property
    def room(self) -> float:
        """The width between the margins."""
        return self.width - 2 * MARGIN

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        ink: Ink = "text",
        size: float = SIZE,
        face: str = "sans",
        anchor: str = "start",
        turned: float = 0.0,
    ) -> None:
        """A line of text on its base line; `face` is "sans", "bold" or "mono"."""
        if not text:
            return
        style = f' font-family="{MONO}"' if face == "mono" else ""
        style += ' font-weight="600"' if face == "bold" else ""
        style += f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += f' transform="rotate({turned:g} {x:.1f} {y:.1f})"' if turned else ""
        color = self.palette.ink(ink)
        self._drawn.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{color}"{style}>{in_xml(text)}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, ink: Ink, *, says: str = "", opacity: float = 1
    ) -> None:
        """A filled rectangle; what it says comes with the pointer."""
        faint = f' opacity="{opacity:g}"' if opacity < 1 else ""
        said = f"<title>{in_xml(says)}</title>" if says else ""
        self._drawn.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
            f'fill="{self.palette.ink(ink)}"{faint}>{said}</rect>'
        )

    def line(
        self, points: np.ndarray, ink: Ink, *, width: float = 1.0, dashed: bool = False, filled: bool = False
    ) -> None:
        """A line through points (point, 2), or the area that it goes round."""
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        color = self.palette.ink(ink)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        style = f'fill="{color}" opacity="0.14"' if filled else f'fill="none" stroke="{color}"{dash}'
        tag = "polygon" if filled else "polyline"
        self._drawn.append(f'<{tag} points="{at}" {style} stroke-width="{width:g}"/>')

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """A thin line around a rectangle."""
        corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height], [x, y]]
        self.line(np.array(corners), "line")

    def dot(self, x: float, y: float, ink: Ink, radius: float = 2.5) -> None:
        """A small filled circle."""
        self._drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{self.palette.ink(ink)}"/>'
        )

    def image(self, x: float, y: float, width: float, height: float, pixels: np.ndarray) -> None:
        """Pixels (row, column, 3) uint8, each as large as it gets."""
        content = b64encode(png(pixels)).decode("ascii")
        self._drawn.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{content}"/>'
        )

    def svg(self, says: str) -> str:
        """The whole drawing, on a surface of its own, as tall as what was drawn; `says` is read aloud."""
        height = round(self.y + MARGIN)
        surface, line = self.palette["surface"], self.palette["line"]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" '
            f'viewBox="0 0 {self.width} {height}" role="img" font-family="{SANS}">'
            f"<title>{in_xml(says)}</title>"
            f'<rect x="0.5" y="0.5" width="{self.width - 1}" height="{height - 1}" rx="8" fill="{surface}" '
            f'stroke="{line}"/>{"".join(self._drawn)}</svg>'
        )


def in_xml(text: str) -> str:
    """A text as it stands in XML, whatever it holds."""
    return escape(seen(text), quote=True).translate(NOT_XML)


def length_of(text: str, size: float = SIZE, face: str = "sans") -> float:
    """About how many pixels a text takes."""
    return width_of(text) * size * WIDE[face]


def fitted(text: str, length: float, size: float = SIZE, face: str = "sans") -> str:
    """The text on one line, shortened where it would take more pixels."""
    return shortened(text, max(1, int(length / (size * WIDE[face]))))


def png(pixels: np.ndarray) -> bytes:
    """Pixels (row, column, 3) uint8 as a PNG file."""
    rows, columns, _ = pixels.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()

    def chunk(name: bytes, content: bytes) -> bytes:
        checked = name + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    packed = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + packed
