import os
import queue
import struct
import threading
import zlib
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from lmviz.app.workers.pictures import LARGEST, MOST, MOST_PIXELS, SCAN, read_picture, read_pictures
from lmviz.base.errors import LmvizError

SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'><rect width='10' height='10'/></svg>"


def save(path: Path, width: int = 4, height: int = 3) -> Path:
    picture = QImage(width, height, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    assert picture.save(str(path))
    return path


def bomb(width: int, height: int) -> bytes:
    """A small PNG that says it is large."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1000 * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def refused(name: str, folder: Path | None) -> str:
    with pytest.raises(LmvizError) as sentence:
        read_picture(name, folder)
    return str(sentence.value)


@pytest.mark.parametrize("name", ["a b.png", "a%20b.png", "./a b.png", "in/a.jpg", "in/../a b.png"])
def test_a_png_or_a_jpeg_in_the_folder_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    save(tmp_path / "a b.png")
    save(tmp_path / "in" / "a.jpg")
    picture = read_picture(name, tmp_path)
    assert (picture.width(), picture.height()) == (4, 3)


@pytest.mark.parametrize(
    "name",
    [
        "/dev/zero", "//host/share/a.png", "\\\\host\\share\\a.png", "file:///etc/passwd", "http://host/a.png",
        "data:image/png;base64,aaaa", "C:/a.png", ":/icons/a.png", "../a.png", "in/../../a.png",
        "%2Fdev%2Fzero", "%2e%2e/a.png", "link.png", "a\0.png",
    ],
)  # fmt: skip
def test_what_is_elsewhere_is_not_touched(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lesson"
    folder.mkdir()
    (folder / "link.png").symlink_to(save(tmp_path / "a.png"))
    monkeypatch.setattr("lmviz.app.workers.pictures.read_file", lambda *_: pytest.fail("it was read"))
    assert "it is not in the folder of the lesson" in refused(name, folder)
    assert "it is not in the folder of the lesson" in refused(name, None)


def test_what_is_no_bounded_picture_is_refused_in_a_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    (tmp_path / "a.svg").write_text(SVG)
    (tmp_path / "svg.png").write_text(SVG)
    (tmp_path / "large.png").write_bytes(bomb(1, 1) + bytes(LARGEST))
    (tmp_path / "cut.png").write_bytes(save(tmp_path / "a.png").read_bytes()[:40])
    (tmp_path / "wide.png").write_bytes(bomb(200_000, MOST_PIXELS // 100_000))
    (tmp_path / "bomb.png").write_bytes(bomb(60_000, 60_000))
    (tmp_path / "scans.jpg").write_bytes(save(tmp_path / "a.jpg").read_bytes() + 200 * SCAN)
    said = {path.name: refused(path.name, tmp_path) for path in tmp_path.iterdir() if path.stem != "a"}
    said["a.svg"] = refused("a.svg", tmp_path)
    said["none.png"] = refused("none.png", tmp_path)
    for name, words in {
        "fifo.png": "not an ordinary file",
        "zero.png": "it is not in the folder",
        "a.svg": "neither a PNG nor an ordinary JPEG",
        "svg.png": "neither a PNG nor an ordinary JPEG",
        "large.png": "larger than 8 MB",
        "cut.png": "damaged",
        "wide.png": "16 million pixels",
        "bomb.png": "16 million pixels",
        "scans.jpg": "neither a PNG nor an ordinary JPEG",
        "none.png": "no such file",
    }.items():
        assert words in said[name]
        assert f"“{name}” is not shown: " in said[name]
        assert said[name].endswith(".")


def test_so_many_pictures_are_read_in_a_thread_and_what_fails_is_a_sentence(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    arrived: queue.Queue[tuple[dict[str, QImage | str], threading.Thread]] = queue.Queue()
    names = ["a.png", "none.png", *(f"{number}.png" for number in range(MOST))]
    read_pictures(names, tmp_path, lambda read: arrived.put((read, threading.current_thread())))
    found, thread = arrived.get(timeout=20)
    assert list(found) == names
    assert isinstance(found["a.png"], QImage)
    assert "no such file" in str(found["none.png"])
    assert found[names[-1]] == f"No more than {MOST} pictures are shown in one place."
    assert thread is not threading.current_thread()
