"""Files that people write may begin with a byte-order mark: some editors of Windows write one."""

import codecs
from collections.abc import Callable
from pathlib import Path

import pytest

from lmviz.app.panels.table import shown_perspectives
from lmviz.autodiff import open_network, shipped_network
from lmviz.circuits.shipped_questions import is_question, open_question
from lmviz.desktop.scene import Scene, is_scene, open_scene
from lmviz.lectures.reading import add_scene, open_lecture
from lmviz.lessons.reading import is_lesson, open_lesson
from lmviz.lessons.results import Results, open_results
from lmviz.polls.poll_file import open_poll, shipped_poll_files
from lmviz.text.resources import resource_path

LECTURE = b"# A lecture\n## An item\npoll: order\n"
PERSPECTIVES = [row.name for row in shown_perspectives()]


def marked(path: Path, content: bytes) -> Path:
    path.write_bytes(codecs.BOM_UTF8 + content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "is_one", "opened"),
    [
        ("a.net", shipped_network("lecture").text.encode(), None, lambda path: open_network(path).text),
        ("a.poll", shipped_poll_files()[0].read_bytes(), None, lambda path: open_poll(path).title),
        ("a.lecture", LECTURE, None, lambda path: open_lecture(path, PERSPECTIVES).items[0].title),
        (
            "a.md",
            b"# A lesson\nabout: one\n## A step\nSay it.\n",
            is_lesson,
            lambda path: open_lesson(path, ()),
        ),
        (
            "a.txt",
            next(iter(sorted(resource_path("questions").glob("*.txt")))).read_bytes(),
            is_question,
            lambda path: open_question(path).title,
        ),
        ("a.lmviz", Scene(prefix="a").to_bytes(), is_scene, open_scene),
        ("a.json", Results().to_bytes(), None, open_results),
    ],
    ids=["network", "poll", "lecture", "lesson", "question", "scene", "results"],
)
def test_it_is_read_as_without_the_mark(
    tmp_path: Path,
    name: str,
    content: bytes,
    is_one: Callable[[Path], bool] | None,
    opened: Callable[[Path], object],
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    plain = opened(path)
    marked(path, content)
    assert opened(path) == plain
    assert is_one is None or is_one(path)


def test_a_scene_is_added_to_a_lecture_with_a_mark(tmp_path: Path) -> None:
    path = marked(tmp_path / "a.lecture", b"# A lecture\n")
    add_scene(path, "One", Scene())
    assert [item.title for item in open_lecture(path, PERSPECTIVES).items] == ["One"]
