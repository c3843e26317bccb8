"""What an item of a lecture shows does not depend on the item from which one comes."""

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from in_sight import all_have_drawn
from pixels import pixels_of
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.desktop.scene import Scene, SceneModel, save_scene
from lmviz.lectures.lecture import ShownScene
from lmviz.lectures.reading import shipped_lectures

TEXT = """# Small
## Attention
scene: ./attention.lmviz
## Inside
scene: ./inside.lmviz
## The room
poll: likeliest
scene: ./inside.lmviz
## A step
step: memory 1
scene: ./attention.lmviz
## Attention again
scene: ./attention.lmviz
"""


@pytest.fixture
def small(tmp_path: Path, transformer_run: Path, lstm_run: Path) -> Path:
    """A lecture whose poll and whose step stand on scenes."""
    folder = tmp_path / "lecture"
    for run in (transformer_run, lstm_run):
        shutil.copytree(run, folder / run.name)
    scenes = {"attention": (transformer_run, "the cows eat"), "inside": (lstm_run, "the hens")}
    for name, (run, prefix) in scenes.items():
        scene = Scene(name, models=(SceneModel(path=run.name, step=10**6),), prefix=prefix)
        save_scene(scene, folder / f"{name}.lmviz")
    (folder / "small.lecture").write_text(TEXT, encoding="utf-8")
    return folder / "small.lecture"


@pytest.fixture
def picture(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> Callable[[int], QImage]:
    """picture(number): goes to an item, and gives what the panels show once that stays the same."""

    def is_busy() -> bool:
        work = session.work
        busy = session.text.is_opening or not (work.is_ready and work.is_at_rest) or bool(work.jobs)
        return busy or not all_have_drawn(window.perspective)

    def stand(number: int) -> QImage:
        item = window.lectures.lecture.items[number]
        if item.scene is not None or isinstance(item.shown, ShownScene):
            with qtbot.waitSignal(window.scenes.shown):
                window.lectures.go_to(number)
        else:
            window.lectures.go_to(number)
        drawn()
        before = QImage()

        def rests() -> bool:
            nonlocal before
            found, last = window.perspective.grab().toImage(), before
            before = found
            return found == last and not is_busy()

        qtbot.waitUntil(rests)
        drawn()
        qtbot.waitUntil(rests)
        return before

    return stand


def pixels(image: QImage) -> np.ndarray:
    """A picture as (row, column, colour)."""
    return pixels_of(image)[:, :, :3]


def where_it_differs(first: QImage, second: QImage, folder: Path, name: str) -> str:
    """Where two pictures differ, in words; both are saved."""
    kept = [folder / f"{name} {which}.png" for which in ("first", "then")]
    for image, path in zip((first, second), kept, strict=True):
        assert image.save(str(path))
    saved = f"see {kept[0]} and {kept[1].name}"
    if first.size() != second.size():
        return f"{name} has another size, {saved}"
    row, column = np.nonzero((pixels(first) != pixels(second)).any(-1))
    across, down = f"{column.min()} to {column.max()}", f"{row.min()} to {row.max()}"
    return f"{name} differs in {row.size} pixels, columns {across}, rows {down}, {saved}"


def state(window: MainWindow, session: Session) -> tuple[str, str, str, int, str]:
    model = session.library.model
    return (
        window.perspective_name,
        model.family,
        session.reading.prefix,
        len(session.comparison.chosen),
        session.lesson.lesson.name if session.lesson.lesson else session.polls.current.title,
    )


def test_a_poll_and_a_step_have_the_model_and_the_prefix_of_their_scene(
    window: MainWindow, session: Session, small: Path, qtbot: QtBot
) -> None:
    def go(number: int) -> tuple[str, str, str, int, str]:
        with qtbot.waitSignal(window.scenes.shown):
            window.lectures.go_to(number)
        return state(window, session)

    with qtbot.waitSignal(window.scenes.shown):
        window.open_lecture(small)
    for before in (0, 1, 3):
        go(before)
        session.reading.set_prefix("something else")
        assert go(2) == ("polls", "lstm", "the hens", 0, "The likeliest word"), before
    for before in (1, 2, 4):
        go(before)
        assert go(3) == ("autodiff", "transformer", "the cows eat", 0, "memory"), before
    assert window.lessons.is_shown
    go(2)
    assert not window.lessons.is_shown


@pytest.mark.slow
def test_what_an_item_leaves_in_front_is_not_in_front_in_the_next(
    window: MainWindow, session: Session, small: Path, qtbot: QtBot
) -> None:
    def fronts(number: int) -> tuple[str, ...]:
        with qtbot.waitSignal(window.scenes.shown):
            window.lectures.go_to(number)
        return window.perspective.in_front

    with qtbot.waitSignal(window.scenes.shown):
        window.open_lecture(small)
    first = fronts(1)
    board = window.perspective
    behind = next(
        page.objectName() for page in board.panels if page.objectName() not in first and not page.is_in_sight
    )
    window.bring_in_front(behind)
    assert behind in board.in_front
    fronts(0)
    assert fronts(1) == first


@pytest.mark.slow
@pytest.mark.parametrize("path", shipped_lectures(), ids=lambda path: path.stem)
def test_each_item_of_a_shipped_lecture_shows_the_same_from_each_other_item(
    path: Path, window: MainWindow, picture: Callable[[int], QImage], qtbot: QtBot, tmp_path: Path
) -> None:
    window.resize(1440, 900)
    with qtbot.waitSignal(window.scenes.shown):
        window.open_lecture(path)
    count = len(window.lectures.lecture.items)
    first = [picture(number) for number in range(count)]
    at, differing = count - 1, []
    for start, end in itertools.permutations(range(count), 2):
        if at != start:
            picture(start)
        at = end
        then = picture(end)
        if then != first[end]:
            name = f"item {end + 1} from {start + 1}"
            differing.append(where_it_differs(first[end], then, tmp_path, name))
    assert not differing, "\n".join(differing)
