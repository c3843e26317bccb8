"""What is planned is tried on the text, so that the time it takes is measured before it is promised."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import lmviz.api.training  # noqa: F401  # it keeps `begin_run`, and must not keep what stands in for that here
from lmviz.app.session import training_plan
from lmviz.app.session.session import Session
from lmviz.families import FAMILIES
from lmviz.runs import preparation
from lmviz.training import rehearsal
from lmviz.training.options import TrainingOptions
from lmviz.training.presets import steps_by_name
from lmviz.training.progress import Progress

LONG = 30_000
SMALL = {"batch": 2, "length": 8, "validate_every": 100}


@pytest.fixture
def ready(session: Session, text_file: Path, qtbot: QtBot) -> Session:
    """A session with a text, in which a small GRU is planned."""
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.work.is_ready, timeout=LONG)
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=40_000, **SMALL))
    return session


def test_a_plan_is_tried_when_somebody_wants_to_know(ready: Session, qtbot: QtBot) -> None:
    plan = ready.plan
    assert plan.expected_seconds is None
    assert all(preset.seconds is None for preset in plan.presets)
    assert not plan.is_measuring
    plan.want_time()
    assert plan.is_measuring
    with qtbot.waitSignal(plan.timed, timeout=LONG):
        pass
    assert not plan.is_measuring
    assert plan.expected_seconds == pytest.approx(40_000 * plan.seconds_a_step)
    assert not list(ready.training.runs_folder.glob("*")), "nothing is written"
    assert ready.training.state.phase == "idle"


def test_presets_are_said_in_time_steps_and_passes(ready: Session, qtbot: QtBot) -> None:
    ready.plan.want_time()
    qtbot.waitUntil(lambda: ready.plan.seconds_a_step is not None, timeout=LONG)
    quick, good, thorough = ready.plan.presets
    assert (quick.name, good.name, thorough.name) == ("quick", "good", "thorough")
    tokens = len(ready.text.corpus.training)
    for preset in ready.plan.presets:
        assert preset.seconds == pytest.approx(preset.steps * ready.plan.seconds_a_step)
        assert preset.passes == pytest.approx(preset.steps * 2 * 8 / tokens)
    ready.plan.choose_preset("good")
    assert ready.plan.current.training_options.steps == good.steps
    assert ready.plan.expected_seconds == pytest.approx(good.seconds)


def test_presets_are_shorter_where_a_step_takes_long(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([0.24]))
    assert [preset.steps for preset in ready.plan.presets] == [None, None, None]
    ready.plan.want_time()
    qtbot.waitUntil(lambda: ready.plan.seconds_a_step is not None, timeout=LONG)
    assert [preset.steps for preset in ready.plan.presets] == [200, 800, 3_000]
    assert ready.plan.presets[0].seconds == pytest.approx(48)


def test_a_long_training_is_tried_in_bfloat16_too(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[str]()

    def pace(steps: Iterator[Progress], options: TrainingOptions) -> Iterator[float]:
        tried.append(options.precision)
        return iter([{"float32": 0.24, "bfloat16": 0.15}[options.precision]])

    monkeypatch.setattr("lmviz.training.devices.has_bfloat16", lambda device: True)
    monkeypatch.setattr(rehearsal, "measured_pace", pace)
    plan = ready.plan
    plan.choose_preset("quick")
    plan.want_time()
    qtbot.waitUntil(lambda: plan.seconds_a_step is not None, timeout=LONG)
    plan.want_time()
    assert not plan.is_measuring, "48 seconds are not worth the question"
    assert plan.speed_in_bfloat16 is None
    plan.choose_preset("good")
    plan.want_time()
    qtbot.waitUntil(lambda: plan.speed_in_bfloat16 is not None, timeout=LONG)
    assert plan.speed_in_bfloat16 == pytest.approx(1.6)
    assert tried == ["float32", "bfloat16"]
    plan.change(training_options=replace(plan.current.training_options, precision="bfloat16"))
    assert plan.seconds_a_step == 0.15, "it is known, and asked for no more"
    assert plan.speed_in_bfloat16 is None


def test_a_processor_without_bfloat16_is_no_faster_in_it_and_is_asked_once(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([0.24]))
    monkeypatch.setattr("lmviz.training.devices.has_bfloat16", lambda device: False)
    plan = ready.plan
    plan.choose_preset("good")
    plan.want_time()
    qtbot.waitUntil(lambda: plan.seconds_a_step is not None, timeout=LONG)
    plan.want_time()
    assert plan.is_measuring
    qtbot.waitUntil(lambda: not plan.is_measuring, timeout=LONG)
    plan.want_time()
    assert not plan.is_measuring
    assert plan.speed_in_bfloat16 is None


def test_a_preset_becomes_a_number_once_on_each_text_and_stays_it(
    ready: Session, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces = iter([0.24, 0.12, 2.4, 0.024])
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([next(paces)]))
    plan = ready.plan
    plan.choose_preset("good")
    assert not plan.knows_steps

    def measure() -> None:
        plan.want_time()
        qtbot.waitUntil(lambda: plan.seconds_a_step is not None, timeout=LONG)

    measure()
    assert plan.current.training_options.steps == 800, "as many as it has where a step takes so long"
    assert plan.knows_steps
    with qtbot.waitSignal(ready.text.changed, timeout=LONG):
        ready.text.open(text_file, documents="line", tokenizer="characters")
    assert not plan.knows_steps, "on this text it is not known yet"
    measure()
    assert plan.current.training_options.steps == 2_000
    assert plan.knows_steps
    plan.change(FAMILIES["gru"].configuration(width=12))
    measure()
    assert plan.current.training_options.steps == 2_000, "the number is one that was shown"
    assert [preset.steps for preset in plan.presets] == [100, 400, 1_500]
    plan.choose_family("rnn")
    assert plan.knows_steps
    measure()
    assert plan.current.training_options.steps == 2_000


def test_a_number_that_was_chosen_stays(
    ready: Session, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([0.24]))
    plan = ready.plan
    plan.change(training_options=replace(plan.current.training_options, steps=300))
    plan.want_time()
    qtbot.waitUntil(lambda: plan.seconds_a_step is not None, timeout=LONG)
    with qtbot.waitSignal(ready.text.changed, timeout=LONG):
        ready.text.open(text_file, documents="line", tokenizer="characters")
    assert plan.current.training_options.steps == 300
    assert plan.knows_steps


def test_before_anybody_chooses_the_quick_preset_is_planned(
    session: Session, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([0.24]))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: session.work.is_ready, timeout=LONG)
    assert not session.plan.knows_steps
    session.plan.want_time()
    qtbot.waitUntil(lambda: session.plan.seconds_a_step is not None, timeout=LONG)
    assert session.plan.current.training_options.steps == 200
    assert session.plan.knows_steps


@pytest.mark.slow
def test_a_training_that_is_begun_before_its_pace_is_known_takes_the_steps_that_follow_from_it(
    session: Session, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "measured_pace", lambda *_: iter([0.24]))
    session.plan.choose_family("gru")
    session.text.open(text_file, documents="line")
    session.training.start()
    assert session.training.state.phase == "preparing"
    qtbot.waitUntil(lambda: session.training.state.progress is not None, timeout=LONG)
    assert session.training.state.progress.steps == 200
    session.training.stop()
    qtbot.waitUntil(lambda: not session.training.state.is_active, timeout=LONG)


def test_a_training_that_waits_for_its_pace_is_given_up_by_stop(
    session: Session, text_file: Path, gate: threading.Event, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*_: object) -> Iterator[float]:
        gate.wait()
        yield 0.24

    monkeypatch.setattr(rehearsal, "measured_pace", wait)
    session.plan.choose_family("gru")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    session.training.start()
    qtbot.waitUntil(lambda: session.plan.is_measuring)
    session.training.stop()
    assert session.training.state.phase == "idle"
    gate.set()
    qtbot.waitUntil(lambda: session.plan.seconds_a_step is not None)
    assert session.training.state.phase == "idle"
    assert not list(session.training.runs_folder.glob("*"))


def test_a_training_does_not_wait_for_a_text_that_is_only_offered(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    guessed = tmp_path / "guessed.txt"
    guessed.write_bytes("le café est très chaud\n".encode("latin-1") * 20)
    session.text.open(guessed)
    session.training.start()
    qtbot.waitUntil(lambda: session.text.offer is not None)
    assert session.training.state.phase == "idle"


@pytest.mark.parametrize(
    ("pace", "quick"), [(None, 2_000), (0.001, 2_000), (0.03, 2_000), (0.04, 1_000), (0.2, 300), (60.0, 100)]
)
def test_the_quick_preset_takes_a_minute_at_most(pace: float | None, quick: int) -> None:
    assert steps_by_name(pace) == {"quick": quick, "good": 4 * quick, "thorough": 15 * quick}


@pytest.mark.slow
def test_passes_over_examples_are_counted_in_examples(ready: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(ready.text.changed, timeout=LONG):
        ready.text.open("four-sentences")
    ready.plan.set("gru", FAMILIES["gru"].configuration(width=4), ready.plan.current.training_options)
    assert ready.plan.task == "tagging"
    ready.plan.want_time()
    qtbot.waitUntil(lambda: ready.plan.seconds_a_step is not None, timeout=LONG)
    for preset in ready.plan.presets:
        assert preset.passes == pytest.approx(preset.steps * 2 / 4)


@pytest.mark.slow
def test_what_is_changed_meanwhile_is_tried_instead(ready: Session, qtbot: QtBot) -> None:
    ready.plan.want_time()
    qtbot.waitUntil(lambda: ready.plan.is_measuring, timeout=LONG)
    wider = FAMILIES["gru"].configuration(width=12)
    ready.plan.set("gru", wider, ready.plan.current.training_options)
    ready.plan.want_time()
    qtbot.waitUntil(lambda: ready.plan.seconds_a_step is not None, timeout=LONG)
    assert ready.plan.current.configuration == wider


@pytest.mark.slow
def test_a_training_does_not_share_its_random_numbers_with_a_trial(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.plan.change(training_options=replace(ready.plan.current.training_options, steps=3))
    begun: list[bool] = []
    begin, rehearse, wanted = preparation.begin_run, preparation.rehearse, threading.Event()

    def try_slowly(*arguments: object, **further: object) -> object:
        wanted.wait()  # or the trial may be over before it is seen
        return rehearse(*arguments, **further)

    monkeypatch.setattr(preparation, "rehearse", try_slowly)
    monkeypatch.setattr(training_plan, "SETTLING", 0)
    ready.plan.want_time()
    qtbot.waitUntil(lambda: any(thread.name == "timing" for thread in threading.enumerate()), timeout=LONG)
    trials = [thread for thread in threading.enumerate() if thread.name == "timing"]

    def watch(*arguments: object) -> object:
        begun.append(any(trial.is_alive() for trial in trials))
        return begin(*arguments)

    monkeypatch.setattr(preparation, "begin_run", watch)
    ready.training.start()
    wanted.set()
    qtbot.waitUntil(lambda: ready.training.state.phase == "finished", timeout=LONG)
    assert begun == [False]


def test_a_text_that_is_counted_has_no_presets(ready: Session) -> None:
    ready.plan.set("ngram", FAMILIES["ngram"].configuration(), TrainingOptions())
    assert ready.plan.presets == ()
    ready.plan.want_time()
    assert not ready.plan.is_measuring


def test_what_would_take_too_long_is_not_tried(ready: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_plan, "LARGEST_STEP", 100)
    ready.plan.want_time()
    assert not ready.plan.is_measuring


def test_what_cannot_be_trained_is_not_promised(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(preparation, "rehearse", fail)
    ready.plan.want_time()
    with qtbot.waitSignal(ready.plan.timed, timeout=LONG):
        pass
    assert ready.plan.expected_seconds is None
    ready.plan.want_time()
    assert not ready.plan.is_measuring, "it is not tried again and again"
