"""A window in which nothing happens does nothing: no layout asks for another, nothing is painted again."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ROUNDS = 30  # of the event loop; work that asks for itself again does so in each
WORK = (QEvent.Type.LayoutRequest, QEvent.Type.Paint, QEvent.Type.Resize, QEvent.Type.Move)


class Counted(QObject):
    """Counts layouts and paintings by the name of the widget that they are for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in WORK and isinstance(watched, QWidget):
            self.seen[f"{event.type().name} of {watched.objectName() or type(watched).__name__}"] += 1
        return False


@pytest.fixture
def counted(qapp: QApplication) -> Iterator[Counter[str]]:
    counter = Counted()
    qapp.installEventFilter(counter)
    yield counter.seen
    qapp.removeEventFilter(counter)


@pytest.mark.parametrize("perspective", [perspective.name for perspective in PERSPECTIVES])
@pytest.mark.parametrize("look", ["light", "projector"])
def test_nothing_is_laid_out_or_painted_again(
    window: MainWindow,
    read: Session,
    drawn: Callable[[], None],
    counted: Counter[str],
    perspective: str,
    look: str,
) -> None:
    theme_switch().set_projector(look == "projector")
    window.resize(1280, 800)
    window.show_perspective(perspective)
    window.beginning.strip.show()
    window.notice.say("This file cannot be read: it is a folder. Open a text instead.")
    drawn()
    for _ in range(ROUNDS):
        QApplication.processEvents()
    counted.clear()
    for _ in range(ROUNDS):
        QApplication.processEvents()
    again = {name: times for name, times in counted.items() if times > ROUNDS // 3}
    assert not again
