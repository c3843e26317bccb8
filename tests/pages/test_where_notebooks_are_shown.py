"""What a notebook keeps of a result goes by the rules of each place that shows notebooks.

GitHub leaves no script and no style in an output. VS Code and Colab show outputs in a frame as wide as the
window leaves it; VS Code has a policy of its own. A place may also forbid scripts but its own.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from browsers import browser
from results_of_all_kinds import results

import lmviz
from lmviz.decoding.distribution import next_distribution
from lmviz.looks.shown import Shown

VSCODE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:"
)
ONLY_ITS_OWN = "default-src 'none'; script-src 'nonce-host'; style-src 'unsafe-inline'; img-src data:"
ADDRESS = re.compile(r"[a-z]+:|//|\.?/|[\w.-]+\.(js|css|png|svg|html)\b", re.IGNORECASE)
NAMESPACE = "http://www.w3.org/2000/svg"
KEPT = ("id", "alt", "src", "title")


class Sanitized(HTMLParser):
    """HTML as a place leaves it that takes scripts and styles away."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html, self.tags, self._hidden = "", [], 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._hidden += tag in ("script", "style", "iframe")
        if not self._hidden:
            kept = [(name, value or "") for name, value in attributes if name in KEPT]
            self.tags.append((tag, dict(kept)))
            said = "".join(f' {name}="{escape(value)}"' for name, value in kept)
            self.html += f"<{tag}{said}>"

    def handle_endtag(self, tag):
        self._hidden -= tag in ("script", "style", "iframe")
        if tag == "div":
            self.html += "</div>"

    def handle_data(self, data):
        if not self._hidden:
            self.html += escape(data)


def some() -> list[Shown]:
    """Results with a bar for each word, and with a table."""
    distribution = next_distribution(np.linspace(0, 3, 5), tokens=list("abcde"))
    return [distribution, lmviz.text_set(["the cows eat"]), lmviz.contrast("a b", "a c")]


