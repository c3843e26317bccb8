"""What somebody's run, scene or lesson names and what lies elsewhere is not read before a person says yes.

The rows are those of the table in docs/reliability.md.
"""

import json
import os
import shutil
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from covering import covering
from foreign_models import saved
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.text.markdown_label import MarkdownLabel
from lmviz.app.window.main_window import MainWindow
from lmviz.desktop.scene import Scene, SceneModel, SceneText, save_scene

Open = Callable[[MainWindow, Path, str], object]


class Opened:
    """What is opened of some folder while this is on."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.paths: list[str] = []

    def note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.folder is not None and event in ("open", "os.listdir", "os.scandir"):
            path = arguments[0]
            if isinstance(path, str | os.PathLike) and self.folder in Path(os.path.realpath(path)).parents:
                self.paths.append(str(path))


_opened = Opened()
sys.addaudithook(lambda event, arguments: _opened.note(event, arguments))  # which cannot be taken off again


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    folder = tmp_path / "lecture"
    folder.mkdir()
    return folder


@pytest.fixture
def secrets(tmp_path: Path, lstm_run: Path, text_file: Path) -> Iterator[Path]:
    """A folder that nobody has named: a text, a folder of texts, a run and a network."""
    folder = tmp_path / "secrets"
    (folder / "texts").mkdir(parents=True)
    for name in ("text.txt", "texts/a.txt"):
        shutil.copy(text_file, folder / name)
    shutil.copytree(lstm_run, folder / "model")
    (folder / "text.net").write_text("x = input(2)\n", encoding="utf-8")
    _opened.folder, _opened.paths = folder, []
    yield folder
    _opened.folder = None


def open_run(window: MainWindow, folder: Path, name: str) -> None:
    """A run in `folder` whose text is called `name`."""
    values = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    values["corpus"]["sources"] = [str(folder / name)]
    (folder / "run" / "run.json").write_text(json.dumps(values), encoding="utf-8")
    window.session.library.open(folder / "run")
    window.session.library.model_changed.connect(
        lambda: window.session.text.open_text_of(window.session.library.model)
    )


def open_scene(window: MainWindow, folder: Path, name: str) -> None:
    scene = (
        Scene(models=(SceneModel(path=name),))
        if name.endswith("model")
        else Scene(text=SceneText(files=(name,)))
    )
    window.open_paths([save_scene(scene, folder / "night.lmviz")])


def open_lesson(window: MainWindow, folder: Path, name: str) -> None:
    kind = {"model": "model", ".net": "network"}.get(name[-5:].lstrip("/t"), "text")
    lesson = f"# Night\nnumber: 1\n\n## Begin\nperspective: corpus\nopen: {kind} ./{name}\nLook.\n"
    (folder / "lesson.md").write_text(lesson, encoding="utf-8")
    window.open_paths([folder])


def open_lecture(window: MainWindow, folder: Path, name: str) -> None:
    """A lecture that names it as a scene, as a lesson and as a poll."""
    items = (f"scene: ./{name}", f"step: ./{name} 1", f"poll: ./{name}")
    text = "".join(f"\n## Night\n{item}\n" for item in items)
    (folder / "night.lecture").write_text(f"# Night\n{text}", encoding="utf-8")
    window.open_paths([folder / "night.lecture"])


def open_bundle(window: MainWindow, folder: Path, name: str) -> None:
    """A bundle with a file of this name, which is a link where such a link is there."""
    entry, path = zipfile.ZipInfo(name), folder / name
    content = path.read_bytes() if not path.is_symlink() else os.readlink(path).encode()
    entry.external_attr = (stat.S_IFLNK if path.is_symlink() else stat.S_IFREG) << 16
    _opened.paths.clear()  # of what it was made
    with zipfile.ZipFile(folder / "night.lmvizbundle", "w") as archive:
        archive.writestr(
            "bundle.json", '{"format": "lmviz bundle", "format_version": 1, "open": "lesson.md"}'
        )
        archive.writestr("lesson.md", "# Night\nnumber: 1\n\n## Begin\nperspective: corpus\nLook.\n")
        archive.writestr(entry, content)
    window.open_paths([folder / "night.lmvizbundle"])


def open_picture(window: MainWindow, folder: Path, name: str) -> None:
    lesson = f"# Night\nnumber: 1\n\n## Begin\nperspective: corpus\nLook.\n\n![moon]({name})\n"
    (folder / "lesson.md").write_text(lesson, encoding="utf-8")
    window.open_lesson(folder / "lesson.md")


def open_checkpoint(window: MainWindow, folder: Path, name: str) -> None:
    saved("gpt2", folder / "gpt")
    (folder / "gpt" / "model.safetensors").rename(folder / "gpt" / "part.safetensors")
    listed = json.dumps({"weight_map": {"wte.weight": f"../{name}"}})
    (folder / "gpt" / "model.safetensors.index.json").write_text(listed, encoding="utf-8")
    window.open_paths([folder / "gpt"])


def asks(window: MainWindow, qtbot: QtBot) -> None:
    """A person is asked; nothing is read before a yes."""
    qtbot.waitUntil(lambda: "outside its folder" in window.notice.sentence)
    assert _opened.paths == []
    window.notice.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: bool(_opened.paths))


def refuses(window: MainWindow, qtbot: QtBot) -> None:
    """The lesson is not opened, and its line is named."""
    assert "Line 6: " in window.notice.sentence
    assert "is not beside the lesson" in window.notice.sentence
    assert _opened.paths == []


def refuses_lecture(window: MainWindow, qtbot: QtBot) -> None:
    """The lecture is not opened, and each of its lines is named."""
    for line in (4, 7, 10):
        assert f"Line {line}: " in window.notice.sentence
    assert window.notice.sentence.count("is not beside the lecture") == 3
    assert window.lectures.lecture is None
    assert _opened.paths == []


def refuses_bundle(window: MainWindow, qtbot: QtBot) -> None:
    """Nothing of it is unpacked."""
    qtbot.waitUntil(lambda: "is not unpacked" in window.notice.sentence)
    assert window.session.lesson.lesson is None
    assert _opened.paths == []


def refuses_picture(window: MainWindow, qtbot: QtBot) -> None:
    """A sentence stands in the place of the picture."""
    label = window.findChild(MarkdownLabel, "lesson_sentence")
    qtbot.waitUntil(lambda: "it is not in the folder of the lesson." in label.shown)
    assert _opened.paths == []


def refuses_checkpoint(window: MainWindow, qtbot: QtBot) -> None:
    """The checkpoint is not opened."""
    qtbot.waitUntil(lambda: "names no files of its folder" in window.notice.sentence)
    assert _opened.paths == []


CASES: dict[str, tuple[Open, tuple[str, ...], Callable[[MainWindow, QtBot], None]]] = {
    "the text of a run": (open_run, ("text.txt", "texts"), asks),
    "a text of a scene": (open_scene, ("text.txt", "texts"), asks),
    "a model of a scene": (open_scene, ("model",), asks),
    "a text, a model or a network of a lesson": (
        open_lesson,
        ("text.txt", "texts", "model", "text.net"),
        refuses,
    ),
    "a scene, a lesson or a poll of a lecture": (open_lecture, ("text.txt",), refuses_lecture),
    "a file in a bundle for students": (open_bundle, ("text.txt",), refuses_bundle),
    "a picture of a lesson": (open_picture, ("text.txt",), refuses_picture),
    "a part of a checkpoint": (open_checkpoint, ("model/run.json",), refuses_checkpoint),
}


def test_every_row_of_the_table_has_a_case() -> None:
    page = Path(__file__).parents[3] / "docs" / "reliability.md"
    section = page.read_text(encoding="utf-8").partition("## What is read unasked")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert rows[1:] == list(CASES)


def tried() -> Iterator[tuple[str, str, str]]:
    """Each thing of each row, and how it is named; links are followed in checkpoints."""
    for row, (open_it, names, _) in CASES.items():
        for what in names:
            yield row, what, "by its name"
            if open_it is not open_checkpoint:
                yield row, what, "by a link"
            if what == "texts":
                yield row, what, "by a link inside a folder"


TRIED = [pytest.param(*each, id=" ".join(each)) for each in tried()]


@pytest.mark.parametrize(
    ("row", "what", "way"), covering(TRIED, [{row, what, way} for row, what, way in tried()])
)
def test_what_lies_elsewhere(
    window: MainWindow,
    lecture: Path,
    secrets: Path,
    lstm_run: Path,
    row: str,
    what: str,
    way: str,
    qtbot: QtBot,
) -> None:
    open_it, _, answer = CASES[row]
    if open_it is open_run:
        lecture = lecture / "download"
        shutil.copytree(lstm_run, lecture / "run")
    name = f"../secrets/{what}" if open_it is not open_run else f"../../secrets/{what}"
    if way == "by a link":
        (lecture / what).symlink_to(secrets / what)
        name = what
    elif way == "by a link inside a folder":
        (lecture / what).mkdir()
        (lecture / what / "a.txt").symlink_to(secrets / what / "a.txt")
        name = what
    open_it(window, lecture, name)
    answer(window, qtbot)
