"""What a panel shows answers one question: wholly the old one, paled, or wholly the new one.

The reading thread is held, something is asked anew, and it answers a step at a time: first the reading, then
what panels and the session asked about it. At each moment the words in a panel are read off its picture.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha1
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QCoreApplication, QPoint, QRect, QTimer
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractButton, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.lens import KEY
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Question
from lmviz.app.panels.table import PERSPECTIVES, rows_of
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.base.errors import LmvizError
from lmviz.inspection.interventions import zero
from lmviz.looks.names import COUNTED
from tests.app.conftest import wait_for_reading
from tests.covering import covering, others_slow

WITH_PREFIX = [perspective.name for perspective in PERSPECTIVES if perspective.has_prefix]
IMAGE = re.compile(r'<image[^>]*href="([^"]*)"')
WORD = re.compile(r"<text[^>]*>([^<]*)</text>")
SIZE = (720, 560)
CONTROLS = ("plan", "tuning")  # no answers about the prefix; both measure what a step takes, each time anew
QUIET = 300  # milliseconds without anything to do, after which a panel has come to rest


def words_in(panel: Panel) -> list[str]:
    """The words and images in the picture of a panel; without those of its veil, buttons and pickers.

    What a person can press or has chosen is what is asked, and not what is answered.
    """
    buffer, generator = QBuffer(), QSvgGenerator()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(buffer)
    generator.setSize(panel.size())
    generator.setViewBox(QRect(QPoint(), panel.size()))
    left_out = [
        *panel.findChildren(QWidget, "late"),
        *panel.findChildren(QAbstractButton),
        *panel.findChildren(QComboBox),
    ]
    left_out = [widget for widget in left_out if widget.isVisible()]
    for widget in left_out:
        policy = widget.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        widget.setSizePolicy(policy)
        widget.hide()
    painter = QPainter(generator)
    panel.render(painter, QPoint())
    painter.end()
    for widget in left_out:
        widget.show()
    picture = bytes(buffer.data()).decode()
    words = unescape(" ".join(WORD.findall(picture))).split()
    return sorted(
        [*words, *(f"image {sha1(image.encode()).hexdigest()[:8]}" for image in IMAGE.findall(picture))]
    )


def exported_by(panel: Panel) -> list[str]:
    """What an export of a panel would say, and two numbers for each array."""
    names = COUNTED if panel.is_out_of_place else panel.exported_names()
    arrays = [f"{name}: {_gist(array)}" for name, array in panel.drawn_arrays().items()]
    return [*panel.drawn_recipe().splitlines(), *names.rows, *names.columns, *arrays]


def _gist(array: np.ndarray) -> str:
    """The shape of an array, its total size, and how far its signs cancel.

    The sum alone may be near 0, and then its digits are those of rounding: reading a text twice changes them.
    """
    size = float(np.nansum(np.abs(array), dtype=np.float64))
    total = float(np.nansum(array, dtype=np.float64))
    return f"{array.shape} {size:.5g} {total / size if size else 0.0:.3f}"


def is_pale(panel: Panel) -> bool:
    """Whether a panel says that it shows an older question."""
    cards = [card for card in panel.findChildren(Card) if card.isVisible()]
    return bool(cards) and all(card.late for card in cards)


@dataclass
class Gate:
    """Where the reading thread waits until it is opened, for as long as the window needs."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> None:
        """Wait in front of it."""
        self.reached.set()
        self.opened.wait()


