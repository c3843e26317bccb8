"""A program: the real window, in which every override, slot and picture fails when its turn comes.

`failing_window.py TEXT RUN ACTIONS PERSPECTIVE...` opens the text and the run, goes through these
perspectives and does so many things in each, and prints one line of JSON: what failed, what the log and the
notice did not say of it, and what did not work afterwards.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FunctionType

sys.path.insert(0, str(Path(__file__).parents[1]))  # where walker.py lies

import lmviz.app

TIMES = 3  # that each fails
LONGEST = 60.0  # seconds until the window has done
TELLING = ("Notice.", "MainWindow.show_fault")  # where a fault is said: one that fails there is not

CARRYING = (
    "_Deliveries",
)  # one line hands on what has come from a thread: failing before it, it is late for ever


class Turns:
    """Whose turn it is to fail, and who has failed how often."""

    def __init__(self) -> None:
        self.failed: dict[str, int] = {}
        self.left: dict[str, int] = {}
        self.in_call: list[str] = []  # by Python, of Qt, since `Person` began it
        self.is_telling = False
        self.while_telling: set[str] = set()  # of which nothing can be said

    def fails(self, name: str) -> bool:
        """Whether this call of a method fails."""
        if not self.left.get(name):
            return False
        self.left[name] -= 1
        self.failed[name] = self.failed.get(name, 0) + 1
        self.in_call.append(name)
        if self.is_telling:
            self.while_telling.add(name)
        return True


def failing(method: FunctionType, name: str, turns: Turns) -> Callable[..., object]:
    """A method that fails in its turns: as C code does, with a place of its own, and with a local of Qt's."""
    room: dict[str, Callable[[], object]] = {}
    exec(compile("def fail():\n    return {}[" + repr(name) + "]", f"<{name}>", "exec"), room)
    takes = method.__code__.co_argcount  # PySide hands a slot no more than it takes, and would hand this all
    takes_all = bool(method.__code__.co_flags & inspect.CO_VARARGS)

    def turn(*given: object, **named: object) -> object:
        if turns.fails(name):
            room["fail"]()
        return method(*(given if takes_all else given[:takes]), **named)

    turn.__name__, turn.__qualname__ = method.__name__, method.__qualname__
    return turn


def prepare(turns: Turns) -> tuple[list[str], list[str]]:
    """Let everything fail in its turn that Qt calls: the names of pictures, and of overrides and slots."""
    from PySide6.QtCore import QObject

    for module in pkgutil.walk_packages(lmviz.app.__path__, "lmviz.app."):
        importlib.import_module(module.name)
    slots = connected_names()
    pictures, others = [], []
    for kind in sorted(set(descendants(QObject)), key=lambda kind: kind.__qualname__):
        if not kind.__module__.startswith("lmviz.app") or kind.__name__ in CARRYING:
            continue
        of_qt = next((base for base in kind.__mro__ if base.__module__.startswith("PySide6")), object)
        for method, function in list(vars(kind).items()):
            is_called = method == "paint" or hasattr(of_qt, method) or method in slots
            if type(function) is FunctionType and not method.startswith("__") and is_called:
                name = f"{kind.__name__}.{method}"
                if name.startswith(TELLING):
                    continue
                (pictures if method == "paint" else others).append(name)
                setattr(kind, method, failing(function, name, turns))
    return pictures, others


def descendants(kind: type) -> Iterator[type]:
    for child in type.__subclasses__(kind):
        yield child
        yield from descendants(child)


