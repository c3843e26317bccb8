"""What lessons, lectures and scenes set out of sight is given back when they are left."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.opening import lesson_openings, scenes
from lmviz.app.session.lending import Lending, Lent
from lmviz.app.session.permission import Limits
from lmviz.app.session.session import Session
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.options import SamplingOptions
from lmviz.desktop.scene import Scene, SceneModel, save_scene
from lmviz.families import FAMILIES
from lmviz.lessons.openings import OPENINGS
from lmviz.lessons.reading import read_lesson
from lmviz.training.options import TrainingOptions

STEPS = """# Borrowing

## One
perspective: train
open: text stories
open: plan transformer layers=1 heads=1 width=8 context=8 length=8 batch=2 steps=3
open: race learning_rate=0.1,0.2
open: seed 7
open: model stories-transformer
open: beside stories-gru

Look.

## Two
open: plan gru width=8 steps=5

Look again.
"""
ONLY_PANELS = ("plan",)


def everything(session: Session) -> dict[str, object]:
    """All that can be borrowed, as it is now."""
    return {
        "plan": session.plan.current,
        "race": [lane.name for lane in session.race.lanes],
        "sampling": session.writing.sampling,
        "comparison": session.comparison.chosen,
        "gradients": session.gradients.is_shown,
        "spelling": any(model.spells_out for model in session.library.models),
    }


def test_every_kind_of_opening_and_field_is_given_back_or_stays_in_sight(session: Session) -> None:
    assert {*lesson_openings.LENT, *lesson_openings.STAYS} == set(OPENINGS)
    assert {*scenes.LENT, *scenes.STAYS} == {each.name for each in fields(Scene)}
    lent = {*lesson_openings.LENT.values(), *scenes.LENT.values()}
    assert lent == set(session.lending.things) == set(everything(session))


@pytest.fixture
def own(window: MainWindow, session: Session, text_file: Path, qtbot: QtBot) -> Session:
    """A session with a text, a plan, lanes that wait, and a die of its own."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=12), TrainingOptions(steps=77, length=8))
    session.race.add({"batch": [3, 4]})
    session.writing.set_sampling(temperature=0.75)
    return session


def test_a_lesson_gives_back_all_that_it_set(window: MainWindow, own: Session, qtbot: QtBot) -> None:
    before = everything(own)
    own.lesson.open(read_lesson(STEPS, perspective_names(), "borrowing"))
    qtbot.waitUntil(lambda: bool(own.comparison.chosen))
    assert [name for name, value in everything(own).items() if value == before[name]] == [
        "gradients",
        "spelling",
    ]
    own.lesson.go_on()
    assert own.plan.current.family == "gru"
    own.lesson.go_on()  # it is over
    assert everything(own) == before
    assert own.plan.current.training_options.steps == 77


@pytest.mark.slow
def test_another_lesson_gives_back_what_the_one_before_set(own: Session, window: MainWindow) -> None:
    before = own.plan.current
    own.lesson.open(read_lesson(STEPS, perspective_names(), "borrowing"))
    own.lesson.open(read_lesson("# Other\n\n## One\n\nRead.\n", perspective_names(), "other"))
    assert own.plan.current == before


@pytest.mark.slow
def test_a_training_of_a_lesson_is_as_planned_there_also_when_it_is_left_at_once(
    window: MainWindow, own: Session, qtbot: QtBot
) -> None:
    before = own.plan.current
    text = STEPS.replace("open: text stories\n", "").replace("open: race learning_rate=0.1,0.2\n", "")
    own.lesson.open(read_lesson(text, perspective_names(), "borrowing"))
    own.training.start()
    own.lesson.leave()
    qtbot.waitUntil(lambda: own.training.state.phase == "finished")
    own.training.close()
    assert own.library.model is not None
    assert own.training.state.family == "transformer"
    assert own.training.state.progress.steps == 3
    assert own.plan.current == before


@pytest.fixture
def scene(tmp_path: Path, transformer_run: Path) -> Path:
    path = tmp_path / "one.lmviz"
    save_scene(
        Scene(
            "attention",
            models=(SceneModel(path=str(transformer_run)), SceneModel(path=str(transformer_run), step=1)),
            compared=(True,),
            prefix="the cows eat",
            shows_gradients=True,
            spells_out=True,
            sampling=SamplingOptions(temperature=0.25, seed=3, seed_locked=True),
        ),
        path,
    )
    return path


def test_a_scene_gives_back_all_that_it_set(
    window: MainWindow, own: Session, scene: Path, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    before = everything(own)
    own.permission.limits = lambda: Limits(Path("/"), frozenset())
    with qtbot.waitSignal(window.scenes.shown):
        window.scenes.open(scene)
    assert own.gradients.is_shown
    assert all(model.spells_out for model in own.library.models)
    assert own.writing.sampling.temperature == 0.25
    assert own.comparison.chosen
    own.library.open(make_run("gru", 2, width=8))
    qtbot.waitUntil(lambda: own.library.model.family == "gru")
    assert everything(own) == before


@pytest.mark.slow
def test_what_a_person_changes_in_a_scene_stays(
    window: MainWindow, own: Session, scene: Path, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    own.permission.limits = lambda: Limits(Path("/"), frozenset())
    with qtbot.waitSignal(window.scenes.shown):
        window.scenes.open(scene)
    own.writing.set_sampling(temperature=2.0)
    own.library.open(make_run("gru", 2, width=8))
    qtbot.waitUntil(lambda: own.library.model.family == "gru")
    assert own.writing.sampling.temperature == 2.0
    assert not own.gradients.is_shown


def test_the_value_before_the_first_borrower_comes_back_after_the_last() -> None:
    values = {"form": 1}
    lending = Lending({"form": Lent(lambda: values["form"], lambda kept: values.update(form=kept))})
    for borrower, value in (("lecture", 2), ("lesson", 3)):
        lending.borrow(["form"], borrower)
        values["form"] = value
    lending.give_back("lecture")
    assert values["form"] == 3
    lending.give_back("lesson")
    assert values["form"] == 1