@dataclass
class Held:
    """A session whose reading thread answers when it is told, and panels that follow it."""

    session: Session
    panels: dict[str, Panel]
    qtbot: QtBot
    gates: list[Gate] = field(default_factory=list)

    def hold(self) -> None:
        """Answer nothing that is asked from now on."""
        gate = Gate()
        self.gates.append(gate)
        self.session.work.ask(f"held {len(self.gates)}", gate.hold, lambda _: None, pytest.fail)

    def let_go(self) -> None:
        """Have what was asked between the two last holds answered, and wait for it; or have all answered."""
        self.gates.pop(0).opened.set()
        if self.gates:
            self.qtbot.waitUntil(self.gates[0].reached.is_set)
            QCoreApplication.sendPostedEvents()  # the answers, which were sent before it was reached

    def rest(self) -> None:
        """Wait until the window has nothing to do, and long enough for what is late to be paled."""

        def all_have_drawn() -> bool:
            seen = [panel for panel in self.panels.values() if panel.is_in_sight]
            return all(panel.is_up_to_date or panel.awaits_answer for panel in seen)

        self.qtbot.waitUntil(all_have_drawn)
        loop_ended: list[None] = []
        QTimer.singleShot(QUIET, lambda: loop_ended.append(None))
        self.qtbot.waitUntil(lambda: bool(loop_ended))

    def settle(self) -> None:
        """Wait until everything is answered and drawn."""
        quiet = 0

        def is_quiet() -> bool:
            nonlocal quiet
            done: list[None] = []
            self.session.work.ask("last", lambda: None, done.append, pytest.fail)
            self.qtbot.waitUntil(lambda: bool(done))
            at_rest = self.session.work.is_at_rest and all(  # also where an answer only adds to the last
                panel.is_up_to_date and not panel.is_behind for panel in self.panels.values()
            )
            quiet = quiet + 1 if at_rest and not self.session.reading.is_late else 0
            return quiet >= 4

        self.qtbot.waitUntil(is_quiet)
        self.rest()

    def words(self) -> dict[str, list[str]]:
        """What each panel says now, and what it would export: names of arrays, of rows, and Python code."""
        return {name: [*words_in(panel), *exported_by(panel)] for name, panel in self.panels.items()}

    def pale(self) -> dict[str, bool]:
        """Which panels say that they are late."""
        return {name: is_pale(panel) for name, panel in self.panels.items()}


@pytest.fixture
def held(session: Session, qtbot: QtBot) -> Iterator[Callable[[str], Held]]:
    made: list[Held] = []

    def make(perspective: str) -> Held:
        panels = {}
        for row in rows_of(perspective):
            if row.name in CONTROLS:
                continue
            panel = panels[row.name] = row.build(session)
            qtbot.addWidget(panel)
            panel.resize(*SIZE)
            panel.show()
        made.append(Held(session, panels, qtbot))
        return made[0]

    yield make
    for each in made:
        for gate in each.gates:
            gate.opened.set()


Change = Callable[[Session], None]


PICTURE = "/".join(["##....."] + ["......."] * 6)


def type_on(session: Session) -> None:
    session.reading.set_prefix(session.reading.prefix + " the dog")


def shorten(session: Session) -> None:
    session.reading.set_prefix(session.reading.prefix.rsplit(" ", 1)[0])


def pin(session: Session) -> None:
    session.focus.choose_position(1)


def step_back(session: Session) -> None:
    session.library.choose_step(session.library.model.snapshots[0])


def other_model(session: Session) -> None:
    session.library.choose(next(m for m in session.library.models if m != session.library.model))


def change(session: Session) -> None:
    address = next(
        tap for tap in session.reading.current.trace.arrays if tap.endswith(("hidden", "residual1"))
    )
    session.surgery.add(zero(address))


def other_target(session: Session) -> None:
    session.gradients.choose("loss@2")


def other_source(session: Session) -> None:
    is_picture = session.reading.has_picture
    session.reading.set_source(PICTURE.replace("#", ".") if is_picture else "red car")


CHANGES = {
    "longer text": type_on,
    "shorter text": shorten,
    "position": pin,
    "step": step_back,
    "model": other_model,
    "surgery": change,
    "target": other_target,
    "source": other_source,
}


def disagreements(held: Held, do: Change) -> list[str]:
    """What panels show that is of neither question, or old without saying so."""
    held.settle()
    before = held.words()
    held.hold()
    do(held.session)
    held.hold()
    held.rest()
    moments = [("while nothing is answered", held.words(), held.pale())]
    held.let_go()
    held.rest()
    moments.append(("while only the reading is answered", held.words(), held.pale()))
    held.let_go()
    held.settle()
    after = held.words()
    found = []
    for moment, words, pale in moments:
        for name in held.panels:
            if words[name] == after[name]:
                continue
            if words[name] != before[name] and set(words[name]) <= set(after[name]):
                continue  # a part of the new answer, which grows
            if words[name] != before[name]:
                found.append(f"{name} {moment}: {_difference(words[name], before[name], after[name])}")
            elif not pale[name]:
                found.append(
                    f"{name} {moment}: old and not paled {_difference(after[name], before[name], [])}"
                )
    found += [f"{name} at the end: pale" for name, pale in held.pale().items() if pale]
    return found


