"""Scenes over the window: saved, handed on, opened by menu and drop; what is missing is said."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.opening.scenes import scene_of
from lmviz.app.opening.settings import Settings
from lmviz.app.session.network_focus import NetworkCell
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.desktop.scene import Scene, SceneModel, SceneNetwork, SceneText, open_scene, save_scene
from lmviz.inspection.interventions import scale_head
from lmviz.training.run import Run
from tests.app.conftest import wait_for_reading


@pytest.fixture
def lecture(tmp_path: Path, transformer_run: Path, lstm_run: Path, text_file: Path) -> Path:
    """A folder with all that a scene needs."""
    folder = tmp_path / "lecture"
    shutil.copytree(transformer_run, folder / "runs" / "transformer")
    shutil.copytree(lstm_run, folder / "runs" / "lstm")
    shutil.copy(text_file, folder / "farm.txt")
    return folder


def command(window: MainWindow, title: str) -> Callable[[], None]:
    return next(action for action in window.commands.all() if action.text() == title).trigger


def save(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(path), ""))
    command(window, "Save scene…")()


@pytest.fixture
def arranged(window: MainWindow, session: Session, lecture: Path, qtbot: QtBot) -> Session:
    """The window in the middle of a demonstration."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(lecture / "farm.txt", documents="line")
    for name in ("lstm", "transformer"):
        session.library.open(lecture / "runs" / name)
    qtbot.waitUntil(
        lambda: len(session.library.models) == 2 and session.library.model.family == "transformer"
    )
    session.library.choose_step(1)
    lstm = next(model for model in session.library.models if model.family == "lstm")
    session.comparison.choose([(lstm, lstm.snapshots[0])])
    window.show_perspective("inside")
    session.reading.set_prefix("the cows eat grass")
    session.attention.choose_head(0, 1)
    session.contrast.set_other("the hens eat grass")
    session.contrast.set_measure("logit:corn-grass")
    session.writing.set_sampling(temperature=0.5, seed=3, seed_locked=True)
    session.surgery.add(scale_head(0, 1, 0.25))
    wait_for_reading(session, qtbot)
    qtbot.waitUntil(lambda: not session.reading.is_busy and bool(session.reading.current.trace.interventions))
    session.focus.choose_position(1)
    session.focus.choose_stage(2)
    session.focus.choose_cell(("layers/0/attention/weights", (0, 1, 0)))
    return session


def what_is_shown(window: MainWindow) -> dict[str, object]:
    """What a person sees of a scene, whichever files it comes from."""
    session = window.session
    trace = session.reading.current.trace
    return {
        "scene": scene_of(session, window.perspective_name).to_bytes().count(b"transformer"),
        "perspective": window.perspective_name,
        "model": (session.library.model.family, session.library.step),
        "compared": [(model.family, step) for model, step in session.comparison.chosen],
        "text": session.text.corpus.fingerprint,
        "prefix": session.reading.prefix,
        "contrast": (session.contrast.other, session.contrast.measure),
        "focus": (session.focus.position, session.focus.stage, session.focus.cell),
        "head": session.attention.head,
        "surgery": (session.surgery.interventions, session.surgery.is_off),
        "sampling": session.writing.sampling,
        "probabilities": trace["probabilities"].array.tobytes(),
    }


