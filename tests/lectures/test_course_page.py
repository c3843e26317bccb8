"""A lecture as pages for a web server: one for each item, a list of them, and the bundle."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browsers import SIZES, Opened, browser
from click.testing import CliRunner
from covering import parametrize_few

from lmviz.app.panels.table import shown_perspectives
from lmviz.autodiff import read, shipped_network, shipped_networks
from lmviz.base.errors import LmvizError
from lmviz.cli.lessons import page_of_lecture, page_of_lesson
from lmviz.lectures.bundle import unpack
from lmviz.lectures.course_page import LARGEST, write_course
from lmviz.lectures.network_page import UNKNOWN, network_sections
from lmviz.lectures.plain_markdown import paragraphs_of
from lmviz.lessons.shipped import shipped_lesson
from lmviz.pages.page import values_in

SHIPPED = Path("resources/lectures/counting-to-attention/from-counting-to-attention.lecture")
PERSPECTIVES = [row.name for row in shown_perspectives()]
HOSTILE = "<script>alert(1)</script> & \u202e"


class Hrefs(HTMLParser):
    """Where a page leads, and which elements it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.found += [value for name, value in attributes if name == "href" and value]


def written(folder: Path, text: str) -> Path:
    """A lecture in a file of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / "own.lecture"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_poll_hides_its_answer_and_strange_titles_are_words(tmp_path):
    lecture = f"# {HOSTILE}\nabout: {HOSTILE}\n\n## {HOSTILE}\npoll: attention\n\nNotes of the presenter\n"
    made = write_course(written(tmp_path / "in", lecture), tmp_path / "out", PERSPECTIVES)
    index, page = (path.read_text("utf-8") for path in made.pages)
    for html in (index, page):
        assert "<script>alert" not in html
        assert "\u202e" not in html
        assert "Notes of the presenter" not in html
    assert "script" not in Hrefs(index).tags
    assert Hrefs(index).found == [made.pages[1].name, made.bundle.name]
    [section] = values_in(page)["sections"]
    assert section["parts"][0]["kind"] == "poll_question"
    assert section["parts"][0]["right"]


def test_a_step_is_its_text_and_its_question(tmp_path):
    steps = ("counting 1", "memory 1", "./own.md 1")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "own.md").write_text("# Own\nabout: A lesson.\n\n## Bare\nOnly words.\n", "utf-8")
    lecture = "# A lecture\n" + "".join(f"\n## {step.title()}\nstep: {step}\n" for step in steps)
    made = write_course(written(tmp_path / "in", lecture), tmp_path / "out", PERSPECTIVES)
    page = made.pages[1].read_text("utf-8")
    assert values_in(page)["lead"]
    assert "**" not in "".join(values_in(page)["lead"])
    assert "Corpus farm" in page
    assert "nothing is computed yet" in made.pages[2].read_text("utf-8")
    assert "seen in the window of lmviz" in made.pages[3].read_text("utf-8")
    assert Hrefs(page).found == ["index.html", made.pages[2].name]


@pytest.mark.parametrize("name", ["memory", "3", "03-memory", "own.md"])
def test_a_lesson_has_a_page_for_each_step(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = shipped_lesson("memory", PERSPECTIVES).steps[:2]
    shown = []
    monkeypatch.setattr("lmviz.lectures.course_page._of_step", lambda step: shown.append(step.number) or [])
    Path("own.md").write_text("# Own\n## One\nperspective: sample\n\nSay.\n\n## Two\n\nMore.\n", "utf-8")
    done = CliRunner().invoke(page_of_lesson, [name, "--out", "site", "--json"])
    assert done.exit_code == 0, done.output
    written = json.loads(done.output)["bytes"]
    pages = sorted(Path("site").glob("[0-9]*.html"))
    is_own = name == "own.md"
    assert len(pages) == len(shown) == (2 if is_own else len(shipped_lesson("memory", PERSPECTIVES).steps))
    titles = ["One", "Two"] if is_own else [step.title for step in steps]
    for title, page in zip(titles, pages, strict=False):
        assert title in page.read_text("utf-8")
    assert {*written} == {path.name for path in Path("site").iterdir()}
    leads = Hrefs(Path("site/index.html").read_text("utf-8")).found
    assert leads == [*(page.name for page in pages), *(["own.lmvizbundle"] if is_own else [])]


def test_a_lecture_that_is_none_is_refused(tmp_path):
    with pytest.raises(LmvizError, match="cannot be read"):
        write_course(tmp_path / "none.lecture", tmp_path / "out", PERSPECTIVES)


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("One *two* **three** `four`", ("One two three four",)),
        ("A line\nthat goes on\n\nAnother", ("A line that goes on", "Another")),
        ("- one\n- two\n  more", ("• one", "• two more")),
        ("# Title\n\n[words](https://x.org) ![picture](a.png)", ("Title", "words picture")),
        ("2 * 3 * 4", ("2 * 3 * 4",)),
        ("", ()),
    ],
)
def test_markdown_becomes_plain_paragraphs(markdown, said):
    assert paragraphs_of(markdown) == said


@pytest.mark.slow
def test_the_shipped_lecture_is_small_live_and_quiet(tmp_path):
    done = CliRunner().invoke(page_of_lecture, [str(SHIPPED), "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    pages = sorted(tmp_path.glob("*.html"))
    assert len(pages) == 11
    assert max(page.stat().st_size for page in pages) <= LARGEST
    [bundle] = tmp_path.glob("*.lmvizbundle")
    assert unpack(bundle, tmp_path / "unpacked").name == SHIPPED.name
    for page in pages:
        for place in Hrefs(page.read_text("utf-8")).found:
            assert (tmp_path / place).is_file(), place
    with browser() as running:
        for page in pages[:-1]:
            for size in SIZES:
                opened = Opened(running, page, size)
                assert opened.messages == []
                assert opened.requests == [page.as_uri()]
                wide = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, (page.name, size)
                opened.close()


def test_files_have_names_for_any_server(tmp_path):
    lecture = "# L\n\n## Über „Häuser“?!\npoll: attention\n\n## 家\npoll: attention\n"
    made = write_course(written(tmp_path / "in", lecture), tmp_path / "out", PERSPECTIVES)
    assert all(re.fullmatch(r"[a-z0-9.-]+", path.name) for path in made.pages)


@parametrize_few("name", [network.name for network in shipped_networks()], quick=5)
def test_a_network_goes_through_its_tape_on_the_page(name):
    [section] = network_sections(name)
    [frames] = section.look.parts
    network = read(shipped_network(name).text)
    assert len(frames.names) == len(frames.parts) == 2 * len(network.tape.modules) + 1
    network.forward()
    network.backward()
    lines, values, gradients = (column.values for column in frames.parts[-1].columns)
    assert len(lines) == len(list(network))
    for node, value, gradient in zip(network, values, gradients, strict=True):
        assert numbers_in(value) == pytest.approx(node.numbers.ravel(), abs=0.01, rel=0.01)
        if node.gradient is not None:
            assert numbers_in(gradient) == pytest.approx(node.gradient.ravel(), abs=0.01, rel=0.01)
    computed = {node.name for node in network.tape.modules}
    before = dict(zip((node.name for node in network), frames.parts[0].columns[1].values, strict=True))
    assert {name for name, value in before.items() if value == UNKNOWN} == computed
    assert set(frames.parts[0].columns[2].values) == {UNKNOWN}


def numbers_in(said: str) -> list[float]:
    return [float(word.replace("−", "-")) for word in re.findall(r"[−\-0-9.e]+", said)]
