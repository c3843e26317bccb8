"""Finds what this machine lacks to run lmviz, and says what to do.

Qt aborts, which Python cannot catch, where a system library of its screen plugin is missing. So
`missing_libraries` looks for them first; the window asks it before it starts, `lmviz doctor` prints
everything that `examine` finds, and start.py installs what `missing_parts` names. Only the standard
library is imported, so that this works where nothing is installed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path


@dataclass(frozen=True)
class SystemPart:
    """A shared library or another part of the system, and the packages that bring it."""

    name: str
    debian: str
    fedora: str


ALWAYS = (
    SystemPart("libGL.so.1", "libgl1", "libglvnd-glx"),
    SystemPart("libEGL.so.1", "libegl1", "libglvnd-egl"),
    SystemPart("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    SystemPart("libfreetype.so.6", "libfreetype6", "freetype"),
    SystemPart("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
    SystemPart("libdbus-1.so.3", "libdbus-1-3", "dbus-libs"),
    SystemPart("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    SystemPart("libgthread-2.0.so.0", "libglib2.0-0", "glib2"),
    SystemPart("libX11.so.6", "libx11-6", "libX11"),
    SystemPart("libz.so.1", "zlib1g", "zlib"),
    SystemPart("libzstd.so.1", "libzstd1", "libzstd"),
)
"""What Qt's core, its widgets and its offscreen plugin need; read off the wheel with readelf."""

