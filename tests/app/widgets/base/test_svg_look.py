"""Lines, marks and clips of what is drawn look in a file as they do in the window."""

import re
from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
import typst
from pixels import pixels_of
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QTransform
from PySide6.QtWidgets import QWidget

import lmviz
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.export import svg_of
from lmviz.app.widgets.base.svg_strokes import in_pixels


class Stretched(QWidget):
    """Draws with a pen of two pixels in units that are far from pixels, and then without them."""

    def paintEvent(self, event):
        painter, pen = QPainter(self), QPen(Qt.GlobalColor.blue, 2)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setTransform(QTransform(1e4, 0, 0, -1e-3, 20, 80), True)
        painter.drawLine(QLineF(0, 0, 8e-3, 0))
        path = QPainterPath()
        path.moveTo(0, 3e4)
        path.lineTo(4e-3, 3e4)
        path.lineTo(8e-3, 3e4)
        painter.drawPath(path)
        painter.drawRect(QRectF(1e-3, 4e4, 2e-3, 1e4))
        painter.resetTransform()
        painter.setPen(Qt.GlobalColor.red)
        painter.drawLine(QLineF(0, 95, 120, 95))
        painter.end()


def drawn(svg: bytes, width: int, height: int) -> QImage:
    """What an SVG shows to a program that knows no `vector-effect`."""
    layout = f"#set page(width: {width}pt, height: {height}pt, margin: 0pt)\n"
    layout += "#image(bytes(sys.inputs.svg), width: 100%)"
    return QImage.fromData(
        typst.compile(layout.encode(), sys_inputs={"svg": svg.decode()}, format="png", ppi=72)
    )


def differing(one: QImage, other: QImage) -> float:
    """The share of pixels that differ much."""
    first, second = (pixels_of(image).astype(int) for image in (one, other))
    return float((abs(first - second).max(2) > 128).mean())


def test_a_stretched_line_is_as_wide_as_its_pen(shown) -> None:
    widget = shown(Stretched(), 120, 100)
    svg = svg_of(widget)
    assert differing(drawn(svg, 120, 100), widget.grab().toImage()) < 0.03
    inside = re.findall(
        r'matrix\(10000[^>]*>\s*<(?:path|polyline|rect)[^>]*"non-scaling-stroke"', svg.decode()
    )
    assert not inside


@pytest.mark.slow
def test_a_plot_looks_the_same_in_a_file(shown) -> None:
    plot = pg.PlotWidget()
    plot.plot(np.arange(9) * 1e-3, np.arange(9) ** 2 * 1e3, pen=pg.mkPen("b", width=2), symbol="o")
    plot.addItem(pg.InfiniteLine(0.004))
    widget = shown(plot, 300, 200)
    assert differing(drawn(svg_of(widget), 300, 200), widget.grab().toImage()) < 0.03


class Cut(Canvas):
    """Draws a line through two clips, with a matrix, and one after them."""

    usual = least = (120, 100)

    def paint(self, painter, event):
        painter.save()
        painter.translate(10, 0)
        with painter.clipped(QRectF(20, 0, 60, 100)), painter.clipped(QRectF(0, 0, 40, 100)):
            painter.line(QPointF(-20, 30), QPointF(110, 30), QColor("blue"), 6)
        painter.restore()
        painter.line(QPointF(0, 80), QPointF(120, 80), QColor("red"), 6)


def test_what_a_painter_clips_is_cut_off_and_what_follows_is_not(shown) -> None:
    widget = shown(Cut(), 120, 100)
    svg = svg_of(widget)
    page = drawn(svg, 120, 100)
    assert differing(page, widget.grab().toImage()) < 0.02
    assert [
        x for x in range(120) if QColor(page.pixel(x, 30)).blue() > QColor(page.pixel(x, 30)).red() + 128
    ] == [*range(30, 50)]
    assert len(re.findall(r">([^<>]+)</text>", svg.decode())) == 0, "no word of how this is done is left"


def test_no_painter_clips_otherwise() -> None:
    """Qt's own clip is lost in a file."""
    found = [
        path.name
        for path in (Path(lmviz.__file__).parent / "app").rglob("*.py")
        if re.search(r"\.setClip(Rect|Path|Region|ping)\(", path.read_text("utf-8"))
    ]
    assert sorted(found) == ["export.py", "painter.py"]


@pytest.mark.slow
def test_a_curve_that_leaves_its_axes_is_cut_off(shown) -> None:
    plot = pg.PlotWidget()
    plot.plot(np.arange(9), np.arange(9) ** 2, pen=pg.mkPen("b", width=2))
    plot.setRange(xRange=(2, 6), yRange=(10, 30))
    widget = shown(plot, 300, 200)
    assert differing(drawn(svg_of(widget), 300, 200), widget.grab().toImage()) < 0.03


def test_what_is_not_stretched_stays_as_it_is() -> None:
    svg = (
        '<svg><g transform="matrix(1,0,0,1,3,4)" stroke="#000">\n<polyline vector-effect="non-scaling-stroke"'
        ' points="0,0 1,1 "/>\n</g><g transform="matrix(2,0,0,2,0,0)"><text x="1">0,0</text></g></svg>'
    )
    assert in_pixels(svg) == svg


def test_what_follows_a_curve_keeps_its_matrix() -> None:
    line = '<polyline vector-effect="non-scaling-stroke" points="1,-1e1 .5,2 "/>'
    svg = f'<svg><g a="b" transform="matrix(2,0,0,3,1,0)">{line}{line}<text>x</text></g></svg>'
    mapped = '<polyline vector-effect="non-scaling-stroke" points="3,-30 2,6 "/>'
    assert in_pixels(svg) == (
        f'<svg><g a="b" transform="matrix(2,0,0,3,1,0)"></g><g a="b" >{mapped}{mapped}'
        '</g><g a="b" transform="matrix(2,0,0,3,1,0)"><text>x</text></g></svg>'
    )