BACK: dict[str, tuple[Change, Change]] = {
    "pointer": (
        lambda session: session.focus.hover_position(1),
        lambda session: session.focus.hover_position(None),
    ),
    "position": (pin, lambda session: session.focus.follow_end()),
    "step": (step_back, lambda session: session.library.choose_step(session.library.model.snapshots[-1])),
    "model": (other_model, other_model),
    "target": (other_target, lambda session: session.gradients.choose("loss@-1")),
    "text": (
        type_on,
        lambda session: session.reading.set_prefix(session.reading.prefix.removesuffix(" the dog")),
    ),
}
"""Changes, and how a person takes each back."""


def left_by(held: Held, do: Change, undo: Change) -> list[str]:
    """What panels show at rest that is of a question which was taken back before it was answered."""
    held.settle()
    before = held.words()
    held.hold()
    do(held.session)
    held.hold()
    held.rest()
    held.let_go()  # what the session was asked is answered, and panels ask in turn
    held.rest()
    undo(held.session)
    held.rest()
    held.let_go()
    held.settle()
    after = held.words()
    found = [
        f"{name}: {_difference(after[name], before[name], [])}"
        for name in held.panels
        if after[name] != before[name]
    ]
    return found + [f"{name}: pale" for name, pale in held.pale().items() if pale]


def _difference(words: list[str], before: list[str], after: list[str]) -> str:
    neither = [word for word in words if word not in before or word not in after]
    missing = [[word for word in known if word not in words] for known in (before, after)]
    return f"says {neither[:14]}, and not the old {missing[0][:14]} or the new {missing[1][:14]}"


TASKS = {
    "tagger": "time flies like an arrow",
    "classifier": "the film is not bad",
    "translator": "rouge voiture",
    "captioner": "2 dots in",
}


def small(family: str) -> dict[str, int]:
    """The settings of a small model of a family."""
    return {"width": 8, **({"heads": 2, "layers": 2, "context": 16} if family == "transformer" else {})}


def open_all(session: Session, qtbot: QtBot, *folders: Path) -> None:
    """Open runs one after the other; the last is looked into."""
    for folder in folders:
        session.library.open(folder)
        qtbot.waitUntil(
            lambda folder=folder: session.library.model is not None and session.library.model.folder == folder
        )


def read(session: Session, qtbot: QtBot, text_file: Path, prefix: str) -> None:
    """Open a text, and have a prefix read."""
    session.text.open(str(text_file))
    session.reading.set_prefix(prefix)
    wait_for_reading(session, qtbot)


PERSPECTIVES_READ = ("train", "inside", "attention", "sample", "compare")
THERE_AND_BACK = {("inside", "pointer"), ("inside", "position"), ("train", "step"), ("sample", "text")}
"""A perspective and a change in every check that is taken back before it is answered."""


def _quickly(cases: list, choices: Callable[..., set]) -> list:
    """The cases, all but a few of them slow."""
    return covering(cases, [choices(*case.values) for case in cases])


OF_A_PREFIX = [
    pytest.param(family, perspective, change, id=f"{family}-{perspective}-{change}")
    for family in ("lstm", "transformer")
    for perspective in PERSPECTIVES_READ
    for change in CHANGES
    if change != "source"
]
OF_A_TASK = [
    pytest.param(task, perspective, change, id=f"{task}-{perspective}-{change}")
    for task in TASKS
    for perspective in PERSPECTIVES_READ
    for change in ("shorter text", "position", "step", "surgery", "source")
]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("family", "perspective", "change"),
    _quickly(OF_A_PREFIX, lambda *case: set(case) & {"lstm", "transformer", "train", "inside"}),
)
def test_each_panel_answers_one_question(
    family: str,
    perspective: str,
    change: str,
    make_run: Callable[..., Path],
    held: Callable[[str], Held],
    session: Session,
    text_file: Path,
    qtbot: QtBot,
) -> None:
    other, run = make_run("gru", 3, width=6), make_run(family, 4, **small(family))
    open_all(session, qtbot, other, run)
    read(session, qtbot, text_file, "the cows eat grass the hens")
    if change == "target":
        session.gradients.show(True)
    found = disagreements(held(perspective), CHANGES[change])
    assert not found, "\n".join(found)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("task", "perspective", "change"), _quickly(OF_A_TASK, lambda task, *_: {task} & {"tagger"})
)
def test_each_panel_answers_one_question_whatever_the_task(
    task: str,
    perspective: str,
    change: str,
    label_runs: dict[str, Path],
    held: Callable[[str], Held],
    session: Session,
    qtbot: QtBot,
) -> None:
    session.library.open(label_runs[task])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_source("blue car red house" if task != "captioner" else PICTURE)
    session.reading.set_prefix(TASKS[task])
    wait_for_reading(session, qtbot)
    found = disagreements(held(perspective), CHANGES[change])
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("family", "perspective", "change"),
    covering(
        [
            pytest.param(family, perspective, change, id=f"{family}-{perspective}-{change}")
            for family in ("transformer", "lstm")
            for perspective in (*PERSPECTIVES_READ, "circuits")
            for change in BACK
        ],
        [
            {(perspective, change)} if (perspective, change) in THERE_AND_BACK else set()
            for _ in ("transformer", "lstm")
            for perspective in (*PERSPECTIVES_READ, "circuits")
            for change in BACK
        ],
    ),
)
def test_what_is_drawn_stays_where_a_change_is_taken_back_before_it_is_answered(
    family: str,
    perspective: str,
    change: str,
    make_run: Callable[..., Path],
    held: Callable[[str], Held],
    session: Session,
    text_file: Path,
    qtbot: QtBot,
) -> None:
    open_all(session, qtbot, make_run("gru", 3, width=6), make_run(family, 4, **small(family)))
    read(session, qtbot, text_file, "the cows eat grass the hens eat corn the dog sees the cows")
    if change == "target":
        session.gradients.show(True)
    found = left_by(held(perspective), *BACK[change])
    assert not found, "\n".join(found)


