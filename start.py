#!/usr/bin/env python3
"""Start lmviz from a checkout, with nothing but Python.

    python3 start.py [PATH]       open the window; PATH is a text or a run
    python3 start.py WORD ...     do one other thing; `python3 start.py --help` lists the words

Each call names the system packages that are missing, and installs them as root or after a yes at the
terminal; makes `.venv` beside this file; installs there what is missing, in the versions of
constraints.txt; and goes on at once when nothing is. Only the standard library is used, on Linux,
macOS and Windows; a Python that is too old gets far enough to say so.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

OLDEST = (3, 11)
if sys.version_info < OLDEST:
    names = ["python3.14", "python3.13", "python3.12", "python3.11"]
    newer = next((name for name in names if shutil.which(name)), "")
    sys.exit(
        f"lmviz needs Python {OLDEST[0]}.{OLDEST[1]} or newer and this is "
        f"{sys.version_info[0]}.{sys.version_info[1]}: "
        + (f"start it with {newer} start.py." if newer else "install a newer one from python.org.")
    )

HERE = Path(__file__).resolve().parent
FOLDER = HERE / ".venv"
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
RECORD = FOLDER / "lmviz-installed.json"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
NVIDIA_DRIVER = Path("/proc/driver/nvidia")
WORKERS = str((os.cpu_count() or 1) + 1)
"""Of pytest: a fifth of the time a test of the window waits for a timer or a thread. On two cores a fourth
worker takes more time to start, and from the memory of the others, than it saves."""


class Word(NamedTuple):
    """One thing to do: in words, the extras of pyproject.toml it needs, and what `.venv`'s Python runs.

    All commands are run even when one fails; the last one gets the rest of the command line. Those of
    `beside` run meanwhile, and what they say comes last. `plugin` is the one with which Qt draws, None for
    that of this screen.
    """

    does: str
    extras: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    plugin: str | None = "offscreen"
    beside: tuple[tuple[str, ...], ...] = ()


WINDOW = Word("open the window", (), (("-m", "lmviz"),), plugin=None)
WORDS = {
    "test": Word(
        "check style, import contracts, types and behaviour",
        ("test",),
        (
            ("-m", "ruff", "check"),
            ("-m", "ruff", "format", "--check"),
            ("-c", "from importlinter.cli import lint_imports_command as check; check(['--no-logo'])"),
            ("-m", "pytest", "-q", "--numprocesses", WORKERS, "--dist", "worksteal"),
        ),
        beside=(("-m", "mypy"),),
    ),
    "bench": Word("measure speed, also against other programs", ("bench",), (("benchmarks/bench.py",),)),
    "mutate": Word(
        "break lmviz in many small ways, and see whether tests notice",
        ("test", "mutate"),
        (("tests/mutation/mutate.py",),),
    ),
    "soak": Word(
        "damage files and disturb trainings for hours, and see what is lost",
        ("test",),
        (("tests/soak/soak.py",),),
    ),
    "nightly": Word(
        "run what takes too long for every change: slow tests, a short soak, some mutants",
        ("test", "mutate", "browser"),
        (("tests/nightly.py",),),
    ),
    "new": Word(
        "write a panel, an operation or a family to begin with, and its test", ("test",), (("docs/new.py",),)
    ),
    "sample-models": Word("train the sample models again", (), (("sample_models/train.py",),)),
    "figure": Word("train the translators of the lecture's figure, and draw it", (), (("docs/figure.py",),)),
    "pictures": Word("take the pictures of the guide again", ("docs",), (("docs/make_pictures.py",),)),
    "page-pictures": Word(
        "take the pictures of a page again, in Chromium", ("browser",), (("docs/page_pictures.py",),)
    ),
    "recall": Word("measure how far back models remember, some minutes", (), (("docs/recall.py",),)),
    "scale": Word("write the scaling table, docs/scale.md", (), (("docs/write_scale.py",),)),
    "bundle": Word(
        "make a folder that runs without Python, and start it once",
        ("bundle",),
        (
            (
                *("-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
                *("--workpath", "build/bundle", "resources/packaging/lmviz.spec"),
            ),
            ("resources/packaging/check_bundle.py",),
        ),
    ),
    "doctor": Word("say what this machine lacks, if anything", (), (("-m", "lmviz", "doctor"),)),
}


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """`.build`, which PyTorch to take ("cpu", "cuda" or None), and `.rest`: the word or path with all that
    follows."""
    parser = argparse.ArgumentParser(
        usage="python3 start.py [--cpu | --cuda] [PATH | WORD ...]",
        description="Open the lmviz window, on PATH if there is one, or do what a word says:\n\n"
        + "\n".join(f"  {name:<14} {word.does}" for name, word in WORDS.items()),
        epilog="What follows a word is handed on, such as a folder of tests after `test`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    builds = parser.add_mutually_exclusive_group()
    for build, sentence in (
        ("cpu", "take PyTorch without CUDA, as happens by itself on Linux without an NVIDIA card"),
        ("cuda", "take PyTorch with CUDA on Linux, whatever the card: gigabytes more to download"),
    ):
        builds.add_argument(f"--{build}", dest="build", action="store_const", const=build, help=sentence)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def bring_system_packages(plugin: str | None) -> None:
    """Name what the system lacks, and install it where that may be done; go on in any case.

    As root it is installed at once, at a terminal after a yes. The checks that follow, and Qt's own, say
    what does not work without it.
    """
    from lmviz.desktop import doctor

    missing = doctor.missing_parts(plugin)
    if not PYTHON.exists():
        missing += doctor.missing_venv()
    if not missing:
        return
    print(doctor.parts_sentence(missing), flush=True)
    commands = doctor.install_commands(missing)
    if not commands or not may_install():
        return
    print("Installing them …", flush=True)
    output = None if sys.stdout.isatty() else subprocess.DEVNULL
    codes = [subprocess.call(command, stdout=output) for command in commands]
    if codes[-1] != 0:
        print("They were not installed, for the reason above; continuing without them.", flush=True)


def may_install() -> bool:
    """Whether system packages may be installed: by root, or by whoever says yes at the terminal."""
    if os.geteuid() == 0:
        return True
    if not (sys.stdin and sys.stdin.isatty() and shutil.which("sudo")):
        return False
    try:
        answer = input("Install them now? sudo may ask for your password. [y/N] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def make_environment() -> None:
    """Make `.venv`; make it again when its Python has gone or has lost pip."""
    if PYTHON.exists():
        question = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
        if subprocess.run([PYTHON, "-c", question], capture_output=True).returncode == 0:
            return
    print(f"Making .venv with Python {sys.version_info[0]}.{sys.version_info[1]} …", flush=True)
    if subprocess.call([sys.executable, "-m", "venv", "--clear", FOLDER]) != 0:
        sys.exit(
            "This Python could not make an environment, for the reason above. On Debian and Ubuntu "
            "the package python3-venv is most often what is missing."
        )


def install(extras: tuple[str, ...], asked: str | None) -> None:
    """Install lmviz, editable, with these extras and those of earlier calls, unless all is there.

    `asked` is the build of PyTorch on the command line, if any; the choice is kept for later calls.
    """
    wishes = [(HERE / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")]
    fingerprint = hashlib.sha256(b"\0".join([*wishes, bytes(HERE)])).hexdigest()
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    before = record.get("torch")
    build = asked or before or usual_build()
    wanted = sorted({*extras, *record.get("extras", [])})
    if record == {"fingerprint": fingerprint, "extras": wanted, "torch": build}:
        return
    print("Installing what is missing into .venv; the first time takes some minutes …", flush=True)
    changes = before not in (None, build)  # pip alone would keep the build that is there
    if build == "cpu" and not install_cpu_build(anew=changes):
        build, changes = "cuda", False
    if changes and build == "cuda":
        finish(pip_install("--no-deps", "--force-reinstall", "torch"))
    finish(pip_install("--editable", f"{HERE}[{','.join(wanted)}]" if wanted else HERE))
    unpack_pyside()
    values = {"fingerprint": fingerprint, "extras": wanted, "torch": build}
    RECORD.write_text(json.dumps(values), encoding="utf-8")


def usual_build() -> str:
    """The build of PyTorch for this machine, saying so where it is the one without CUDA.

    Only for Linux does the default index hold a build with CUDA.
    """
    if not sys.platform.startswith("linux") or shutil.which("nvidia-smi") or NVIDIA_DRIVER.exists():
        return "cuda"
    print(
        "No NVIDIA card with a driver was found: installing PyTorch without CUDA, gigabytes less. "
        "`python3 start.py --cuda` installs the other build.",
        flush=True,
    )
    return "cpu"


def install_cpu_build(anew: bool) -> bool:
    """Install PyTorch alone from the index of builds without CUDA; whether that worked.

    As an extra index it would be asked for every package, and one that never answers costs pip minutes
    for each of them.
    """
    options = ["--no-deps", "--index-url", CPU_INDEX, "--retries", "1", "--timeout", "10"]
    if pip_install(*options, *(["--force-reinstall"] if anew else []), "torch") == 0:
        return True
    print(
        f"PyTorch without CUDA could not be installed from {CPU_INDEX}, for the reason above: using the "
        "default index, whose build on Linux is gigabytes larger.",
        flush=True,
    )
    return False


def pip_install(*arguments: object) -> int:
    """Let `.venv`'s pip install something, in the versions of constraints.txt; its exit code."""
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += [] if sys.stdout.isatty() else ["--quiet"]
    return subprocess.call([*command, "--constraint", HERE / "constraints.txt", *arguments])


