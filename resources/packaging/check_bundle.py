"""Start the bundle as a stranger would, and say what it lacks: `python3 start.py bundle` ends with this.

    python resources/packaging/check_bundle.py [FOLDER]     by default dist/lmviz

Its commands must give what this checkout gives, and its window must be painted, load PyTorch, open
a sample model and a run that it has trained itself, and close in good order. It is drawn by Xvfb where that
is installed, and without a screen elsewhere.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from PIL import Image, ImageGrab

import lmviz
from lmviz.api.training import find_run, sample_models
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.base.side_process import SERVE, receive, send
from lmviz.training.run import Run

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURES = ROOT / "build" / "bundle"
PREFIX = "Maya put the"
SAMPLED = ("--prefix", PREFIX, "--tokens", "8", "--seed", "1", "--json")
PREDICTED = ("--text", "the old man watches the boats", "--json")
TRAINED = ("ngram", "rnn")  # a learner each
PATIENCE = 180.0  # seconds; a disk may be slow the first time
LOOK_EVERY = 0.1  # seconds
LOOKS = 20
SCREEN = (1440, 900)


class Lack(Exception):
    """What the bundle does not do, in one sentence."""


class Bundle:
    """The program in a folder, run with a home of its own and nothing of this Python's environment."""

    def __init__(self, folder: Path, home: Path, display: str) -> None:
        self.program = folder / ("lmviz.exe" if os.name == "nt" else "lmviz")
        self.home = home
        self.display = display
        if not self.program.is_file():
            raise Lack(f"There is no {self.program}: it was not made.")
        kept = ("PATH", "LANG", "OMP_NUM_THREADS", "SYSTEMROOT", "TEMP")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {name: str(home) for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")}
        self.environment["XDG_CONFIG_HOME"] = str(home / "config")
        self.environment |= {"DISPLAY": display} if display else {"QT_QPA_PLATFORM": "offscreen"}

    def ask(self, *words: str) -> str:
        """What a command prints; Lack when it fails."""
        return printed([str(self.program), *words], self.home, self.environment)

    @contextmanager
    def window(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """The program with its window; ended in any case."""
        command = [str(self.program), *words]
        with (self.home / "window.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=self.home, env=self.environment, stderr=log)
        try:
            yield process
        except Lack as lack:
            raise Lack(f"{lack} It said: {(self.home / 'window.log').read_text(encoding='utf-8')}") from None
        finally:
            process.kill()
            process.wait()

    def begin_in(self, perspective: str) -> None:
        """Have its next window forget everything but the perspective that it begins with."""
        file = self.home / "config" / "lmviz" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"last/perspective": perspective}), encoding="utf-8")

    def faults(self) -> str:
        """What its windows have written to their log that nobody expected."""
        logs = "".join(path.read_text(encoding="utf-8") for path in self.home.glob("**/lmviz.log"))
        return logs[-2000:] if " ERROR " in logs else ""

    def settings(self) -> dict[str, Any]:
        """What its window has written down so far."""
        files = self.home.glob("**/settings.json")
        return next((json.loads(file.read_text(encoding="utf-8")) for file in files), {})


