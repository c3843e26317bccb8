from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication

from lmviz.app.session.library import Library
from lmviz.app.session.surgery import Surgery
from lmviz.app.session.work import Work
from lmviz.inspection.intervention import Intervention


def scale(factor: float, unit: int = 0) -> Intervention:
    return Intervention("layers/0/hidden", "scale", factor, {"unit": unit})


@pytest.fixture
def surgery(qapp: QCoreApplication) -> Iterator[Surgery]:
    work = Work()
    yield Surgery(Library(work), work)
    work.close()


def test_undo_goes_back_through_every_step_and_redo_forward(surgery: Surgery) -> None:
    surgery.add(scale(0.0, unit=1))
    surgery.add(scale(0.0, unit=2))
    surgery.toggle(0)
    surgery.remove(1)
    states = []
    while surgery.can_undo:
        states.append(surgery.interventions)
        surgery.undo()
    assert [len(state) for state in states] == [1, 2, 2, 1]
    assert surgery.interventions == ()
    for state in reversed(states):
        surgery.redo()
        assert surgery.interventions == state
    assert not surgery.can_redo


def test_what_is_put_in_force_together_is_one_step(surgery: Surgery) -> None:
    surgery.add(scale(0.0, unit=1))
    surgery.add(scale(2.0, unit=1), scale(3.0, unit=2))
    assert [item.value for item in surgery.interventions] == [2.0, 3.0]
    surgery.undo()
    assert [item.value for item in surgery.interventions] == [0.0]


def test_another_value_at_the_same_place_replaces_the_first(surgery: Surgery) -> None:
    surgery.add(scale(0.0))
    surgery.add(scale(2.0))
    assert [item.value for item in surgery.interventions] == [2.0]


def test_one_drag_is_one_step_of_undo(surgery: Surgery) -> None:
    surgery.add(scale(1.0, unit=7))
    surgery.add(scale(0.9))
    for factor in (0.8, 0.7, 0.6):
        surgery.add(scale(factor), dragging=True)
    assert [item.value for item in surgery.interventions] == [1.0, 0.6]
    surgery.undo()
    assert [item.value for item in surgery.interventions] == [1.0]


def test_something_new_after_an_undo_forgets_what_was_undone(surgery: Surgery) -> None:
    surgery.add(scale(0.0))
    surgery.undo()
    surgery.add(scale(3.0))
    assert not surgery.can_redo
    assert [item.value for item in surgery.interventions] == [3.0]


def test_switching_off_keeps_it_in_the_list(surgery: Surgery) -> None:
    surgery.add(scale(0.0))
    surgery.toggle(0)
    assert [item.enabled for item in surgery.interventions] == [False]
    surgery.toggle(0)
    assert [item.enabled for item in surgery.interventions] == [True]
