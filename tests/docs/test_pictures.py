"""The pictures of the guide are today's: what is written down of each is what the window says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "docs"))

from one_typeface import FAMILIES, MISSING  # noqa: E402
from said import Book, differences, read_table  # noqa: E402

DRAWN = {"quality-by-length-light.png", "page-light.png", "page-phone-light.png"}
"""What is no picture of the window, but drawn by docs/figure.py, or of a page by docs/page_pictures.py."""

WORDS = {"rail": ["Corpus"], "menus": ["File"], "titles": ["Text", "Loss"], "tabs": ["Lens"]}


def test_each_picture_is_shown_and_has_its_words_written_down():
    shown = {
        name
        for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for name in re.findall(r"pictures/([\w-]+\.(?:png|gif))", path.read_text(encoding="utf-8"))
    }
    files = {path.name for path in PICTURES.iterdir()} - {"said.json"}
    assert files == shown
    assert {*read_table()} == files - DRAWN


def test_a_picture_that_says_what_the_window_says_is_todays():
    assert differences("a.png", {"commit": "c0ffee", **WORDS}, WORDS) == []


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ({"rail": ["Corpus", "Race"]}, "other rail than the window: now 'Race'"),
        ({"titles": ["Text"]}, "other titles than the window: no 'Loss'"),
        ({"titles": ["Loss", "Text"]}, "other titles than the window: in another order"),
        ({"tabs": ["Why?"]}, "other tabs than the window: no 'Lens'; now 'Why[?]'"),
        ({"menus": []}, "other menus than the window: no 'File'"),
    ],
)
def test_what_has_changed_since_is_said_with_the_commit(now, sentence):
    [found] = differences("a.png", {"commit": "c0ffee", **WORDS}, WORDS | now)
    assert re.search(rf"a.png, of c0ffee, has {sentence}. python3 start.py pictures a.png", found)


@pytest.mark.parametrize("now", ["A sample, at step 593", "A sample, steps 1,534 to 1,583"])
def test_the_step_of_a_training_under_way_is_another_in_each_picture(now):
    before = WORDS | {"titles": ["A sample, at step 1,612"]}
    assert differences("a.png", {"commit": "c0ffee", **before}, WORDS | {"titles": [now]}) == []


def test_no_other_typeface_of_the_machine_is_found(tmp_path):
    if not {*FAMILIES} <= families_found():
        pytest.skip(MISSING)
    found = families_found(
        f"from one_typeface import keep_to_one_typeface as keep; keep(Path({str(tmp_path)!r}))"
    )
    assert {*FAMILIES} <= found
    aliases = {"Monospace", "Sans Serif", "Serif"}  # for those there are
    assert all(family.startswith(FAMILIES) for family in found - aliases)


def families_found(first=""):
    """What Qt finds in a process of its own, where this is done first."""
    listing = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'docs')",
        first,
        "from PySide6.QtGui import QFontDatabase, QGuiApplication; made = QGuiApplication([])",
        "print(*QFontDatabase.families(), sep='\\n')",
    )
    found = subprocess.run(
        [sys.executable, "-c", "\n".join(listing)],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {*found.stdout.splitlines()}


def test_a_picture_of_which_nothing_is_written_is_told():
    book = Book(check=True)
    book.note("nothing-light.png", WORDS)
    assert len(book.differences) == 1


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("picture", sorted(read_table()))
def test_the_window_says_what_the_picture_says(picture):
    command = [sys.executable, "docs/make_pictures.py", "--check", picture]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1700)
    assert found.returncode == 0, found.stdout + found.stderr
