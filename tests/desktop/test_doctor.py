"""What the doctor finds, and what it says about it."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from lmviz.desktop import doctor
from lmviz.desktop.doctor import (
    SystemPart,
    examine,
    install_command,
    libraries_sentence,
    missing_display,
    screen_plugin,
)

LOST = SystemPart("libnowhere.so.9", "libnowhere9", "nowhere")

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Qt brings its libraries along elsewhere"
)


@linux_only
def test_a_library_that_does_not_load_is_missing_and_its_package_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "ALWAYS", (LOST,))
    monkeypatch.setattr(
        doctor.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    assert doctor.missing_libraries("offscreen") == (LOST,)
    sentence = libraries_sentence(doctor.missing_libraries("offscreen"))
    assert "libnowhere.so.9" in sentence
    assert "apt-get install libnowhere9" in sentence


@linux_only
def test_a_plugin_needs_its_own_libraries_besides(monkeypatch):
    monkeypatch.setattr(doctor, "PLUGINS", {"xcb": (LOST,)})
    assert LOST in doctor.missing_libraries("xcb")
    assert LOST not in doctor.missing_libraries("offscreen")


def test_on_fedora_the_package_has_fedoras_name(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", {"dnf": "/usr/bin/dnf"}.get)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 1000, raising=False)
    assert install_command([LOST]) == "sudo dnf install nowhere"
    assert doctor.install_commands([LOST]) == ()


def test_root_is_told_no_sudo(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", {"apt-get": "/usr/bin/apt-get"}.get)
    monkeypatch.setattr(doctor.os, "geteuid", lambda: 0, raising=False)
    assert install_command([LOST]) == "apt-get install libnowhere9"
    assert not any("sudo" in command for command in doctor.install_commands([LOST]))


@linux_only
def test_a_system_without_a_font_lacks_one(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "share"))
    assert doctor.FONT in doctor.missing_parts("offscreen")
    (tmp_path / "share" / "fonts" / "dejavu").mkdir(parents=True)
    assert doctor.FONT in doctor.missing_parts("offscreen")
    (tmp_path / "share" / "fonts" / "dejavu" / "Sans.TTF").touch()
    assert doctor.FONT not in doctor.missing_parts("offscreen")


def test_debians_python_without_ensurepip_lacks_a_package(monkeypatch):
    assert doctor.missing_venv() == ()  # or these tests would have no environment
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.sys, "base_prefix", "/usr")
    [part] = doctor.missing_venv()
    assert part.debian == f"python3.{sys.version_info[1]}-venv"


def test_a_package_of_several_libraries_is_named_once():
    sentence = install_command([library for library in doctor.ALWAYS if "glib" in library.debian])
    assert sentence.split().count("libglib2.0-0") == 1


@pytest.mark.parametrize(
    ("environment", "plugin"),
    [
        ({}, ""),
        ({"DISPLAY": ":0"}, "xcb"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "XDG_SESSION_TYPE": "x11"}, "xcb"),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, "offscreen"),
        ({"QT_QPA_PLATFORM": "wayland-egl;xcb"}, "wayland"),
    ],
)
def test_the_plugin_is_the_one_that_qt_takes(environment, plugin):
    assert screen_plugin(environment) == plugin


@linux_only
def test_without_a_display_there_is_a_way_out():
    assert "lmviz --help" in missing_display({})
    assert missing_display({"QT_QPA_PLATFORM": "offscreen"}) == ""


@linux_only
def test_a_display_that_does_not_answer_is_told_before_qt_aborts():
    assert "display :987 does not answer" in missing_display({"DISPLAY": ":987"})


def test_everything_is_looked_at_and_said_in_sentences():
    findings = list(examine())
    assert {"python", "libraries", "display", "torch", "settings", "working folder"} <= {
        finding.name for finding in findings
    }
    assert all(finding.state in ("fine", "note", "problem") for finding in findings)
    assert all(finding.sentence.endswith(".") for finding in findings)


def test_the_version_that_aborts_is_refused_where_it_aborts(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "6.12.0")
    qt = next(finding for finding in examine() if finding.name == "PySide6_Essentials")
    assert (qt.state == "problem") == (sys.version_info < (3, 12))


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "file" / "lmviz"))
    finding = next(found for found in examine() if found.name == "data")
    assert finding.state == "problem"
    assert "cannot write its data" in finding.sentence


def test_it_needs_nothing_but_the_standard_library():
    """start.py asks it before anything is installed; this machine draws offscreen, or no test would run."""
    code = "from lmviz.desktop import doctor; print(doctor.missing_parts('offscreen'))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert done.stdout.strip() == "()"
