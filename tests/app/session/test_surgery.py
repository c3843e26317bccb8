import pytest
from PySide6.QtCore import QObject

from lmviz.app.session.surgery import Surgery
from lmviz.inspection.intervention import Intervention


class Operating(Surgery, QObject):
    """Surgery by itself."""


def scale(factor: float, unit: int = 0) -> Intervention:
    return Intervention("layers/0/hidden", "scale", factor, {"unit": unit})


@pytest.fixture
def surgery() -> Operating:
    return Operating()


def test_undo_goes_back_through_every_step_and_redo_forward(surgery: Operating) -> None:
    surgery.add_intervention(scale(0.0, unit=1))
    surgery.add_intervention(scale(0.0, unit=2))
    surgery.toggle_intervention(0)
    surgery.remove_intervention(1)
    states = []
    while surgery.can_undo_intervention:
        states.append(surgery.interventions)
        surgery.undo_intervention()
    assert [len(state) for state in states] == [1, 2, 2, 1]
    assert surgery.interventions == ()
    for state in reversed(states):
        surgery.redo_intervention()
        assert surgery.interventions == state
    assert not surgery.can_redo_intervention


def test_another_value_at_the_same_place_replaces_the_first(surgery: Operating) -> None:
    surgery.add_intervention(scale(0.0))
    surgery.add_intervention(scale(2.0))
    assert [item.value for item in surgery.interventions] == [2.0]


def test_one_drag_is_one_step_of_undo(surgery: Operating) -> None:
    surgery.add_intervention(scale(1.0, unit=7))
    surgery.add_intervention(scale(0.9))
    for factor in (0.8, 0.7, 0.6):
        surgery.add_intervention(scale(factor), dragging=True)
    assert [item.value for item in surgery.interventions] == [1.0, 0.6]
    surgery.undo_intervention()
    assert [item.value for item in surgery.interventions] == [1.0]


def test_something_new_after_an_undo_forgets_what_was_undone(surgery: Operating) -> None:
    surgery.add_intervention(scale(0.0))
    surgery.undo_intervention()
    surgery.add_intervention(scale(3.0))
    assert not surgery.can_redo_intervention
    assert [item.value for item in surgery.interventions] == [3.0]


def test_switching_off_keeps_it_in_the_list(surgery: Operating) -> None:
    surgery.add_intervention(scale(0.0))
    surgery.toggle_intervention(0)
    assert [item.enabled for item in surgery.interventions] == [False]
    surgery.toggle_intervention(0)
    assert [item.enabled for item in surgery.interventions] == [True]