def test_a_scene_is_put_on_again_in_another_place(
    window: MainWindow,
    arranged: Session,
    lecture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    save(window, lecture / "night", monkeypatch)  # the ending is added
    before = what_is_shown(window)
    assert before["focus"] == (1, 2, ("layers/0/attention/weights", (0, 1, 0)))
    names = json.loads((lecture / "night.lmviz").read_text(encoding="utf-8"))
    assert names["text"]["files"] == ["farm.txt"]
    assert [model["path"] for model in names["models"]] == ["runs/transformer", "runs/lstm"]
    elsewhere = tmp_path / "elsewhere"
    shutil.move(lecture, elsewhere)

    session = Session(tmp_path / "other runs")
    other = MainWindow(session, Settings(tmp_path / "other.json"))
    qtbot.addWidget(other)
    other.show()
    session.start()
    with qtbot.waitSignal(other.scenes.shown):
        other.open_paths([elsewhere / "night.lmviz"])
    qtbot.waitUntil(lambda: session.text.corpus is not None and not session.reading.is_busy)
    after = what_is_shown(other)
    assert after == before
    assert session.library.model.folder == elsewhere / "runs" / "transformer"
    session.close()


@pytest.mark.slow
def test_a_scene_holds_only_the_models_that_it_shows(
    arranged: Session, lecture: Path, window: MainWindow
) -> None:
    shown, (compared, _) = arranged.library.model, arranged.comparison.chosen[0]
    scene = scene_of(arranged, "compare").beside(lecture)
    assert [model.path for model in scene.models] == ["runs/transformer", "runs/lstm"]
    assert scene.compared == (True,)
    arranged.comparison.choose([])
    assert [model.path for model in scene_of(arranged, "compare").beside(lecture).models] == [
        "runs/transformer"
    ]
    arranged.library.choose(compared)
    arranged.comparison.choose([(shown, 1)])
    assert [model.step for model in scene_of(arranged, "compare").beside(lecture).models][1:] == [1]


@pytest.mark.slow
def test_a_model_beside_its_own_earlier_steps_is_put_on_again(
    window: MainWindow,
    arranged: Session,
    lecture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    shown, (other, _) = arranged.library.model, arranged.comparison.chosen[0]
    chosen = [(shown, 0), (other, 0), (other, other.snapshots[-1]), (shown, 1)]
    arranged.comparison.choose(chosen)
    save(window, lecture / "steps.lmviz", monkeypatch)
    for model in arranged.library.models:
        arranged.library.close(model)
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([lecture / "steps.lmviz"])
    assert arranged.library.shown_moment == (shown, 1)
    assert arranged.comparison.chosen == tuple(chosen[:-1])


def test_the_tabs_in_front_are_part_of_the_scene(
    window: MainWindow, arranged: Session, lecture: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def in_sight(name: str) -> bool:
        return any(panel.is_in_sight for panel in window.perspective.panels if panel.objectName() == name)

    window.perspective.bring_forward("positions_view")
    qtbot.waitUntil(lambda: in_sight("positions_view"))
    save(window, lecture / "positions.lmviz", monkeypatch)
    assert "positions_view" in open_scene(lecture / "positions.lmviz").in_front
    window.perspective.bring_forward("picture_view")
    qtbot.waitUntil(lambda: not in_sight("positions_view"))
    window.show_perspective("attention")
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([lecture / "positions.lmviz"])
    qtbot.waitUntil(lambda: in_sight("positions_view"))
    assert window.perspective_name == "inside"
    content = (lecture / "positions.lmviz").read_text(encoding="utf-8")
    (lecture / "strange.lmviz").write_text(
        content.replace("positions_view", "no_such_view"), encoding="utf-8"
    )
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([lecture / "strange.lmviz"])
    qtbot.waitUntil(
        lambda: not in_sight("positions_view")
    )  # one that is not known: as the perspective begins


def test_a_scene_is_opened_by_a_drop_and_by_the_menu(
    window: MainWindow, session: Session, lecture: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    first = Scene("sample", models=(SceneModel(path="runs/lstm", step=6),), prefix="the hens")
    second = Scene("compare", prefix="the dog")
    save_scene(first, lecture / "first.lmviz")
    save_scene(second, lecture / "second.lmviz")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(lecture / "first.lmviz"))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    with qtbot.waitSignal(window.scenes.shown):
        window.dropEvent(QDropEvent(QPointF(9, 9), copy, data, left, none))
    assert window.perspective_name == "sample"
    assert (session.library.model.family, session.reading.prefix) == ("lstm", "the hens")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (str(lecture / "second.lmviz"), ""))
    with qtbot.waitSignal(window.scenes.shown):
        command(window, "Open a scene…")()
    assert (window.perspective_name, session.reading.prefix) == ("compare", "the dog")
    assert window.settings.recent[0] == lecture / "second.lmviz"


@pytest.mark.slow
def test_a_sample_model_and_a_text_of_the_catalogue_are_known_by_name(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    scene = Scene(
        "attention",
        text=SceneText(catalogue="farm"),
        models=(SceneModel(sample="stories-rnn", step=10**6),),
        prefix="Maya put the stone",
    )
    path = save_scene(scene, tmp_path / "samples.lmviz")
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([path])
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    saved = scene_of(session, window.perspective_name).beside(tmp_path)
    assert saved.models[0] == SceneModel(sample="stories-rnn", step=session.library.model.snapshots[-1])
    assert saved.text.catalogue == "farm"


@pytest.mark.slow
def test_a_pasted_text_is_part_of_the_scene(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    from lmviz.text.corpus_options import CorpusOptions

    with qtbot.waitSignal(session.text.changed):
        session.text.paste("the cows eat grass\n" * 40, CorpusOptions())
    path = tmp_path / "pasted.lmviz"
    save(window, path, monkeypatch)
    with qtbot.waitSignal(session.text.changed):
        session.text.paste("something else entirely\n" * 40, CorpusOptions())
    with qtbot.waitSignal(session.text.changed):
        window.open_paths([path])
    assert session.text.corpus.content == b"the cows eat grass\n" * 40


def test_what_is_missing_is_said_and_the_rest_is_opened(
    window: MainWindow, session: Session, lecture: Path, qtbot: QtBot
) -> None:
    scene = Scene(
        "inside",
        text=SceneText(files=("gone.txt",)),
        models=(SceneModel(path="runs/lstm", step=2), SceneModel(path="runs/gone", step=1)),
        prefix="the cows",
    )
    said: list[str] = []
    session.said.connect(said.append)
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([save_scene(scene, lecture / "night.lmviz")])
    assert len(said) == 1
    assert "the model runs/gone" in said[0]
    assert "gone.txt" in said[0]
    assert session.library.model.family == "lstm"
    assert session.reading.prefix == "the cows"


@pytest.mark.slow
def test_a_scene_that_takes_long_says_so_and_can_be_stopped(
    window: MainWindow, session: Session, lecture: Path, gate: threading.Event, qtbot: QtBot
) -> None:
    """The reading thread may still be loading torch, or a large model."""
    session.work.ask("something long", gate.wait, lambda _: None, lambda _: None)
    scene = Scene("sample", models=(SceneModel(path="runs/lstm", step=6),), prefix="the hens")
    save_scene(scene, lecture / "long.lmviz")
    window.open_paths([lecture / "long.lmviz"])
    qtbot.waitUntil(lambda: window.notice.sentence == "long.lmviz is being opened…")
    with qtbot.waitSignal(window.scenes.shown):
        gate.set()
    assert window.notice.sentence == ""
    gate.clear()
    session.work.ask("something long", gate.wait, lambda _: None, lambda _: None)
    session.reading.set_prefix("the dog")
    scene = Scene("sample", models=(SceneModel(path="runs/transformer", step=6),), prefix="the hens")
    save_scene(scene, lecture / "long.lmviz")
    window.open_paths([lecture / "long.lmviz"])
    qtbot.waitUntil(lambda: window.notice.sentence == "long.lmviz is being opened…")
    stop = next(button for button in window.notice.findChildren(QPushButton) if button.text() == "Stop")
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    gate.set()
    qtbot.waitUntil(lambda: not session.work.is_busy(f"open {lecture / 'runs' / 'transformer'}"))
    assert session.reading.prefix == "the dog"
    assert window.notice.sentence == ""


@pytest.mark.slow
def test_a_scene_whose_surgery_its_model_does_not_allow_is_not_opened_for_ever(
    window: MainWindow, session: Session, lecture: Path, qtbot: QtBot
) -> None:
    scene = Scene(
        "inside",
        models=(SceneModel(path="runs/transformer", step=6),),
        prefix="the hens",
        surgery=(scale_head(0, 99, 0.5),),
    )
    save_scene(scene, lecture / "odd.lmviz")
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([lecture / "odd.lmviz"])
    assert window.notice.sentence.startswith("There is no head 99")


@pytest.mark.slow
@parametrize_few("content", [b"not JSON", b"{}", b"\xff\xfe"])
def test_a_file_that_is_no_scene_is_said_in_the_notice(
    window: MainWindow, tmp_path: Path, content: bytes, qtbot: QtBot
) -> None:
    path = tmp_path / "night.lmviz"
    path.write_bytes(content)
    window.open_paths([path])
    qtbot.waitUntil(lambda: "night.lmviz is not a scene" in window.notice.sentence)


def test_a_text_outside_the_scenes_folder_is_read_after_a_yes(
    window: MainWindow, session: Session, lecture: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody asked for this\n" * 30, encoding="utf-8")
    path = save_scene(Scene(text=SceneText(files=("../secret.txt",))), lecture / "night.lmviz")
    asked: list[Callable[[], None]] = []
    session.permission.asked.connect(lambda sentence, agree: asked.append(agree))
    window.open_paths([path])
    assert len(asked) == 1
    assert not session.work.jobs
    with qtbot.waitSignal(session.text.changed):
        asked[0]()
    assert session.text.corpus.sources == (str(secret),)


@pytest.mark.slow
def test_what_a_person_types_meanwhile_stays(
    window: MainWindow, session: Session, lecture: Path, qtbot: QtBot
) -> None:
    scene = Scene(models=(SceneModel(path="runs/lstm", step=6),), prefix="the hens see", position=0)
    path = save_scene(scene, lecture / "night.lmviz")
    session.reading.prefix_changed.connect(
        lambda: session.reading.set_prefix("the dog sees the hens"), Qt.ConnectionType.SingleShotConnection
    )
    window.open_paths([path])
    qtbot.waitUntil(lambda: session.library.model is not None and session.reading.prefix != "")
    wait_for_reading(session, qtbot)
    assert session.reading.prefix == "the dog sees the hens"
    assert not session.focus.is_position_pinned


@pytest.mark.slow
def test_a_scene_that_cannot_be_written_is_said(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    save(window, tmp_path / "file" / "night.lmviz", monkeypatch)
    qtbot.waitUntil(lambda: "cannot be written" in window.notice.sentence)
    save(window, tmp_path / "night.lmviz", monkeypatch)
    assert open_scene(tmp_path / "night.lmviz").perspective == window.perspective_name


@pytest.mark.slow
def test_a_network_of_autodiff_is_part_of_its_scene(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.show_perspective("autodiff")
    network, focus = session.network, session.network_focus
    network.open_shipped("diamond")
    network.choose_version("B")
    network.run_forward()
    network.pop()
    network.pop()
    network.choose_slip(True)
    focus.choose_cell(NetworkCell("v", (), True))
    text, tape = network.current.text, network.current.tape
    before = (text, tape.version, tape.pushed, tape.popped, focus.pinned)
    path = tmp_path / "diamond.lmviz"
    save(window, path, monkeypatch)
    network.open_shipped("summation")
    window.show_perspective("corpus")
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([path])
    tape = network.current.tape
    assert (network.current.text, tape.version, tape.pushed, tape.popped, focus.pinned) == before
    assert tape.popped == 2
    assert network.has_slip
    assert network.current["u"].begins_at == 1
    assert window.perspective_name == "autodiff"


@pytest.mark.slow
def test_a_network_that_cannot_be_read_is_said_where_it_is_written(
    window: MainWindow, session: Session, tmp_path: Path
) -> None:
    scene = Scene(
        "autodiff", network=SceneNetwork("a = nothing(3)\n", pushed=7, popped=9, cell=("gone", (4,)))
    )
    window.open_paths([save_scene(scene, tmp_path / "broken.lmviz")])
    assert session.network.faults
    assert session.network_focus.pinned is None


@pytest.mark.slow
def test_a_race_is_part_of_the_scene(
    window: MainWindow, session: Session, lecture: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.show_perspective("race")
    session.race.open(lecture / "runs")
    qtbot.waitUntil(lambda: len(session.library.models) == 2 and len(session.race.lanes) == 2)
    qtbot.waitUntil(lambda: len(session.comparison.chosen) == 1)
    session.library.choose_step(1)
    save(window, lecture / "race.lmviz", monkeypatch)
    assert open_scene(lecture / "race.lmviz").race == "runs"
    session.race.clear()
    for model in session.library.models:
        session.library.close(model)
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([lecture / "race.lmviz"])
    qtbot.waitUntil(lambda: len(session.race.lanes) == 2 and len(session.library.models) == 2)
    qtbot.waitUntil(lambda: all(map(session.race.opened, session.race.lanes)))
    assert (window.perspective_name, session.library.step) == ("race", 1)
    shutil.rmtree(lecture / "runs")
    window.open_paths([lecture / "race.lmviz"])
    qtbot.waitUntil(lambda: "the race runs" in window.notice.sentence)


@pytest.mark.slow
def test_a_name_that_no_file_can_have_is_missing(
    window: MainWindow, session: Session, lecture: Path, qtbot: QtBot
) -> None:
    scene = Scene("inside", models=(SceneModel(path=f"runs/{'9' * 3000}", step=6),), prefix="the hens")
    save_scene(scene, lecture / "long.lmviz")
    window.open_paths([lecture / "long.lmviz"])
    qtbot.waitUntil(lambda: window.notice.sentence.startswith("long.lmviz names the model runs/999"))


@pytest.mark.slow
@parametrize_few(
    ("side", "head", "expected"),
    [
        ("encoder", (1, 0), ("encoder", (1, 0))),
        ("decoder", (0, 1), ("decoder", (0, 1))),
        ("cross", (1, 1), ("cross", (1, 1))),
        ("nonsense", (1, 1), ("cross", None)),
        ("encoder", (9, 9), ("cross", None)),
    ],
)
def test_a_head_comes_back_on_the_side_that_it_is_of(
    window: MainWindow,
    session: Session,
    heads_run: Path,
    tmp_path: Path,
    side: str,
    head: tuple[int, int],
    expected: tuple[str, tuple[int, int] | None],
    qtbot: QtBot,
) -> None:
    shutil.copytree(heads_run, tmp_path / "run")
    model = SceneModel(path="run", step=Run.open(heads_run).snapshots()[-1])
    shown = {"models": (model,), "source": "a b c", "prefix": "c b", "head": head, "side": side}
    front = "alignment_view" if expected[0] == "cross" else "attention_view"
    scene = Scene("attention", in_front=(front,), **shown)
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([save_scene(scene, tmp_path / "heads.lmviz")])
    wait_for_reading(session, qtbot)
    first = session.attention.head
    assert (session.attention.side, first) == (expected[0], expected[1] or first)
    session.attention.choose_side("decoder")
    session.attention.choose_head(1, 1)
    saved = scene_of(session, "attention").beside(tmp_path)
    assert (saved.side, saved.head) == ("decoder", (1, 1))
    with qtbot.waitSignal(window.scenes.shown):
        window.open_paths([save_scene(scene, tmp_path / "again.lmviz")])
    if expected[1] is not None:
        assert (session.attention.side, session.attention.head) == expected
