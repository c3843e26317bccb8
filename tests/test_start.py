"""start.py, without making an environment anew."""

import http.server
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from covering import parametrize_few
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmviz.desktop import doctor

ROOT = Path(__file__).parent.parent


@pytest.fixture
def start():
    specification = importlib.util.spec_from_file_location("start", ROOT / "start.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only on Linux are there system packages and two builds"
)


@pytest.fixture
def calls(start, tmp_path, monkeypatch) -> list[list[str]]:
    """A checkout in which installing is only written down."""
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text("first", encoding="utf-8")
    monkeypatch.setattr(start, "HERE", tmp_path)
    monkeypatch.setattr(start, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(start, "usual_build", lambda: "cuda")
    made: list[list[str]] = []
    monkeypatch.setattr(start.subprocess, "call", lambda command: made.append(list(map(str, command))) or 0)
    monkeypatch.setattr(start, "unpack_pyside", lambda: None)
    return made


class Machine:
    """A Linux without a library, with commands of its own on PATH that write down how they were called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._log, self._patch = folder / "bin", folder / "log", monkeypatch
        self._folder.mkdir()
        (self._folder / "env").symlink_to(shutil.which("env"))
        monkeypatch.setenv("PATH", str(self._folder))
        lost = doctor.SystemPart("libnowhere.so.9", "libnowhere9", "nowhere")
        monkeypatch.setattr(doctor, "missing_parts", lambda plugin: (lost,))

    def add(self, name: str, does: str = "exit 0") -> None:
        path = self._folder / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self._log}\n{does}\n', encoding="utf-8")
        path.chmod(0o755)

    def sit_down(self, user: int, answer: str | None) -> None:
        """Somebody at a terminal who answers so, or nobody and no terminal."""
        self._patch.setattr(os, "geteuid", lambda: user)
        keyboard = io.StringIO("" if answer is None else answer + "\n")
        keyboard.isatty = lambda: answer is not None
        self._patch.setattr(sys, "stdin", keyboard)

    @property
    def log(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@linux_only
@pytest.mark.parametrize(
    ("user", "answer", "installs"),
    [
        (0, None, True),
        (0, "", True),
        (1000, "y", True),
        (1000, "Yes", True),
        (1000, "n", False),
        (1000, "", False),
        (1000, None, False),
    ],
)
def test_system_packages_are_named_and_installed_by_root_or_after_a_yes(
    start, machine, capfd, user, answer, installs
):
    machine.add("apt-get")
    machine.add("sudo", 'exec "$@"')
    machine.sit_down(user, answer)
    start.bring_system_packages("offscreen")
    said = capfd.readouterr().out
    assert "lacks libnowhere.so.9" in said
    assert f"`{'sudo ' if user else ''}apt-get install libnowhere9`" in said
    assert ("[y/N]" in said) == (user != 0 and answer is not None)
    apt = [line for line in machine.log if line.startswith("apt-get")]
    assert [line.split()[3] for line in apt] == (["update", "install"] if installs else [])
    assert not apt or apt[-1].endswith(" libnowhere9")
    assert any(line.startswith("sudo") for line in machine.log) == (installs and user != 0)


@linux_only
def test_a_person_without_sudo_is_told_the_packages_and_asked_nothing(start, machine, capfd):
    machine.add("apt-get")
    machine.sit_down(1000, "y")
    start.bring_system_packages("offscreen")
    said = capfd.readouterr().out
    assert "libnowhere9" in said
    assert "[y/N]" not in said
    assert machine.log == []


@linux_only
def test_where_there_is_no_apt_the_packages_are_named_and_it_goes_on(start, machine, capfd):
    machine.add("dnf")
    machine.sit_down(0, "y")
    start.bring_system_packages("offscreen")
    assert "`dnf install nowhere`" in capfd.readouterr().out
    assert machine.log == []


@linux_only
def test_packages_that_do_not_install_are_said_and_it_goes_on(start, machine, capfd):
    machine.add("apt-get", "exit 100")
    machine.sit_down(0, None)
    start.bring_system_packages("offscreen")
    assert "were not installed" in capfd.readouterr().out


@linux_only
def test_where_nothing_is_missing_nothing_is_said(start, machine, monkeypatch, capfd):
    machine.add("apt-get")
    machine.sit_down(0, "y")
    monkeypatch.setattr(doctor, "missing_parts", lambda plugin: ())
    start.bring_system_packages(None)
    assert capfd.readouterr().out == ""
    assert machine.log == []


@linux_only
def test_without_an_nvidia_card_torch_comes_without_cuda_and_it_is_said(
    start, machine, monkeypatch, tmp_path, capfd
):
    monkeypatch.setattr(start, "NVIDIA_DRIVER", tmp_path / "nvidia")
    assert start.usual_build() == "cpu"
    assert "--cuda" in capfd.readouterr().out
    (tmp_path / "nvidia").mkdir()
    assert start.usual_build() == "cuda"
    (tmp_path / "nvidia").rmdir()
    machine.add("nvidia-smi")
    assert start.usual_build() == "cuda"
    assert capfd.readouterr().out == ""


def test_an_old_python_is_told_which_one_to_take():
    code = f"import sys; sys.version_info = (3, 8, 1); exec(open({str(ROOT / 'start.py')!r}).read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer and this is 3.8" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_there_is_not_installed_again(start, calls):
    start.install(("test",), None)
    start.install(("test",), None)
    start.install((), None)
    assert len(calls) == 1


def test_a_change_of_the_versions_installs_again_with_all_that_was_wanted(start, calls):
    start.install(("test",), None)
    (start.HERE / "constraints.txt").write_text("second", encoding="utf-8")
    start.install(("bench",), None)
    assert [call[-1] for call in calls] == [f"{start.HERE}[test]", f"{start.HERE}[bench,test]"]


def test_a_failed_installation_is_tried_again(start, calls, monkeypatch):
    monkeypatch.setattr(start.subprocess, "call", lambda command: 1)
    with pytest.raises(SystemExit, match="did not finish"):
        start.install((), None)
    monkeypatch.setattr(start.subprocess, "call", lambda command: calls.append(command) or 0)
    start.install((), None)
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


def test_the_build_without_cuda_is_asked_for_torch_alone_and_first(start, calls):
    start.install((), "cpu")
    first, second = calls
    assert start.CPU_INDEX in first
    assert (first[-1], "--no-deps" in first) == ("torch", True)
    assert start.CPU_INDEX not in second
    assert "--editable" in second
    assert all("--constraint" in call for call in calls)


def test_an_index_without_cuda_that_fails_leaves_the_default_one(start, calls, monkeypatch, capsys):
    def call(command: list[object]) -> int:
        calls.append(list(map(str, command)))
        return int(start.CPU_INDEX in command)

    monkeypatch.setattr(start.subprocess, "call", call)
    start.install((), "cpu")
    assert "--editable" in calls[-1]
    assert "using the default index" in capsys.readouterr().out
    start.install((), None)
    assert len(calls) == 2  # what was taken in the end is kept


def test_a_build_once_chosen_is_kept_and_changes_when_another_is_asked_for(start, calls):
    start.install((), "cpu")
    start.install((), None)
    assert len(calls) == 2
    start.install((), "cuda")
    assert calls[2][-1] == "torch"
    assert "--force-reinstall" in calls[2]
    assert start.CPU_INDEX not in calls[2]
    start.install((), "cpu")
    assert {start.CPU_INDEX, "--force-reinstall"} <= set(calls[4])


class Index(http.server.BaseHTTPRequestHandler):
    """An index of packages that holds a build of torch, but for those who look below /refused."""

    def do_GET(self) -> None:
        if "refused" in self.path:
            return self.send_error(403)
        name = "torch-2.13.0+cpu-py3-none-any.whl"
        found = wheel() if self.path.endswith(".whl") else f'<a href="{name}">{name}</a>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)
        return None

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def wheel() -> bytes:
    content = io.BytesIO()
    info = "torch-2.13.0+cpu.dist-info"
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("torch.py", "")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0+cpu\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return content.getvalue()


@parametrize_few(("place", "installs"), [("whl", True), ("refused", False), (None, False)])
def test_pip_itself_takes_torch_from_the_index_or_says_that_it_cannot(
    start, tmp_path, monkeypatch, place, installs
):
    """With an index that has it, one that refuses, and a port that nobody listens at."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    address = f"http://127.0.0.1:{server.server_address[1]}/{place}"
    if place is None:
        server.server_close()
    else:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in [name for name in os.environ if name.startswith("PIP_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "target"))
    (tmp_path / "constraints.txt").write_text("torch==2.13.0\n", encoding="utf-8")
    monkeypatch.setattr(start, "HERE", tmp_path)
    monkeypatch.setattr(start, "PYTHON", sys.executable)
    monkeypatch.setattr(start, "CPU_INDEX", address)
    try:
        assert start.install_cpu_build(anew=True) == installs
    finally:
        if place is not None:
            server.shutdown()
            server.server_close()
    assert (tmp_path / "target" / "torch.py").exists() == installs


def test_words_are_told_from_paths_and_their_rest_is_handed_on(start):
    options = start.read_arguments(["--cpu", "test", "tests/text", "-x"])
    assert (options.build, options.rest) == ("cpu", ["test", "tests/text", "-x"])
    assert start.read_arguments(["--cuda"]).build == "cuda"
    options = start.read_arguments(["notes.txt"])
    assert (options.build, options.rest) == (None, ["notes.txt"])


def test_what_the_words_run_is_there(start):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in (start.WINDOW, *start.WORDS.values()):
        assert set(word.extras) <= set(extras["optional-dependencies"])
        for command in (*word.commands, *word.beside):
            assert command[0].startswith("-") or (ROOT / command[0]).is_file()
            assert all((ROOT / item).is_file() for item in command if item.endswith((".py", ".spec")))


def test_all_checks_are_run_and_what_they_compile_is_kept(start, tmp_path, monkeypatch, capsys):
    word, kept = start.WORDS["test"], []

    def run(command: list[str]) -> int:
        kept.append("PYTHONDONTWRITEBYTECODE" not in os.environ)
        return 3 if command[1] == "mypy" else 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(start, "run_beside", lambda command: lambda: run(command))
    for name in ("bring_system_packages", "make_environment", "install"):
        monkeypatch.setattr(start, name, lambda *arguments: None)
    monkeypatch.setattr(sys, "argv", ["start.py", "test"])
    assert start.main() == 3
    assert kept == [True] * len((*word.commands, *word.beside))
    assert capsys.readouterr().err.splitlines() == ["Did not pass: -m mypy"]


def test_what_runs_meanwhile_says_at_its_end_what_it_has_to_say(start, monkeypatch, capsys):
    monkeypatch.setattr(start, "PYTHON", Path(sys.executable))
    wait = start.run_beside(["-c", "import sys; print('said', file=sys.stderr); sys.exit(4)"])
    assert capsys.readouterr().out == ""
    assert wait() == 4
    assert capsys.readouterr().out == "said\n"


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
