"""What a person sees leaves the window as a page, with the numbers that panels draw, and its size said."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from lmviz.app.board.exporting import fill_export_menu
from lmviz.app.board.page_export import TakenPanel, export_page, offered_pages
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.base.reporting import unheard
from lmviz.inspection.trace import Trace
from lmviz.pages.page import values_in
from lmviz.pages.reading import PartOfTrace
from tests.app.conftest import wait_for_reading

LONG = 30_000
ONLY_PANELS = ("attention", "attention_text", "next_word", "surgery")


@pytest.fixture
def first_perspective() -> str:
    return "attention"


@pytest.fixture
def panels(
    window: MainWindow, session: Session, transformer_run: Path, drawn: Callable[[], None], qtbot: QtBot
) -> dict[str, Panel]:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    drawn()
    return {panel.objectName(): panel for panel in window.perspective.panels}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """With what title and kinds a file was asked for; it is page.html, of the first kind."""
    found: list[tuple[str, str]] = []

    def choose(_: object, title: str, usual: str, kinds: str) -> tuple[str, str]:
        found.append((title, kinds))
        return str(tmp_path / "page.html"), kinds.split(";;")[0]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    return found


@pytest.mark.slow
def test_attention_goes_with_the_weights_that_are_drawn(
    panels: dict[str, Panel], session: Session, asked: list, tmp_path: Path, qtbot: QtBot
) -> None:
    export_page([panels["attention_view"]])
    qtbot.waitUntil((tmp_path / "page.html").exists, timeout=LONG)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    [section] = values_in(html)["sections"]
    [part] = section["parts"]
    trace = session.reading.current.trace
    assert part["kind"] == "head_weights"
    assert values_in(html)["texts"][part["text"]] == list(trace.tokens)
    assert dict(section["about"])["text"] == "the cows eat"
    [(title, kinds)] = asked
    assert title.endswith("kB")
    assert kinds.endswith("(*.html)")


def test_a_panel_that_draws_by_hand_is_a_picture_and_says_so(
    panels: dict[str, Panel], asked: list, tmp_path: Path, qtbot: QtBot
) -> None:
    panel = panels["surgery_view"]
    export_page([panel])
    qtbot.waitUntil((tmp_path / "page.html").exists, timeout=LONG)
    [section] = values_in((tmp_path / "page.html").read_text(encoding="utf-8"))["sections"]
    assert section["parts"][0]["kind"] == "fixed_picture"
    assert "does not answer the pointer" in " ".join(section["left_out"])


@pytest.mark.slow
def test_the_menu_of_a_panel_offers_a_page_of_it(panels: dict[str, Panel]) -> None:
    menu = QMenu()
    fill_export_menu(menu, panels["attention_view"])
    page = menu.actions()[-1]
    assert (page.text(), page.isEnabled()) == ("“Layer 1, head 1” as a page…", True)


def test_the_command_takes_what_is_in_sight(
    window: MainWindow, panels: dict[str, Panel], asked: list, tmp_path: Path, qtbot: QtBot
) -> None:
    command = next(each for each in window.commands.all() if each.text() == "Export as a page…")
    command.trigger()
    qtbot.waitUntil((tmp_path / "page.html").exists, timeout=LONG)
    values = values_in((tmp_path / "page.html").read_text(encoding="utf-8"))
    kinds = {part["kind"] for section in values["sections"] for part in section["parts"]}
    assert values["title"] == "Attention"
    assert {"head_weights", "what_follows"} <= kinds


def test_of_large_attention_smaller_pages_are_offered(trace_of_many_heads: Trace, monkeypatch) -> None:
    monkeypatch.setattr("lmviz.app.board.page_export.LARGE", 1000)
    monkeypatch.setattr("lmviz.app.board.page_export.TOP", 4)
    taken = TakenPanel("Heads", (PartOfTrace(trace_of_many_heads, "attention"),), "", ())
    offered = offered_pages([taken], "Heads", trace_of_many_heads, (1, 0), unheard)
    sizes = [offer.page.size for offer in offered]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert "the 4 largest weights" in offered[1].words
    assert offered[2].words.startswith("layer 2, head 1 alone: ")
    monkeypatch.setattr("lmviz.pages.reading.MOST_WEIGHTS", 2 * 4 * 40 * 8)
    smaller = offered_pages([taken], "Heads", trace_of_many_heads, (1, 0), unheard)
    assert [offer.words for offer in smaller] == [offer.words for offer in offered[1:]]


@pytest.fixture
def trace_of_many_heads(make_run: Callable[..., Path]) -> Trace:
    import lmviz

    run = make_run("transformer", 3, width=8, heads=4, layers=2, context=64)
    trace = lmviz.trace(str(run), np.arange(1, 41) % 5, taps=["**/attention/weights"])
    assert isinstance(trace, Trace)
    return trace
