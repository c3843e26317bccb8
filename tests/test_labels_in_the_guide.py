"""The guide calls buttons, menus and panels what the program calls them: *in italics* it quotes a label."""

import re
from functools import cache
from pathlib import Path

from sources import texts_of

import lmviz

ROOT = Path(lmviz.__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))
QUOTED = re.compile(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FREE = re.compile(r"→|←|…|“[^”]*”|[\d.,%×]+")
"""What a label has between its words: arrows from menu to menu, and what differs from text to text."""

EMPHASISED = {
    "a gather",
    "b add up",
    "any two files",
    "a folder of folders",
    "c/n",
    "c/p",
    "explodes",
    "n-gram:",
    "one to many",
    "rnn, lstm, gru:",
    "stone",
    "two files named alike",
    "what it does not show",
}
"""What is stressed, or a formula or a value: no label."""


@cache
def said_by_the_program() -> str:
    """All that the program may write, in lower case."""
    said = [text for path in (ROOT / "lmviz").rglob("*.py") for text in texts_of(path)]
    return "\n".join(" ".join(text.split()) for text in said).lower().replace("&", "")


def labels_of(page: str) -> list[str]:
    """The labels that a page quotes, in lower case; those of menus one by one."""
    quoted = [" ".join(label.split()).lower() for label in QUOTED.findall(CODE.sub("", page))]
    parts = [part.strip(" .:") for label in quoted if label not in EMPHASISED for part in FREE.split(label)]
    return [part for part in parts if re.search(r"\w\w", part) and part not in EMPHASISED]


def test_what_the_guide_quotes_is_said_by_the_program() -> None:
    """All pages in one test: what the program says is read by one worker."""
    unsaid = {}
    for page in PAGES:
        text, _, _titles = page.read_text("utf-8").partition("\n## Sources")
        left = [label for label in labels_of(text) if label not in said_by_the_program()]
        unsaid |= {page.stem: left} if left else {}
    assert unsaid == {}


def test_a_label_that_the_program_does_not_say_is_found() -> None:
    assert labels_of("Press *Ascend to the counts*, or `*code*`; *File → Open “x”…*; 2 * 3 * 4.") == [
        "ascend to the counts",
        "file",
        "open",
    ]
    assert "ascend to the counts" not in said_by_the_program()
