"""A lecture or a lesson as a folder for a web server: a page for each item or step, a list, and the bundle.

A scene is read again by its model, a step of a lesson stands as text above what it opens, and a poll hides
its answer. Nothing of it needs lmviz or a network. The presenter's notes are in none of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.figures import with_unit
from lmviz.base.files import write_atomically
from lmviz.base.plain_text import on_one_line, seen
from lmviz.base.reporting import Report, unheard
from lmviz.desktop.association import BUNDLE_ENDING
from lmviz.desktop.scene import SceneModel, SceneText
from lmviz.desktop.scene_page import has_page, scene_page
from lmviz.lectures.bundle import pack
from lmviz.lectures.lecture import Lecture, LectureItem, ShownPoll, ShownScene, ShownStep, steps_of
from lmviz.lectures.plain_markdown import paragraphs_of
from lmviz.lectures.reading import open_lecture
from lmviz.lessons.lesson import Lesson, LessonQuestion
from lmviz.lessons.reading import file_of, is_lesson, open_lesson
from lmviz.looks.live_parts import PollQuestion
from lmviz.looks.look import Look
from lmviz.pages.page import HtmlPage, PageSection, simple_page
from lmviz.pages.results import page_sections, sections_of

INDEX = "index.html"
LARGEST = 3_000_000
"""Bytes of a page; where attention makes a larger one, the strongest weights of each row are kept."""

TOP = 8
ONLY_HERE = "What this item shows is seen in the window of lmviz: open the bundle there."


@dataclass(frozen=True)
class CourseFolder:
    """What was written: the `folder`, its `pages` in order, the list among them, and the `bundle`.

    There is none of a lesson that comes with lmviz.
    """

    folder: Path
    pages: tuple[Path, ...]
    bundle: Path | None


def write_course(
    path: str | Path, out: str | Path, perspectives: Collection[str], progress: Report = unheard
) -> CourseFolder:
    """Write the pages of a lecture or a lesson into a folder, which is made where there is none.

    LmvizError where it cannot be read, where what it names stands elsewhere, or where the folder
    cannot be written.
    """
    file = Path(path)
    if is_lesson(file):
        return write_lesson(open_lesson(file, perspectives), out, perspectives, progress)
    return write_lecture(open_lecture(file, perspectives), out, perspectives, progress)


def write_lesson(
    lesson: Lesson, out: str | Path, perspectives: Collection[str], progress: Report = unheard
) -> CourseFolder:
    """Write the pages of a lesson, one for each step; one that comes with lmviz has no bundle."""
    file = file_of(lesson)
    path = Path(f"{lesson.name}.md") if file is None else file
    items = steps_of(lesson, file)
    lecture = Lecture(lesson.title, lesson.about, items, path, lesson.language)
    return _write(lecture, Path(out), perspectives, progress, has_file=file is not None)


def write_lecture(
    lecture: Lecture, out: str | Path, perspectives: Collection[str], progress: Report = unheard
) -> CourseFolder:
    """Write the pages of a lecture that was read; see `write_course`."""
    return _write(lecture, Path(out), perspectives, progress, has_file=True)


def _write(
    lecture: Lecture, folder: Path, perspectives: Collection[str], progress: Report, *, has_file: bool
) -> CourseFolder:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LmvizError(f"{folder} cannot be made ({error.strerror}): choose another place.") from None
    names = [f"{number:02d}-{_plain_name(item.title)}.html" for number, item in enumerate(lecture.items, 1)]
    pages = []
    for number, item in enumerate(lecture.items):
        page = replace(_page_of(item), links=_links(lecture, names, number))
        pages.append(page.save(folder / names[number]))
        progress((number + 1) / (len(lecture.items) + 1))
    bundle = None
    if has_file:
        name = f"{_plain_name(lecture.path.stem)}{BUNDLE_ENDING}"
        bundle = pack(lecture.path, folder / name, perspectives, notes=False)
    index = write_atomically(folder / INDEX, _index(lecture, names, bundle).encode("utf-8", "replace"))
    progress(1.0)
    return CourseFolder(folder, (index, *pages), bundle)


def _page_of(item: LectureItem) -> HtmlPage:
    """The page of one item, and a smaller one where it is too large."""
    lead, sections = _text_of(item), _live(item, 0)
    made = HtmlPage([*sections, *_question_of(item)], item.title, lead)
    if made.size > LARGEST:
        made = HtmlPage([*_live(item, TOP), *_question_of(item)], item.title, lead)
    return made


def _text_of(item: LectureItem) -> tuple[str, ...]:
    """The sentences above what is shown."""
    match item.shown:
        case ShownStep():
            step = item.shown.step
            tasks = (sentence for task in step.tasks for sentence in paragraphs_of(task.words))
            return (*paragraphs_of(step.sentences), *(f"To do in lmviz: {task}" for task in tasks))
        case _:
            return ()


def _question_of(item: LectureItem) -> list[PageSection]:
    match item.shown:
        case ShownPoll(poll=poll):
            return sections_of(poll)
        case ShownStep() if item.shown.step.question is not None:
            return [PageSection(Look((_asked(item.shown.step.question),), title="Question"))]
        case _:
            return []


def _asked(question: LessonQuestion) -> PollQuestion:
    """The question of a step, with its answer hidden where it has choices."""
    letters = [chr(ord("A") + at) for at in range(len(question.choices))]
    right = "" if question.right is None or not question.choices else letters[question.right]
    choices = (" ".join(paragraphs_of(words)) for words in question.choices)
    return PollQuestion(
        question="\n".join(paragraphs_of(question.words)),
        choices=list(zip(letters, choices, strict=True)),
        right=right,
        because=" ".join(paragraphs_of(question.explanation)),
    )


def _live(item: LectureItem, top: int) -> list[PageSection]:
    """What the item shows, asked again; a sentence where that is seen in the window alone."""
    try:
        for shown in item.layers:
            if isinstance(shown, ShownScene):
                return _of_scene(shown, top)
        if isinstance(item.shown, ShownStep):
            return _of_step(item.shown)
    except LmvizError as sentence:
        return [PageSection(Look(instead=f"{ONLY_HERE} {sentence}"))]
    return []


def _of_scene(shown: ShownScene, top: int) -> list[PageSection]:
    scene = shown.scene
    found: list[PageSection] = []
    if has_page(scene):
        page = scene_page(shown.path, top=top)
        found += page.sections
        found += [section for model in scene.models[1:] for section in _beside(model, shown)]
    elif scene.text is not None and scene.text.catalogue:
        found += _of_text(scene.text)
    return found or [PageSection(Look(instead=ONLY_HERE))]


def _beside(model: SceneModel, shown: ShownScene) -> list[PageSection]:
    """What another model of the scene, which comes with lmviz, expects after the same text."""
    from lmviz.api.questions import next_token
    from lmviz.api.training import open_model

    if not model.sample:
        return []
    opened = open_model(model.sample, model.step)
    about = (("model", opened.name), ("step", f"{opened.step:,}"), ("text", shown.scene.prefix))
    found = next_token(opened, shown.scene.prefix)
    return [
        replace(
            section, look=replace(section.look, title=f"{section.look.title}: {opened.name}"), about=about
        )
        for section in sections_of(found)
    ]


def _of_text(text: SceneText) -> list[PageSection]:
    from lmviz.text.corpus import load_corpus

    return sections_of(load_corpus(text.catalogue, None, options=text.options))


def _of_step(shown: ShownStep) -> list[PageSection]:
    """What a step of a lesson has open, if that comes with lmviz: a model, a network, a corpus."""
    from lmviz.api.page_results import page_results
    from lmviz.api.training import open_model, sample_models
    from lmviz.autodiff import shipped_networks
    from lmviz.lectures.network_page import network_sections
    from lmviz.text.catalogue import CATALOGUE

    opened: dict[str, str] = {}
    for step in shown.lesson.steps[: shown.number + 1]:
        opened |= {opening.kind: opening.words for opening in step.openings}
    prefix, source = opened.get("prefix", ""), opened.get("source")
    if opened.get("model") in sample_models() and (prefix or source):
        model = open_model(opened["model"], int(opened["step"]) if "step" in opened else None)
        asked: dict[str, Any] = {"source": source} if source and "source" in model.inputs else {}
        return page_sections(page_results(model, prefix, **asked))
    if opened.get("network") in {network.name for network in shipped_networks()}:
        return network_sections(opened["network"], opened.get("tape", ""))
    if opened.get("text") in {entry.name for entry in CATALOGUE}:
        return _of_text(SceneText(catalogue=opened["text"]))
    return [PageSection(Look(instead=ONLY_HERE))]


def _links(lecture: Lecture, names: Sequence[str], number: int) -> tuple[tuple[str, str], ...]:
    """To the item before, to the list of all, and to the next item."""
    titles = [item.title for item in lecture.items]
    before = [(f"← {titles[number - 1]}", names[number - 1])] if number else []
    after = [(f"{titles[number + 1]} →", names[number + 1])] if number + 1 < len(names) else []
    return (*before, (lecture.title, INDEX), *after)


def _index(lecture: Lecture, names: Sequence[str], bundle: Path | None) -> str:
    """The list of all items, with the bundle to download."""
    rows = []
    for item, name in zip(lecture.items, names, strict=True):
        minutes = "" if item.minutes is None else f' <span class="muted">{item.minutes:g} minutes</span>'
        rows.append(f'<li><a href="{name}">{escape(on_one_line(item.title))}</a>{minutes}</li>')
    about = "".join(f'<p class="lead">{escape(seen(line))}</p>' for line in paragraphs_of(lecture.about))
    body = f"<h1>{escape(on_one_line(lecture.title))}</h1>{about}<section><ol>{''.join(rows)}</ol></section>"
    if bundle is not None:
        size = with_unit(bundle.stat().st_size, "B")
        body += (
            f'<p><a href="{bundle.name}" download>{bundle.name}</a>, {size}: all of this for lmviz, with '
            "what it names. A double click opens it there.</p>"
        )
    return simple_page(lecture.title, body, lecture.language)


def _plain_name(title: str) -> str:
    """A title as part of a file's name and of an address: letters, digits and hyphens alone."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")
    return plain[:48].strip("-") or "item"