def finish(code: int) -> None:
    """End with a sentence where an installation failed."""
    if code != 0:
        sys.exit(
            "The installation did not finish, for the reason above. Most often there is no network or "
            "no space on the disk: fix that and run the same command again."
        )


def unpack_pyside() -> None:
    """Have PySide6 put the Python modules it carries inside into `.venv`, as its SBK_EMBED=0 is for.

    It would compile them anew whenever lmviz starts; as files they are compiled once. Without it all
    works as well.
    """
    environment = os.environ | {"SBK_EMBED": "0"}
    subprocess.run([PYTHON, "-c", "import PySide6"], env=environment, capture_output=True)


def run(arguments: list[str]) -> int:
    """Run `.venv`'s Python; its exit code."""
    process = subprocess.Popen([PYTHON, *arguments])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # Ctrl+C reaches the program as well, and how to end is its own affair


def run_beside(arguments: list[str]) -> Callable[[], int]:
    """Run `.venv`'s Python meanwhile; what is returned waits for its end, prints what it said and gives its
    exit code."""
    process = subprocess.Popen(
        [PYTHON, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )

    def wait() -> int:
        print(process.communicate()[0], end="", flush=True)
        return process.returncode

    return wait


def main() -> int:
    """Do what the command line says; the exit code of what was run, the first that is not 0."""
    options = read_arguments(sys.argv[1:])
    name = options.rest[0] if options.rest else ""
    word, rest = (WORDS[name], options.rest[1:]) if name in WORDS else (WINDOW, options.rest)
    if word is not WORDS["doctor"]:  # which names what is missing and leaves the machine as it is
        bring_system_packages(word.plugin)
    make_environment()
    install(word.extras, options.build)
    if word is not WINDOW:
        os.chdir(HERE)
    if word is WORDS["test"]:  # containers often set it, and each worker would compile all tests anew
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    waits = [run_beside([*command]) for command in word.beside]
    codes = [run([*command, *(rest if command is word.commands[-1] else [])]) for command in word.commands]
    codes += [wait() for wait in waits]
    for command, code in zip((*word.commands, *word.beside), codes, strict=True):
        if code != 0 and len(codes) > 1:
            print(f"Did not pass: {' '.join(command)}", file=sys.stderr)
    return next((code for code in codes if code != 0), 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
