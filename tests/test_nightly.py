"""The night's run: all parts are run, and the end says what did not pass."""

import importlib.util
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def nightly():
    specification = importlib.util.spec_from_file_location("nightly", ROOT / "tests" / "nightly.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def ended(nightly, monkeypatch):
    """ended(codes, *words): the exit code and the parts that were run, each ending with its code.

    `said` is what each said, and after how many seconds it ended.
    """

    def run_all(
        codes: dict[str, int], *words: str, said: tuple[str, float] = ("", 0.0)
    ) -> tuple[int, list[str]]:
        given = nightly.read_arguments(words)
        names = {
            tuple(line): name for name, line in nightly.commands(given.tests, given.seed, given.brief).items()
        }
        began = []

        def run(command):
            began.append(names[tuple(command)])
            return nightly.Ended(codes.get(began[-1], 0), *said)

        monkeypatch.setattr(nightly, "run", run)
        return nightly.main(words), began

    return run_all


def test_all_parts_are_run_and_the_end_says_which_did_not_pass(ended, capsys):
    assert ended({"tests": 1, "mutants": 3}, "--seed", "7") == (1, ["tests", "soak", "mutants"])
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last == [
        "Did not pass: tests. Again: python3 start.py nightly --only tests --seed 7",
        "Did not pass: mutants. Again: python3 start.py nightly --only mutants --seed 7",
    ]


SAID = """..F.
=================================== FAILURES ===================================
E       assert 1 == 2
=========================== short test summary info ============================
FAILED tests/text/test_words.py::test_words_are_told_apart - assert 1 == 2
1 failed, 3 passed in 7.00s
"""


def test_the_end_says_how_each_part_ended_and_which_tests_failed(ended, capsys):
    ended({"tests": 1}, said=(SAID, 300.0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("── In the end") + 1 :][:3] == [
        "tests did not pass after 5 minutes: 1 failed, 3 passed in 7.00s",
        "    FAILED tests/text/test_words.py::test_words_are_told_apart - assert 1 == 2",
        "soak passed after 5 minutes: 1 failed, 3 passed in 7.00s",
    ]


def test_what_a_part_says_is_passed_on_and_kept(nightly, capfdbinary):
    end = nightly.run(["-c", "import sys; print('ä'); print('late', file=sys.stderr); sys.exit(3)"])
    assert (end.code, sorted(end.said.split())) == (3, ["late", "ä"])
    assert "ä".encode() in capfdbinary.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="another way to begin programs")
def test_a_program_that_a_part_leaves_behind_does_not_hold_the_night(nightly, monkeypatch, tmp_path):
    monkeypatch.setattr(nightly, "LAST_WORDS", 0.1)
    behind = tmp_path / "behind"
    kept = f"open({str(behind)!r}, 'w').write(str(left))"
    lines = ("import os, time", "left = os.fork()", f"{kept} if left else time.sleep(600)")
    try:
        assert nightly.run(["-c", "\n".join(lines)]).code == 0
    finally:
        os.kill(int(behind.read_text()), signal.SIGKILL)


def test_where_all_pass_it_ends_with_0(ended, capsys):
    assert ended({}) == (0, ["tests", "soak", "mutants"])
    assert capsys.readouterr().out.splitlines()[-1] == "All passed: tests, soak, mutants."


def test_ctrl_c_begins_no_further_part(ended, nightly):
    assert ended({"soak": nightly.INTERRUPTED}) == (nightly.INTERRUPTED, ["tests", "soak"])


def test_the_line_that_runs_a_part_again_runs_it_as_it_was(ended, nightly, capsys):
    ended({"soak": 1}, "--brief", "--seed", "3", "tests/text")
    line = capsys.readouterr().out.splitlines()[-1].split("nightly ")[1]
    given = nightly.read_arguments(shlex.split(line))
    assert (given.only, given.seed, given.brief, given.tests) == (["soak"], 3, True, ["tests/text"])
    assert ended({}, *shlex.split(line)) == (0, ["soak"])


@pytest.mark.parametrize("brief", [False, True])
def test_the_seed_reaches_the_soak_and_the_mutants(nightly, brief):
    parts = nightly.commands(["tests/text"], 7, brief)
    assert parts["tests"][-1] == "tests/text"
    for part in ("soak", "mutants"):
        assert parts[part][parts[part].index("--seed") + 1] == "7"


@pytest.mark.skipif(sys.platform == "win32", reason="another Ctrl+C")
def test_a_part_may_end_in_its_own_way_after_ctrl_c(nightly, tmp_path):
    part = "import os, signal; os.kill(os.getppid(), signal.SIGINT); open('ended', 'w')"
    whole = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import nightly\n"
        f"sys.exit(nightly.run(['-c', {part!r}]).code)"
    )
    done = subprocess.run([sys.executable, "-c", whole], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (nightly.INTERRUPTED, "")
    assert (tmp_path / "ended").exists()
