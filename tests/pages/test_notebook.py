"""Every result shows itself in a notebook: as a table, as an SVG picture, and live where scripts run."""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from base64 import b64decode
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest
from browsers import browser
from hypothesis import given, settings
from hypothesis import strategies as st
from page_parts import HOSTILE
from results_of_all_kinds import results

import lmviz
from lmviz.decoding.distribution import next_distribution
from lmviz.decoding.labels import Answer
from lmviz.looks.firing import FiringLine
from lmviz.looks.look import Look
from lmviz.looks.parts import Firings, LookPart, SideBySide, Stacked
from lmviz.looks.shown import Shown
from lmviz.pages.frame import in_code
from lmviz.pages.notebook import bundle_of
from lmviz.pages.page import values_in
from lmviz.showing.drawing import DRAWN, drawn
from lmviz.showing.terminal import WRITERS, written

KINDS = {"text/plain", "image/svg+xml", "text/html"}


class Elements(HTMLParser):
    """The elements of HTML and their attributes, and what stands in scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def strange(word: str) -> list[Shown]:
    """Results that are full of a word."""
    distribution = next_distribution(np.linspace(0, 1, 3), tokens=[word] * 3)
    answer = Answer((word, word), (word, word), np.full((2, 2), 0.5), (word, word))
    return [distribution, answer, lmviz.text_set([word or "a"]), lmviz.contrast(word, word, measure=word)]


def check(bundle: dict[str, str]) -> None:
    """Nothing but one picture and one script of ours is in the HTML, and the SVG is XML without scripts."""
    assert bundle.keys() == KINDS
    allowed = {"svg", "title", "rect", "text", "polyline", "polygon", "circle", "image"}
    tree = ElementTree.fromstring(bundle["image/svg+xml"])
    assert {element.tag.rpartition("}")[2] for element in tree.iter()} <= allowed
    assert not any(name.lower().startswith("on") for element in tree.iter() for name in element.attrib)
    found = Elements(bundle["text/html"]).found
    assert [tag for tag, _ in found] == ["div", "img", "script"]
    assert [sorted(attributes) for _, attributes in found] == [["id"], ["alt", "src", "style"], []]
    assert bundle["text/html"].count("</script") == 1
    content = found[1][1]["src"].removeprefix("data:image/svg+xml;base64,")
    assert b64decode(content).decode() == bundle["image/svg+xml"]
    assert re.search(r"[\x00-\x08\x1b\u202a-\u202e\u2066-\u2069]", "".join(bundle.values())) is None


def test_words_of_strangers_are_words():
    for result in strange(HOSTILE):
        check(bundle_of(result))


@given(st.text(max_size=12))
@settings(max_examples=15)
def test_any_word_is_a_word(word):
    check(bundle_of(strange(word)[0]))


@given(st.text())
def test_a_text_in_code_is_that_text(text):
    assert json.loads(in_code(text)) == text
    assert "<" not in in_code(text)


def test_the_numbers_are_those_of_the_page():
    distribution = next_distribution(np.linspace(0, 3, 5), tokens=list("abcde"))
    html = distribution._repr_html_()
    page, _ = json.JSONDecoder().raw_decode(html.partition("frame.srcdoc=")[2])
    [section] = values_in(page)["sections"]
    assert "e" in str(section["parts"])
    [bar] = re.findall(r"<title>e: ([^<]*)</title>", drawn(distribution.look()))
    assert bar == f"{100 * distribution.probability_of(4):.1f} %"


def test_a_notebook_asks_for_some_kinds_alone():
    result = lmviz.contrast("a b", "a c")
    assert result._repr_mimebundle_(include={"text/plain"}).keys() == {"text/plain"}
    assert result._repr_mimebundle_(exclude={"text/html"}).keys() == KINDS - {"text/html"}


def test_a_large_matrix_is_an_image_and_small():
    from lmviz.looks.parts import Matrix

    picture = drawn(Look((Matrix("large", values=np.random.default_rng(0).normal(size=(400, 500))),)))
    assert picture.count("<rect") == 1
    assert len(picture) < 1_000_000
    ElementTree.fromstring(picture)


def test_what_was_not_measured_is_not_zero():
    from lmviz.looks.parts import Matrix

    picture = drawn(Look((Matrix("m", values=np.array([[np.nan, 0.0]]), rows=["r"], columns=["a", "b"]),)))
    assert "r, a: not measured" in picture
    assert "r, b: 0.000" in picture


@pytest.mark.slow
def test_nothing_of_it_imports_qt():
    script = (
        "import sys, lmviz\n"
        "bundle = lmviz.next_token('stories-gru', 'The owl')._repr_mimebundle_()\n"
        "assert len(bundle) == 3\n"
        "print([name for name in sys.modules if name.startswith(('PySide6', 'pyqtgraph', 'lmviz.app'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def parts_in(parts) -> set[type[LookPart]]:
    """The kinds of parts, and of those within them."""
    found = set()
    for part in parts:
        inner = parts_in(part.inner)
        found |= inner if inner else {type(part)}
    return found


def test_every_kind_of_part_that_a_result_has_is_drawn_and_written():
    """Whichever a package takes for the looks of its results, but for those that hold others."""
    packages = pkgutil.iter_modules(lmviz.__path__, "lmviz.")
    named = [package.name for package in packages if package.ispkg and package.name != "lmviz.app"]
    found = set()
    for name in named:
        if find_spec(f"{name}.looks"):
            found |= {
                each for each in vars(import_module(f"{name}.looks")).values() if isinstance(each, type)
            }
    parts = {each for each in found if issubclass(each, LookPart)} - {LookPart, SideBySide, Stacked}
    assert len(parts) > 5
    assert parts <= DRAWN.keys() & WRITERS.keys()


@pytest.mark.parametrize("place", [0, 2, 40])
def test_a_line_of_tokens_keeps_the_one_that_is_meant_in_sight(place):
    tokens = tuple(f"word{at}" for at in range(60))
    line = FiringLine(tokens, place, np.linspace(0, 1, 60), "3.5")
    look = Look((Firings("places", lines=[line]),))
    assert f"word{place} word{place + 1}" in written(look)
    assert "3.5" in written(look)
    shown = re.findall(r'<text x="([-0-9.]+)"[^>]*>(word[0-9]+)<', drawn(look))
    assert f"word{place}" in [word for _, word in shown]
    assert all(0 <= float(x) < 760 for x, _ in shown)
    assert drawn(look).count("<rect") == 1 + len([1 for _, word in shown if word != "word0"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return results(tmp_path_factory.mktemp("results"))


@pytest.mark.slow
def test_a_result_of_every_kind_is_drawn(made):
    for name, result in made.items():
        bundle = result._repr_mimebundle_()
        check(bundle)
        assert len(bundle["image/svg+xml"]) < 400_000, name
        assert parts_in(result.look().parts) <= DRAWN.keys() & WRITERS.keys(), name


@pytest.mark.slow
def test_the_page_takes_the_place_of_the_picture_where_scripts_run(made, tmp_path):
    names = ("trace", "patches", "corpus", "set")
    path = tmp_path / "notebook.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8>" + "".join(made[name]._repr_html_() for name in names)
    )
    with browser() as running:
        page = running.new_context(offline=True).new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        for number in range(len(names)):
            page.frame_locator("iframe").nth(number).locator("footer").wait_for()
            page.locator("iframe").nth(number).scroll_into_view_if_needed()
            page.wait_for_function("left => document.querySelectorAll('img').length <= left", arg=3 - number)
        assert page.locator("img").count() == 0
        assert said == []
        page.wait_for_function("parseInt(document.querySelector('iframe').style.height) > 100")
        still = running.new_context(java_script_enabled=False).new_page()
        still.goto(path.as_uri())
        assert still.locator("img").count() == len(names)
