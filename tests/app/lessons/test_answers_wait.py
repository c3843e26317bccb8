"""Answers and tasks are judged by what is asked now: never by what is about to be replaced.

Each test holds something back that is on its way, and asks for all values that are read off it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.opening.situation import WindowSituation
from lmviz.app.session import current_reading, library, work
from lmviz.app.session.live_weights import LiveWeights
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.lessons.expression import evaluate, parse
from lmviz.lessons.faults import NotKnown, StillComing
from lmviz.lessons.reading import read_lesson
from lmviz.lessons.values import look_up

OF_MODEL = ("model", "family", 'setting("width")', "vocabulary", "chosen_head", "layer", "head", "cell")
OF_STEP = ("step", "last_step", "parameters")
OF_READING = (
    *("tokens", "token(-1)", 'probability("corn")', "likeliest", "log_probability", "stage"),
    *('value("probabilities", -1, 0)', 'untouched("probabilities", -1, 0)'),
    'length("probabilities", "token")',
)
OF_COMPARISON = ("compared", "furthest_reaching", 'gradient_factor("run")')
OF_TEXT = ("text", "text_tokens", "text_vocabulary", 'count("the")')
OF_WRITING = ("written", "rolls", "draws")
OF_NETWORK = ("network_title", 'network("L")', "modules", "pushed", "network_changes", "rate", "checked")


@dataclass
class Asked:
    """What a lesson in this session would be told now."""

    session: Session

    def __post_init__(self) -> None:
        window = SimpleNamespace(session=self.session, perspective_name="train", drawn=lambda panel: {})
        self.situation = WindowSituation(window)

    def tell(self, expression: str) -> float | str:
        """The value of an expression."""
        return evaluate(parse(expression), lambda name, given: look_up(self.situation, name, given))

    def waits(self, *expressions: str) -> list[str]:
        """Those of some expressions that wait for what is on its way."""
        return [each for each in expressions if self._waits(each)]

    def _waits(self, expression: str) -> bool:
        try:
            self.tell(expression)
        except StillComing:
            return True
        except NotKnown:
            return False
        return False


@pytest.fixture
def slow_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window waits for no folder and no file."""
    monkeypatch.setattr(work, "BRIEFLY", 0.0)


@pytest.fixture
def asked(read: Session) -> Asked:
    return Asked(read)


@pytest.fixture
def hold_reading(read: Session, gate: threading.Event) -> Callable[[], None]:
    """Call it to hold the reading thread back until the gate is opened."""
    return lambda: read.work.ask("held back", gate.wait, lambda _: None, pytest.fail)


def test_a_text_that_is_not_read_yet(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, qtbot: QtBot
) -> None:
    session = asked.session
    before = asked.tell('probability("corn")')
    hold_reading()
    session.reading.set_prefix("the dog sees")
    assert asked.waits(*OF_READING) == [*OF_READING]
    assert asked.waits(*OF_MODEL, *OF_STEP, *OF_TEXT, "prefix", "position") == []
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_READING) == [])
    assert asked.tell("token(-1)") == "sees"
    assert asked.tell('probability("corn")') != before


def test_a_step_whose_weights_are_not_loaded_yet(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, qtbot: QtBot
) -> None:
    """The text is the same, and so is that of the trace which is there."""
    before = asked.tell('probability("corn")')
    hold_reading()
    asked.session.library.choose_step(0)
    assert asked.waits(*OF_READING) == [*OF_READING]
    assert asked.tell("step") == 0
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_READING) == [])
    assert asked.tell('probability("corn")') != before


def test_a_text_that_could_not_be_read_is_not_known(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """What was read before is still drawn; nothing newer comes."""

    def fail(*_: object) -> None:
        raise LmvizError("It cannot be read.")

    monkeypatch.setattr(current_reading, "read", fail)
    with qtbot.waitSignal(asked.session.reading.failed):
        asked.session.library.choose_step(0)
    for expression in OF_READING:
        with pytest.raises(NotKnown):
            asked.tell(expression)
    assert asked.waits(*OF_READING) == []


def test_a_model_that_is_being_opened(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, transformer_run: Path, qtbot: QtBot
) -> None:
    """The text stays as it is: the model before has read it."""
    of_it = (
        *OF_MODEL,
        *OF_STEP,
        *OF_READING,
        *OF_WRITING,
        "compared",
        "feature",
        'drawn("loss_view", "loss")',
    )
    hold_reading()
    asked.session.library.open(transformer_run)
    assert asked.waits(*of_it) == [*of_it]
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*of_it) == [])
    assert asked.tell("model") == transformer_run.name


