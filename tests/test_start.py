"""start.py, without making an environment anew."""

import importlib.util
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent


@pytest.fixture
def start():
    specification = importlib.util.spec_from_file_location("start", ROOT / "start.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def calls(start, tmp_path, monkeypatch) -> list[list[str]]:
    """A checkout in which installing is only written down."""
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("first", encoding="utf-8")
    monkeypatch.setattr(start, "HERE", tmp_path)
    monkeypatch.setattr(start, "RECORD", tmp_path / "record.json")
    made: list[list[str]] = []
    monkeypatch.setattr(start.subprocess, "call", lambda command: made.append(list(map(str, command))) or 0)
    monkeypatch.setattr(start, "unpack_pyside", lambda: None)
    return made


def test_an_old_python_is_told_which_one_to_take():
    code = f"import sys; sys.version_info = (3, 8, 1); exec(open({str(ROOT / 'start.py')!r}).read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer and this is 3.8" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_there_is_not_installed_again(start, calls):
    start.install(("test",), cpu=False)
    start.install(("test",), cpu=False)
    start.install((), cpu=False)
    assert len(calls) == 1


def test_a_change_of_the_versions_installs_again_with_all_that_was_wanted(start, calls):
    start.install(("test",), cpu=False)
    (start.HERE / "constraints.txt").write_text("second", encoding="utf-8")
    start.install(("bench",), cpu=False)
    assert [call[-1] for call in calls] == [f"{start.HERE}[test]", f"{start.HERE}[bench,test]"]


def test_a_failed_installation_is_tried_again(start, calls, monkeypatch):
    monkeypatch.setattr(start.subprocess, "call", lambda command: 1)
    with pytest.raises(SystemExit, match="did not finish"):
        start.install((), cpu=False)
    monkeypatch.setattr(start.subprocess, "call", lambda command: calls.append(command) or 0)
    start.install((), cpu=False)
    assert len(calls) == 1


def test_pyside_unpacks_its_modules_into_the_environment(start, tmp_path, monkeypatch):
    """In a copy of the small package that carries them."""
    import shiboken6

    package = tmp_path / "shiboken6"
    shutil.copytree(Path(shiboken6.__file__).parent, package, ignore=shutil.ignore_patterns("files.dir"))
    (tmp_path / "PySide6.py").write_text("import shiboken6")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(start, "PYTHON", sys.executable)
    start.unpack_pyside()
    assert list((package / "files.dir" / "shibokensupport").glob("*.py"))


def test_cpu_adds_the_index_of_builds_without_cuda(start, calls):
    start.install((), cpu=True)
    assert start.CPU_INDEX in calls[0]
    assert "--constraint" in calls[0]


def test_words_are_told_from_paths_and_their_rest_is_handed_on(start):
    options = start.read_arguments(["--cpu", "test", "tests/text", "-x"])
    assert (options.cpu, options.rest) == (True, ["test", "tests/text", "-x"])
    assert start.read_arguments(["notes.txt"]).rest == ["notes.txt"]


def test_what_the_words_run_is_there(start):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in (start.WINDOW, *start.WORDS.values()):
        assert set(word.extras) <= set(extras["optional-dependencies"])
        for command in word.commands:
            assert command[0].startswith("-") or (ROOT / command[0]).is_file()
            assert all((ROOT / item).is_file() for item in command if item.endswith((".py", ".spec")))


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(line.split("==")[0]): line.split("==")[1]
        for line in lines
        if line and not line.startswith("#")
    }


def test_every_requirement_is_pinned_to_a_version_that_it_allows():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(item for extra in extras for item in extra)]
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)]), requirement


def test_the_pinned_versions_are_the_ones_these_tests_run_with():
    for name, version in pins().items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # of another platform, or of an extra that is not installed
        assert found.split("+")[0] == version, name
