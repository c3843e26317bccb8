"""What tests of the window stand on: no leaks, settings of their own, and a small run to look into."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest
import walker
from patience import patience
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lmviz.app.board.board import Board
from lmviz.app.look.theme import STYLE_ARGUMENTS, theme_switch
from lmviz.app.opening.settings import Settings
from lmviz.app.panels import table
from lmviz.app.panels.panel_row import PanelRow
from lmviz.app.panels.table import rows_of, shown_perspectives
from lmviz.app.session import work
from lmviz.app.session.session import Session
from lmviz.app.window import notice
from lmviz.app.window.main_window import MainWindow
from lmviz.app.workers import closing
from lmviz.app.workers.threads import BackgroundThread
from lmviz.base.counting import count_from
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling import machine
from lmviz.text.resources import data_folder
from lmviz.training import rehearsal
from lmviz.training.options import TrainingOptions

TEXT = "the cows eat grass\nthe hens eat corn\nthe dog sees the cows\nthe hens see the dog\n" * 30
CAPTIONS = "".join(f"{'.' * n}{'#' * (7 - n)}{('/' + '.' * 7) * 6}\t{n} dots in a line\n" for n in range(8))
PAIRS = "red car\tvoiture rouge\nblue car\tvoiture bleue\nred house\tmaison rouge\n" * 8
REVIEWS = "good\tthe film is good\nbad\tthe film is bad\ngood\tthe film is not bad\n" * 8
LONG = 20_000  # milliseconds: on a loaded machine what comes comes late, and that is no failure
GRACE = 2.0  # seconds for a thread that has been told to stop to come to its end
IMPORTING = ("typesetting",)  # threads that only import modules, and end by themselves
SMALLEST = "polls"  # the perspective with the fewest panels
NEVER = 10_000  # steps that no test waits for; with more, not every one is written down


def _patient(wait: Callable[..., Any]) -> Callable[..., Any]:
    """The same wait, by default for LONG, and for longer where the machine is busy."""

    @functools.wraps(wait)
    def waiting(self: QtBot, *given: Any, timeout: int = LONG, **settings: Any) -> Any:
        return wait(self, *given, timeout=round(timeout * patience()), **settings)

    return waiting


class _ImportsInThreads(MetaPathFinder):
    """Notes which modules that may define classes of Qt's another thread than the window's imports.

    PySide6 looks classes up without Python's lock: what Qt does meanwhile in the window's thread may crash.
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        of_qt = fullname.startswith(("lmviz.app", "pyqtgraph", "PySide6"))
        if of_qt and threading.current_thread() is not threading.main_thread():
            self.found.append(fullname)


_imports_in_threads = _ImportsInThreads()
sys.meta_path.insert(0, _imports_in_threads)


for _name in ("waitUntil", "waitSignal", "waitSignals"):
    setattr(QtBot, _name, _patient(getattr(QtBot, _name)))


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    """What pytest-qt makes the application with."""
    return [*STYLE_ARGUMENTS]


@pytest.fixture(autouse=True)
def _nothing_is_left(qapp: QCoreApplication) -> Iterator[None]:
    """Fail a test that leaves a thread or a timer running."""
    gc.collect()  # what pytest held of the test before until now
    gc.freeze()  # what was there before is none of this test's business, and collections stay quick
    before = set(threading.enumerate())
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    left = [*_threads_left(before), *_timers_left()]
    assert not left, f"left running: {left}"
    imported, _imports_in_threads.found = _imports_in_threads.found, []
    assert not imported, f"imported in another thread than the window's: {imported}"


@pytest.fixture(scope="session", autouse=True)
def _one_priority() -> Iterator[None]:
    """No thread has a lower priority: beside the threads of other tests it would get nearly nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "setpriority", lambda *_: None, raising=False)
        yield


@pytest.fixture(autouse=True)
def _patient_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a loaded machine a thread may take long to see that it should stop, and is not to be given up."""
    monkeypatch.setattr(closing, "LONGEST_WAIT", LONG / 1000 * patience())


@pytest.fixture(autouse=True)
def _patient_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a loaded machine a file is read late, and a test goes on once what it opens is there."""
    monkeypatch.setattr(work, "BRIEFLY", LONG / 1000 * patience())


def _threads_left(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads of lmviz that run and did not before; those that import, and share a process, may go on."""
    threads = [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, BackgroundThread) and thread not in before and thread.name not in IMPORTING
    ]
    for thread in threads:
        thread.join(GRACE * patience())
    return [thread for thread in threads if thread.is_alive()]


def _timers_left() -> list[QTimer]:
    # type() and not isinstance: some lazy modules import things when asked for their class
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), QTimer)]
    return [timer for timer in found if isValid(timer) and timer.isActive()]


@pytest.fixture(autouse=True)
def _machine_measured_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """How fast this machine is does not matter; each view of Train or Scale would train for a second."""
    monkeypatch.setattr(rehearsal, "LONGEST", 0.0)
    monkeypatch.setattr(machine, "LONGEST", 0.01)
    monkeypatch.setattr(machine, "MEASURED", TransformerConfiguration(layers=1, heads=1, width=8, context=8))


