"""The short film of the README: type a prefix, point at words, and go back through the training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage
from said import Book, said
from window_driver import Driver

from lmviz.app.widgets.text.answered_strip import AnsweredStrip

if TYPE_CHECKING:
    from PIL import Image

SIZE = (1200, 750)
COLORS = 128
FRAME, LONG = 120, 900  # milliseconds
PREFIX = "Maya put the brown stone in the barrel. Later, there lay the brown"
POINTED_AT = (5, 8, 12, 15)  # places of tokens in the prefix


def play_film(folder: Path, path: Path, book: Book) -> None:
    """Play the film in a window of its own and write it as GIF, or compare what it says."""
    frames: list[QImage] = []
    durations: list[int] = []

    def shoot(driver: Driver, milliseconds: int = FRAME) -> None:
        frames.append(driver.picture())
        durations.append(milliseconds)

    with Driver.on_new_window(folder, "farm", SIZE) as driver:
        driver.window.set_theme("light")
        driver.show("attention")
        driver.open_model("stories-transformer")
        driver.type(PREFIX[:4])
        driver.rest()
        driver.choose_head("induction", PREFIX)
        driver.type(PREFIX[:4])
        _type(driver, shoot)
        _point(driver, shoot)
        _go_through_time(driver, shoot)
        book.note(path.name, said(driver.window))
    if not book.is_checking:
        _write(frames, durations, path)


Shoot = Callable[..., None]
"""shoot(driver, milliseconds): takes a frame and says how long it is shown."""


def _type(driver: Driver, shoot: Shoot) -> None:
    """Word by word, the distribution following."""
    for end in range(5, len(PREFIX) + 1):
        if end == len(PREFIX) or PREFIX[end] == " ":
            driver.type(PREFIX[:end])
            driver.work_on(0.15)
            shoot(driver)
    shoot(driver, LONG)


def _point(driver: Driver, shoot: Shoot) -> None:
    """At words, to see what they look at."""
    strip = driver.find("prefix_tokens", AnsweredStrip)
    for token in POINTED_AT:
        driver.point(strip, strip.token_rectangle(token).center())
        driver.work_on(0.15)
        shoot(driver, LONG)
    driver.point_nowhere()


def _go_through_time(driver: Driver, shoot: Shoot) -> None:
    """From the first snapshot to the last."""
    session = driver.session
    for step in session.library.model.snapshots:
        _go_to(driver, step)
        shoot(driver, 2 * FRAME)
    shoot(driver, 2 * LONG)


def _go_to(driver: Driver, step: int) -> None:
    driver.session.library.choose_step(step)
    driver.wait(lambda: driver.session.reading.current.step == step, "the snapshot")
    driver.work_on(0.15)


def _write(frames: list[QImage], durations: list[int], path: Path) -> None:
    """All frames with the colours of the last, so that what does not change is not stored again."""
    from PIL import Image

    pictures = [_picture(frame) for frame in frames]
    palette = pictures[-1].quantize(COLORS, dither=Image.Dither.NONE)
    indexed = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    indexed[0].save(path, save_all=True, append_images=indexed[1:], duration=durations, loop=0, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} kB", flush=True)


def _picture(frame: QImage) -> Image.Image:
    frame = frame.convertToFormat(QImage.Format.Format_RGB888)
    size = (frame.width(), frame.height())
    from PIL import Image

    return Image.frombuffer("RGB", size, bytes(frame.constBits()), "raw", "RGB", frame.bytesPerLine(), 1)
