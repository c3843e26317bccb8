"""Uses one window for long, like a person who cannot sit still, and notes what is left after each round.

A round is a number of things done in an order that the seed gives; after some rounds the same come again.
After each everything is closed, and what the process then holds is counted: it must not become more. What is
made only once, when it is first needed, is made before. Nothing else may be done in the process, so that
`use_for` starts one.
"""

from __future__ import annotations

import argparse
import ast
import ctypes
import gc
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where walker.py lies
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Where numpy has had a large array, Linux goes on making huge pages of what was given back, when it has time.
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")

if TYPE_CHECKING:
    from lmviz.app.window.main_window import MainWindow

ACTIONS = 150  # of a round
DIFFERENT = 8  # rounds; then the same are gone through again, so that what grows is what is not given back
LEAST = 3 * DIFFERENT  # rounds: two of each kind are judged, in which nothing is done for the first time
LONGEST = 300.0  # seconds until a window has come to rest on a busy machine
SURELY = 2.33  # standard deviations, which chance exceeds once in a hundred times
TEXTS = ("farm", "stories", "four-sentences", "ambiguous", "reviews", "twin", "pictures")
OF_ALL_KINDS = ("stories-5-gram", "reviews-lstm", "twin-gru-attention-short", "stories-transformer")
SMALL = (700, 500)  # pixels, where tabs and controls are put away into menus
LARGE = 200_000  # bytes, from which on a thing is named
NOTES = "held.jsonl"
STAYING = {
    "MainThread",
    "reading the model",
    "running what strangers wrote",
    "watching the window",
    "watching series of checkpoints",
}
KEPT_BY_PYSIDE = "PySide6.QtWidgets.QAccessibleWidget"  # each is empty when its widget has gone


@dataclass(frozen=True)
class Held:
    """What a process holds: bytes of memory of its own (pages of files come and go as Linux likes), those of
    them that glibc has handed out (None with another library), objects that Python's collector knows, objects
    of Qt's and the wrappers that PySide has made of these, threads and open files; `kinds`: how many of each
    type or class.

    Points, colours and other values of Qt's are among Python's objects alone. What PySide6 keeps of what a
    screen reader is told, some hundred bytes a widget, is in `kinds` only (`widgets/base/spoken_role.py`).
    """

    memory: int
    handed_out: int | None
    objects: int
    qt: int
    wrappers: int
    threads: int
    files: int
    kinds: dict[str, int]
    large: dict[str, int] = field(default_factory=dict)
    """Bytes of large arrays, tensors and texts, by what they are and what holds them."""
    modules: dict[str, int] = field(default_factory=dict)
    """How many modules of each package are imported: one that comes late is growth, but no leak."""


MOST = {
    "memory": 0.1,
    "handed_out": 0.05,
    "objects": 0.05,
    "qt": 0.01,
    "wrappers": 0.02,
    "threads": 0.0,
    "files": 0.0,
}
"""How much each may grow over the rounds that are judged, as a share of what there is. What is kept by
mistake is seen in what was handed out, of which there is less; the memory of a process also has the free
pieces between."""


