"""What the doctor finds, and what it says about it."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from lmviz import doctor
from lmviz.doctor import Library, examine, install_command, libraries_sentence, missing_display, screen_plugin

LOST = Library("libnowhere.so.9", "libnowhere9", "nowhere")

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
    assert "sudo apt-get install libnowhere9" in sentence


@linux_only
def test_a_plugin_needs_its_own_libraries_besides(monkeypatch):
    monkeypatch.setattr(doctor, "PLUGINS", {"xcb": (LOST,)})
    assert LOST in doctor.missing_libraries("xcb")
    assert LOST not in doctor.missing_libraries("offscreen")


def test_on_fedora_the_package_has_fedoras_name(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", {"dnf": "/usr/bin/dnf"}.get)
    assert install_command([LOST]) == "sudo dnf install nowhere"


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


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    finding = doctor._folder("settings", tmp_path / "file" / "lmviz")
    assert finding.state == "problem"
    assert "cannot write its settings" in finding.sentence


def test_a_build_machine_asks_it_for_packages_before_anything_is_installed():
    done = subprocess.run(
        [sys.executable, "-S", "-m", "lmviz.doctor"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout.strip() == ""  # this machine draws offscreen, or these tests would not run
