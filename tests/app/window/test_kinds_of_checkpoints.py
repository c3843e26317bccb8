"""A checkpoint of every kind is opened from the menu, and every panel shows something of it."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from foreign_models import PEERS, add_tokenizer, as_torch_save, peer, saved
from PySide6.QtWidgets import QFileDialog
from pytestqt.exceptions import TimeoutError as WaitedTooLong
from pytestqt.qtbot import QtBot

from lmviz.app.panels.table import shown_perspectives
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from tests.app.blank_panels import shows_something
from tests.app.conftest import wait_for_reading

TURNED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
SIZES = {"n_layer": 2, "n_head": 3, "n_embd": 24, "block_size": 32, "bias": True, "vocab_size": 50}
OTHERS = ("shards", "pytorch_model.bin", "nanoGPT", "nanoGPT compiled", "minGPT")
OF_EACH = {configuration: name for name, (configuration, _) in PEERS.items()}
"""One of each kind: the last, which has more settings of its own."""
KINDS = sorted({"gemma2", "llama 3", *OF_EACH.values(), *OTHERS})


def state(name: str, prefix: str = "") -> dict[str, torch.Tensor]:
    """The weights of a peer as nanoGPT and minGPT name and turn them."""
    tensors = peer(name).state_dict()
    return {
        prefix + key: value.t().contiguous() if key.endswith(TURNED) else value
        for key, value in tensors.items()
    }


def written(kind: str, folder: Path) -> Path:
    """A checkpoint of a kind in a folder, and the file of it that a person would choose."""
    if kind.startswith("nanoGPT"):
        folder.mkdir()
        prefix = "_orig_mod." if kind.endswith("compiled") else ""
        torch.save({"model": state("gpt2", prefix), "model_args": SIZES}, folder / "ckpt.pt")
        return add_tokenizer(folder) / "ckpt.pt"
    if kind == "minGPT":
        folder.mkdir()
        torch.save(state("gpt2 untied"), folder / "model.pt")
        (folder / "config.json").write_text(json.dumps({"model": {"model_type": "gpt-nano", "n_head": None}}))
        return add_tokenizer(folder) / "model.pt"
    if kind == "shards":
        add_tokenizer(saved("llama", folder, max_shard_size="8KB"))
        return folder / "model.safetensors.index.json"
    if kind == "pytorch_model.bin":
        return add_tokenizer(as_torch_save(saved("gpt2", folder))) / "pytorch_model.bin"
    return add_tokenizer(saved(kind, folder)) / "model.safetensors"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_panel_shows_something_of_it(
    kind: str,
    tmp_path: Path,
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    answered: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    said: list[str] = []
    session.work.any_failed.connect(said.append)
    chosen = str(written(kind, tmp_path / "model")), ""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: chosen)
    [action] = [each for each in window.commands.all() if each.text().startswith("Open a checkpoint of")]
    with qtbot.waitSignal(session.library.model_changed):
        action.trigger()
    tokens = session.library.model.tokenizer.tokens()
    session.text.open("farm")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.reading.set_prefix(" ".join(tokens[3:7]))
    wait_for_reading(session, qtbot)
    wrong: list[tuple[str, str]] = []
    for perspective in shown_perspectives():
        window.show_perspective(perspective.name)
        drawn()
        for panel in window.perspective.panels:
            panel.parentWidget().raise_()
            qtbot.waitUntil(lambda panel=panel: panel.is_in_sight)
            drawn()
            answered()
            drawn()
            with suppress(WaitedTooLong):  # which would not say what
                qtbot.waitUntil(lambda panel=panel: panel.complaint or shows_something(panel))
            if panel.complaint or not shows_something(panel):
                wrong.append((panel.objectName(), panel.complaint or "blank"))
    assert (wrong, said) == ([], [])
