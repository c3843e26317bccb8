"""What a picker offers, where that changes with the model, the text or what is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox

KEPT = object()


def set_choices(picker: QComboBox, choices: Mapping[Any, str] | Iterable[str], chosen: object = KEPT) -> None:
    """Offer these choices alone, words by what each stands for, or words that stand for themselves.

    What is `chosen` is chosen; where nothing is said, what has been so far. Where that is not offered it is
    the first. Nobody is told: what follows a picker asks what a person chooses.
    """
    words = dict(choices) if isinstance(choices, Mapping) else {each: each for each in choices}
    places = range(picker.count())
    if chosen is KEPT:
        chosen = picker.currentText() if picker.currentData() is None else picker.currentData()
    with QSignalBlocker(picker):
        if [(picker.itemData(at), picker.itemText(at)) for at in places] != list(words.items()):
            picker.clear()
            for value, said in words.items():
                picker.addItem(said, value)
        values = list(words)
        picker.setCurrentIndex(values.index(chosen) if chosen in values else 0)
