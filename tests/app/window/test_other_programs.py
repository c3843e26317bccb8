"""Checkpoints of other programs are opened in the window, and models saved for them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from foreign_models import add_tokenizer, saved
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.window.download_dialog import DownloadDialog
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.runs.opening import find_model
from tests.app.conftest import wait_for_reading
from tests.interchange.test_adapter import write_adapter


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small Llama whose tokens are w1 to w49."""
    return add_tokenizer(saved("llama", tmp_path / "small llama"))


@pytest.fixture
def choose(window: MainWindow) -> Callable[[str], None]:
    """Choose a command of the menus."""

    def trigger(name: str) -> None:
        [action] = [action for action in window.commands.all() if action.text() == name]
        action.trigger()

    return trigger


@pytest.mark.slow
@pytest.mark.parametrize("way", others_slow(["menu", "folder", "file"], "menu"))
def test_a_checkpoint_is_read_and_looked_into(
    way: str,
    folder: Path,
    window: MainWindow,
    session: Session,
    choose: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.library.model_changed):
        if way == "menu":
            answered = (str(folder / "model.safetensors"), "")
            monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: answered)
            choose("Open a checkpoint of another program…")
        else:
            window.open_paths([folder if way == "folder" else folder / "config.json"])
    model = session.library.model
    assert (model.name, model.family, model.snapshots) == ("small llama", "transformer", (0,))
    assert not window.transport.time.live_button.isVisibleTo(window)
    session.reading.set_prefix("w3 w4 w5")
    qtbot.waitUntil(
        lambda: session.reading.current is not None and session.reading.current.trace.text == "w3 w4 w5"
    )
    for name in ("attention", "inside", "sample", "compare", "train"):
        window.show_perspective(name)
        QApplication.processEvents()
    assert session.reading.current.trace["layers/1/attention/key"].array.shape == (2, 3, 4)


@pytest.mark.slow
def test_where_there_are_no_curves_the_plots_say_why(
    folder: Path, lstm_run: Path, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    panels = [window.perspective.findChild(Panel, name) for name in ("loss_view", "over_time_view")]
    with qtbot.waitSignal(session.library.model_changed):
        window.open_paths([folder])
    for panel in panels:
        [card] = panel.findChildren(Card)
        beginning = "small llama was trained by another program"
        qtbot.waitUntil(lambda card=card, beginning=beginning: card.placeholder.startswith(beginning))
        assert not card.body.isVisible()
    window.open_paths([lstm_run])
    for panel in panels:
        [card] = panel.findChildren(Card)
        qtbot.waitUntil(lambda card=card: not card.placeholder and card.body.isVisible())


def test_the_shown_model_is_saved_for_transformers(
    folder: Path,
    window: MainWindow,
    session: Session,
    choose: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.library.model_changed):
        window.open_paths([folder])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "out"), ""))
    choose("Save the model for other programs…")
    qtbot.waitUntil(
        lambda: find_model(tmp_path / "out") is not None and (tmp_path / "out/config.json").exists()
    )
    assert lmviz.open_model(tmp_path / "out").configuration == lmviz.open_model(folder).configuration
    with qtbot.waitSignal(session.said) as refused:
        choose("Save the model for other programs…")
    assert "holds a checkpoint already" in refused.args[0]


@pytest.mark.slow
def test_an_ngram_is_saved_as_arpa_and_curves_for_tensorboard(
    make_run: Callable[..., Path],
    window: MainWindow,
    session: Session,
    choose: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    with qtbot.waitSignal(session.library.model_changed):
        window.open_paths([make_run("ngram", order=2)])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "counts"), ""))
    choose("Save the model for other programs…")
    qtbot.waitUntil((tmp_path / "counts.arpa").exists)
    choose("Save its curves for TensorBoard…")
    qtbot.waitUntil(lambda: any((tmp_path / "counts.tensorboard").glob("events.out.tfevents.*")))


def test_an_arpa_file_is_read_and_says_why_it_has_no_picture(
    make_run: Callable[..., Path], window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    lmviz.convert(make_run("ngram", order=2), tmp_path / "counts.arpa")
    with qtbot.waitSignal(session.library.model_changed):
        window.open_paths([tmp_path / "counts.arpa"])
    window.show_perspective("inside")
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: session.reading.current is not None and len(session.reading.current.trace) >= 2)
    [picture] = [panel for panel in window.perspective.panels if panel.objectName() == "picture_view"]
    qtbot.waitUntil(lambda: picture.page is None)
    assert any("no layers to draw" in label.text() for label in picture.findChildren(QLabel))


