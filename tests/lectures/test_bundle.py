"""Bundles: packed and unpacked again, and what a stranger's may hold that is refused."""

import io
import json
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.app.panels.table import shown_perspectives
from lmviz.base.errors import LmvizError
from lmviz.base.loading import Unexpected
from lmviz.desktop.scene import Scene, SceneModel, SceneText, save_scene
from lmviz.lectures import bundle
from lmviz.lectures.bundle import MANIFEST, is_bundle, pack, unpack
from lmviz.lectures.reading import open_lecture

PERSPECTIVES = [row.name for row in shown_perspectives()]
LECTURE = """# Small
## One
scene: ./one.lmviz
## Two
step: ./lesson 1
## Three
poll: ./own.poll
## Four
step: counting 1
## Five
poll: order
"""
LESSON = "# Own\n## A step\nopen: text ./mine.txt\nopen: network ./mine.net\n\n![a](a.png) ![x](../x.png)\n"
PLAIN = {
    MANIFEST: json.dumps({"format": "lmviz bundle", "format_version": 1, "open": "a.lecture"}),
    "a.lecture": "# A",
}


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    """A lecture with everything that can stand beside one."""
    folder = tmp_path / "from"
    run = folder / "runs" / "mine"
    for name in ("run.json", "tokenizer.json", "snapshots/000001.safetensors", "resume/state.safetensors"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text("{}")
    lesson = folder / "lesson"
    lesson.mkdir()
    (lesson / "lesson.md").write_text(LESSON, encoding="utf-8")
    (lesson / "mine.txt").write_text("a text")
    (lesson / "mine.net").write_text("x = 1\ny = square(x)\n")
    (lesson / "a.png").write_bytes(b"\x89PNG")
    (folder / "x.png").write_bytes(b"not asked for")
    (folder / "farm.txt").write_text("the cows eat grass")
    (folder / "own.poll").write_text("question: Which?\nA: a\nB: b\nright: A\n")
    scene = Scene(text=SceneText(files=("farm.txt",)), models=(SceneModel(path="runs/mine", step=1),))
    save_scene(scene, folder / "one.lmviz")
    path = folder / "small.lecture"
    path.write_text(LECTURE, encoding="utf-8")
    return path


def written(
    path: Path, files: dict[str, str | bytes], change: Callable[[zipfile.ZipInfo], None] | None = None
) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.compress_type = name, zipfile.ZIP_DEFLATED
            if change is not None and name != MANIFEST:
                change(entry)
            archive.writestr(entry, content)
    return path


def all_files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def test_all_that_a_lecture_names_goes_with_it(lecture: Path, tmp_path: Path) -> None:
    out = pack(lecture, tmp_path / "out.lmvizbundle", PERSPECTIVES)
    assert is_bundle(out)
    shutil.rmtree(lecture.parent)
    opened = unpack(out, tmp_path / "to")
    assert opened.name == "small.lecture"
    assert all_files(opened.parent) == {
        "small.lecture",
        "results.key",
        "one.lmviz",
        "farm.txt",
        "own.poll",
        "lesson/lesson.md",
        "lesson/mine.txt",
        "lesson/mine.net",
        "lesson/a.png",
        "runs/mine/run.json",
        "runs/mine/tokenizer.json",
        "runs/mine/snapshots/000001.safetensors",
    }
    assert len(open_lecture(opened, PERSPECTIVES).items) == 5
    assert [place.name for place in (tmp_path / "to").iterdir()] == [opened.parent.name], "nothing unfinished"
    changed = opened.parent / "farm.txt"
    changed.write_text("changed by hand")
    assert unpack(out, tmp_path / "to") == opened
    assert changed.read_text() == "changed by hand", "the same bundle is unpacked once"


def test_a_lesson_is_packed_as_well(lecture: Path, tmp_path: Path) -> None:
    out = pack(lecture.parent / "lesson" / "lesson.md", tmp_path / "out.lmvizbundle", PERSPECTIVES)
    opened = unpack(out, tmp_path / "to")
    assert all_files(opened.parent) == {"lesson.md", "mine.txt", "mine.net", "a.png", "results.key"}


def test_what_stands_elsewhere_is_not_packed(lecture: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    save_scene(Scene(text=SceneText(files=("../secret.txt",))), lecture.parent / "one.lmviz")
    with pytest.raises(LmvizError, match="outside its folder"):
        pack(lecture, tmp_path / "out.lmvizbundle", PERSPECTIVES)
    save_scene(Scene(models=(SceneModel(path="runs/gone", step=1),)), lecture.parent / "one.lmviz")
    with pytest.raises(LmvizError, match="put it beside the lecture"):
        pack(lecture, tmp_path / "out.lmvizbundle", PERSPECTIVES)
    (lecture.parent / "farm.txt").unlink()
    (lecture.parent / "farm.txt").symlink_to(tmp_path / "secret.txt")
    save_scene(Scene(text=SceneText(files=("farm.txt",))), lecture.parent / "one.lmviz")
    with pytest.raises(LmvizError, match="outside its folder"):
        pack(lecture, tmp_path / "out.lmvizbundle", PERSPECTIVES)
    assert not (tmp_path / "out.lmvizbundle").exists()


UNSAFE = (
    *(
        "../a",
        "a/../../b",
        "/etc/a",
        "a//b",
        "./a",
        "a/.",
        "C:/a",
        "c:a",
        "\\\\host\\a",
        "a\\..\\b",
        "a\x00b",
        "",
    ),
    *(
        "a/",
        "con",
        "NUL.txt",
        "a/com1",
        "a.",
        "a ",
        " a",
        "a\n",
        "x" * 300,
        "/".join("a" * 20),
        "a:b",
        "..",
        "a?",
    ),
)


@pytest.mark.parametrize("name", UNSAFE)
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "er"
    with pytest.raises(LmvizError, match="is not unpacked"):
        unpack(written(tmp_path / "a.lmvizbundle", PLAIN | {name: "bad"}), place)
    assert not place.exists()


def test_a_second_name_of_an_entry_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = b"../../escaped.txt"

    def add_name(entry: zipfile.ZipInfo) -> None:
        value = struct.pack("<BL", 1, zlib.crc32(entry.filename.encode())) + second
        entry.extra = struct.pack("<HH", 0x7075, len(value)) + value

    def read_name(entry: zipfile.ZipInfo, *_: object) -> None:
        """As Python reads it from 3.12 on."""
        entry.filename = second.decode() if second in entry.extra else entry.filename

    path = written(tmp_path / "a.lmvizbundle", PLAIN | {"a.png": "bad"}, add_name)
    monkeypatch.setattr(zipfile.ZipInfo, "_decodeExtra", read_name)
    with pytest.raises(LmvizError, match="a name in it is not safe"):
        unpack(path, tmp_path / "deep" / "er")
    assert not (tmp_path / "deep").exists()
    assert not (tmp_path / "escaped.txt").exists()


def test_links_devices_and_encrypted_files_are_refused(tmp_path: Path) -> None:
    def link(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16

    def device(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (stat.S_IFCHR | 0o666) << 16

    for change in (link, device):
        path = written(tmp_path / "a.lmvizbundle", PLAIN | {"b": "/etc/passwd"}, change)
        with pytest.raises(LmvizError, match="other than ordinary files"):
            unpack(path, tmp_path / "to")
    content = bytearray(written(tmp_path / "a.lmvizbundle", PLAIN).read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.lmvizbundle").write_bytes(content)
    with pytest.raises(LmvizError, match="encrypted"):
        unpack(tmp_path / "a.lmvizbundle", tmp_path / "to")


@pytest.mark.parametrize(
    "more",
    [{"A.LECTURE": "# B"}, {"a.lecture/b": "x"}, {"b": "1", "B/c": "2"}],
    ids=["case", "folder", "both"],
)
def test_names_that_are_one_on_some_system_are_refused(more: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="is not unpacked"):
        unpack(written(tmp_path / "a.lmvizbundle", PLAIN | more), tmp_path / "to")


def test_sizes_are_bounded_also_where_they_are_lied_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "LARGEST", 100_000)
    zeros = written(tmp_path / "a.lmvizbundle", PLAIN | {"b": b"\0" * 1_000_000})
    with pytest.raises(LmvizError, match="more than"):
        unpack(zeros, tmp_path / "to")
    content = bytearray(zeros.read_bytes())
    at = content.rindex(b"PK\x01\x02") + 24  # the size that the directory states
    content[at : at + 4] = (50).to_bytes(4, "little")
    zeros.write_bytes(content)
    with pytest.raises(LmvizError):
        unpack(zeros, tmp_path / "to")
    assert not all_files(tmp_path / "to") if (tmp_path / "to").exists() else True
    monkeypatch.setattr(bundle, "MOST_FILES", 3)
    with pytest.raises(LmvizError, match="more than 3 files"):
        unpack(written(tmp_path / "a.lmvizbundle", PLAIN | {"b": "", "c": ""}), tmp_path / "to")
    (tmp_path / "large.lmvizbundle").write_bytes(b"PK" * 60_000)
    with pytest.raises(LmvizError, match="larger than"):
        unpack(tmp_path / "large.lmvizbundle", tmp_path / "to")


@pytest.mark.parametrize(
    "manifest",
    [
        "not JSON",
        "[]",
        "{}",
        '{"format": "lmviz bundle", "format_version": 2, "open": "a.lecture"}',
        '{"format": "lmviz bundle", "format_version": 1}',
        '{"format": "lmviz bundle", "format_version": 1, "open": "../a.lecture"}',
        '{"format": "lmviz bundle", "format_version": 1, "open": "bundle.json"}',
        "[" * 9_000,
        " " * 20_000,
    ],
)
def test_a_manifest_that_is_none_is_refused(manifest: str, tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="is not unpacked"):
        unpack(written(tmp_path / "a.lmvizbundle", PLAIN | {MANIFEST: manifest}), tmp_path / "to")


@pytest.mark.parametrize("content", [b"", b"PK", b"\xff" * 100, b"# A lecture"])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.lmvizbundle").write_bytes(content)
    with pytest.raises(LmvizError, match="is not a bundle"):
        unpack(tmp_path / "a.lmvizbundle", tmp_path / "to")
    with pytest.raises(LmvizError, match="cannot be unpacked"):
        unpack(tmp_path, tmp_path / "to")


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_bundle_is_unpacked_in_its_folder_or_refused_in_words(
    tmp_path: Path, data: st.DataObject
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (PLAIN | {"sub/b.txt": "b" * 200}).items():
            archive.writestr(name, text)
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
        if not content:
            break
    place = tmp_path / "fuzzed"
    shutil.rmtree(place, ignore_errors=True)
    (tmp_path / "a.lmvizbundle").write_bytes(content)
    before = {each.name for each in tmp_path.iterdir()}
    try:
        opened = unpack(tmp_path / "a.lmvizbundle", place)
    except Unexpected:
        raise
    except LmvizError:
        opened = None
    assert {each.name for each in tmp_path.iterdir()} - before <= {"fuzzed"}
    assert opened is None or opened.is_file()
    if place.exists():
        assert not [each for each in place.iterdir() if each.name.startswith(".")]


def test_a_bundle_of_a_long_name_is_unpacked(tmp_path: Path) -> None:
    path = written(tmp_path / f"{'𠀀' * 60}.lmvizbundle", PLAIN)
    assert unpack(path, tmp_path / "to").name == "a.lecture"
