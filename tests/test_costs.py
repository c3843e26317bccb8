"""What a run says of its costs: a quick test that takes too long fails, and files are added up."""

import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from costs import FEWEST, MOST, QUIET, Costs, piece_of_work
from hypothesis import given, settings
from hypothesis import strategies as st


def judged(seconds: float, *, slow: bool = False, slowness: float = 1.0) -> SimpleNamespace:
    """The report of a test that passed and took so many seconds of the processor, of a machine that is so
    many times slower than a quiet one."""
    used = iter((0.0, seconds, seconds))
    item = SimpleNamespace(get_closest_marker=lambda name: object() if slow else None)
    report = SimpleNamespace(passed=True, outcome="passed", longrepr=None)
    noting = Costs(lambda: next(used), lambda: slowness * QUIET).pytest_runtest_makereport(
        item, SimpleNamespace(when="call")
    )
    next(noting)
    with pytest.raises(StopIteration) as ended:
        noting.send(report)
    return ended.value.value


def test_a_quick_test_that_costs_much_fails_and_a_slow_one_does_not() -> None:
    found = judged(MOST + 1)
    assert found.outcome == "failed"
    assert "13.0 seconds of the processor" in found.longrepr
    assert judged(MOST + 1, slow=True).outcome == "passed"
    cheap = judged(0.25)
    assert (cheap.outcome, cheap.processor_seconds) == ("passed", 0.25)


def test_a_slow_machine_gives_a_test_more_seconds_and_a_fast_one_no_fewer() -> None:
    assert judged(MOST + 1, slowness=2).outcome == "passed"
    assert judged(2 * MOST + 1, slowness=2).outcome == "failed"
    assert judged(MOST - 1, slowness=0.5).outcome == "passed"
    assert QUIET / 10 < piece_of_work() < QUIET * 100


@pytest.mark.parametrize("tests", [FEWEST, FEWEST - 1])
def test_a_run_of_many_tests_ends_with_what_they_cost(tests: int) -> None:
    said: list[str] = []
    terminal = SimpleNamespace(write_sep=lambda sign, words: said.append(words), write_line=said.append)
    told = Costs()
    for number in range(tests):
        node = f"tests/{'many' if number else 'one'}.py::test[{number}]"
        told.pytest_runtest_logreport(SimpleNamespace(nodeid=node, when="call", processor_seconds=0.5))
        told.pytest_runtest_logreport(SimpleNamespace(nodeid=node, when="setup", processor_seconds=0.5))
    told.pytest_terminal_summary(terminal)
    assert said == (
        [f"{FEWEST} seconds of the processor, by file", " 499.0  tests/many.py", "   1.0  tests/one.py"]
        if tests == FEWEST
        else []
    )


def drawn_late(value: int) -> int:
    """The same value, after more than a second, which hypothesis calls too slow: five times the deadline."""
    time.sleep(1.2)
    return value


@settings(max_examples=3, deadline=200)
@given(st.integers().map(drawn_late))
def test_hypothesis_fails_no_test_because_the_machine_is_slow(value: int) -> None:
    assert isinstance(value, int)


def test_only_the_profile_says_what_hypothesis_lets_pass() -> None:
    """A list of a test's own would stand in its place, and bring back the check of speed."""
    tests = Path(__file__).parent
    own = re.compile(r"suppress_health_check=|deadline=(timedelta|[0-9N])")
    found = [path for path in tests.rglob("*.py") if own.search(path.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted([tests / "conftest.py", Path(__file__)])
