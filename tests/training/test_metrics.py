import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmviz.training.metrics import append_metrics, flush_metrics, read_metrics, truncate_metrics
from lmviz.training.plain_numbers import LARGEST_STEP
from lmviz.training.writing import NotWritten

resource = pytest.importorskip("resource")


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    lines = [{"step": step, "loss": 1 / (step + 1)} for step in range(5)]
    append_metrics(tmp_path / "metrics", lines[:3])
    append_metrics(tmp_path / "metrics", lines[3:])
    assert read_metrics(tmp_path / "metrics") == lines


@pytest.mark.parametrize(
    ("step", "is_one"),
    [(0, True), (LARGEST_STEP, True), (LARGEST_STEP + 1, False), (-1, False), (1.0, False)],
)
def test_a_line_without_the_number_of_a_step_is_passed_over(
    tmp_path: Path, step: float, is_one: bool
) -> None:
    append_metrics(tmp_path / "metrics", [{"step": step}])
    assert read_metrics(tmp_path / "metrics") == [{"step": step}] * is_one


def test_no_file_means_no_lines(tmp_path: Path) -> None:
    assert read_metrics(tmp_path / "metrics") == []


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    append_metrics(tmp_path / "metrics", [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}])
    whole = (tmp_path / "metrics").read_bytes()
    for length in range(len(whole) - 1):
        (tmp_path / "metrics").write_bytes(whole[:length])
        assert read_metrics(tmp_path / "metrics") in ([], [{"step": 1, "loss": 2.0}])


def test_numbers_that_are_not_finite_stay_out_of_the_json(tmp_path: Path) -> None:
    append_metrics(tmp_path / "metrics", [{"step": 1, "loss": math.inf, "validation_loss": math.nan}])
    assert json.loads((tmp_path / "metrics").read_bytes()) == {"step": 1}


def test_truncating_forgets_later_steps(tmp_path: Path) -> None:
    append_metrics(tmp_path / "metrics", [{"step": step} for step in range(9)])
    with open(tmp_path / "metrics", "ab") as file:
        file.write(b'{"step": 9, "lo')
    truncate_metrics(tmp_path / "metrics", 4)
    append_metrics(tmp_path / "metrics", [{"step": 5}])
    assert [line["step"] for line in read_metrics(tmp_path / "metrics")] == [0, 1, 2, 3, 4, 5]


def test_a_full_disk_leaves_the_lines_before(tmp_path: Path) -> None:
    append_metrics(tmp_path / "metrics", [{"step": 1}])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        with pytest.raises(NotWritten):
            append_metrics(tmp_path / "metrics", [{"step": step} for step in range(2, 99)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "metrics").read_bytes() == b'{"step": 1}\n'


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,step0123456789.eE+-nulNaIfity \n').map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_steps_with_numbers(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "metrics").write_bytes(content)
    for line in read_metrics(tmp_path / "metrics"):
        assert line["step"] >= 0
        assert all(isinstance(value, int | float) for value in line.values())


def test_lines_that_cannot_reach_the_disk_are_told(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    with pytest.raises(NotWritten, match=str(tmp_path / "metrics")):
        flush_metrics(tmp_path / "metrics")
    flush_metrics(tmp_path / "none yet")
