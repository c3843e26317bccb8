"""The short form of `start.py soak`, and whether it would notice."""

import faulthandler
import io
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from lmviz.text.resources import resource_path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")


SOAK = Path(__file__).with_name("soak.py")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.slow
def test_nothing_is_lost_in_a_short_soak(tmp_path: Path) -> None:
    words = ("--mutations", "10", "--disturbances", "3", "--closings", "0", "--pairs", "0", "--minutes", "0")
    done = run([str(SOAK), *words], tmp_path)
    tried = re.findall(r"^(.+?) +(\d+) tried(?:, (\d+) stopped)?.*, (\d+) faults$", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([name for name, count, *_ in tried if int(count)]) >= 62, (
        "a kind of file is not damaged any more"
    )
    stopped = {name: int(count) for name, _, count, _ in tried if count}
    assert stopped["clock backwards"] == 0
    assert sum(stopped.values()) >= 5, "little was disturbed"


@pytest.mark.slow
def test_a_soak_that_tried_nothing_does_not_say_that_nothing_was_lost(tmp_path: Path) -> None:
    done = run([str(SOAK), "--only", "a name of nothing"], tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "'a name of nothing'" in done.stdout


SHOWS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from showing import Raised, show
from PySide6.QtCore import QTimer
from lmviz.app.panels.polls.poll import PollPanel
path = Path(sys.argv[2])
assert show(path) is False
drawn = PollPanel.refresh
PollPanel.refresh = lambda panel: 1 / 0
try:
    show(path)
except Raised as fault:
    assert "division by zero" in str(fault)
    print("raised")
"""


@pytest.mark.slow
def test_what_is_raised_while_a_file_is_shown_is_a_fault(tmp_path: Path) -> None:
    path = resource_path("polls", "01-order.poll")
    done = run(["-c", SHOWS, str(SOAK.parent), str(path)], tmp_path)
    assert done.stdout == "raised\n", done.stderr


USES = """
import sys
sys.path.insert(0, sys.argv[1])
import using
come_to_rest, kept = using.Restless.come_to_rest, []
def keep(person):
    come_to_rest(person)
    if sys.argv[3] == "leaking":
        from PySide6.QtWidgets import QDial, QWidget
        kept.append(QWidget())
        for _ in range(40):
            QDial(kept[-1])
using.Restless.come_to_rest = keep
sys.exit(using.main([sys.argv[2], "--actions", "20", "--same", "--rounds", "12"]))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)  # twelve rounds, beside two other tests
@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory where Linux tells it")
@pytest.mark.parametrize("how", ["level", "leaking"])
def test_a_window_that_is_used_stays_as_it_was_or_it_is_said_what_grew(how: str, tmp_path: Path) -> None:
    from using import faults_of, read_notes

    done = run(["-c", USES, str(SOAK.parent), str(tmp_path), how], tmp_path)
    assert done.returncode == (0 if how == "level" else 1), done.stderr
    held = read_notes(tmp_path)
    assert len(held) == 12
    if how == "level":
        assert not faults_of(held)
    else:
        [of_qt] = [fault for fault in faults_of(held) if fault.startswith("qt grew")]
        assert "Qt's QDial:: by 200" in of_qt


def test_what_grows_without_end_is_told_from_what_varies() -> None:
    from using import Held, faults_of

    def window(number: int, grown: int = 0) -> Held:
        varies = number * 7 % 5
        kinds = {"Qt's Card": 40 + grown, "Qt's Label": 900 + varies}
        memory, objects, qt = 5 * 10**8 + varies * 10**6, 10**5 + 100 * varies, 5000 + varies + grown
        return Held(memory, None, objects, qt, 9000, 2, 12, kinds)

    level = [window(number) for number in range(40)]
    filled = [window(number, 30 * min(number, 15)) for number in range(40)]
    assert not faults_of(level)
    assert not faults_of(filled)  # a cache that is full now
    [fault] = faults_of([window(number, 3 * number) for number in range(40)])
    assert fault.startswith("qt grew by 57 of 5,0")
    assert fault.endswith("in 20 rounds; Qt's Card by 57")
    [thread] = faults_of([replace(each, threads=2 + number // 8) for number, each in enumerate(level)])
    assert thread.startswith("threads grew by 2")
    leaking = [replace(each, handed_out=2 * 10**8 + 10**6 * number) for number, each in enumerate(level)]
    [leak] = faults_of(leaking)
    assert leak.startswith("handed_out grew by 19,000,000 of 2")
    held = [replace(each, large={"numpy.ndarray in Trace": 10**6 * n}) for n, each in enumerate(leaking)]
    assert faults_of(held)[0].endswith("; numpy.ndarray in Trace by 19,000,000 bytes")


def test_growth_by_a_late_import_names_the_library() -> None:
    from using import Held, faults_of

    def window(number: int) -> Held:
        late = {"late_library": 71} if number >= 30 else {}
        objects = 100_000 + 500 * number
        return Held(6 * 10**8, None, objects, 5000, 9000, 2, 12, {}, modules={"torch": 900, **late})

    [fault] = faults_of([window(number) for number in range(40)])
    assert fault.endswith("; modules imported meanwhile: late_library (71)")


IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
from using import import_everything
import_everything()
before = set(sys.modules)
from lmviz.base.errors import LmvizError
from lmviz.interchange.hub import download_model
from lmviz.interchange.hub_steps import download_steps
for ask in (lambda: download_model("nobody/nothing", address="https://127.0.0.1:9"),
            lambda: download_steps("nobody/nothing", None, address="https://127.0.0.1:9")):
    try:
        ask()
    except LmvizError:
        pass
print(sorted(set(sys.modules) - before))
"""


@pytest.mark.slow
def test_what_the_hub_imports_late_is_imported_before_growth_is_judged(tmp_path: Path) -> None:
    done = run(["-c", IMPORTS, str(SOAK.parent)], tmp_path)
    assert done.stdout == "[]\n", done.stderr


COUNTS_OWN_PAGES = """
import sys
sys.path.insert(0, sys.argv[1])
import using
import numpy
array = numpy.ones(4_000_000)
with open("/proc/self/smaps") as lines:
    print(sum(line.startswith("VmFlags:") and " hg" in line for line in lines))
"""


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not list its mappings")
def test_memory_is_not_what_the_system_fills_when_it_has_time(tmp_path: Path) -> None:
    done = run(["-c", COUNTS_OWN_PAGES, str(SOAK.parent)], tmp_path)
    assert done.stdout == "0\n", done.stderr


def test_a_round_that_always_leaves_much_is_no_growth() -> None:
    from using import DIFFERENT, LEAST, Held, faults_of

    def window(number: int, grown: int) -> Held:
        much = 10**7 * (number % DIFFERENT)
        return Held(6 * 10**8, 2 * 10**8 + much + grown * number, 10**5, 5000, 9000, 2, 12, {})

    first = [Held(6 * 10**8, 10**8, 10**5, 5000, 9000, 2, 12, {})] * DIFFERENT  # caches are not full yet
    assert not faults_of(first + [window(number, 0) for number in range(LEAST - DIFFERENT)], DIFFERENT)
    [fault] = faults_of(first + [window(number, 10**6) for number in range(LEAST - DIFFERENT)], DIFFERENT)
    assert fault.startswith("handed_out grew by 15,000,000 of")


def test_what_is_kept_of_the_last_pictures_is_no_growth() -> None:
    from using import growth, is_trend

    last = [251, 261, 259, 252, 251, 258, 267, 253, 250, 264, 288, 274, 268, 283, 285, 269]
    assert growth(last, 8) > 0.05 * 265
    assert not is_trend(last, 8)
    assert is_trend([value + 20 * (at > 7) for at, value in enumerate(last)], 8)
    assert is_trend([1, 2, 3, 4, 5, 6])
    assert not is_trend([2] * 16, 8)


class Owner:
    """Something that keeps what it was given."""

    def __init__(self, kept: object) -> None:
        self.kept = kept


def test_what_is_large_is_named_with_what_holds_it() -> None:
    from using import large_things

    rows = np.zeros((1000, 1000))
    owners = [Owner(rows), Owner({"weights": torch.zeros(500_000)}), Owner(rows[:500]), Owner("x" * 10**6)]
    named = large_things()
    assert len(owners) == 4
    said = {name: size for name, size in named.items() if "Owner" in name or "weights" in name}
    assert sum(name.startswith("builtins.str") for name in said) == 1
    assert sum(size == 2_000_000 for name, size in said.items() if name.startswith("torch.Tensor")) == 1
    arrays = sum(size for name, size in said.items() if name.startswith("numpy.ndarray"))
    assert 8_000_000 <= arrays < 12_000_000, "a part of it does not count again"


SCREENS = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A program of its own, in a folder of its own: a window must not be inherited by a fork. Nothing tells
    it of a screen: the nightly run has none."""
    home = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    environment = {name: value for name, value in os.environ.items() if name not in SCREENS} | home
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def explode() -> None:
    raise KeyError("no sentence")


def abort() -> None:
    faulthandler.disable()  # or the log of the tests would tell of a crash
    os.abort()


def hang() -> None:
    time.sleep(60)


@pytest.mark.parametrize(
    ("read", "how", "longest"),
    [(explode, "no sentence", 60), (abort, "SIGABRT", 60), (hang, "no answer within", 0.2)],
)
def test_what_is_neither_a_value_nor_a_sentence_is_a_fault(
    read: object, how: str, longest: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fuzzing
    from loaders import Loader

    monkeypatch.setattr(fuzzing, "LONGEST", longest)
    path = tmp_path / "file"
    path.write_bytes(b"good")
    found = fuzzing.fuzz(Loader("file", path, read), 2, 0, tmp_path / "notes")
    assert (found.tried, found.values) == (2, 0)
    assert [fault.number for fault in found.faults] == [0, 1]
    assert all(how in fault.how for fault in found.faults)
    assert path.read_bytes() == b"good"


def test_a_kind_ends_when_its_share_of_the_time_is_over(tmp_path: Path) -> None:
    import fuzzing
    from loaders import Loader

    path = tmp_path / "file"
    path.write_bytes(b"good")
    slow = Loader("file", path, lambda: time.sleep(0.05))
    found = fuzzing.fuzz(slow, 10_000, 0, tmp_path / "notes", time.monotonic() + 0.2)
    assert 1 <= found.tried < 100
    assert fuzzing.fuzz(slow, 10_000, 0, tmp_path / "notes", time.monotonic()).tried == 1


def test_a_training_that_ends_otherwise_is_a_loss(small_text: Path, tmp_path: Path) -> None:
    from disturbances import DISTURBANCES, disturb, undisturbed

    from lmviz.text.corpus import load_corpus

    corpus = load_corpus(small_text)
    expected = undisturbed(corpus, tmp_path / "undisturbed")
    clock = next(one for one in DISTURBANCES if one.name == "clock backwards")
    other = {name: value + 1 for name, value in expected.items()}
    outcomes = [
        disturb(clock, corpus, tmp_path / "run", weights, random.Random(0)).lost
        for weights in (expected, other)
    ]
    assert outcomes == ["", "it ended in other weights"]


def test_a_mutation_is_the_same_each_time_and_changes_what_it_is_given() -> None:
    from mutations import mutate

    content = b'{"steps": 12, "name": "first", "values": [1.5, 2]}' * 3
    changed = [mutate(content, random.Random(seed)) for seed in range(200)]
    assert changed == [mutate(content, random.Random(seed)) for seed in range(200)]
    assert sum(one != content for one in changed) > 190
    assert mutate(b"", random.Random(3)) is not None


@pytest.mark.parametrize("kind", ["safetensors", "torch.save"])
def test_tensors_are_changed_and_stay_readable(kind: str) -> None:
    from mutations import mutate_saved, mutate_tensors

    tensors = {"a.0.weight": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2)}
    good, names = save(tensors, {"step": "3"}), set()
    if kind == "torch.save":
        file = io.BytesIO()
        torch.save({"model": tensors}, file)
        good = file.getvalue()
    for seed in range(100):
        if kind == "safetensors":
            content = mutate_tensors(good, random.Random(seed))
            assert content == mutate_tensors(good, random.Random(seed))
            found = load(content)
        else:
            found = torch.load(io.BytesIO(mutate_saved(good, random.Random(seed))), weights_only=True)[
                "model"
            ]
        names |= {(name, str(tensor.dtype), tuple(tensor.shape)) for name, tensor in found.items()}
    assert len(names) > 30
