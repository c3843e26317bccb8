"""While a model is trained, panels that are drawn now and then are not all drawn in one turn."""

from itertools import pairwise
from time import monotonic

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import APART, NOW_AND_THEN, Panel
from lmviz.app.session.session import Session


class Drawn(Panel):
    """Counts how often it is drawn."""

    def __init__(self, session: Session) -> None:
        self.times = 0
        super().__init__(session)

    def refresh(self) -> None:
        self.times += 1

    @property
    def wait(self) -> int:
        """How long it waits until it is drawn, from when it was asked to, in milliseconds."""
        return self._soon.interval()


@pytest.fixture
def panels(session: Session, qtbot: QtBot) -> list[Drawn]:
    made = [Drawn(session) for _ in range(4)]
    for panel in made:
        qtbot.addWidget(panel)
        panel.show()
    qtbot.waitUntil(lambda: all(panel.times and panel.is_up_to_date for panel in made))
    return made


def test_while_one_trains_they_are_drawn_one_after_the_other_and_each_once(
    panels: list[Drawn], session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(session.library), "live", True)
    monkeypatch.setattr(type(session.training), "is_taken", True)
    before = [panel.times for panel in panels]
    with monkeypatch.context() as at_one_moment:
        now = monotonic()
        at_one_moment.setattr("lmviz.app.panels.panel.monotonic", lambda: now)
        for _ in range(2):  # the second time they wait already
            for panel in panels:
                panel.refresh_now_and_then()
    waits = [panel.wait for panel in panels]
    assert waits[0] >= NOW_AND_THEN
    assert all(later - earlier == pytest.approx(APART, abs=1) for earlier, later in pairwise(waits))
    qtbot.waitUntil(lambda: all(panel.is_up_to_date for panel in panels))
    assert [panel.times for panel in panels] == [count + 1 for count in before]


def test_where_none_trains_they_are_drawn_at_once(panels: list[Drawn]) -> None:
    for panel in panels:
        panel.refresh_now_and_then()
    assert all(panel._soon.remainingTime() <= panel.gives_way for panel in panels)
