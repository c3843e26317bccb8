"""A double click on a scene: what is written for the desktop, and for Windows into a registry of the test."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.desktop import association
from lmviz.desktop.scene import ENDING, Scene, save_scene

linux = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="desktop entries belong to Linux")
COMMAND = r"Software\Classes\lmviz.desktop.scene\shell\open\command"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the desktop of the test keeps its entries."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share"


class Registry(SimpleNamespace):
    """The part of winreg that is used, over a dictionary of keys and their default values."""

    HKEY_CURRENT_USER, REG_SZ = "the account", 1

    def __init__(self) -> None:
        super().__init__(keys={})

    def CreateKey(self, root: str, name: str) -> "Key":
        assert root == self.HKEY_CURRENT_USER, "never for all accounts"
        return Key(name)

    def SetValueEx(self, key: "Key", name: str, reserved: int, kind: int, value: str) -> None:
        assert (name, reserved, kind) == ("", 0, self.REG_SZ)
        self.keys[key.name] = value

    def QueryValue(self, root: str, name: str) -> str:
        if name not in self.keys:
            raise FileNotFoundError
        return self.keys[name]

    def DeleteKey(self, root: str, name: str) -> None:
        below = any(key.startswith(name + "\\") for key in self.keys)
        assert not below, "Windows deletes no key that has others below it"
        if self.keys.pop(name, None) is None:
            raise FileNotFoundError


class Key:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "Key":
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A Windows that exists in this dictionary alone."""
    found = Registry()
    monkeypatch.setitem(sys.modules, "winreg", found)
    monkeypatch.setattr(sys, "platform", "win32")
    return found


def test_the_ending_is_that_of_scenes() -> None:
    assert association.ENDING == ENDING


@linux
def test_a_scene_opens_with_the_command_that_was_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["associate"]) == 0
    assert "for this account" in capsys.readouterr().out
    entry = (data / "applications" / "lmviz.desktop").read_text("utf-8").splitlines()
    values = dict(line.split("=", 1) for line in entry if "=" in line)
    assert "application/x-lmviz-scene" in values["MimeType"]
    assert Path(values["Icon"]).is_file()
    assert Path(values["TryExec"]).is_file()
    words = values["Exec"].removesuffix(" %f")
    answered = subprocess.run(
        f"{words} --version", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert answered.stdout.startswith("lmviz ")
    assert run(["associate", "--remove"]) == 0
    assert list(data.rglob("lmviz.*")) == []


@linux
def test_the_command_is_quoted_as_entries_want_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell reads what stands in double quotes as the specification says."""
    python = '/home/o\'neil/100%f \\ "own" $HOME `id`/ü\n/python'
    monkeypatch.setattr(sys, "executable", python)
    association.associate()
    entry = (data / "applications" / "lmviz.desktop").read_text("utf-8").splitlines()
    written = dict(line.split("=", 1) for line in entry if "=" in line)
    values = {
        name: value.replace(r"\\", "\0").replace(r"\n", "\n").replace("\0", "\\")
        for name, value in written.items()
    }
    assert values["TryExec"] == python
    assert values["Exec"].startswith('"')
    asked = ["sh", "-c", f"printf '%s|' {values['Exec']}"]
    words = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split("|")
    assert [word.replace("%%", "%") for word in words] == [python, "-P", "-m", "lmviz", "%f", ""]
    assert words[0].count("%%") == words[0].count("%") / 2 == 1


@linux
def test_an_entry_is_there_whole_or_not_at_all(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    association.associate()
    place = data / "applications" / "lmviz.desktop"
    before = place.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    monkeypatch.setattr(sys, "executable", "/elsewhere/python")
    with pytest.raises(LmvizError, match="No space left"):
        association.associate()
    assert place.read_bytes() == before


@linux
@pytest.mark.skipif(not (shutil.which("gio") and shutil.which("update-mime-database")), reason="no desktop")
def test_the_desktop_knows_a_scene_by_its_name(data: Path, tmp_path: Path) -> None:
    path = save_scene(Scene(), tmp_path / "night.lmviz")

    def kind() -> str:
        asked = ["gio", "info", "-a", "standard::content-type", str(path)]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout

    assert "application/x-lmviz-scene" not in kind()
    association.associate()
    assert "standard::content-type: application/x-lmviz-scene" in kind()


@linux
def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert run(["associate"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_windows_gets_the_keys_of_the_account_and_loses_them_again(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", r"C:\Program Files\Python\python.exe")
    association.associate()
    assert registry.keys == {
        r"Software\Classes\.lmviz": "lmviz.desktop.scene",
        r"Software\Classes\.lmvizbundle": "lmviz.desktop.scene",
        r"Software\Classes\lmviz.desktop.scene": "lmviz scene",
        COMMAND: r'"C:\Program Files\Python\python.exe" -P -m lmviz "%1"',
    }
    association.dissociate()
    assert registry.keys == {}
    association.dissociate()  # a second time there is nothing to do


def test_a_bundle_is_started_as_it_is(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", r"D:\lmviz\lmviz.exe")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    association.associate()
    assert registry.keys[COMMAND] == r'D:\lmviz\lmviz.exe "%1"'


def test_another_programs_ending_is_left_alone(registry: Registry) -> None:
    association.associate()
    registry.keys[r"Software\Classes\.lmviz"] = "another.program"
    association.dissociate()
    assert registry.keys == {r"Software\Classes\.lmviz": "another.program"}


def test_macos_says_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for asked in (association.associate, association.dissociate):
        with pytest.raises(LmvizError, match="drop the scene onto the window"):
            asked()
