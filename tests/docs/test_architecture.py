"""The pages on the architecture name what there is: every package, every part of the session, and files."""

import re
from functools import cache, cached_property
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication

from lmviz.app.session.part import Part
from lmviz.app.session.session import Session

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MAP = (DOCS / "architecture.md").read_text(encoding="utf-8")
PARTS = (DOCS / "architecture" / "session-and-panels.md").read_text(encoding="utf-8")
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def test_the_map_is_short():
    assert len(MAP.splitlines()) <= 200


def test_every_module_at_the_top_is_described():
    tree = MAP.split("```\nlmviz/\n")[1].split("```")[0]
    named = set(re.findall(r"(\w+)(?:/|\.py)", tree))
    folder = ROOT / "lmviz"
    found = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}
    found |= {path.parent.name for path in folder.glob("*/__init__.py")}
    assert found - named == set()


def test_every_part_of_the_session_is_described(qapp: QCoreApplication, tmp_path: Path):
    session = Session(tmp_path / "runs")
    parts = {name for name, value in vars(session).items() if isinstance(value, Part)}
    parts |= {name for name, value in vars(Session).items() if isinstance(value, cached_property)}
    rows = re.findall(r"^\| `session\.(\w+)` \|", PARTS, re.MULTILINE)
    assert sorted(rows) == sorted(parts)
    session.deleteLater()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_is_there(page: Path):
    """Under its whole path or the end of it, such as `workers/job.py`."""
    names = set(re.findall(r"`([\w./-]+\.py)`", page.read_text(encoding="utf-8")))
    assert [name for name in sorted(names) if f"/{name}" not in ends_of_paths()] == []


@cache
def ends_of_paths() -> frozenset[str]:
    """Each program of the repository by all ends of its path."""
    folders = ("lmviz", "tests", "docs", "benchmarks", "resources")
    paths = [*ROOT.glob("*.py"), *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]
    parts = [path.relative_to(ROOT).parts for path in paths]
    return frozenset("/" + "/".join(part[at:]) for part in parts for at in range(len(part)))
