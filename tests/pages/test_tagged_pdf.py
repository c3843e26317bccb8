"""A handout as PDF is tagged, and no word of a stranger is markup or code to what sets it."""

# ruff: noqa: E501 (what is fed is a table)

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typst
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.side_process import SideProcess
from lmviz.pages import tagged_pdf as asked
from lmviz.pages.tagged_pdf import tagged_pdf
from lmviz.pages.typesetting import UNIVERSAL, answer, typeset

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><rect width="9" height="9" fill="red"/></svg>'
PICTURE = {"svg": SVG, "width": 60.0, "height": 40.0, "frame": 80.0, "alt": "A red square"}
ACTS = (
    "#read(\"/etc/passwd\")", "#image(\"/etc/passwd\")", "#eval(\"1+1\")", "#import \"@preview/cetz:0.3.0\"", "$ x^2 $",
    "@ref", "<label>", "*bold*", "_slanted_", "`raw`", "```typ #panic()```", "[", "]", "{", "}", "//", "/*", "*/", "\\",
    "\\u{41}", "#", "= Title", "- item", "+ item", "/ term: x", "~", "---", "\"", "'", "https://example.org", "#panic()",
    "#sys.inputs", "#set page(width: 1pt)", "#let x = 1", "#pagebreak()", "...", "1/2", "-1", "%", "&amp;", "<b>",
)  # fmt: skip
"""What would do something if it were read as Typst's markup or code."""


def runs(words: str, **looks: bool) -> list[dict[str, Any]]:
    return [{"words": words, "bold": False, "slanted": False, "code": False, **looks}]


def part(title: str = "One", **said: Any) -> dict[str, Any]:
    nothing = {"rows": [], "caption": "", "words": [], "tasks": [], "question": "", "choices": []}
    more = {"lines": 0, "answer": "", "because": "", "lang": "en", "region": None}
    return {"title": title, **nothing, **more, **said}


def document(*parts: dict[str, Any], title: str = "A title", lang: str = "en") -> dict[str, Any]:
    around = {"about": "What it is about", "families": ["DejaVu Sans"], "lang": lang, "region": None}
    return {"title": title, "parts": list(parts), **around}


