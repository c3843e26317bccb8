"""The night's run: all parts are run, and the end says what did not pass."""

import importlib.util
import shlex
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
    """ended(codes, *words): the exit code and the parts that were run, each ending with its code."""

    def run_all(codes: dict[str, int], *words: str) -> tuple[int, list[str]]:
        given = nightly.read_arguments(words)
        names = {
            tuple(line): name for name, line in nightly.commands(given.tests, given.seed, given.brief).items()
        }
        began = []

        def run(command):
            began.append(names[tuple(command)])
            return codes.get(began[-1], 0)

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
        f"sys.exit(nightly.run(['-c', {part!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", whole], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (nightly.INTERRUPTED, "")
    assert (tmp_path / "ended").exists()
