"""A training of one's own, open in the window while it is recorded."""

from pathlib import Path

import torch
from own_modules import GPT, all_logits
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session

TABLE = {character: number for number, character in enumerate("abcdefghijk")}


def shown(session: Session) -> tuple[int, str] | None:
    reading = session.reading.current
    return None if reading is None else (reading.step, reading.trace.text)


def test_a_recording_is_a_run_that_grows(session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    torch.manual_seed(0)
    module, logits = GPT(), {}
    with lmviz.record(tmp_path / "run", module, tokenizer=TABLE) as recording:

        def learn(step: int) -> None:
            with torch.no_grad():
                module.transformer.wte.weight.add_(0.1 * torch.randn_like(module.transformer.wte.weight))
            recording.step(step, loss=3.0 / step)
            logits[step] = all_logits(module, torch.tensor([[2, 0, 1]]))

        learn(1)
        qtbot.waitUntil(lambda: lmviz.Run.open(recording.folder).snapshots() == [0, 1])
        with qtbot.waitSignal(session.library.model_changed, timeout=10_000):
            session.library.open(recording.folder)
        session.reading.set_prefix("cab")
        learn(2)
        qtbot.waitUntil(lambda: session.library.model.snapshots == (0, 1, 2), timeout=10_000)
    for step in (1, 2):
        session.library.choose_step(step)
        qtbot.waitUntil(lambda step=step: shown(session) == (step, "cab"))
        found = torch.as_tensor(session.reading.current.trace["logits"].array)
        torch.testing.assert_close(found, logits[step], atol=1e-5, rtol=1e-5)
    curve = session.training.history_of(session.library.model).loss
    assert list(zip(curve.steps, curve.values, strict=True)) == [(1, 3.0), (2, 1.5)]


def test_readings_that_cannot_be_recomputed_are_not_opened_and_say_why(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    module = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5))
    with lmviz.record(tmp_path / "run", module, prefixes=["1 2 3"]):
        pass
    with qtbot.waitSignal(session.library.failed, timeout=10_000) as caught:
        session.library.open(tmp_path / "run")
    assert "recorded, not recomputed" in caught.args[0]
