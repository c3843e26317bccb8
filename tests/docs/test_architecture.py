"""The page on the architecture names what there is: every package, every part of the session, and files."""

import re
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from lmviz.app.session.part import Part
from lmviz.app.session.session import Session

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_module_at_the_top_is_described():
    tree = PAGE.split("```")[1]
    named = set(re.findall(r"(\w+)(?:/|\.py)", tree))
    folder = ROOT / "lmviz"
    found = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}
    found |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert found - named == set()


def test_every_part_of_the_session_is_described(qapp: QCoreApplication, tmp_path: Path):
    session = Session(tmp_path / "runs")
    parts = {name for name, value in vars(session).items() if isinstance(value, Part)}
    parts |= {name for name, value in vars(Session).items() if isinstance(value, cached_property)}
    rows = re.findall(r"^\| `session\.(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(parts)
    session.deleteLater()


def test_every_file_that_is_named_is_there():
    names = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_]+\.py)`", PAGE))
    assert len(names) > 40
    places = (ROOT, ROOT / "lmviz", ROOT / "lmviz" / "app")
    assert [name for name in sorted(names) if not any((place / name).is_file() for place in places)] == []