def cannot_be_computed(subject: None) -> None:
    raise LmvizError("It cannot be computed.")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("perspective", others_slow(["sample", "compare", "train"], "sample"))
def test_a_panel_that_is_out_of_place_gives_nothing_of_the_model_before(
    perspective: str,
    make_run: Callable[..., Path],
    label_runs: dict[str, Path],
    held: Callable[[str], Held],
    session: Session,
    text_file: Path,
    qtbot: QtBot,
) -> None:
    open_all(session, qtbot, label_runs["tagger"], make_run("lstm", 4, width=8))
    text = "the cows eat grass the hens"
    read(session, qtbot, text_file, text)
    around = held(perspective)
    around.settle()
    before, writer = around.words(), session.library.model
    around.hold()
    type_on(session)
    around.hold()
    around.rest()
    around.let_go()
    around.rest()  # panels have asked about the longer text
    tagger = next(model for model in session.library.models if model != writer)
    for name, panel in around.panels.items():
        if panel.out_of_place(tagger) and not panel.is_out_of_place:
            panel.ask(Question(KEY.of(f" to fail for {name}"), None, cannot_be_computed), print)
    other_model(session)
    late = [panel for panel in around.panels.values() if panel.out_of_place(session.library.model)]
    assert session.library.model == tagger
    assert not any(panel.drawn_arrays() or panel.drawn_recipe() for panel in late), "not seen since"
    around.rest()
    around.let_go()
    around.settle()
    out = [panel for panel in around.panels.values() if panel.is_out_of_place]
    assert [panel for panel in out if panel.exported_arrays()], (
        "they have drawn something of the language model"
    )
    assert [panel.objectName() for panel in out if panel.drawn_arrays() or panel.drawn_recipe()] == []
    assert [panel.objectName() for panel in out if is_pale(panel) or panel.complaint] == []
    session.reading.set_prefix(text)
    session.library.choose(writer)
    around.settle()
    after = around.words()
    assert {name: words for name, words in after.items() if words != before[name]} == {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("perspective", others_slow([*PERSPECTIVES_READ, "circuits"], "compare"))
def test_with_no_model_open_nothing_is_drawn_of_the_last_one(
    perspective: str,
    make_run: Callable[..., Path],
    held: Callable[[str], Held],
    session: Session,
    text_file: Path,
    qtbot: QtBot,
) -> None:
    session.library.open(make_run("transformer", 4, width=8, heads=2, layers=2, context=16))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.text.open(str(text_file))
    session.reading.set_prefix("the cows eat grass the hens")
    wait_for_reading(session, qtbot)
    around = held(perspective)
    around.settle()
    assert any(panel.drawn_arrays() for panel in around.panels.values())
    around.hold()
    type_on(session)
    around.hold()
    around.rest()
    around.let_go()
    around.rest()  # panels have asked about the longer text
    session.library.close(session.library.model)
    around.rest()
    around.let_go()
    around.settle()
    kept = [panel for panel in around.panels.values() if panel.drawn_arrays() or panel.drawn_recipe()]
    assert [panel.objectName() for panel in kept] == []
    assert [panel.objectName() for panel in around.panels.values() if is_pale(panel) or panel.complaint] == []
