"""Nothing fails unsaid: each question and each job is broken in turn, and the sentence read on the screen."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from covering import others_slow
from foreign_tokenizers import chat_folder
from names_asked_under import names_asked_under
from PySide6.QtCore import QMetaMethod
from pytestqt.exceptions import TimeoutError as WaitedTooLong
from pytestqt.qtbot import QtBot
from questions_and_jobs import ROWS
from window_scene import NOTICE, Scene

import lmviz.app
from lmviz.api import training as api
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.attention import heads
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.part import Part
from lmviz.app.session.session import Session
from lmviz.app.session.work import Work
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import Entry
from lmviz.text.corpus import load_corpus


class Bare(Panel):
    """A panel that shows nothing but what failed."""

    def refresh(self) -> None:
        """Nothing is drawn."""


class Breaking:
    """Lets the work of one question or job fail, by the beginning of its name."""

    def __init__(self) -> None:
        self.times = 0
        """How often the broken work was done."""
        self._broken: tuple[str, str] | None = None

    @contextmanager
    def broken(self, name: str, sentence: str) -> Iterator[None]:
        self._broken, self.times = (name, sentence), 0
        try:
            yield
        finally:
            self._broken = None

    def instead_of(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        if self._broken is None or not name.startswith(self._broken[0]):
            return work
        sentence = self._broken[1]

        def fail(*arguments: object) -> None:
            self.times += 1
            raise LmvizError(sentence)

        return fail


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    """Where what is asked and started from now on can be broken."""
    found, ask, start_job = Breaking(), Work.ask, Work.start_job

    def ask_or_fail(self: Work, key: str, work: Callable[[], Any], *ends: Any) -> None:
        ask(self, key, found.instead_of(key, work), *ends)

    def start_or_fail(self: Work, name: str, work: Callable[..., Any], *ends: Any) -> Any:
        return start_job(self, name, found.instead_of(name, work), *ends)

    monkeypatch.setattr(Work, "ask", ask_or_fail)
    monkeypatch.setattr(Work, "start_job", start_or_fail)
    return found


@pytest.fixture(scope="session")
def runs(
    make_run: Callable[..., Path],
    lstm_run: Path,
    transformer_run: Path,
    translator_run: Path,
    attending_run: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """A run of each family that is opened here."""
    made = {"lstm": lstm_run, "transformer": transformer_run}
    made |= {"translator": attending_run, "other translator": translator_run}
    small = {"ngram": make_run("ngram", 2), "window": make_run("window", 2, width=6)}
    small |= {"repeater": api.find_run("echo-transformer")}
    small |= {"tuned": _tuned(transformer_run, tmp_path_factory)}
    return made | small | {"gru": make_run("gru", 2, width=6), "classifier": _classifier(tmp_path_factory)}


def _tuned(base: Path, folders: pytest.TempPathFactory) -> Path:
    """A run that began with another, and learned a text by an adapter."""
    folder = folders.mktemp("tuned")
    (folder / "text.txt").write_text("the cows eat corn\n" * 30, encoding="utf-8")
    shutil.copytree(base, folder / "base")  # a run that names a model elsewhere is asked about
    api.train(
        start=folder / "base",
        corpus=folder / "text.txt",
        out=folder / "run",
        adapter="lora",
        steps=2,
        batch=2,
    )
    return folder / "run"


def _classifier(folders: pytest.TempPathFactory) -> Path:
    """A run of an LSTM that tells two kinds of sentences apart."""
    folder = folders.mktemp("classifier")
    lines = ["good\tthe cows eat grass", "bad\tthe dog sees the hens"] * 8
    (folder / "labelled.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus = load_corpus(folder / "labelled.tsv", task="classification", columns="label=1,text=2")
    api.train("lstm", corpus, folder / "run", steps=2, batch=2, validate_every=0, width=8)
    return folder / "run"


OPENED = {
    "corpus": (),
    "inside n-gram": ("ngram",),
    "inside window": ("window",),
    "train tuned": ("tuned",),
    "inside transformer": ("transformer",),
    "inside classifier": ("classifier",),
    "attention": ("transformer",),
    "attention translator": ("translator",),
    "circuits transformer": ("transformer",),
    "circuits repeater": ("repeater",),
    "features": ("transformer",),
    "sample chat": ("chat",),
    "compare classifier": ("classifier",),
    "compare": ("transformer", "lstm"),
    "compare translators": ("other translator", "translator"),
}
"""The models of a scene: of a perspective alone the LSTM, where it is not said otherwise."""


@pytest.fixture
def scene(
    breaking: Breaking,
    window: MainWindow,
    session: Session,
    text_file: Path,
    runs: dict[str, Path],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    qtbot: QtBot,
) -> Scene:
    """The window at a perspective, with a text, a prefix and the models that it takes."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("lmviz.app.panels.corpus.texts.download", lambda entry, report: None)
    monkeypatch.setattr(heads, "AT_ONCE", 0)  # these models are small
    entry = Entry("play", "A play", "A test.", 100, "none", "0" * 64, address="http://127.0.0.1/play")
    for module in ("lmviz.text.catalogue", "lmviz.app.panels.corpus.texts"):
        monkeypatch.setattr(f"{module}.CATALOGUE", (entry,))
    made = Scene(window, session, qtbot, text_file, runs)
    window.show_perspective(request.param.split()[0])
    made.open_text()
    opened = OPENED[request.param] if " " in request.param else OPENED.get(request.param, ("lstm",))
    if "chat" in opened:
        pytest.importorskip("transformers")
        made.runs = runs | {"chat": chat_folder(tmp_path / "chat")}
    for family in opened:
        made.open_model(family)
    made.type()
    if opened:
        made.settle()
    if len(opened) > 1:
        session.comparison.choose([(session.library.models[0], 2)])
    return made