PLUGINS = {
    "xcb": (
        SystemPart("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
        SystemPart("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
        SystemPart("libxcb-image.so.0", "libxcb-image0", "xcb-util-image"),
        SystemPart("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
        SystemPart("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil"),
        SystemPart("libxcb-util.so.1", "libxcb-util1", "xcb-util"),
        SystemPart("libxcb.so.1", "libxcb1", "libxcb"),
        SystemPart("libxcb-randr.so.0", "libxcb-randr0", "libxcb"),
        SystemPart("libxcb-render.so.0", "libxcb-render0", "libxcb"),
        SystemPart("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
        SystemPart("libxcb-shm.so.0", "libxcb-shm0", "libxcb"),
        SystemPart("libxcb-sync.so.1", "libxcb-sync1", "libxcb"),
        SystemPart("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb"),
        SystemPart("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb"),
        SystemPart("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb"),
        SystemPart("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
    ),
    "wayland": (
        SystemPart("libwayland-client.so.0", "libwayland-client0", "libwayland-client"),
        SystemPart("libwayland-cursor.so.0", "libwayland-cursor0", "libwayland-cursor"),
    ),
}
"""What a plugin that talks to a screen needs besides."""

FONT = SystemPart("a font", "fonts-dejavu-core", "dejavu-sans-fonts")
FONT_ENDINGS = (".ttf", ".otf", ".ttc", ".pfb", ".pcf.gz")

MARKS = {"fine": "✓", "note": "·", "problem": "✗"}


@dataclass(frozen=True)
class Finding:
    """The result of one check. `state` is "fine", "note" (lmviz works all the same) or "problem"."""

    name: str
    state: str
    sentence: str

    @property
    def line(self) -> str:
        """The sentence behind a mark for its state."""
        return f"{MARKS[self.state]} {self.sentence}"


def examine_checkpoint(place: str, base: str | None = None) -> Iterator[Finding]:
    """What a checkpoint of another program holds, and whether its parts agree.

    `base` is the model that an adapter is added to, by default the one that it names.
    """
    from lmviz.interchange.examination import examine_checkpoint as examined
    from lmviz.runs.folder_contents import contents_of
    from lmviz.runs.opening import find_model
    from lmviz.series.series_run import is_series

    path = Path(place)
    found = find_model(path)
    if found is None:
        yield Finding("checkpoint", "problem", contents_of(path).sentence)
        return
    if is_series(found):
        from lmviz.series.examination import examine_series

        yield from (Finding(*each) for each in examine_series(found, None if base is None else Path(base)))
        return
    yield from (Finding(*each) for each in examined(found, base))


def screen_plugin(environment: Mapping[str, str] = os.environ) -> str:
    """The plugin with which Qt will draw on Linux: "xcb", "wayland", "offscreen" …, or "" for none.

    As Qt does: QT_QPA_PLATFORM first, then the kind of session.
    """
    asked = environment.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    if asked:
        return asked.removesuffix("-egl")
    if environment.get("WAYLAND_DISPLAY") and environment.get("XDG_SESSION_TYPE", "wayland") == "wayland":
        return "wayland"
    return "xcb" if environment.get("DISPLAY") else ""


def missing_libraries(plugin: str | None = None) -> tuple[SystemPart, ...]:
    """The system libraries that Qt would not find for a screen plugin, by default the one it will take.

    Empty everywhere but on Linux: the wheels for macOS and Windows hold all they need.
    """
    if not sys.platform.startswith("linux"):
        return ()
    wanted = ALWAYS + PLUGINS.get(screen_plugin() if plugin is None else plugin, ())
    return tuple(library for library in wanted if not _loads(library.name))


def _loads(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def missing_parts(plugin: str | None = None) -> tuple[SystemPart, ...]:
    """The missing libraries, and a font where there is none and Qt would draw no text."""
    if not sys.platform.startswith("linux") or _has_font():
        return missing_libraries(plugin)
    return (*missing_libraries(plugin), FONT)


def _has_font() -> bool:
    """Whether a font lies in one of the folders in which fontconfig looks."""
    home = Path.home()
    data = os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":")
    folders = (home / ".fonts", home / ".local/share/fonts", *(Path(folder) / "fonts" for folder in data))
    files = chain.from_iterable(names for folder in folders for _, _, names in os.walk(folder))
    return any(name.lower().endswith(FONT_ENDINGS) for name in files)


def missing_venv() -> tuple[SystemPart, ...]:
    """What this Python lacks to make an environment; Debian has it in a package of its own."""
    if sys.base_prefix != "/usr" or importlib.util.find_spec("ensurepip") is not None:
        return ()
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return (SystemPart("Python's ensurepip", f"python{version}-venv", f"python{version}"),)


def install_command(parts: Iterable[SystemPart]) -> str:
    """The command that installs the parts on this system, as far as its package manager is known."""
    found = tuple(parts)
    rights = "" if _is_root() else "sudo "
    if shutil.which("dnf") and not shutil.which("apt-get"):
        return f"{rights}dnf install " + " ".join(sorted({part.fedora for part in found}))
    return f"{rights}apt-get install " + " ".join(_debian_packages(found))


def install_commands(parts: Iterable[SystemPart]) -> tuple[tuple[str, ...], ...]:
    """The commands with which a program installs the parts where there is apt-get; none elsewhere."""
    if not shutil.which("apt-get"):
        return ()
    rights = () if _is_root() else ("sudo",)
    apt = (*rights, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q=2", "-oDPkg::Lock::Timeout=60")
    packages = _debian_packages(parts)
    return (*apt, "update"), (*apt, "install", "--yes", "--no-install-recommends", *packages)


def _debian_packages(parts: Iterable[SystemPart]) -> list[str]:
    return sorted({part.debian for part in parts})


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def libraries_sentence(libraries: Iterable[SystemPart]) -> str:
    """Which of Qt's libraries are missing and how to install them."""
    found = tuple(libraries)
    files = ", ".join(library.name for library in found)
    return f"Qt cannot draw without {files}: install with `{install_command(found)}`."


def parts_sentence(parts: Iterable[SystemPart]) -> str:
    """Which parts of the system are missing and how to install them."""
    found = tuple(parts)
    names = ", ".join(part.name for part in found)
    return f"This system lacks {names}: `{install_command(found)}` installs what is missing."


def missing_display(environment: Mapping[str, str] = os.environ) -> str:
    """A sentence when there is no screen to draw on, or it does not answer; otherwise ""."""
    if not sys.platform.startswith("linux"):
        return ""
    plugin = screen_plugin(environment)
    if not plugin:
        return (
            "There is no display (neither WAYLAND_DISPLAY nor DISPLAY is set): start lmviz in a desktop "
            "session, log in with `ssh -X`, or use the commands of `lmviz --help`, which need no window."
        )
    display = environment.get("DISPLAY", "")
    if plugin == "xcb" and not _answers(display):
        return (
            f"The display {display or 'that DISPLAY should name'} does not answer: start lmviz in a desktop "
            "session, or log in with `ssh -X`."
        )
    return ""


def _answers(display: str) -> bool:
    """Whether an X server can be connected to; True where that cannot be found out."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode() or None, None))
    answers = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return answers


WINDOW_MODULES = ("numpy", "PySide6", "pyqtgraph", "tokenizers", "torch")


def missing_packages() -> str:
    """A sentence naming the Python packages without which the window does not start; otherwise ""."""
    missing = [module for module in WINDOW_MODULES if importlib.util.find_spec(module) is None]
    if not missing:
        return ""
    verb = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {verb} not installed for this Python: `python3 start.py` installs it all."


def examine() -> Iterator[Finding]:
    """Everything worth knowing about this machine, one finding after the other.

    Importing torch is part of it, so it takes some seconds and runs in any thread.
    """
    yield _python()
    yield from _packages()
    yield _system_libraries()
    yield _display()
    yield _torch()
    yield from _folders()


def _python() -> Finding:
    import platform  # here and below: the window, which only asks what is missing, waits for this module

    sentence = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}."
    return Finding("python", "fine", sentence)


PACKAGES = ("PySide6_Essentials", "pyqtgraph", "numpy", "tokenizers", "safetensors", "ziamath")


def _packages() -> Iterator[Finding]:
    from importlib import metadata  # slow to load, and the window waits for this module

    for name in PACKAGES:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Finding(name, "problem", f"{name} is not installed: `python3 start.py` installs it.")
            continue
        refusal = _refused(name, version)
        yield Finding(name, "problem" if refusal else "fine", refusal or f"{name} {version}.")


def _refused(name: str, version: str) -> str:
    """Why a version does not work here, or ""."""
    way_out = "install 6.10.3, which lmviz was tested with."
    if name == "PySide6_Essentials" and version.startswith("6.12.0") and sys.version_info < (3, 12):
        return f"PySide6 {version} aborts under Python 3.11: {way_out}"
    if name == "PySide6_Essentials" and version in ("6.9.1", "6.11.0", "6.11.1"):
        return f"PySide6 {version} has defects that break docks and plots: {way_out}"
    return ""


def _system_libraries() -> Finding:
    missing = missing_parts()
    if missing:
        return Finding("libraries", "problem", parts_sentence(missing))
    return Finding("libraries", "fine", "All system libraries that Qt needs, and a font, are here.")


def _display() -> Finding:
    lack = missing_display()
    if lack:
        return Finding("display", "problem", lack)
    if sys.platform.startswith("linux"):
        return Finding("display", "fine", f"Qt will draw with its {screen_plugin()} plugin.")
    return Finding("display", "fine", "Qt draws with the screen of this system.")


def _torch() -> Finding:
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            import torch

            cuda = torch.cuda.is_available()
    except (ImportError, OSError) as fault:
        return Finding("torch", "problem", f"PyTorch does not load: {fault}. `python3 start.py` installs it.")
    version = f"PyTorch {torch.__version__}"
    if cuda:
        return Finding("torch", "fine", f"{version} trains on {torch.cuda.get_device_name()}.")
    old_driver = next((str(item.message) for item in said if "driver" in str(item.message)), "")
    if old_driver:
        reason = old_driver.split(".")[0]
        sentence = f"{version} trains on the processor: {reason}; update the driver."
        return Finding("torch", "note", sentence)
    if torch.backends.mps.is_available():
        return Finding("torch", "fine", f"{version} trains on Apple's Metal.")
    if shutil.which("nvidia-smi") and torch.version.cuda is None:
        sentence = (
            f"{version} is built without CUDA and does not use the NVIDIA card: "
            "`python3 start.py --cuda` takes the other build."
        )
        return Finding("torch", "note", sentence)
    return Finding("torch", "fine", f"{version} trains on the processor, {os.cpu_count()} cores.")


def _folders() -> Iterator[Finding]:
    import platformdirs

    from lmviz.text.resources import data_folder

    folders = {
        "settings": platformdirs.user_config_path("lmviz", appauthor=False),
        "data": data_folder(),
        "working folder": Path.cwd(),
    }
    for name, folder in folders.items():
        yield _folder(name, folder)


def _folder(name: str, folder: Path) -> Finding:
    import tempfile

    existing = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))
    try:
        with tempfile.TemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as fault:
        sentence = (
            f"lmviz cannot write its {name} to {folder}: {fault.strerror}; free space or fix its permissions."
        )
        return Finding(name, "problem", sentence)
    if free < 200e6:
        return Finding(name, "note", f"Only {free / 1e6:.0f} MB are free where {folder} is.")
    return Finding(name, "fine", f"{folder} can be written to, {free / 1e9:.0f} GB free.")
