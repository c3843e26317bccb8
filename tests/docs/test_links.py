"""No page of the documentation points at something that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """What the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), link
        assert there.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(there), link


def test_every_page_can_be_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links if ":" not in link]
    assert set((ROOT / "docs").rglob("*.md")) <= seen


def test_the_pictures_are_small():
    pictures = [path for path in (ROOT / "docs" / "pictures").iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in pictures) < 6_000_000
    for path in pictures:
        assert path.stat().st_size < (1_000_000 if path.suffix == ".gif" else 250_000), path.name