SCENES = tuple(dict.fromkeys(row.perspective for row in ROWS))
QUICK = ("train",)


def comes_to_rest(scene: Scene, breaking: Breaking) -> bool:
    """Whether the broken work is not done any more, once all that follows from the act has been answered."""
    calm = 0
    for _ in range(20):  # a busy machine answers late what depends on another answer
        before = breaking.times
        scene.let_everything_be_answered()
        calm = calm + 1 if breaking.times == before else 0
        if calm == 3:
            return True
    return False


@pytest.mark.parametrize("scene", others_slow(SCENES, *QUICK), indirect=True, ids=str)
def test_what_fails_is_said_where_it_was_asked_until_it_is_answered(
    scene: Scene, breaking: Breaking, request: pytest.FixtureRequest
) -> None:
    shown = request.node.callspec.params["scene"]
    for row in ROWS:
        if row.perspective != shown:
            continue
        sentence = f"What is asked as “{row.name}” was broken by a test."
        scene.show(row.place)
        try:
            with breaking.broken(row.name, sentence):
                row.act(scene)
                scene.wait(lambda row=row, sentence=sentence: scene.says(row.place, sentence))
                if row.name != "live":  # which is asked anew twice a second, with newer weights each time
                    assert comes_to_rest(scene, breaking), f"“{row.name}” is asked again and again"
                    assert scene.says(row.place, sentence), f"what failed of “{row.name}” is lost"
        except WaitedTooLong:
            pytest.fail(
                f"a failure of “{row.name}”, asked {breaking.times} times, is not said in {row.place}, "
                f"which says: {scene.read(row.place)}"
            )
        try:
            row.act(scene)
            scene.wait(lambda row=row, sentence=sentence: not scene.says(row.place, sentence))
        except WaitedTooLong:
            pytest.fail(f"{row.place} still says that “{row.name}” failed, once it was answered")


