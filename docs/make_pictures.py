"""Take the pictures of the guide again, from the real window: `python3 start.py pictures`.

    python3 start.py pictures                      all of them, on the texts shipped with lmviz
    python3 start.py pictures --text input.txt     Corpus and Train on another text, such as tiny Shakespeare
    python3 start.py pictures inside film          some of them, by name
    python3 start.py pictures --check              take none, and say which are not today's

Each scene opens what it needs in a window of its own, waits until it rests, and is taken. No screen is
needed. What is drawn are the numbers of the sample models and of a short training, in DejaVu Sans, whatever
else is installed. What each picture says, and of which commit it is, stands in pictures/said.json.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from film import play_film
from one_typeface import FAMILIES, MISSING, keep_to_one_typeface
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase, QImage, QPainter
from said import PICTURES, Book, said
from scenes import LECTURE_HALL, SCENES, Scene, compare
from window_driver import Driver

from lmviz.app.look.theme import make_application
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.workers.threads import GarbageCollector, prepare_interpreter

COLORS = 256  # of a picture, which would be three times as large a file with all of them
IN_A_ROW, SHARE = 3, 2  # of the sheet of all perspectives: how many, and by what each is made smaller
NAMES = (*(scene.name for scene in SCENES), "film", "lecture-hall")


def take(scene: Scene, text: str, folder: Path, book: Book) -> None:
    """Play a scene, and write its pictures."""
    driver = Driver.on_new_window(folder, text, scene.size)
    if scene.welcomes:
        driver.window.beginning.welcome()
    with driver:
        window = driver.window
        window.set_theme(scene.themes[0])
        window.set_projector(scene.projector)
        scene.play(driver)
        for theme in scene.themes[: 1 if book.is_checking else None]:
            window.set_theme(theme)
            driver.rest()
            book.note(f"{scene.name}-{theme}.png", said(window))
            if not book.is_checking:
                save(driver.picture(), PICTURES / f"{scene.name}-{theme}.png")
        window.set_projector(False)


def save(picture: QImage, path: Path) -> None:
    """Write a picture with as many colours as the eye tells apart in it."""
    from PIL import Image

    picture.save(str(path), "PNG")
    with Image.open(path) as drawn:
        small = drawn.convert("RGB").quantize(COLORS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} kB", flush=True)


def lecture_hall(folder: Path, text: str, book: Book) -> None:
    """Write one picture of all perspectives as a projector shows them."""
    with Driver.on_new_window(folder, text, LECTURE_HALL) as driver:
        driver.window.set_theme("light")
        driver.window.set_projector(True)
        compare(driver)
        names = [perspective.name for perspective in shown_perspectives()]
        width, height = (side // SHARE for side in LECTURE_HALL)
        rows = -(-len(names) // IN_A_ROW)
        sheet = QImage(width * IN_A_ROW, height * rows, QImage.Format.Format_RGB32)
        sheet.fill(QColor("white"))  # where there is no perspective
        painter = QPainter(sheet)
        words = said(driver.window) | {"titles": [], "tabs": []}
        for number, name in enumerate(names):
            driver.show(name)
            driver.rest()
            for kind in ("titles", "tabs"):
                words[kind] += said(driver.window)[kind]
            row, column = divmod(number, IN_A_ROW)
            kept, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            painter.drawImage(
                column * width, row * height, driver.picture().scaled(width, height, kept, smooth)
            )
        painter.end()
        book.note("lecture-hall-light.png", words)
        if not book.is_checking:
            save(sheet, PICTURES / "lecture-hall-light.png")
        driver.window.set_projector(False)


def main() -> int:
    """Take the pictures that are named, or all; 1 where some that are checked are not today's."""
    parser = argparse.ArgumentParser(description="Take the pictures of the guide again.")
    parser.add_argument("names", nargs="*", help="which ones; all when none is named")
    parser.add_argument("--check", action="store_true", help="take none; say in which words which differ")
    parser.add_argument(
        "--text", default="farm", help="the text of Corpus and Train: a file, or a catalogue name"
    )
    arguments = parser.parse_args()
    named = {Path(name).stem.removesuffix("-light").removesuffix("-dark") for name in arguments.names}
    unknown = sorted(named - {*NAMES})
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}: the pictures are {', '.join(NAMES)}.")
    wanted = named or {*NAMES}
    book = Book(check=arguments.check)
    prepare_interpreter()
    with tempfile.TemporaryDirectory() as folder:
        keep_to_one_typeface(Path(folder))
        application = make_application()
        if not {*FAMILIES} <= {*QFontDatabase.families()}:
            sys.exit(MISSING)
        application.setCursorFlashTime(0)  # a cursor that blinks never rests
        collector = GarbageCollector(application)
        PICTURES.mkdir(exist_ok=True)
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(folder) / kind.lower())  # nobody's own settings
        for scene in SCENES:
            if scene.name in wanted:
                take(scene, arguments.text, Path(folder) / scene.name, book)
        if "film" in wanted:
            play_film(Path(folder) / "film", PICTURES / "film.gif", book)
        if "lecture-hall" in wanted:
            lecture_hall(Path(folder) / "lecture-hall", arguments.text, book)
        collector.deleteLater()
    for difference in book.differences:
        print(difference)
    return 1 if book.differences else 0


if __name__ == "__main__":
    sys.exit(main())