def read(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def tags(pdf: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The tags of a PDF, in the order in which they are read, each with its element."""

    def below(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        element = found.get_object()
        if isinstance(element, list):
            for each in element:
                yield from below(each)
        elif isinstance(element, dict):
            if "/S" in element:
                yield element["/S"], element
            if "/K" in element:
                yield from below(element["/K"])

    return list(below(read(pdf).trailer["/Root"]["/StructTreeRoot"]))


def words_in(pdf: bytes) -> str:
    """All words, without the room between them."""
    return re.sub(r"[\s\u200b]", "", "".join(page.extract_text() for page in read(pdf).pages))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("empty"))


WHOLE = part(
    rows=[[PICTURE, PICTURE], [PICTURE]],
    caption="a caption",
    words=[
        {"kind": "heading", "level": 3, "runs": runs("Below")},
        {"kind": "paragraph", "runs": runs("plain ") + runs("bold", bold=True) + runs("code", code=True)},
        {"kind": "code", "words": "x = 1"},
        {"kind": "quote", "runs": runs("said")},
        {
            "kind": "list",
            "numbered": True,
            "first": 2,
            "items": [
                {
                    "runs": runs("outer"),
                    "below": [
                        {
                            "kind": "list",
                            "numbered": False,
                            "first": 1,
                            "items": [{"runs": runs("inner"), "below": []}],
                        }
                    ],
                }
            ],
        },
        {"kind": "table", "columns": 2, "head": [runs("a"), runs("b")], "rows": [[runs("1"), runs("2")]]},
    ],
    tasks=["do it"],
    question="Why?",
    choices=["yes", "no"],
    lines=3,
    answer="because",
)


def test_a_handout_is_pdf_ua_with_its_language_and_its_title_shown(empty: str) -> None:
    told = answer({"document": document(WHOLE, lang="de"), "empty": empty})
    assert told["refused"] == ""
    reader = read(typeset(document(WHOLE, lang="de"), empty, standard=UNIVERSAL))
    root = reader.trailer["/Root"]
    assert root["/Lang"] == "de"
    assert root["/MarkInfo"]["/Marked"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert reader.metadata.title == "A title"
    assert b"<pdfuaid:part>1</pdfuaid:part>" in root["/Metadata"].get_object().get_data()


def test_titles_lists_tables_code_and_pictures_have_their_tags(empty: str) -> None:
    found = tags(typeset(document(WHOLE, part("Two")), empty, standard=UNIVERSAL))
    kinds = [kind for kind, _ in found]
    assert [kind for kind in kinds if kind.startswith("/H")] == ["/H1", "/H2", "/H3", "/H2"]
    assert kinds.count("/L") == 4, "of words, within it, of tasks, and of choices"
    assert {"/Table", "/TR", "/TH", "/TD", "/Code", "/BlockQuote", "/Strong", "/LI", "/Lbl", "/LBody"} <= {
        *kinds
    }
    pictures = [element for kind, element in found if kind == "/Figure"]
    assert [each["/Alt"] for each in pictures] == ["A red square"] * 3


def test_what_is_in_another_language_says_so(empty: str) -> None:
    words = [{"kind": "paragraph", "runs": runs("Worte")}]
    pdf = typeset(document(part(words=words, lang="de", region="at")), empty, standard=UNIVERSAL)
    assert "de-AT" in {element["/Lang"] for _, element in tags(pdf) if "/Lang" in element}


def check_words(words: str, empty: str) -> None:
    said = [
        {"kind": "paragraph", "runs": runs(words)},
        {"kind": "code", "words": words},
        {"kind": "heading", "level": 3, "runs": runs(words)},
    ]
    every = part(
        words, words=said, tasks=[words], question=words, choices=[words], caption=words, answer=words
    )
    pdf = typeset(document(every, title=words), empty, standard=UNIVERSAL)
    assert read(pdf).metadata.title == words
    bare = re.sub(r"\s", "", words)
    assert words_in(pdf).count(bare) >= 10
    assert not [kind for kind, _ in tags(pdf) if kind in ("/Formula", "/Figure", "/Link", "/Reference")]


def test_words_of_a_stranger_are_set_as_they_are_written(empty: str) -> None:
    check_words(" ".join(ACTS), empty)


@pytest.mark.slow
@settings(max_examples=150)
@given(words=st.lists(st.sampled_from(ACTS), min_size=1, max_size=6).map(" ".join))
def test_words_of_a_stranger_by_chance_are_set_as_they_are_written(words: str, empty: str) -> None:
    check_words(words, empty)


def check_texts(texts: list[str], empty: str) -> None:
    """Any text is set, also one with letters that no typeface has, which PDF/UA does not allow."""
    words = [{"kind": "paragraph", "runs": runs(text)} for text in texts]
    assert answer({"document": document(part(texts[0], words=words, tasks=texts)), "empty": empty})["pdf"]


@settings(max_examples=4)
@given(texts=st.lists(st.text(max_size=20), min_size=2, max_size=6))
def test_any_text_is_set(texts: list[str], empty: str) -> None:
    check_texts(texts, empty)


@pytest.mark.slow
@settings(max_examples=150)
@given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=20))
def test_any_text_by_chance_is_set(texts: list[str], empty: str) -> None:
    check_texts(texts, empty)


def test_a_letter_that_no_typeface_has_leaves_the_tags(empty: str) -> None:
    told = tagged_pdf(document(part(tasks=["\U000f0000"])))
    assert told.refused.startswith('the text "\\u{f0000}" could not be displayed')
    assert "/H2" in [kind for kind, _ in tags(told.content)]


def test_the_layout_itself_reads_no_file_and_brings_no_package() -> None:
    layout = (Path(lmviz.__file__).parent / "pages" / "handout.typ").read_text("utf-8")
    code = re.sub(r"(?m)//.*$", "", layout)
    assert not re.search(
        r"\b(eval|read|import|include|plugin|csv|yaml|toml|xml|cbor|link|bibliography)\b", code
    )
    assert re.findall(r"\bimage\((.{5})", code) == ["bytes"]
    assert re.findall(r"\bjson\((.{5})", code) == ["bytes"]


def test_no_file_outside_an_empty_folder_can_be_read(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "secret.svg").write_text(SVG)
    for named in ("/etc/passwd", str(tmp_path / "secret.svg"), "../secret.svg", "https://example.org/a.svg"):
        svg = SVG.replace("<rect", f'<image width="9" height="9" href="{named}"/><rect')
        with pytest.raises(typst.TypstError):
            answer({"document": document(part(rows=[[{**PICTURE, "svg": svg}]])), "empty": str(empty)})
        with pytest.raises(typst.TypstError):
            typst.compile(f'#read("{named}")'.encode(), root=str(empty))


def test_it_is_set_beside_the_program_by_one_thread_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = tagged_pdf(document(WHOLE)).content
    assert "/Figure" in [kind for kind, _ in tags(pdf)]
    monkeypatch.setattr(asked, "LONGEST_WAIT", 0.001)
    with pytest.raises(LmvizError, match=r"The PDF cannot be made, it takes longer than 0\.001 seconds"):
        tagged_pdf(document(WHOLE))


def test_a_picture_that_is_none_is_said(empty: str) -> None:
    process = SideProcess("lmviz.pages.typesetting", 60.0, 60.0)
    try:
        with pytest.raises(LmvizError, match="SVG"):
            process.ask({"document": document(part(rows=[[{**PICTURE, "svg": "<no>"}]])), "empty": empty})
    finally:
        process.close()
