"""The program's own icon, in the window and as pictures."""

import importlib.util
from pathlib import Path

import numpy as np
from pixels import pixels_of
from PySide6.QtGui import QImage

from lmviz.app.look.icons import APPLICATION_SIZES, icon_path
from lmviz.app.window.main_window import MainWindow

SCRIPT = Path(__file__).parents[3] / "resources" / "packaging" / "draw_icons.py"


def pixels(path: Path) -> np.ndarray:
    return pixels_of(QImage(str(path)), QImage.Format.Format_RGBA8888).astype(np.int16)


def test_the_window_shows_the_icon_in_every_size_that_is_kept(window: MainWindow) -> None:
    sizes = {(size.width(), size.height()) for size in window.windowIcon().availableSizes()}
    assert sizes == {(size, size) for size in APPLICATION_SIZES}
    assert not window.windowIcon().pixmap(48, 48).isNull()


def test_the_pictures_of_the_icon_are_drawn_from_its_svg(qapp, tmp_path: Path) -> None:
    specification = importlib.util.spec_from_file_location("draw_icons", SCRIPT)
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    script.draw_icons(tmp_path)
    for drawn in tmp_path.iterdir():
        kept = icon_path("lmviz").with_name(drawn.name)
        assert np.abs(pixels(drawn) - pixels(kept)).max() < 16  # Qt may smooth an edge otherwise one day
    assert len(list(tmp_path.iterdir())) == len(APPLICATION_SIZES)
