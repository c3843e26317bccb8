"""What driving whole lessons stands on."""

from functools import partialmethod

import pytest

from lmviz.app.session import features
from lmviz.app.session.module_checks import ModuleChecks
from lmviz.decoding.judged_pairs import judged_pairs
from lmviz.features.remembered import remembered_words
from lmviz.scaling import text_length

KEYWORDS = remembered_words.__kwdefaults__
FAULT_IN_Y_HAT = 18
"""A seed with which a fault is hidden there, in the net of the lecture."""


@pytest.fixture
def lessons_in_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured for real takes a sentence of each length, texts of two lengths, and less text.

    The lesson that hides a fault asks for the value's name, and always it is ŷ, which no key types.
    """
    monkeypatch.setattr(judged_pairs, "__defaults__", (1,))
    monkeypatch.setattr(text_length.measure_lengths, "__defaults__", ((8, 16),))
    monkeypatch.setattr(features, "TOKENS", 8_000)
    monkeypatch.setattr(remembered_words, "__kwdefaults__", {**KEYWORDS, "texts": 300})
    monkeypatch.setattr(ModuleChecks, "hide_fault", partialmethod(ModuleChecks.hide_fault, FAULT_IN_Y_HAT))