def printed(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """The standard output of a command; Lack when it fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=PATIENCE
    )
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()  # the doctor says what is missing on the latter
        raise Lack(f"`{' '.join(command)}` ended with {done.returncode}: {said[-2000:]}")
    return done.stdout


def check_commands(bundle: Bundle) -> Iterator[str]:
    """What works, one sentence after the other."""
    version = bundle.ask("--version").strip()
    if version != f"lmviz {lmviz.__version__}":
        raise Lack(f"It says it is {version!r} and should be lmviz {lmviz.__version__}: make it again.")
    yield f"It is {version}."
    bundle.ask("doctor")  # fails when there is a problem
    yield "It finds all it needs on this machine."
    own = {**bundle.environment, "HOME": os.environ.get("HOME", "")}
    for name in sample_models():
        words = question_to(name)
        said = json.loads(bundle.ask(*words))
        ours = printed([sys.executable, "-m", "lmviz", *words], ROOT, own)
        if said != json.loads(ours):
            raise Lack(f"{name} answers otherwise than in this checkout: {said} instead of {ours}.")
    yield f"Its {len(sample_models())} sample models say the same as in this checkout."
    for family in TRAINED:
        bundle.ask("train", "--corpus", "farm", "--family", family, "--steps", "3", "--out", family)
    yield "It trains."
    check_beside(bundle)
    yield "It runs a template for chats in a process of its own."
    check_handout(bundle)
    yield "It makes a handout as a PDF with tags."


def check_beside(bundle: Bundle) -> None:
    """Whether the program serves beside itself: it has no Python that could."""
    asked = {"template": "{{ words }}", "values": {"words": "It answers."}}
    if beside(bundle, "lmviz.text.template_running", asked) != "It answers.":
        raise Lack("It does not run a template for chats in a process of its own.")


def check_handout(bundle: Bundle) -> None:
    """Whether the program sets a PDF, for which it needs a library and a file of its own."""
    said = {
        "title": "A title",
        "about": "",
        "families": ["Libertinus Serif"],
        "parts": [],
        "lang": "en",
        "region": None,
    }
    made = beside(bundle, "lmviz.pages.typesetting", {"document": said, "empty": str(bundle.home)})
    if not made or made["refused"] or not base64.b64decode(made["pdf"]).startswith(b"%PDF-"):
        raise Lack("It does not make a handout as a PDF with tags.")


def beside(bundle: Bundle, module: str, asked: dict[str, Any]) -> Any:
    """The answer of a module in a process of its own; None where there is none."""
    question = io.BytesIO()
    for value in (60.0, asked):
        send(question, value)
    done = subprocess.run(
        [str(bundle.program), SERVE, module],
        input=question.getvalue(),
        env=bundle.environment,
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
    )
    replies = io.BytesIO(done.stdout)
    receive(replies)
    return (receive(replies) or {}).get("value")


def question_to(name: str) -> tuple[str, ...]:
    """The words that ask a sample model to go on, to label or to translate, as it can."""
    task = Run.open(find_run(name)).description.task
    return ("sample", name, *SAMPLED) if task == "next-token" else ("predict", name, *PREDICTED)


def check_perspectives(bundle: Bundle) -> Iterator[str]:
    """The same for its window as it begins, in each perspective: each loads modules and files of its own."""
    for perspective in PERSPECTIVES:
        bundle.begin_in(perspective.name)
        with bundle.window() as process:
            settle(process)
            if bundle.display:
                check_picture(ImageGrab.grab(xdisplay=bundle.display), PICTURES / f"{perspective.name}.png")
            close(process)
        if bundle.faults():
            raise Lack(f"Its perspective {perspective.title} met what it did not expect: {bundle.faults()}")
    yield f"It shows all {len(PERSPECTIVES)} perspectives, and closes in good order."
    if bundle.display:
        yield f"Pictures of them are in {PICTURES.relative_to(ROOT)}."


def check_sample_model(bundle: Bundle) -> Iterator[str]:
    """The same for its window, opened on a sample model, which must be the bundle's own."""
    name = sample_models()[0]
    with bundle.window(name) as process:
        settle(process)
        close(process)
    opened = Path(bundle.settings().get("last/run", ""))
    if bundle.program.parent not in opened.parents:
        raise Lack(f"It did not open a sample model of its own but {opened}.")
    yield f"It opens {name}."


def check_opened_run(bundle: Bundle) -> Iterator[str]:
    """The same for its window, opened on a run that it has trained."""
    run = (bundle.home / TRAINED[-1]).resolve()
    bundle.begin_in("inside")
    began = time.monotonic()
    with bundle.window(str(run)) as process:
        # The path goes into the recent ones when the window has been painted.
        wait(process, lambda: "recent" in bundle.settings(), "a window painted")
        painted = time.monotonic() - began
        settle(process)
        live = time.monotonic() - began - LOOKS * LOOK_EVERY
        close(process)
    opened = bundle.settings().get("last/run", "")
    if opened != str(run):
        raise Lack(f"The window had {opened or 'no model'} open at its end, not {run}.")
    yield f"With that run it is painted {painted:.1f} s after the start, and at rest after {live:.1f} s."


def settle(process: subprocess.Popen[bytes]) -> None:
    """Wait until the window has loaded PyTorch and has nothing left to do."""
    wait(process, lambda: has_loaded_torch(process.pid), "PyTorch loaded")
    wait(process, lambda: is_at_rest(process.pid), "a window at rest")


def close(process: subprocess.Popen[bytes]) -> None:
    """End it as a session that is logged out does."""
    process.send_signal(signal.SIGTERM)
    wait(process, lambda: process.poll() == 0, "an end in good order")


@contextmanager
def screen() -> Iterator[str]:
    """The name of an X screen of its own; "" where there is no Xvfb."""
    if shutil.which("Xvfb") is None:
        yield ""
        return
    reading, writing = os.pipe()
    size = "x".join(map(str, (*SCREEN, 24)))
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def wait(process: subprocess.Popen[bytes], condition: Callable[[], bool], for_what: str) -> None:
    """Wait until something is so; Lack when it never is, or when the program ends before."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):  # a thread or the process is gone while one looks at it
            if condition():
                return
        if process.poll() not in (None, 0):
            raise Lack(f"The window ended with {process.poll()} before there was {for_what}.")
        if time.monotonic() > deadline:
            raise Lack(f"After {PATIENCE:.0f} s there was not yet {for_what}.")
        time.sleep(LOOK_EVERY)


def has_loaded_torch(process: int) -> bool:
    """Whether PyTorch's library is in the memory of a process."""
    return "libtorch_cpu" in Path(f"/proc/{process}/maps").read_text(encoding="utf-8")


def is_at_rest(process: int) -> bool:
    """Whether hardly any of some looks in a row finds a thread that computes or waits for its turn to."""
    busy = 0
    for _ in range(LOOKS):
        time.sleep(LOOK_EVERY)
        states = (
            thread.read_text(encoding="utf-8") for thread in Path(f"/proc/{process}/task").glob("*/stat")
        )
        busy += any(state.rpartition(")")[2].split()[0] in "RD" for state in states)
    return busy <= LOOKS // 10


def check_picture(picture: Image.Image, file: Path) -> None:
    """Keep it in a file, and raise Lack when it shows an empty screen or an empty window."""
    file.parent.mkdir(parents=True, exist_ok=True)
    picture.save(file)
    colours = picture.convert("RGB").getcolors(SCREEN[0] * SCREEN[1])
    widest = max(count for count, _ in colours) / (SCREEN[0] * SCREEN[1])
    if len(colours) < 100 or widest > 0.97:
        raise Lack(f"The window shows {len(colours)} colours, one of them on {widest:.0%}: see {file}.")


def megabytes(folder: Path) -> float:
    """What the files in a folder take."""
    return sum(path.stat().st_size for path in folder.rglob("*") if not path.is_symlink()) / 1e6


def main() -> int:
    """Check the folder that the command line names; 1 and a sentence when something is lacking."""
    parser = argparse.ArgumentParser(description="Start a bundle and say what it lacks.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist" / "lmviz")
    folder = parser.parse_args().folder.resolve()
    checks = [check_commands, check_perspectives, check_sample_model, check_opened_run]
    if sys.platform != "linux":
        print("The window is not checked here: how far it has got is read from /proc, on Linux.")
        checks = checks[:1]
    with tempfile.TemporaryDirectory() as home, screen() as display:
        print(f"Windows are drawn by {'Xvfb' if display else 'Qt, without a screen: there is no Xvfb'}.")
        try:
            bundle = Bundle(folder, Path(home), display)
            for check in checks:
                for sentence in check(bundle):
                    print(f"✓ {sentence}", flush=True)
        except Lack as lack:
            print(f"✗ {lack}", file=sys.stderr)
            return 1
    print(f"{folder} is ready: {megabytes(folder):,.0f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
