"""Panels as one page: what they show is taken in the window, and written in a thread.

A panel that names its results, or shows a look, is drawn by the page; any other is a picture of it, with its
numbers. How large the file is stands where its name is asked for; where it is large because of attention,
there are smaller ones to choose from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.board.panel_titles import file_name, title_of
from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.export import picture_of
from lmviz.app.widgets.base.toast import Toast
from lmviz.base.errors import LmvizError
from lmviz.base.figures import with_unit
from lmviz.base.reporting import Report
from lmviz.looks.live_parts import FixedPicture
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import LookPart, Matrix
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.trace import Trace
    from lmviz.pages.page import HtmlPage

LARGE = 1_000_000
"""From so many bytes on, smaller pages are offered where attention is what is large."""

TOP = 16
"""So many of the largest weights of each row are in the smaller page."""

MOST_NUMBERS = 200_000
"""A larger array of a panel that is a picture stays in the window."""


@dataclass(frozen=True)
class TakenPanel:
    """What was taken of one panel: its title, what a page makes its sections of, and its code.

    `about` says whose numbers they are where the results do not say it themselves.
    """

    title: str
    results: tuple[Any, ...]
    recipe: str
    about: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class OfferedPage:
    """A page that can be written, and what it holds in words, its size among them."""

    words: str
    page: HtmlPage


def has_page(panel: Panel) -> bool:
    """Whether there is anything of a panel that a page can show."""
    return bool(panel.drawn_results()) or bool(panel.drawn_arrays())


def export_page(panels: Sequence[Panel], title: str = "") -> None:
    """Write a page of some panels: it is made in a job, and then a person says where."""
    if not panels:
        return
    first, session = panels[0], panels[0].session
    taken = [_taken(panel) for panel in panels]
    reading = session.reading.current
    trace, head = None if reading is None else reading.trace, session.attention.head

    def work(report: Report) -> list[OfferedPage]:
        return offered_pages(taken, title or taken[0].title, trace, head, report)

    def fail(sentence: str) -> None:
        first.complain(sentence, "export")

    first.complain("", "export")
    session.work.start_job("Making a page", work, lambda offered: _ask_where(first, taken, offered), fail)


def offered_pages(
    taken: Sequence[TakenPanel],
    title: str,
    trace: Trace | None,
    head: tuple[int, int],
    report: Report,
) -> list[OfferedPage]:
    """The whole page, and smaller ones where it is large; LmvizError where there is none at all."""
    from lmviz.pages.reading import ChosenAttention

    head_alone = f"layer {head[0] + 1}, head {head[1] + 1} alone"
    choices = {
        "": ChosenAttention(shown=head),
        f"the {TOP} largest weights of each row": ChosenAttention(top=TOP, shown=head),
        head_alone: ChosenAttention(heads=(head,)),
    }
    found: list[OfferedPage] = []
    refused: LmvizError | None = None
    for number, (words, chosen) in enumerate(choices.items()):
        report(number / len(choices))
        try:
            page = _page(taken, title, trace, chosen)
        except LmvizError as fault:
            refused = refused or fault
            continue
        found.append(OfferedPage(f"{words or 'Page'}: {with_unit(page.size, 'B')}", page))
        if not words and page.size < LARGE:
            break
    if not found and refused is not None:
        raise refused
    sizes = {offer.page.size: offer for offer in reversed(found)}  # what is no smaller is not offered
    return [offer for offer in found if sizes[offer.page.size] is offer]


def page_of(panels: Sequence[Panel], title: str) -> HtmlPage | None:
    """What some panels show now as a page, with the largest weights alone; None where there can be none."""
    from lmviz.pages.reading import ChosenAttention

    session = panels[0].session if panels else None
    if session is None:
        return None
    reading = session.reading.current
    trace = None if reading is None else reading.trace
    chosen = ChosenAttention(top=TOP, shown=session.attention.head)
    try:
        page = _page([_taken(panel) for panel in panels], title, trace, chosen)
        return page if page.size <= LARGE else None
    except LmvizError:
        return None


def _page(taken: Sequence[TakenPanel], title: str, trace: Trace | None, chosen: Any) -> HtmlPage:
    from lmviz.pages.page import HtmlPage
    from lmviz.pages.results import ResultsBefore, page_sections

    sections = []
    for panel in taken:
        beside = ResultsBefore(trace, chosen, about=panel.about)
        for section in page_sections(panel.results, beside):
            look = section.look
            named = replace(look, title=look.title or panel.title, recipe=look.recipe or panel.recipe)
            sections.append(replace(section, look=named, left_out=(*section.left_out, *panel.left_out)))
    return HtmlPage(sections, title)


def _taken(panel: Panel) -> TakenPanel:
    """What a page makes of a panel as it is drawn now."""
    panel.catch_up()
    results = tuple(panel.drawn_results()) or (_as_picture(panel),)
    older = (panel.outdated,) if panel.is_behind and panel.outdated else ()
    return TakenPanel(title_of(panel), results, panel.drawn_recipe(), _about(panel), older)


def _as_picture(panel: Panel) -> Look:
    """A picture of a panel, and the numbers that it draws."""
    title = title_of(panel)
    picture = FixedPicture(
        content=picture_of(panel, "panel.png"),
        size=(panel.width(), panel.height()),
        says=f"picture of “{title}”",
    )
    names = panel.exported_names()
    parts: list[LookPart] = [picture]
    for name, array in panel.drawn_arrays().items():
        if array.dtype.kind in "fiub" and 1 <= array.ndim <= 2 and 0 < array.size <= MOST_NUMBERS:
            parts.append(_as_matrix(name, array, names))
    return Look(tuple(parts), title=title)


def _as_matrix(name: str, array: np.ndarray, names: Names) -> Matrix:
    values = np.atleast_2d(np.asarray(array, dtype=np.float32))
    rows, columns = ([], names.rows) if array.ndim == 1 else (names.rows, names.columns)
    return Matrix(
        values=values,
        rows=[visible(each) for each in rows] if len(rows) == len(values) else (),
        columns=[visible(each) for each in columns] if len(columns) == values.shape[1] else (),
        says=name,
    )


def _about(panel: Panel) -> tuple[tuple[str, str], ...]:
    """The shown model and its step; of what is drawn of the reading also the text and the surgery."""
    session = panel.session
    model, reading = session.library.model, session.reading.current
    if panel.is_behind or model is None:
        return ()
    if reading is not None and {"reading", "contrast"} & set(panel.draws):
        from lmviz.pages.reading import about_trace

        return about_trace(reading.trace)
    return (("model", model.name), ("step", f"{session.library.step:,}"))


def _ask_where(panel: Panel, taken: Sequence[TakenPanel], offered: Sequence[OfferedPage]) -> None:
    """Ask for a file, and write the page of the kind that is chosen there."""
    kinds = {f"{_plain(offer.words)} (*.html)": offer.page for offer in offered}
    usual = f"{file_name(taken[0].title)}.html"
    size = offered[0].words.rpartition(": ")[2]
    name, kind = QFileDialog.getSaveFileName(panel, f"Export as a page of {size}", usual, ";;".join(kinds))
    if not name:
        return
    path, page = Path(name).with_suffix(".html"), kinds.get(kind, offered[0].page)

    def confirm(_: object) -> None:
        panel.complain("", "export")
        Toast.show_over(panel, f"Saved {path.name}, {with_unit(page.size, 'B')}, in {path.parent}.")

    def fail(sentence: str) -> None:
        panel.complain(sentence, "export")

    writing: Callable[[], object] = lambda: page.save(path)  # noqa: E731
    panel.session.work.save_file(path, writing, confirm, fail)


def _plain(words: str) -> str:
    """Without the signs that Qt reads in the name of a kind of file."""
    return words.replace("(", "").replace(")", "").replace(";", ",")
