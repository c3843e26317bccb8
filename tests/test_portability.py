"""The files of the repository can be checked out, and lmviz started, on every system and for every user.

Only Linux is here: what is tested is what can be known without the others.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lmviz.lessons.reading import read_lesson
from lmviz.lessons.shipped import shipped_files
from lmviz.polls.poll_file import read_poll, shipped_poll_files

ROOT = Path(__file__).parent.parent
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
FORBIDDEN = re.compile(r'[<>:"\\|?*\x00-\x1f]')
LONGEST = 140  # characters below the folder of the checkout: Windows gives 260 to the whole path


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The files that git knows of, with slashes."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("this is no checkout")
    return [name for name in found.stdout.split("\0") if name]


def test_no_file_has_a_name_that_a_system_refuses(tracked: list[str]) -> None:
    refused = [
        name
        for name in tracked
        if len(name) > LONGEST
        or not name.isascii()
        or any(
            RESERVED.fullmatch(part) or FORBIDDEN.search(part) or part != part.rstrip(" .")
            for part in name.split("/")
        )
    ]
    assert not refused


def test_no_two_files_differ_in_case_alone(tracked: list[str]) -> None:
    folders = {str(above) for name in tracked for above in Path(name).parents}
    counted = Counter(name.casefold() for name in {*tracked, *folders})
    assert not [name for name, count in counted.items() if count > 1]


def test_imports_are_written_in_the_case_of_their_files(tracked: list[str]) -> None:
    """A file system that does not tell case apart finds a module whose name is written otherwise."""
    modules = {name.removesuffix(".py").removesuffix("/__init__") for name in tracked if name.endswith(".py")}
    known = {name.casefold(): name for name in modules}
    wrong = []
    for name in tracked:
        if name.startswith("lmviz/") and name.endswith(".py"):
            for module in re.findall(
                r"^\s*(?:from|import) (lmviz[\w.]*)", (ROOT / name).read_text("utf-8"), re.M
            ):
                path = module.replace(".", "/")
                if known.get(path.casefold(), path) != path:
                    wrong.append((name, module))
    assert not wrong


def test_line_ends_stay_as_they_are_for_what_is_compared_byte_by_byte(tracked: list[str]) -> None:
    """Git for Windows writes CRLF unless `.gitattributes` says otherwise."""
    command = ["git", "-C", str(ROOT), "check-attr", "-z", "--stdin", "text", "eol"]
    asked = subprocess.run(command, input="\0".join(tracked), capture_output=True, text=True, check=True)
    fields = asked.stdout.split("\0")
    said: dict[str, dict[str, str]] = {}
    for name, attribute, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        said.setdefault(name, {})[attribute] = value
    assert not [name for name in tracked if said[name]["eol"] != "lf" and said[name]["text"] != "unset"]
    held = [
        name for name in tracked if Path(name).suffix in (".py", ".md", ".poll", ".lecture", ".net", ".txt")
    ]
    assert held
    assert not [name for name in held if b"\r\n" in (ROOT / name).read_bytes()]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(each, marks=[pytest.mark.slow] if number else [])
        for number, each in enumerate(shipped_files())
    ],
    ids=lambda path: path.stem,
)
def test_a_lesson_with_the_line_ends_of_windows_is_the_same_lesson(path: Path) -> None:
    text = path.read_text("utf-8")
    names = re.findall(r"^perspective: (\w+)$", text, re.M)
    assert read_lesson(text.replace("\n", "\r\n"), names, path.stem) == read_lesson(text, names, path.stem)


@pytest.mark.parametrize("path", shipped_poll_files(), ids=lambda path: path.stem)
def test_a_poll_with_the_line_ends_of_windows_is_the_same_poll(path: Path) -> None:
    text = path.read_text("utf-8")
    one, other = read_poll(text.replace("\n", "\r\n"), path.stem), read_poll(text, path.stem)
    assert (one.question, one.choices, one.network) == (other.question, other.choices, other.network)


@pytest.mark.slow
def test_a_user_whose_name_has_a_space_and_an_umlaut_trains_and_asks(tmp_path: Path) -> None:
    home = tmp_path / "Jörg Müller"
    home.mkdir()
    (home / "mein text.txt").write_text("die Kühe fressen Gras\n" * 40, encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(home),
        "LMVIZ_DATA": str(home / "daten"),
        "PYTHONPATH": str(ROOT),
    }

    def lmviz(*words: str) -> str:
        command = [sys.executable, "-m", "lmviz", *words]
        found = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=home, check=False
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    run = str(home / "läufe" / "erster lauf")
    lmviz("train", "--corpus", "mein text.txt", "--family", "ngram", "--steps", "2", "--out", run)
    assert "Gras" in lmviz(
        "sample", run, "--prefix", "die Kühe fressen", "--tokens", "1", "--temperature", "0"
    )