def faults_of(held: Sequence[Held], different: int = 1) -> list[str]:
    """What has grown over the second half of the rounds, each in a sentence with the kinds that did most.

    Rounds do the same again after `different` ones, of which each is then judged twice at least.
    """
    half = held[min(len(held) // 2, max(len(held) - 2 * different, 0)) :]
    found = []
    for measure, share in MOST.items():
        values = [value for each in half if (value := getattr(each, measure)) is not None]
        grown = growth(values, different)
        if values and grown > share * median(values) and is_trend(values, different):
            found.append(
                f"{measure} grew by {grown:,.0f} of {median(values):,.0f} in {len(half)} rounds"
                + _most_grown([each.kinds for each in half], different)
                + _most_grown([each.large for each in half], different, " bytes")
                + _imported(half[0].modules, half[-1].modules)
            )
    return found


def growth(values: Sequence[float], different: int = 1) -> float:
    """How much values grow from the first to the last, by the median of all slopes between two of them
    (Theil 1950, Sen 1968): no single round decides it.

    Where the same comes again after `different` ones, only these are compared, as one month with the same
    of other years (Hirsch, Slack and Smith 1982): one that always leaves much is no growth.
    """
    slopes = [
        (later - earlier) / (after - before)
        for before, earlier in enumerate(values)
        for after, later in enumerate(values)
        if after > before and (after - before) % different == 0
    ]
    return median(slopes) * (len(values) - 1) if slopes else 0.0


def is_trend(values: Sequence[float], different: int = 1) -> bool:
    """Whether values in any order would rise as often only once in a hundred times (Mann 1945, Kendall 1955):
    what the panels drew last is kept, and is some rounds more and others less."""
    rises, variance = 0, 0.0
    for same in (values[first::different] for first in range(different)):
        pairs = itertools.combinations(same, 2)
        rises += sum((later > earlier) - (later < earlier) for earlier, later in pairs)
        variance += len(same) * (len(same) - 1) * (2 * len(same) + 5) / 18
    return rises > SURELY * math.sqrt(variance)


def _most_grown(held: Sequence[Mapping[str, int]], different: int, of: str = "") -> str:
    names = {name for each in held for name in each}
    grown = Counter({name: growth([each.get(name, 0) for each in held], different) for name in names})
    return "".join(f"; {name} by {count:,.0f}{of}" for name, count in grown.most_common(12) if count > 0.5)


def _imported(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    late = Counter(after) - Counter(before)
    said = ", ".join(f"{name} ({count})" for name, count in sorted(late.items()))
    return f"; modules imported meanwhile: {said}" if said else ""


def use_for(folder: Path, minutes: float, seed: int) -> tuple[list[Held], list[str]]:
    """Use a window in a process of its own; what it held after each round, and the faults."""
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    here = {"LMVIZ_DATA": str(folder / "data")}
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, __file__, str(folder), "--minutes", str(minutes), "--seed", str(seed)],
        env=os.environ | homes | here,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    held = read_notes(folder)
    where = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("crash.log"))
    ended = [f"it ended with {done.returncode}: {done.stderr[-5000:]}\n{where}"] if done.returncode else []
    return held, ended or faults_of(held, DIFFERENT)


def read_notes(folder: Path) -> list[Held]:
    """What a window held after each round."""
    lines = (folder / NOTES).read_text(encoding="utf-8").splitlines()
    return [Held(**json.loads(line)) for line in lines]


class Restless:
    """Uses a window, round after round."""

    def __init__(self, window: MainWindow, folder: Path, actions: int) -> None:
        from walker import Walker

        self._window, self._session, self._actions = window, window.session, actions
        self._text = folder / "farm.txt"
        self._text.write_text("The cow eats grass.\nThe hen sees the dog.\n" * 40, encoding="utf-8")
        self._runs = folder / "own"
        self._walker = Walker(0, (self._text, self._runs / "lstm", self._runs / "transformer"))
        self._walker.window = window
        self._plan = self._session.plan.keep()
        self._walker.ways += [
            (self.open_sample, 6),
            (self.close_model, 4),
            (self.open_text, 4),
            (self.go_through_lesson, 6),
            (self.operate, 8),
            (self.choose, 8),
            (self.enlarge, 4),
            (self.set_apart, 3),
        ]

    def make_runs(self) -> None:
        """Two small runs of one's own, as they were: what is opened may have been trained on."""
        import lmviz
        from lmviz.text.corpus import load_corpus

        kept = self._runs.with_name("kept")
        if not kept.exists():
            corpus = load_corpus(self._text, documents="line")
            tiny: dict[str, Any] = {"batch": 2, "length": 8}
            lmviz.train("lstm", corpus, kept / "lstm", steps=6, width=8, **tiny)
            heads: dict[str, Any] = {"heads": 2, "layers": 2, "context": 16}
            lmviz.train("transformer", corpus, kept / "transformer", steps=6, width=8, **heads, **tiny)
        shutil.rmtree(self._runs, ignore_errors=True)
        shutil.copytree(kept, self._runs)

    def go_round(self, chance: random.Random) -> None:
        """One round of things, and then everything is closed."""
        self.make_runs()
        self._walker.random = chance
        for _ in range(self._actions):
            self._walker.step()
        self.come_to_rest()

    def look_everywhere(self) -> None:
        """Show, open and do all that is made when it is first used."""
        from showing import settle

        from lmviz.app.look.theme import current_theme
        from lmviz.app.panels.table import shown_perspectives
        from lmviz.app.widgets.text.chips import lay_out

        import_everything()
        compile_recurrences()
        lay_out([f"chip {number}" for number in range(2500)], 800, current_theme())
        for projector in (False, True):
            for theme in ("dark", "light"):
                self._window.set_projector(projector)
                self._window.set_theme(theme)
                for row in shown_perspectives():
                    self._window.show_perspective(row.name)
                    self._let_go_on(0.05)
        for name in OF_ALL_KINDS:  # each panel says of the others that it shows nothing of them
            self._session.library.open(name)
            settle(self._window, LONGEST)
            for projector, size in ((True, SMALL), (False, (1440, 900))):
                self._window.set_projector(projector)
                self._window.resize(*size)
                for row in shown_perspectives():
                    self._window.show_perspective(row.name)
                    for panel in self._window.perspective.panels:
                        self._window.perspective.bring_forward(panel.objectName())
                        self._let_go_on(0.05)
            self._make_what_is_made_late()
        self.come_to_rest()

    def _make_what_is_made_late(self) -> None:
        """Sentences of panels that show nothing of this model, complaints, veils of what is late, lists of
        choices, entries of menus: there are only so many."""
        from PySide6.QtWidgets import QComboBox, QMenu

        from lmviz.app.panels.panel import Panel
        from lmviz.app.widgets.base.card import Card

        for panel in self._window.findChildren(Panel):  # type: ignore[type-abstract]  # of any kind
            panel.refresh_soon()
            panel.catch_up()
            panel.complain("It cannot be done.", "soak")
            panel.complain("", "soak")
        for card in self._window.findChildren(Card):
            late = card.late
            card.set_late("soak")
            card.set_late(late)
        for choice in self._window.findChildren(QComboBox):
            choice.view()
        for menu in self._window.findChildren(QMenu):
            menu.aboutToShow.emit()

    def come_to_rest(self) -> None:
        """Close all that was opened, and wait until nothing is under way."""
        from PySide6.QtWidgets import QApplication
        from showing import settle

        from lmviz.app.panels.table import shown_perspectives

        session, window = self._session, self._window
        session.lesson.leave()
        window.lessons.close()
        window.lectures.leave()
        session.experiment.stop()
        session.position_trial.stop()
        session.training.stop()
        session.race.stop()
        until = time.monotonic() + LONGEST
        while session.training.state.is_active or session.race.is_active or session.work.jobs:
            for job in session.work.jobs:
                job.cancel()
            self._let_go_on(0.01)
            if time.monotonic() > until:
                raise TimeoutError("the work of a round has not ended")
        session.race.clear()
        window.set_theme("light")
        window.set_projector(False)
        for other in QApplication.topLevelWidgets():
            if other is not window and other.isVisible():
                other.close()
        window.resize(1440, 900)
        session.text.open(self._text, documents="line")
        session.network.open_shipped(session.network.shipped[0].name)
        session.plan.put_back(self._plan)  # the forms of some families have many more settings
        session.reading.set_prefix("")
        for model in session.library.models:
            session.library.close(model)
        for row in shown_perspectives():  # or each panel keeps the model that it has drawn last
            window.show_perspective(row.name)
            window.reset_arrangement()
            self._let_go_on(0.02)
        window.show_perspective("corpus")
        window.notice.clear()
        QApplication.clipboard().clear()
        settle(window, LONGEST)
        while time.monotonic() < until and {thread.name for thread in threading.enumerate()} - STAYING:
            self._let_go_on(0.01)  # a job that was cancelled ends when it next looks
        shutil.rmtree(session.training.runs_folder, ignore_errors=True)

    def _let_go_on(self, seconds: float) -> None:
        from PySide6.QtWidgets import QApplication

        until = time.monotonic() + seconds
        while time.monotonic() < until:
            QApplication.processEvents()
            time.sleep(0.002)

    def open_sample(self) -> None:
        from lmviz.api.training import sample_models

        self._session.library.open(self._walker.random.choice(sample_models()))

    def close_model(self) -> None:
        models = self._session.library.models
        if models:
            self._session.library.close(self._walker.random.choice(models))

    def open_text(self) -> None:
        self._session.text.open(self._walker.random.choice(TEXTS))

    def go_through_lesson(self) -> None:
        """Open one, go on, or answer."""
        from lmviz.app.window.lessons import perspective_names
        from lmviz.lessons.shipped import shipped_lessons

        lesson, chance = self._session.lesson, self._walker.random
        if lesson.lesson is None or chance.random() < 0.2:
            if not self._window.lessons.is_shown:
                self._window.lessons.toggle()
            lesson.open(chance.choice(shipped_lessons(perspective_names())))
        else:
            ways = (lesson.go_on, lesson.go_on, lesson.show_hint, lesson.prepare, lambda: lesson.answer("3"))
            chance.choice(ways)()

    def _address(self) -> tuple[str, tuple[int, ...]] | None:
        """A cell of what is read."""
        reading = self._session.reading.current
        if reading is None:
            return None
        chance, stages = self._walker.random, reading.trace.stages
        addresses = [address for stage in stages for address in stage.results]
        if not addresses:
            return None
        address = chance.choice(addresses)
        array = reading.trace[address].array
        return (address, tuple(chance.randrange(size) for size in array.shape)) if array.size else None

    def operate(self) -> None:
        """Change what is computed, or undo it."""
        from lmviz.inspection.interventions import add, scale, zero

        surgery, chance, cell = self._session.surgery, self._walker.random, self._address()
        if cell is not None and chance.random() < 0.6:
            way = chance.choice((zero, lambda at: add(at, 0.5), lambda at: scale(at, 2.0)))
            surgery.add(way(cell[0]))
        else:
            chance.choice((surgery.undo, surgery.redo, surgery.clear))()

    def choose(self) -> None:
        """Pin a cell, or point at it."""
        focus, cell = self._session.focus, self._address()
        self._walker.random.choice((focus.choose_cell, focus.hover_cell))(cell)

    def enlarge(self) -> None:
        self._point_at_panel()
        self._window.toggle_enlarged()

    def set_apart(self) -> None:
        self._point_at_panel()
        self._window.toggle_panel_window()

    def _point_at_panel(self) -> None:
        from PySide6.QtGui import QCursor

        panels = [panel for panel in self._window.perspective.panels if panel.is_in_sight]
        if panels:
            panel = self._walker.random.choice(panels)
            QCursor.setPos(panel.mapToGlobal(panel.rect().center()))


def import_everything() -> None:
    """Import all that lmviz imports anywhere, late as well: a library has tens of thousands of objects."""
    import lmviz

    ask_hub()
    root = Path(lmviz.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.stem != "__main__":
            name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
            import_module(name.removesuffix(".__init__"))  # some are named in tables only
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                with suppress(ImportError):  # what is there for types only, or not installed
                    exec(ast.unparse(node), {})


def ask_hub() -> None:
    """Ask for a model where nobody answers: the hub's library imports most of itself at its first question,
    ten thousand objects, and makes what it connects with."""
    from lmviz.base.errors import LmvizError
    from lmviz.interchange.hub import download_model

    with suppress(LmvizError):
        download_model("nobody/nothing", address="https://127.0.0.1:9")


def compile_recurrences(lengths: int = 100) -> None:
    """Fill the cache of what oneDNN compiles for each length of a text (`lmviz.app.main` says how many)."""
    import torch

    layer = torch.nn.LSTM(64, 64)
    with torch.no_grad():
        for length in range(1, lengths + 1):
            layer(torch.zeros(length, 1, 64))


def held_by(window: MainWindow) -> Held:
    """What the process holds, when all garbage is collected and given back."""
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtGui import QPixmapCache
    from PySide6.QtWidgets import QApplication
    from shiboken6 import Shiboken

    for _ in range(3):
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    QPixmapCache.clear()
    handed_out = _handed_out()
    with _standing_still(window):
        kinds = Counter(_kind_of(thing) for thing in gc.get_objects())
        large = large_things()
    objects = kinds.total() - kinds[KEPT_BY_PYSIDE]
    known = (thing for thing in Shiboken.getAllValidWrappers() if isinstance(thing, QObject))
    wrappers = Counter(f"wrapper of {_kind_of(thing)}" for thing in known)
    qt, files = _qt_objects(), _open_files()
    resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return Held(
        memory=(resident - of_files) * os.sysconf("SC_PAGE_SIZE"),
        handed_out=handed_out,
        objects=objects,
        qt=qt.total(),
        wrappers=wrappers.total(),
        threads=threading.active_count(),
        files=files.total(),
        kinds={**kinds, **wrappers, **qt, **files},
        large=large,
        modules=dict(Counter(name.partition(".")[0] for name in sys.modules)),
    )


def large_things(least: int = LARGE) -> dict[str, int]:
    """The bytes of arrays, tensors and texts of at least so many, by what they are and what holds them.

    One that several hold counts for the first of these; what is a part of another does not count.
    """
    found, seen = Counter[str](), set[int]()
    for holder in gc.get_objects():
        for thing in gc.get_referents(holder):
            size = _bytes_of(thing)
            if size >= least and id(thing) not in seen:
                seen.add(id(thing))
                found[f"{_kind_of(thing)} in {_name_of(holder)}"] += size
    return dict(found)


def _bytes_of(thing: object) -> int:
    """What a thing has in one piece that is its own, where it may have much; 0 otherwise."""
    if isinstance(thing, bytes | bytearray | str):
        return sys.getsizeof(thing)
    kind = _kind_of(thing)
    if kind == "numpy.ndarray":
        return int(thing.nbytes) if thing.base is None else 0  # type: ignore[attr-defined]  # it is an array
    if kind in ("torch.Tensor", "torch.nn.parameter.Parameter"):
        return int(thing.untyped_storage().nbytes())  # type: ignore[attr-defined]  # it is a tensor
    return 0


def _name_of(holder: object) -> str:
    """What holds something: of a dictionary what that belongs to, or its first names."""
    if not isinstance(holder, dict):
        return _kind_of(holder)
    for around in gc.get_referrers(holder):
        if getattr(around, "__dict__", None) is holder:
            return _kind_of(around)
    return f"a dictionary of {', '.join(str(name)[:30] for name in list(holder)[:3])}"


class _Counts(ctypes.Structure):
    """What glibc's `mallinfo2` answers."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def _handed_out() -> int | None:
    """Give back what is free, and count the bytes that are not."""
    library = ctypes.CDLL(None)
    library.malloc_trim(0)
    if not hasattr(library, "mallinfo2"):  # another library, or glibc before 2.33
        return None
    library.mallinfo2.restype = _Counts
    counts = library.mallinfo2()
    return int(counts.hblkhd + counts.uordblks)  # in mappings of their own, and in arenas


def _qt_objects() -> Counter[str]:
    """How many objects of Qt's there are of each class and name.

    As Qt writes its trees of objects: `findChildren` would make a wrapper of each, and PySide keeps those of
    what Qt has made itself when it is gone.
    """
    from PySide6.QtCore import qInstallMessageHandler
    from PySide6.QtWidgets import QApplication, QWidget
    from shiboken6 import Shiboken

    lines = list[str]()
    known = [thing for thing in Shiboken.getAllValidWrappers() if isinstance(thing, QWidget)]
    alone = [widget for widget in known if widget.isWindow() and widget.parentWidget() is None]
    before = qInstallMessageHandler(lambda kind, context, line: lines.append(line))
    application = QApplication.instance()
    for root in (*([] if application is None else [application]), *alone):
        root.dumpObjectTree()
    qInstallMessageHandler(before)
    return Counter(f"Qt's {line.strip().rsplit(' ', 1)[0]}" for line in lines)


def _open_files() -> Counter[str]:
    """How many files are open, by what they are; of pipes and sockets only that they are some."""
    found = Counter[str]()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that lists them
            found[f"open {os.readlink(f'/proc/self/fd/{number}').split(':[')[0]}"] += 1
    return found


def _kind_of(thing: object) -> str:
    kind = type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"


def _stand(stands: threading.Event, may_go_on: threading.Event) -> Callable[[], None]:
    def stand() -> None:
        stands.set()
        may_go_on.wait()

    return stand


@contextmanager
def _standing_still(window: MainWindow) -> Iterator[None]:
    """Let the threads that stay do nothing: a tuple that one is making must be seen by nobody else."""
    may_go_on, work = threading.Event(), window.session.work
    for ask in (work.ask, work.ask_beside):
        stands = threading.Event()
        ask("stand still", _stand(stands, may_go_on), lambda _: None, lambda sentence: None)
        stands.wait(LONGEST)
    try:
        yield
    finally:
        may_go_on.set()


def main(arguments: Sequence[str]) -> int:
    """Use a window for some minutes, and at least so many rounds; 1 where it failed, stood still or grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=LEAST, help="so many at least")
    parser.add_argument("--actions", type=int, default=ACTIONS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--same", action="store_true", help="the same things in each round")
    given = parser.parse_args(arguments)

    from lmviz.app.main import open_window

    window = open_window()
    from PySide6.QtWidgets import QApplication
    from walker import nothing_outside

    from lmviz.app.workers import closing
    from lmviz.base.log import log_path

    closing.LONGEST_WAIT = 60.0
    turns = _long_turns(window)
    while not window.session.work.is_ready:
        QApplication.processEvents()
    began, number = time.monotonic(), 0
    with nothing_outside(), (given.folder / NOTES).open("w", encoding="utf-8") as notes:
        person = Restless(window, given.folder, given.actions)
        person.look_everywhere()
        while number < given.rounds or time.monotonic() - began < 60 * given.minutes:
            person.go_round(random.Random(f"{given.seed} {0 if given.same else number % DIFFERENT}"))
            stood = len(turns)
            held = held_by(window)
            QApplication.processEvents()
            del turns[stood:]  # what is counted here takes the window's thread for seconds
            notes.write(json.dumps(asdict(held)) + "\n")
            notes.flush()
            number += 1
    window.close()
    log = log_path().read_text(encoding="utf-8") if log_path().exists() else ""
    raised = log.find("unexpected")
    if raised >= 0:
        print(log[max(0, raised - 1000) : raised + 4000], file=sys.stderr)
    print("".join(f"a turn took {took:.1f} s\n{stacks}\n" for took, stacks in turns), file=sys.stderr)
    grown = faults_of(read_notes(given.folder), 1 if given.same else DIFFERENT)
    print("\n".join(grown), file=sys.stderr)
    return closing.leave(int(raised >= 0 or bool(turns) or bool(grown)))


def _long_turns(window: MainWindow) -> list[tuple[float, str]]:
    """Turns of the event loop of over a second, from now on, each with the stacks meanwhile.

    On a busy machine they may take as much longer as other programs want its cores.
    """
    from patience import patience

    from lmviz.app.workers.watchdog import LONGEST, Watchdog

    turns: list[tuple[float, str]] = []
    for watchdog in window.findChildren(Watchdog):
        watchdog.noticed.connect(
            lambda took, stacks: turns.append((took, stacks)) if took > LONGEST * patience() else None
        )
    return turns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