def test_a_model_that_cannot_be_opened_leaves_the_one_that_is_shown(
    asked: Asked, tmp_path: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(asked.session.library.failed):
        asked.session.library.open(tmp_path / "none")
    assert asked.waits(*OF_MODEL, *OF_READING) == []


def test_a_model_that_will_stand_beside_the_shown_one(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, transformer_run: Path, qtbot: QtBot
) -> None:
    hold_reading()
    asked.session.library.open_beside(transformer_run)
    assert asked.waits(*OF_COMPARISON) == [*OF_COMPARISON]
    assert asked.waits(*OF_MODEL, *OF_READING) == []
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_COMPARISON) == [])


def test_factors_of_other_models_than_those_that_are_compared(asked: Asked) -> None:
    session = asked.session
    session.gradients.keep_factors({"run": 0.5, "other": 0.7}, session.comparison.models)
    assert asked.tell("furthest_reaching") == "other"
    session.comparison.choose([(session.library.model, 0)])
    with pytest.raises(NotKnown):
        asked.tell("furthest_reaching")


def test_a_text_that_is_being_opened(
    asked: Asked, gate: threading.Event, text_file: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("lmviz.text.preview.look", lambda *_, **__: gate.wait() and None)
    asked.session.text.open(text_file)
    assert asked.waits(*OF_TEXT) == [*OF_TEXT]
    assert asked.waits(*OF_READING) == []
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_TEXT) == [])
    assert asked.tell('count("the")') > 0


def test_a_token_that_is_being_chosen(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, qtbot: QtBot
) -> None:
    assert asked.tell("rolls") == 0
    hold_reading()
    asked.session.writing.roll()
    assert asked.waits(*OF_WRITING) == [*OF_WRITING]
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_WRITING) == [])
    assert asked.tell("rolls") == 1


@pytest.mark.usefixtures("slow_places")
def test_a_network_whose_file_is_being_read(
    asked: Asked, gate: threading.Event, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "net.txt"
    asked.session.work.open_file(path, gate.wait, lambda _: None, pytest.fail)
    assert asked.waits(*OF_NETWORK, "feature") == [*OF_NETWORK, "feature"]
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_NETWORK, "feature") == [])


QUESTION = """# Own

## Look
open: prefix the cows eat
question: How likely is “corn”?
answer: probability("corn")
wrong: 2
reply: No.

Look.
"""


@pytest.mark.usefixtures("slow_places")
def test_the_last_weights_of_a_training_that_has_ended(
    session: Session,
    lstm_run: Path,
    tmp_path: Path,
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    """Its folder answers late: the step before the last is shown, and all of it has been read."""
    folder, look = shutil.copytree(lstm_run, tmp_path / "run"), library._look_into
    last = max((folder / "snapshots").iterdir())
    last.rename(tmp_path / last.name)
    live, asked, current = (
        LiveWeights(session.work, session.library, pytest.fail),
        Asked(session),
        session.lesson,
    )
    live.begin(folder)
    live.show_snapshots(folder)
    current.stand_in(asked.situation, lambda openings, _: session.reading.set_prefix("the cows eat"))
    current.open(read_lesson(QUESTION, (), "own"))
    qtbot.waitUntil(lambda: session.reading.current is not None and asked.waits(*OF_STEP, *OF_READING) == [])
    early = asked.tell('probability("corn")')
    current.answer(f"{early}")
    assert current.answered.verdict is True, "while it is trained, it is asked about what is shown"

    monkeypatch.setattr(library, "_look_into", lambda run: gate.wait() and look(run))
    (tmp_path / last.name).rename(last)
    live.show_snapshots(folder)
    assert asked.waits(*OF_STEP, *OF_READING) == [*OF_STEP, *OF_READING]
    for given in (f"{early}", "2"):
        current.answer(given)
        assert current.answered.verdict is None
        assert "newest weights are on their way" in current.answered.sentence
    gate.set()
    qtbot.waitUntil(lambda: asked.waits(*OF_STEP, *OF_READING) == [])
    assert asked.tell("step") == 6
    late = asked.tell('probability("corn")')
    assert late != early
    current.answer(f"{late}")
    assert current.answered.verdict is True


def test_what_the_step_has_opened_is_no_deed_however_late_it_comes(
    asked: Asked, hold_reading: Callable[[], None], gate: threading.Event, transformer_run: Path, qtbot: QtBot
) -> None:
    session, current = asked.session, asked.session.lesson
    task = "do: train it\nuntil: family is transformer\n"
    lesson = read_lesson(f"# Own\n\n## Look\nopen: model stories-gru\n{task}\nLook.\n", (), "own")
    hold_reading()
    current.stand_in(asked.situation, lambda openings, _: session.library.open(transformer_run))
    current.open(lesson)
    assert not current.is_settled
    gate.set()
    qtbot.waitUntil(lambda: asked.waits("family") == [] and current.is_settled)
    session.reading.changed.emit()
    assert asked.tell("family") == "transformer"
    assert current.tasks_done == 0
    current.note_use()
    assert current.tasks_done == 1
