"""A page is one file of words: what it holds is what was given, and nothing in it can become a program."""

import html as entities
import json
import re
from base64 import b64encode
from datetime import date
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_parts import HOSTILE, MATRIX, some_of

from lmviz.base.errors import LmvizError
from lmviz.looks import live_parts, parts
from lmviz.looks.live_parts import HeadWeights, WhatFollows
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Words
from lmviz.pages.described import CONTROLS, Describing
from lmviz.pages.page import HtmlPage, PageSection, page_script, page_style, values_in

PIECES = [*"aé𝒳 </>&\"'!-\n\t\0\r", "\u202e", "\u2028", "\u200d", "\ud800", "</script", "<!--"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def page_of(*given: LookPart, **further) -> HtmlPage:
    return HtmlPage(
        [PageSection(Look(given, title="Section"))], title="Title", made=date(2026, 1, 2), **further
    )


def test_every_kind_of_part_is_described_or_a_control():
    named = [kind for module in (parts, live_parts) for kind in vars(module).values()]
    kinds = {kind for kind in named if isinstance(kind, type) and issubclass(kind, LookPart)} - {LookPart}
    assert kinds == {type(part) for part in some_of("word")} | set(CONTROLS)
    described = Describing().all_of(some_of("word"))
    table = re.search(r"const DRAWN_BY = \{(.*?)\n\};", page_script(), re.DOTALL)[1]
    assert {part["kind"] for part in described} == set(re.findall(r"\b([a-z_]+): ", table))


def test_words_of_strangers_are_words():
    """Nothing of a name ends the block, begins an element, or stays invisible, wherever it stands."""
    page = HtmlPage(
        [
            PageSection(
                Look(some_of(HOSTILE), HOSTILE, HOSTILE, recipe=HOSTILE), [(HOSTILE, HOSTILE)], [HOSTILE]
            )
        ],
        title=HOSTILE,
        lead=[HOSTILE],
    )
    html = page.html
    assert len(re.findall(r"<script\b", html)) == len(re.findall(r"</script>", html)) == 2
    assert "<img" not in html.lower()
    assert not {"\u202e", "\u2028", "\0"} & set(html)
    assert values_in(html) == json.loads(json.dumps(page.values))


@settings(max_examples=30)
@given(TEXTS, TEXTS)
def test_any_text_comes_back_as_it_is_shown(title, word):
    page = HtmlPage([PageSection(Look((Words(text=word),)))], title=title or "x", lead=[word])
    values = values_in(page.html)
    assert values == page.values
    assert len(re.findall(r"(?i)</script", page.html)) == 2
    assert entities.unescape(re.search(r"<h1>(.*?)</h1>", page.html, re.DOTALL)[1]) == entities.unescape(
        re.search(r"<title>(.*?)</title>", page.html, re.DOTALL)[1]
    )


def test_the_policy_lets_run_the_script_of_the_page_and_nothing_else():
    html = page_of(*some_of("word")).html
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', html)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{b64encode(sha256(page_script().encode()).digest()).decode()}'",
        "style-src": f"'sha256-{b64encode(sha256(page_style().encode()).digest()).decode()}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert f"<script>{page_script()}</script>" in html
    assert f"<style>{page_style()}</style>" in html


def test_the_script_makes_no_element_of_words_and_asks_nothing_of_a_network():
    script = page_script()
    forbidden = (
        "innerHTML",
        "outerHTML =",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
    )
    assert [
        name for name in (*forbidden, "XMLHttpRequest", "import(", "localStorage", "cookie") if name in script
    ] == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script + page_style())
    assert "url(" not in page_style()


def test_a_page_says_what_it_is():
    page = page_of(Words(text="x"), lead=["A sentence."])
    values = page.values
    assert (values["format"], values["format_version"], values["made"]) == ("lmviz page", 1, "2026-01-02")
    assert re.fullmatch(r"\d+\.\d+\.\d+", values["lmviz"])
    assert page.size == len(page.html.encode())
    assert '<p class="lead">A sentence.</p>' in page.html


def test_what_was_not_exported_says_so():
    heads = HeadWeights(
        tokens=("a", "b", "c"), weights=np.ones((1, 3, 3)) / 3, places=((0, 1),), of=(2, 4), top=2
    )
    follows = WhatFollows(
        tokens=("a", "b"),
        vocabulary=["x", "y", "z"],
        likeliest=np.array([[0], [1]]),
        shares=np.full((2, 1), 0.5),
        places=(1,),
        logits=MATRIX[:1],
    )
    [section] = page_of(heads, follows).values["sections"]
    said = " ".join(section["left_out"])
    assert "Of 8 heads, 1 were exported." in said
    assert "the 2 largest" in said
    assert "position 2" in said


def test_the_largest_weights_of_a_row_are_those():
    weights = np.array([[[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.2, 0.2, 0.6]]], dtype=np.float32)
    part = HeadWeights(tokens=("a", "b", "c"), weights=weights, places=((0, 0),), of=(1, 1), top=2)
    described = Describing().one(part)
    assert described["top_keys"]["values"] == [1, 2, 0, 2, 0, 2]
    assert described["top"]["values"] == pytest.approx([0.6, 0.3, 0.5, 0.3, 0.2, 0.6])


@pytest.mark.parametrize(
    "html", ["", "<p>", 'id="lmviz-page">{"format": "other"}</script>', 'id="lmviz-page">[</script>']
)
def test_what_is_no_page_is_said(html):
    with pytest.raises(LmvizError, match="not a page"):
        values_in(html)


def test_a_page_of_a_later_version_is_said():
    html = page_of(Words(text="x")).html.replace('"format_version":1', '"format_version":2')
    with pytest.raises(LmvizError, match="later version"):
        values_in(html)