def check_alone(result: Shown) -> None:
    """The picture needs nothing but itself, and is all of the HTML that is seen without scripts."""
    bundle = result._repr_mimebundle_()
    tree = ElementTree.fromstring(bundle["image/svg+xml"])
    assert tree.tag == f"{{{NAMESPACE}}}svg"
    assert int(tree.get("width")) <= 760
    assert not {element.tag.rpartition("}")[2] for element in tree.iter()} & {"script", "style", "link"}
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert "url(" not in value
            assert name != "id", "the ids of two pictures would be the same"
            if name.rpartition("}")[2] in ("href", "src"):
                assert value.startswith("data:image/png;base64,")
    left = Sanitized(bundle["text/html"])
    assert [tag for tag, _ in left.tags] == ["div", "img"]
    assert left.tags[1][1]["alt"] == bundle["text/plain"]
    kind, _, content = left.tags[1][1]["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert b64decode(content).decode() == bundle["image/svg+xml"]


def check_no_address(result: Shown) -> None:
    """Neither the HTML nor the page in it names an address that would be asked for."""
    html = result._repr_html_()
    found = re.findall(r"""(?:src|href|action|data|srcset|poster)=\\?["']([^"'\\]*)""", html)
    assert not [one for one in found if ADDRESS.match(one) and not one.startswith("data:image/")]
    assert not re.search(r"@import|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|importScripts", html)


def test_without_scripts_and_styles_the_picture_is_left():
    for result in some():
        check_alone(result)


def test_no_address_is_asked_for():
    for result in some():
        check_no_address(result)


def test_each_output_has_an_id_of_its_own():
    one = some()[0]
    ids = [re.findall(r'\bid="([^"]+)"', Sanitized(one._repr_html_()).html) for _ in range(3)]
    assert all(len(each) == 1 for each in ids)
    assert len({each[0] for each in ids}) == 3


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return results(tmp_path_factory.mktemp("results"))


@pytest.mark.slow
def test_this_holds_for_a_result_of_every_kind(made):
    for result in made.values():
        check_alone(result)
        check_no_address(result)


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


class Host:
    """A notebook in which some outputs stand one after the other, under a policy, in a window of a width."""

    def __init__(self, chromium, folder: Path, outputs: list[str], policy: str = "", width: int = 1280):
        path = folder / "notebook.html"
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
        gap = '<p style="height:3000px">a long cell</p>'  # most outputs are not in sight
        path.write_text(f"<!doctype html><meta charset=utf-8>{head}<body>{gap.join(outputs)}", "utf-8")
        self.page = chromium.new_context(offline=True, viewport={"width": width, "height": 800}).new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(path.as_uri())
        self.path = path

    def wait_for(self, frames: int) -> None:
        """Until so many pages have taken the places of their pictures, each when it came into sight."""
        assert self.page.locator("iframe").count() == frames
        for at in range(frames):
            self.page.locator("iframe").nth(at).scroll_into_view_if_needed()
            self.page.wait_for_function(
                "at => { const frame = document.querySelectorAll('iframe')[at];"
                " return frame.style.opacity !== '0' && frame.offsetHeight > 60; }",
                arg=at,
            )

    @property
    def strangers(self) -> list[str]:
        """What was asked for beside the file and what it holds."""
        own = (self.path.as_uri(), "data:", "about:srcdoc")
        return [url for url in self.asked if not url.startswith(own)]


def outputs(made: dict[str, Shown], *names: str) -> list[str]:
    return [f'<div class="output">{made[name]._repr_html_()}</div>' for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["", VSCODE])
@pytest.mark.parametrize("width", [1280, 390])
def test_several_outputs_live_beside_one_another(made, chromium, tmp_path, policy, width):
    names = ("trace", "patches", "trace", "corpus")
    host = Host(chromium, tmp_path, outputs(made, *names), policy, width)
    host.wait_for(len(names))
    assert host.page.locator("img").count() == 0
    assert host.strangers == []
    assert host.said == []
    assert host.page.evaluate("document.documentElement.scrollWidth") <= width
    ids = host.page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    empty = Host(chromium, tmp_path, [], policy, width)
    names_of_all = "Object.keys(window).filter(name => isNaN(name)).sort()"
    assert host.page.evaluate(names_of_all) == empty.page.evaluate(names_of_all), "an output keeps to itself"
    for at in range(len(names)):
        inside = host.page.frame_locator("iframe").nth(at).locator("html")
        assert inside.evaluate("one => one.scrollWidth") <= width


@pytest.mark.slow
def test_a_copy_of_an_output_is_live_too(made, chromium, tmp_path):
    [output] = outputs(made, "patches")
    host = Host(chromium, tmp_path, [output, output])
    host.wait_for(2)
    assert host.page.locator("img").count() == 0


@pytest.mark.slow
def test_an_output_that_is_made_again_leaves_the_others_alone(made, chromium, tmp_path):
    host = Host(chromium, tmp_path, outputs(made, "trace", "patches"))
    host.wait_for(2)
    other = host.page.query_selector_all("iframe")[1].content_frame()
    other.evaluate("window.kept = true")
    [again] = outputs(made, "trace")
    host.page.evaluate(
        """html => {
            const output = document.querySelector(".output");
            output.innerHTML = html;
            const script = output.querySelector("script"), made = document.createElement("script");
            made.textContent = script.textContent;
            script.replaceWith(made);
        }""",
        again,
    )
    host.wait_for(2)
    assert host.page.locator("img").count() == 0
    still = host.page.query_selector_all("iframe")[1].content_frame()
    assert still.evaluate("window.kept"), "it has not been loaded again"
    assert host.said == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda html: Sanitized(html).html, id="scripts and styles are taken away"),
        pytest.param(
            lambda html: html.replace("<script>", '<script nonce="host">'), id="only its own scripts run"
        ),
    ],
)
def test_where_the_page_does_not_run_the_picture_stays(
    made, chromium, tmp_path, change: Callable[[str], str]
):
    html = [change(one) for one in outputs(made, "trace")]
    host = Host(chromium, tmp_path, html, ONLY_ITS_OWN, 390)
    picture = host.page.locator("img")
    picture.wait_for()
    assert picture.evaluate("one => one.complete && one.naturalWidth") > 100
    assert picture.evaluate("one => one.offsetHeight") > 60
    assert host.page.evaluate(
        "[...document.querySelectorAll('iframe')].every(one => one.style.opacity === '0')"
    )
