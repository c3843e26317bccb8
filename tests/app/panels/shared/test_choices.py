"""A picker is offered other choices."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from lmviz.app.panels.shared.choices import set_choices


@pytest.fixture
def told() -> list[int]:
    """The places that those who follow the picker are told of."""
    return []


@pytest.fixture
def picker(qtbot: QtBot, told: list[int]) -> QComboBox:
    made = QComboBox()
    qtbot.addWidget(made)
    made.addItems(["nats", "bits", "perplexity"])
    made.setCurrentText("bits")
    made.currentIndexChanged.connect(told.append)
    return made


def test_what_was_chosen_stays_where_it_is_offered_and_is_else_the_first(
    picker: QComboBox, told: list[int]
) -> None:
    set_choices(picker, ["accuracy", "bits"])
    assert picker.currentText() == "bits"
    set_choices(picker, ["accuracy", "nats"])
    assert picker.currentText() == "accuracy"
    set_choices(picker, [])
    assert picker.count() == 0
    assert told == []


def test_choices_stand_for_what_they_are_by_even_where_their_words_are_alike(picker: QComboBox) -> None:
    set_choices(picker, {None: "none", Path("a/1"): "run", Path("b/1"): "run"}, Path("b/1"))
    assert picker.currentIndex() == 2
    set_choices(picker, {None: "none", Path("b/1"): "run"})
    assert picker.currentData() == Path("b/1")
    set_choices(picker, {None: "none", Path("b/1"): "run"}, None)
    assert picker.currentText() == "none"
