"""What is handed on: an sdist, the wheel made from it, and lmviz installed from that wheel alone."""

import configparser
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import lmviz
from lmviz.api.training import sample_models

ROOT = Path(__file__).parent.parent
PAINTED = """
import json
from PySide6.QtWidgets import QApplication
from lmviz.app.main import main
from lmviz.base.places import shipped
live = QApplication.exec
said = {"resources": str(shipped("resources"))}

def live_until_painted():
    window = next(widget for widget in QApplication.topLevelWidgets() if hasattr(widget, "painted"))
    window.painted.connect(lambda: said.update(model=str(window.session.reading.current.model.folder)))
    window.painted.connect(window.close)
    return live()

QApplication.exec = staticmethod(live_until_painted)
said["code"] = main()
print(json.dumps(said))
"""


def tracked(*folders: str) -> list[str]:
    command = ["git", "ls-files", *folders]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert found
    return found


def build(target: str, source: Path, folder: Path) -> Path:
    """Build the "sdist" or the "wheel" of a folder, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The folder that the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))) as archive:
        archive.extractall(folder, filter="data")
    [unpacked] = folder.iterdir()
    return unpacked


@pytest.fixture(scope="module")
def environment(source, tmp_path_factory) -> Path:
    """One with the wheel made from the sdist; what lmviz needs is lent by the one that runs this."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    wheel = build("wheel", source, tmp_path_factory.mktemp("wheel"))
    pip = [sys.executable, "-m", "pip", "--python", str(program(folder, "python")), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True)
    lent = "\n".join(sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    inside = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    Path(inside, "lent.pth").write_text(lent, encoding="utf-8")
    return folder


def program(environment: Path, name: str) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def printed(environment: Path, name: str, *words: str) -> str:
    """What a program of the environment prints, run far from the checkout."""
    command = [str(program(environment, name)), *words]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(command, cwd=environment, env=clean, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_packed_is_what_building_testing_and_running_need():
    """Without building anything, of which the slow tests below are."""
    sdist = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    kept = tracked(
        "lmviz", "resources", "sample_models", "start.py", "constraints.txt", "tests/test_package.py"
    )
    assert set(kept) <= sdist
    wheel = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    shared = [name for name in tracked("resources", "sample_models") if "/packaging/" not in name]
    assert {*tracked("lmviz"), *(f"lmviz/{name}" for name in shared)} <= wheel


@pytest.mark.slow
def test_the_sdist_holds_what_building_and_testing_need(source):
    wanted = tracked("resources", "sample_models", "start.py", "constraints.txt", "tests/test_package.py")
    assert [name for name in wanted if not (source / name).is_file()] == []
    assert not (source / ".venv").exists()


@pytest.mark.slow
def test_an_installed_lmviz_brings_its_resources_and_sample_models(environment):
    assert printed(environment, "lmviz", "--version").strip() == f"lmviz {lmviz.__version__}"
    models = json.loads(printed(environment, "lmviz", "models", "--json"))["models"]
    assert [model["name"] for model in models] == list(sample_models())

    [inside] = [folder.parent for folder in environment.glob("**/lmviz/sample_models")]
    wanted = [name for name in tracked("resources", "sample_models") if "/packaging/" not in name]
    assert [name for name in wanted if not (inside / name).is_file()] == []
    installed = {path.name for path in inside.parent.iterdir()} - {"lent.pth"}
    assert installed == {"lmviz", f"lmviz-{lmviz.__version__}.dist-info"}


@pytest.mark.slow
def test_an_installed_lmviz_opens_its_window_without_the_checkout(environment):
    said = json.loads(printed(environment, "python", "-c", PAINTED))
    assert said["code"] == 0
    assert environment in Path(said["resources"]).parents
    assert environment in Path(said["model"]).parents


@pytest.mark.slow
def test_an_installed_lmviz_stands_in_the_menu_with_its_icon(environment):
    share = environment / "share"
    entry = share / "applications" / "lmviz.desktop"
    if shutil.which("desktop-file-validate"):
        subprocess.run(["desktop-file-validate", str(entry)], check=True)
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(entry, encoding="utf-8")
    values = parser["Desktop Entry"]
    assert (values["Type"], values["Name"], values["Terminal"]) == ("Application", "lmviz", "false")
    assert program(environment, values["Exec"].split()[0]).is_file()
    assert program(environment, values["TryExec"]).is_file()
    assert all(values[key].endswith(";") for key in ("Categories", "Keywords", "MimeType"))
    sizes = {icon.parent.parent.name for icon in (share / "icons").glob(f"hicolor/*/apps/{values['Icon']}.*")}
    assert sizes == {"scalable", "48x48", "256x256"}