@pytest.fixture(autouse=True)
def _quick_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits until a person may have read a sentence."""
    monkeypatch.setattr(notice, "seconds_to_read", lambda sentence: 0.0)


@pytest.fixture(autouse=True)
def _same_look(qapp: QCoreApplication) -> None:
    """Every test begins light, at the usual scale and counting from 1, whatever the one before has left."""
    theme_switch().set_choice("light")
    theme_switch().set_type_size(100)
    theme_switch().set_projector(False)
    count_from(1)


@pytest.fixture(autouse=True)
def _pointer_in_the_corner(qapp: QCoreApplication) -> None:
    """Nothing moves for a test that points to where the pointer is already, since the test before."""
    if QCursor.pos() != QPoint():
        QCursor.setPos(QPoint())
        QCoreApplication.processEvents()


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds settings, answers or runs that another one has kept, but the texts that lmviz made."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for kept in data_folder().iterdir():
        if kept.is_dir() and kept.name != "corpora":
            shutil.rmtree(kept)
        elif kept.is_file():
            kept.unlink()


@pytest.fixture(scope="session")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of short lines."""
    path = tmp_path_factory.mktemp("texts") / "farm.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def options() -> TrainingOptions:
    """Small steps, and very many of them: tests stop them."""
    return TrainingOptions(steps=NEVER, batch=2, length=8, snapshots=12, validate_every=0)


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory, text_file: Path) -> Callable[..., Path]:
    """make_run("lstm", steps, **configuration): the folder of a small run."""
    from lmviz.text.corpus import load_corpus

    corpus = load_corpus(text_file, documents="line")

    def make(family: str, steps: int = 6, **settings: int) -> Path:
        from lmviz.api.training import train

        folder = tmp_path_factory.mktemp("runs") / family
        train(family, corpus, folder, steps=steps, batch=2, length=8, validate_every=0, **settings)
        return folder

    return make


@pytest.fixture(scope="session")
def lstm_run(make_run: Callable[..., Path]) -> Path:
    """A run of a small LSTM with several snapshots."""
    return make_run("lstm", 6, width=8)


@pytest.fixture(scope="session")
def transformer_run(make_run: Callable[..., Path]) -> Path:
    """A run of a small Transformer that sees eight positions."""
    return make_run("transformer", 2, width=8, heads=2, layers=1, context=8)


@pytest.fixture
def own_run(transformer_run: Path, tmp_path: Path) -> Path:
    """A copy of the same, for a test of what is kept beside a run."""
    return Path(shutil.copytree(transformer_run, tmp_path / "own run"))


