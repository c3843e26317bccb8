"""Small public models of real English are offered beside the sample models, and opened once here."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from lmviz.app.window.main_window import MainWindow
from lmviz.interchange import hub
from lmviz.interchange.public_models import OFFERED_MODELS


def entries(window: MainWindow) -> dict[str, object]:
    """What the list of the welcome strip offers."""
    menu = next(menu for menu in window.beginning.strip.findChildren(QMenu))
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions()}


def test_a_public_model_is_offered_with_its_size_and_licence_and_downloaded_when_asked_for(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    asked: list[str] = []
    opened: list[list[Path]] = []

    def download(name: str, report: object) -> Path:
        asked.append(name)
        return tmp_path

    monkeypatch.setattr(hub, "download_model", download)
    monkeypatch.setattr(window, "open_paths", opened.append)
    model = OFFERED_MODELS[0]
    entries(window)[f"Download {model.sentence}"].trigger()
    qtbot.waitUntil(lambda: opened == [[tmp_path]])
    assert asked == [model.name]

    folder = tmp_path / f"models--{model.name.replace('/', '--')}" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").touch()
    entries(window)[model.title].trigger()
    assert opened[1:] == [[folder]]
    assert asked == [model.name], "it is here"