def test_a_model_is_downloaded_and_opened(
    folder: Path,
    window: MainWindow,
    session: Session,
    choose: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    def download(name: str, report: Callable[[float], None]) -> Path:
        report(0.5)
        if name != "someone/small":
            raise LmvizError(f"The hub has no model {name}.")
        return folder

    def ask_for(name: str, steps: str = "") -> None:
        choose("Download a model…")
        [dialog] = [each for each in window.findChildren(DownloadDialog) if each.isVisible()]
        button = dialog.findChild(QPushButton, "download_button")
        assert not button.isEnabled()
        dialog.findChild(QLineEdit, "download_name").setText(name)
        dialog.findChild(QLineEdit, "download_steps").setText(steps)
        button.click()

    monkeypatch.setattr("lmviz.interchange.hub.download_model", download)
    with qtbot.waitSignal(session.said) as refused:
        ask_for("someone/else")
    assert refused.args == ["The hub has no model someone/else."]
    with qtbot.waitSignal(session.library.model_changed):
        ask_for(" someone/small ")
    assert session.library.model.folder == folder
    with qtbot.waitSignal(session.said) as refused:
        ask_for("someone/small", "the first")
    assert "'the first' lists no steps" in refused.args[0]
    asked: list[object] = []
    monkeypatch.setattr(
        "lmviz.interchange.hub_steps.download_steps",
        lambda name, steps, report: asked.append((name, steps)) or folder,
    )
    ask_for("someone/small", "0, 1,2")
    ask_for("someone/small", "all")
    qtbot.waitUntil(lambda: asked == [("someone/small", [0, 1, 2]), ("someone/small", None)])


@pytest.mark.slow
def test_a_checkpoint_that_cannot_be_opened_says_so(
    folder: Path, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    (folder / "tokenizer.json").unlink()
    with qtbot.waitSignal(session.library.failed) as refused:
        window.open_paths([folder])
    assert "there is no tokenizer.json, nor vocab.json" in refused.args[0]


@pytest.mark.slow
def test_what_belongs_to_no_checkpoint_is_not_opened_as_a_text(
    folder: Path,
    session: Session,
    choose: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    (folder / "model.safetensors").unlink()
    opened: list[object] = []
    monkeypatch.setattr(session.text, "open", lambda *given, **_: opened.append(given))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(folder / "config.json"), ""))
    with qtbot.waitSignal(session.said) as refused:
        choose("Open a checkpoint of another program…")
    assert "belongs to no checkpoint" in refused.args[0]
    assert opened == []


@pytest.mark.slow
def test_the_base_of_an_adapter_can_be_chosen(
    tmp_path: Path,
    window: MainWindow,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    base, other = (add_tokenizer(saved(kind, tmp_path / "elsewhere" / kind)) for kind in ("llama", "gpt2"))
    (tmp_path / "here").mkdir()
    adapter = tmp_path / "here" / "adapter"
    write_adapter(adapter, "some/one", {"model.layers.0.self_attn.q_proj": (24, 24)})
    chosen = [str(other / "config.json"), str(base / "model.safetensors")]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (chosen.pop(0), ""))
    window.open_paths([adapter])
    qtbot.waitUntil(lambda: "neither beside it" in window.notice.sentence)
    button = window.notice.findChild(QPushButton)
    assert button.text() == "Choose its base…"
    button.click()
    qtbot.waitUntil(lambda: "fits nothing in its base" in window.notice.sentence)
    with qtbot.waitSignal(session.library.model_changed):
        button.click()
    assert session.library.model.name == "adapter"
    assert not chosen
    assert open_checkpoint(adapter).title.startswith("Llama"), "it is remembered"


@pytest.mark.slow
@pytest.mark.parametrize("perspective", ["train", "compare"])
def test_no_step_of_a_training_is_said_of_it(
    perspective: str,
    folder: Path,
    window: MainWindow,
    session: Session,
    qtbot: QtBot,
    drawn: Callable[[], None],
    answered: Callable[[], None],
) -> None:
    window.show_perspective(perspective)
    window.open_paths([folder])
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("w3 w4 w5")
    wait_for_reading(session, qtbot)
    drawn()
    answered()
    seen = [widget for widget in window.perspective.findChildren(QWidget) if widget.isVisible()]
    cards = [card for card in seen if isinstance(card, Card)]
    said = [text for card in cards for text in (card.title, card.aside)]
    said += [picker.currentText() for picker in seen if isinstance(picker, QComboBox)]
    assert "A sample" in said or "small llama" in said
    assert not [text for text in said if "step" in text]


@pytest.mark.slow
def test_the_checkpoints_of_a_training_open_as_one_run(
    tmp_path: Path, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    for step in (500, 1000):
        add_tokenizer(saved("llama", tmp_path / "out" / f"checkpoint-{step}"))
    said: list[str] = []
    session.said.connect(said.append)
    with qtbot.waitSignal(session.library.model_changed):
        window.open_paths([tmp_path / "out"])
    assert (session.library.model.name, session.library.model.snapshots) == ("out", (500, 1000))
    assert session.library.step == 1000
    assert said == []
    assert session.text.corpus is None


@pytest.mark.slow
def test_a_folder_of_models_says_which_there_are_and_is_no_text(
    tmp_path: Path, folder: Path, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    saved("gpt2", tmp_path / "another")
    (tmp_path / "README.md").write_text("Models that were trained.")
    with qtbot.waitSignal(session.said) as said:
        window.open_paths([tmp_path])
    assert said.args == [f"{tmp_path} holds 2 models (another, small llama): choose one of them."]
    assert session.text.corpus is None
    assert session.library.model is None
