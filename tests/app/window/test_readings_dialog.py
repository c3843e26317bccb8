"""Readings of a module that lmviz does not compute, in a window of their own."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.app.window import readings_dialog
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.readings_dialog import ReadingsDialog
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, LookPart, Matrix, Picker, SliderLine, Table, Words
from lmviz.text.corpus import load_corpus


def parts_of(card: LookCard) -> dict[str, LookPart]:
    """The parts of what is shown, by name or by kind."""

    def all_of(parts: object) -> list[LookPart]:
        return [each for part in parts for each in (part, *all_of(part.inner))]  # type: ignore[attr-defined]

    found = [*card.look.head, *all_of(card.look.parts)]
    return {part.name or type(part).__name__: part for part in found}


def test_a_person_goes_through_steps_prefixes_and_tokens(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Linear(4, 9))
    with lmviz.record(tmp_path / "run", module, prefixes=["1 2 3", "4 5"], taps=["0"]) as recording:
        for step in (1, 2):
            with torch.no_grad():
                module[1].weight.add_(torch.randn_like(module[1].weight))
            recording.step(step)
    readings = lmviz.open_readings(tmp_path / "run")
    window.open_paths([tmp_path / "run"])
    qtbot.waitUntil(lambda: bool(window.findChildren(ReadingsDialog)))
    [dialog] = window.findChildren(ReadingsDialog)
    card = dialog.card

    def shown(step: int, prefix: int, condition: Callable[[], bool] = lambda: True) -> bool:
        table = parts_of(card).get("readings_table")
        tokens = readings.prefixes[prefix].split()
        is_there = isinstance(table, Table) and list(table.columns[0].values) == tokens
        return is_there and card.look.title == f"Recorded at step {step}" and condition()

    qtbot.waitUntil(lambda: shown(2, 0))
    parts = parts_of(card)
    assert isinstance(parts["Words"], Words)
    assert "not recomputed" in str(parts["Words"].text)
    reading = readings.reading(2)
    np.testing.assert_allclose(parts["readings_table"].columns[1].values[1:], reading.surprisal)
    assert isinstance(parts["readings_next"], Bars)
    np.testing.assert_allclose(parts["readings_next"].values, np.sort(reading.probabilities[2])[::-1])
    assert isinstance(parts["readings_cells"], Matrix)
    np.testing.assert_array_equal(parts["readings_cells"].values, reading.activations["0"])

    parts["readings_table"].clicked(0)
    first = np.sort(reading.probabilities[0])[::-1]
    qtbot.waitUntil(lambda: np.allclose(parts_of(card)["readings_next"].values, first))
    assert isinstance(parts["readings_step"], SliderLine)
    parts["readings_step"].moved(0)
    qtbot.waitUntil(lambda: shown(0, 0))
    picker = parts_of(card)["readings_prefix"]
    assert isinstance(picker, Picker)
    picker.chose(1)
    qtbot.waitUntil(lambda: shown(0, 1))
    (tmp_path / "run" / "readings" / "000001.safetensors").write_bytes(b"torn")
    parts_of(card)["readings_step"].moved(1)
    qtbot.waitUntil(lambda: "cannot be read" in card.look.instead)
    assert session.library.model is None
    dialog.close()


def test_what_was_recorded_of_characters_is_said_of_these(
    session: Session, text_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    tokenizer = load_corpus(text_file, "characters").tokenizer
    count = len(tokenizer.tokens())
    module = torch.nn.Sequential(torch.nn.Embedding(count, 4), torch.nn.Linear(4, count))
    with lmviz.record(tmp_path / "run", module, tokenizer=tokenizer, prefixes=["the hens"]) as recording:
        recording.step(1)
    monkeypatch.setattr(readings_dialog, "readings_look", lambda *_: Look((Words(text="each word"),)))
    dialog = ReadingsDialog(lmviz.open_readings(tmp_path / "run"), session.work, None)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: [each.text for each in dialog.card.look.parts] == ["each character"])
