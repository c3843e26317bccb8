"""Lets a double click on a scene or a bundle open it in lmviz, for one account of a computer and nobody else.

On Linux that is an entry for desktops and a type of files, in the folder of the account's data; on Windows
three keys below HKEY_CURRENT_USER. macOS hands files to applications only, and a Python program is none.
Only the standard library is used. The entry is written as freedesktop.org's Desktop Entry Specification says.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.places import shipped

ENDING, BUNDLE_ENDING = ".lmviz", ".lmvizbundle"
KIND = "lmviz.desktop.scene"
CLASSES = r"Software\Classes"
CHANGED = 0x08000000  # SHCNE_ASSOCCHANGED: Windows looks again which program opens what
ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"})
"""How the values of an entry are written."""

ON_MACOS = (
    "macOS opens files with applications only, and lmviz is a command: type `lmviz NAME.lmviz`, or drop the "
    "scene onto the window."
)


def associate() -> str:
    """Open scenes with this lmviz from now on; a sentence that says where that was written down."""
    if sys.platform == "darwin":
        raise LmvizError(ON_MACOS)
    return _write_keys() if sys.platform == "win32" else _write_entry()


def dissociate() -> str:
    """Take back what `associate` did; a sentence that says so."""
    if sys.platform == "darwin":
        raise LmvizError(ON_MACOS)
    return _delete_keys() if sys.platform == "win32" else _delete_entry()


def program() -> list[str]:
    """The words that start this lmviz from anywhere; a path may follow them.

    With -P the folder in which a file lies is not searched for modules: it may be a stranger's.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable]
    python = Path(sys.executable)
    quiet = python.with_name("pythonw.exe")  # on Windows: without a console
    return [str(quiet if os.path.isfile(quiet) else python), "-P", "-m", "lmviz"]


def _write_keys() -> str:
    registry: Any = importlib.import_module("winreg")
    command = subprocess.list2cmdline(program()) + ' "%1"'
    keys = dict.fromkeys((ENDING, BUNDLE_ENDING), KIND)
    keys |= {KIND: "lmviz scene", rf"{KIND}\shell\open\command": command}
    for name, value in keys.items():
        with registry.CreateKey(registry.HKEY_CURRENT_USER, rf"{CLASSES}\{name}") as key:
            registry.SetValueEx(key, "", 0, registry.REG_SZ, value)
    _tell_windows()
    return "A double click on a scene opens it in lmviz, for this account."


def _delete_keys() -> str:
    registry: Any = importlib.import_module("winreg")
    keys = [rf"{KIND}\shell\open\command", rf"{KIND}\shell\open", rf"{KIND}\shell", KIND]
    for name in [*keys, *(ending for ending in (ENDING, BUNDLE_ENDING) if _is_ours(registry, ending))]:
        try:
            registry.DeleteKey(registry.HKEY_CURRENT_USER, rf"{CLASSES}\{name}")
        except OSError:  # it is not there, or another program has put its own below it
            continue
    _tell_windows()
    return "Scenes are no longer opened by a double click."


def _is_ours(registry: Any, ending: str) -> bool:
    """Whether an ending stands for what lmviz opens, and not for another program's."""
    try:
        return bool(registry.QueryValue(registry.HKEY_CURRENT_USER, rf"{CLASSES}\{ending}") == KIND)
    except FileNotFoundError:
        return False


def _tell_windows() -> None:
    shell = getattr(ctypes, "windll", None)
    if shell is not None:
        shell.shell32.SHChangeNotify(CHANGED, 0, None, None)


def _write_entry() -> str:
    entry, kind = _places()
    words = program()
    command = " ".join(map(_quoted, words))
    changed = {"Exec": f"{command} %f", "TryExec": words[0], "Icon": _icon()}
    lines = []
    for line in _read("applications/lmviz.desktop").splitlines():
        name = line.partition("=")[0]
        lines.append(f"{name}={changed[name].translate(ESCAPED)}" if name in changed else line)
    for place, text in ((entry, "\n".join(lines) + "\n"), (kind, _read("mime/packages/lmviz.xml"))):
        write_atomically(place, text.encode("utf-8", "surrogateescape"))
    _tell_desktop(entry, kind)
    return f"A double click on a scene opens it in lmviz, for this account: see {entry}."


def _quoted(word: str) -> str:
    """A word of `Exec`: in double quotes where it is not plain, and never a field code such as %f."""
    word = word.replace("%", "%%")
    return word if re.fullmatch(r"[\w%+,./:=@-]+", word) else '"' + re.sub(r'(["`$\\])', r"\\\1", word) + '"'


def _delete_entry() -> str:
    entry, kind = _places()
    for place in (entry, kind):
        place.unlink(missing_ok=True)
    _tell_desktop(entry, kind)
    return "Scenes are no longer opened by a double click."


def _places() -> tuple[Path, Path]:
    """The entry for desktops, and the type of files."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "applications" / "lmviz.desktop", data / "mime" / "packages" / "lmviz.xml"


def _read(installed: str) -> str:
    """A file that a wheel puts into `share`, and that a checkout has among its resources."""
    name = Path(installed).name
    for place in (shipped("resources") / "packaging" / name, Path(sys.prefix) / "share" / installed):
        if os.path.isfile(place):
            return place.read_text(encoding="utf-8")
    raise LmvizError(f"This installation lacks the file {name}: install lmviz again.")


def _icon() -> str:
    return str(shipped("resources") / "icons" / "lmviz-256.png")


def _tell_desktop(entry: Path, kind: Path) -> None:
    """Have the desktop look again; without these programs it does so the next time one logs in."""
    for program, folder in (
        ("update-mime-database", kind.parent.parent),
        ("update-desktop-database", entry.parent),
    ):
        if shutil.which(program) and os.path.isdir(folder):
            subprocess.run([program, str(folder)], check=False, capture_output=True)