@pytest.fixture(scope="session")
def make_translator(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """make_translator("gru", steps, **configuration): the folder of a small run that turns words round."""
    from lmviz.api.training import train
    from lmviz.text.corpus import load_corpus

    text = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    text.write_text("ab\tba\nabc\tcba\nca\tac\n" * 10, encoding="utf-8")
    corpus = load_corpus(text, tokenizer="characters", task="translation")

    def make(family: str = "gru", steps: int = 5, **settings: int | str) -> Path:
        folder = tmp_path_factory.mktemp("translators") / family
        return train(family, corpus, folder, steps=steps, batch=4, validate_every=0, **settings).folder

    return make


@pytest.fixture(scope="session")
def translator_run(make_translator: Callable[..., Path]) -> Path:
    """A run of a small GRU that translates, without attention."""
    return make_translator(width=6, attention="none")


@pytest.fixture(scope="session")
def captioner_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a small GRU that begins with a picture and writes its caption."""
    from lmviz.api.training import train
    from lmviz.text.catalogue import corpus_path
    from lmviz.text.corpus import load_corpus

    folder = tmp_path_factory.mktemp("captions")
    lines = corpus_path("pictures").read_text(encoding="utf-8").splitlines()
    (folder / "shapes.tsv").write_text("\n".join(lines[:60]) + "\n", encoding="utf-8")
    corpus = load_corpus(folder / "shapes.tsv")
    return train("gru", corpus, folder / "run", steps=5, batch=8, width=8, validate_every=0).folder


@pytest.fixture(scope="session")
def attending_run(make_translator: Callable[..., Path]) -> Path:
    """A run of a small GRU that looks at its source as it translates."""
    return make_translator(width=6, attention="dot")


@pytest.fixture(scope="session")
def heads_run(make_translator: Callable[..., Path]) -> Path:
    """A run of a small Transformer that translates, with two layers of two heads."""
    return make_translator("transformer", width=8, heads=2, layers=2, context=16)


@pytest.fixture(scope="session")
def label_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of a small tagger, classifier and translator that read both ways, and of a captioner."""
    from lmviz.api.training import train
    from lmviz.text.corpus import load_corpus

    folder = tmp_path_factory.mktemp("runs")
    corpora = {"tagger": load_corpus("four-sentences")}
    for name, text in (("classifier", REVIEWS), ("translator", PAIRS), ("captioner", CAPTIONS)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        corpora[name] = load_corpus(folder / f"{name}.txt")
    for name, corpus in corpora.items():
        train("gru", corpus, folder / name, steps=3, batch=2, width=6, direction="both", validate_every=2)
    return {name: folder / name for name in corpora}


@pytest.fixture
def session(tmp_path: Path, text_file: Path, qapp: QCoreApplication) -> Iterator[Session]:
    """A session at work that may read the text of the runs, closed after the test."""
    session = Session(tmp_path / "runs")
    session.permission.allow([str(text_file)])
    session.start()
    yield session
    session.close()
    session.deleteLater()  # its signals hold what panels connected to them, and so whole windows


@pytest.fixture
def gate() -> threading.Event:
    """Holds work in a thread back until it is set: at the latest when the test is over, see below."""
    return threading.Event()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """What a test holds back goes on before pytest-qt closes its window, which waits for its threads."""
    gate = getattr(item, "funcargs", {}).get("gate")
    if isinstance(gate, threading.Event):
        gate.set()
    return (yield)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that nothing was kept in yet."""
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def first_perspective(request: pytest.FixtureRequest) -> str:
    """Where the window begins: in the perspective whose panels are tested, or else in the one that is made
    soonest. A test that needs another says so."""
    folder = request.path.parent.name
    return folder if folder in {perspective.name for perspective in shown_perspectives()} else SMALLEST


@pytest.fixture(autouse=True)
def _only_panels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perspectives have only those panels that a module names in ONLY_PANELS, where it names one of them.

    Panels share the session and nothing else, so a test of one does not need the others.
    """
    names = set(getattr(request.module, "ONLY_PANELS", ()))
    if not names:
        return
    rows = {row.name: row for row in table.PANELS}
    assert names <= set(rows), f"no panels: {names - set(rows)}"
    chosen = {rows[name].perspective for name in names}
    left = tuple(row for row in table.PANELS if row.name in names or row.perspective not in chosen)
    monkeypatch.setattr(table, "PANELS", left)


@pytest.fixture
def window(session: Session, settings: Settings, first_perspective: str, qtbot: QtBot) -> MainWindow:
    """The window on the session, painted."""
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    window.show_perspective(first_perspective)
    with qtbot.waitSignal(window.painted):
        window.show()
    return window


@pytest.fixture
def nothing_outside(qapp: QApplication) -> Iterator[None]:
    """See tests/walker.py."""
    with walker.nothing_outside():
        yield


def missing_panels(window: MainWindow, *perspectives: str) -> list[PanelRow]:
    """The panels of some perspectives, or of all, that are still to be made, with their board or without."""
    boards = {board.name: board for board in window.findChildren(Board)}
    names = perspectives or [each.name for each in shown_perspectives()]
    return [row for name in names for row in (boards[name].missing if name in boards else rows_of(name))]


def wait_for_reading(session: Session, qtbot: QtBot) -> None:
    """Until what is read is what is typed: an earlier reading may still be on its way."""
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        ),
        timeout=20_000,
    )


def open_other_text(session: Session, path: Path, qtbot: QtBot) -> None:
    """Open another text, and wait until nothing keeps the one before, which may be large."""
    before = weakref.ref(session.text.corpus)

    def is_gone() -> bool:
        gc.collect()
        return before() is None

    session.text.open(path)
    qtbot.waitUntil(is_gone, timeout=20_000)


@pytest.fixture
def answered(session: Session, qtbot: QtBot) -> Callable[[], None]:
    """Call it to wait until the reading thread has done and answered all that it was asked so far."""

    def wait() -> None:
        done: list[None] = []
        session.work.ask("asked last", lambda: None, done.append, pytest.fail)
        qtbot.waitUntil(lambda: bool(done))

    return wait


@pytest.fixture
def drawn(window: MainWindow, session: Session, qtbot: QtBot) -> Callable[[], None]:
    """Call it to wait until what is read has been read and every panel in sight has drawn it, or says why
    it could not be answered."""

    def is_drawn() -> bool:
        seen = [panel for panel in window.perspective.panels if panel.is_in_sight]
        return not session.reading.is_busy and all(
            panel.is_up_to_date or (panel.awaits_answer and panel.complaint) for panel in seen
        )

    return lambda: qtbot.waitUntil(is_drawn)


@pytest.fixture
def read_pair(session: Session, qtbot: QtBot) -> Callable[..., Session]:
    """read_pair(run, source, text): the session with a translator open, when it has read both."""

    def read(run: Path, source: str = "abc", text: str = "cb") -> Session:
        session.library.open(run)
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder == run)
        session.reading.set_source(source)
        session.reading.set_prefix(text)
        wait_for_reading(session, qtbot)
        qtbot.waitUntil(lambda: not session.reading.is_busy)
        return session

    return read


@pytest.fixture
def read(session: Session, lstm_run: Path, qtbot: QtBot) -> Session:
    """The session with the small LSTM open and a prefix read."""
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=20_000)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    return session