def connected_names() -> set[str]:
    """The names of methods that are handed to a signal, or to what follows signals."""
    found = set()
    for path in Path(lmviz.app.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and node.func.attr in ("connect", "follow", "singleShot", "show_failures"):
                found |= {given.attr for given in node.args if isinstance(given, ast.Attribute)}
    return found


class Person:
    """Who uses the window while it fails."""

    def __init__(self, window, things: tuple[Path, ...], turns: Turns) -> None:
        from walker import Walker

        self.window, self._turns = window, turns
        self.met: list[str] = []
        self._walker = Walker(7, things)
        self._walker.window = window

    def let_go_on(self, seconds: float = 0.02) -> None:
        from PySide6.QtWidgets import QApplication

        until = time.monotonic() + seconds
        while time.monotonic() < until:
            QApplication.processEvents()

    def use(self, actions: int) -> None:
        """Do this and that, and what calls most overrides: point everywhere, resize, change the look."""
        from PySide6.QtCore import QPoint
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QWidget

        window = self.window
        for widget in [each for each in window.findChildren(QWidget) if each.isVisible()]:
            with suppress(RuntimeError), self._what_fails():  # what was there may have gone meanwhile
                if min(widget.width(), widget.height()) > 4:
                    QTest.mouseMove(window.windowHandle(), widget.mapTo(window, widget.rect().center()))
        QTest.mouseMove(window.windowHandle(), QPoint(1, 1))
        looks = [partial(window.resize, *size) for size in ((1300, 800), (1440, 900))]
        looks += [partial(window.set_theme, theme) for theme in ("dark", "light")]
        for act in (*looks, *[self._walker.step] * actions):
            with self._what_fails():
                act()
                self.let_go_on(0)

    @contextmanager
    def _what_fails(self) -> Iterator[None]:
        """A person who acts by calling a method meets what it raises.

        Of several that fail within one call of Qt, as a timer beside a movement of the pointer, PySide raises
        one, or SystemError, and forgets the others.
        """
        self._turns.in_call.clear()
        try:
            yield
        except (KeyError, SystemError) as fault:
            self.met += [str(fault), *self._turns.in_call]

    def come_back(self, perspective: str) -> None:
        """Leave what was done as it was found."""
        window, session = self.window, self.window.session
        session.training.stop()
        session.race.stop()
        session.lesson.leave()
        window.set_projector(False)
        window.resize(1440, 900)
        window.show_perspective(perspective)
        self.let_go_on(0.1)


def main(text: Path, run: Path, actions: int, perspectives: list[str]) -> None:
    from PySide6.QtWidgets import QWidget

    turns = Turns()
    pictures, others = prepare(turns)
    from walker import nothing_outside

    from lmviz.app.main import open_window
    from lmviz.app.widgets.kit.painted import Painted
    from lmviz.app.window.notice import Notice
    from lmviz.base.log import log_path

    said: list[str] = []
    offer = Notice.offer

    def hear(notice: Notice, sentence: str, *answer: object) -> None:
        said.append(sentence)
        turns.is_telling = True
        try:
            offer(notice, sentence, *answer)
        finally:
            turns.is_telling = False

    Notice.offer = hear
    window = open_window()
    session = window.session
    person = Person(window, (text, run, Path(__file__)), turns)
    wrong: list[str] = []

    def wait(condition: Callable[[], object], what: str) -> None:
        until = time.monotonic() + LONGEST
        while not condition():
            person.let_go_on()
            if time.monotonic() > until:
                wrong.append(f"not {what}")
                return

    def is_read() -> bool:
        current = session.reading.current
        return current is not None and current.trace.text == session.reading.prefix

    wait(lambda: session.work.is_ready, "ready")
    session.text.open(text, documents="line")
    session.library.open(run)
    wait(lambda: session.library.model is not None, "open")
    session.reading.set_prefix("the cows eat")
    wait(is_read, "read")

    def break_pictures() -> None:
        """Each picture in sight fails, says so in its place, and is there again."""
        seen = [
            each for each in window.findChildren(QWidget) if each.isVisible() and isinstance(each, Painted)
        ]
        for widget in seen:
            names = [f"{kind.__name__}.paint" for kind in type(widget).__mro__]
            own = next((name for name in names if name in pictures), None)
            if own is None or turns.failed.get(own, 0) >= TIMES or min(widget.width(), widget.height()) < 1:
                continue
            turns.left[own] = 1
            widget.grab()
            if turns.left.pop(own):
                continue  # it is Qt's own picture at the moment
            if own not in widget.painting_fault:
                wrong.append(f"{own} left no sentence")
            widget.grab()
            if widget.painting_fault:
                wrong.append(f"{own} was not drawn again")
            person.let_go_on(0)

    with nothing_outside():
        for perspective in perspectives:
            window.show_perspective(perspective)
            person.let_go_on(0.1)
            turns.left = {}
            break_pictures()
            turns.left = {name: TIMES - turns.failed.get(name, 0) for name in others}
            person.use(actions)
            turns.left = {}
            person.come_back(perspective)
    for model in session.library.models:
        session.library.close(model)
    session.library.open(run)
    wait(lambda: session.library.model is not None, "open again")
    for perspective in perspectives:
        window.show_perspective(perspective)
        session.reading.set_prefix(f"the hens eat {perspective}")
        wait(is_read, f"read in {perspective}")
        for widget in window.findChildren(QWidget):
            if isinstance(widget, Painted) and widget.isVisible():
                widget.grab()
                wrong += [widget.painting_fault] if widget.painting_fault else []
    log = log_path().read_text(encoding="utf-8") + "".join(
        path.read_text(encoding="utf-8") for path in log_path().parent.glob("lmviz.log.*")
    )
    told = [name for name in turns.failed if not any(name in each for each in person.met)]
    unsaid = [
        name for name in told if name not in turns.while_telling and not any(name in each for each in said)
    ]
    print(
        json.dumps(
            {
                "failed": dict(turns.failed),
                "pictures": [name for name in turns.failed if name in pictures],
                "unlogged": [name for name in told if name not in log],
                "unsaid": unsaid,
                "wrong": wrong,
                "kept": [name for name in vars(sys) if name.startswith("last_")],
            }
        ),
        flush=True,
    )
    window.close()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    except Exception:
        traceback.print_exc()  # which the hook of the window would only write to its log
        sys.exit(1)