def test_without_torch_the_window_says_so(
    breaking: Breaking, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    sentence = "torch could not be loaded, says a test."
    with breaking.broken("torch", sentence):
        session = Session(tmp_path / "runs")
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.show()
    session.start()
    scene = Scene(window, session, qtbot, tmp_path, {})
    scene.wait(lambda: scene.says(NOTICE, sentence))
    assert not session.work.is_ready


@pytest.mark.parametrize("perspective", others_slow([row.name for row in shown_perspectives()], "attention"))
@pytest.mark.parametrize("with_model", others_slow([False, True], True))
def test_every_panel_has_a_place_for_what_it_complains_about(
    window: MainWindow, read: Session, perspective: str, with_model: bool, qtbot: QtBot
) -> None:
    if not with_model:
        read.library.close(read.library.model)
    window.show_perspective(perspective)
    scene = Scene(window, read, qtbot, Path(), {})
    for panel in window.perspective.panels:
        scene.show(panel.objectName())
        panel.catch_up()
        panel.complain("It cannot be written.", "export")
        assert scene.says(panel.objectName(), "It cannot be written."), panel.objectName()
        panel.complain("", "export")
        assert not scene.says(panel.objectName(), "It cannot be written."), panel.objectName()


def signals_without_arguments(part: Part) -> set[str]:
    kind = part.metaObject()
    methods = [
        kind.method(place) for place in range(Part.staticMetaObject.methodOffset(), kind.methodCount())
    ]
    signals = [each for each in methods if each.methodType() == QMetaMethod.MethodType.Signal]
    return {each.name().toStdString() for each in signals if not each.parameterCount()}


def test_nothing_but_a_new_beginning_takes_away_what_a_part_says_failed(session: Session) -> None:
    for name in dir(session):  # most parts are made when they are first asked for
        if not name.startswith("_"):
            getattr(session, name)
    parts = [part for part in session.findChildren(Part) if not isinstance(part, Work)]
    assert len(parts) > 30, len(parts)
    for part in parts:
        panel = Bare(session)
        panel.show_failures(part)
        part.failed.emit("It failed.")
        for name in signals_without_arguments(part) - {"begun"}:
            getattr(part, name).emit()
        assert panel.complaint == "It failed.", type(part).__name__
        part.begun.emit()
        assert panel.complaint == "", type(part).__name__
        panel.deleteLater()


def test_a_part_that_asks_or_starts_a_job_says_that_it_begins(session: Session, qtbot: QtBot) -> None:
    def fail(*_: object) -> None:
        raise LmvizError("It failed.")

    work, part = session.work, Part(session)
    session.start()
    starts = [
        lambda: work.ask("made up", fail, fail, part),
        lambda: work.start_job("Made up", fail, fail, part),
    ]
    for start in starts:
        with qtbot.waitSignal(part.failed) as caught, qtbot.waitSignal(part.begun, timeout=1):
            start()
        assert caught.args == ["It failed."]


def test_who_asks_is_the_part_and_not_its_signal() -> None:
    """Given alone, `failed` would be said without `begun`, and what failed before would stay."""
    sources = Path(lmviz.app.__file__).parent.rglob("*.py")
    alone = [path.name for path in sources if re.search(r"self\.failed\.emit[,)]", path.read_text("utf-8"))]
    assert alone == ["training.py"], "which gives it to what asks nothing"


def test_the_table_has_every_question_and_every_job() -> None:
    unasked = {"torch", "text read ahead"}  # of which nothing is said before somebody opens the text
    elsewhere = {"chat", "Opening "}  # broken in tests/app/window/test_chat.py and test_slow_folders.py
    elsewhere |= {"look again ", "look into ", "snapshots of ", "features of "}  # in a folder that may have
    elsewhere |= {
        "curves of ",
        "text of ",
        "fork of ",
        "race in ",
        "rename ",
    }  # gone: what is known stays (test_slow_folders.py)
    elsewhere |= {"readings", "scene to come"}  # a dialog of files, and what is only got ready
    elsewhere |= {"features plan", "Finding features", "Trying another seed"}  # test_find_features.py
    unasked |= elsewhere
    assert names_asked_under() == {*unasked, *(row.name for row in ROWS)}


def test_a_scene_that_names_more_than_a_perspective_names_its_models() -> None:
    assert {scene for scene in SCENES if " " in scene} <= set(OPENED)
