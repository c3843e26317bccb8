import json
import math
from pathlib import Path

import pytest
from hypothesis import given
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


def test_an_infinite_loss_was_measured_and_one_that_is_no_number_was_not(tmp_path: Path) -> None:
    append_metrics(tmp_path / "metrics", [{"step": 1, "loss": math.inf, "validation_loss": math.nan}])
    for reader in (json.loads, strict_json):
        assert reader((tmp_path / "metrics").read_text()) == {"step": 1, "loss": math.inf}
    assert read_metrics(tmp_path / "metrics") == [{"step": 1, "loss": math.inf}]
    truncate_metrics(tmp_path / "metrics", 1)
    assert read_metrics(tmp_path / "metrics") == [{"step": 1, "loss": math.inf}]


def strict_json(text: str) -> object:
    """Read as those do who know nothing of Python's own NaN and Infinity."""

    def refuse(constant: str) -> object:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


OLD_ZEROS = {"learning_rate": 0.0, "gradient_norm": 0.0, "tokens_per_second": 0.0}


@pytest.mark.parametrize(
    ("line", "measured"),
    [
        (
            {"step": 0, "validation_loss": 2.0, "learning_rate": 1e-4, "gradient_norm": 0.0, "seconds": 0.1},
            {"step": 0, "validation_loss": 2.0, "seconds": 0.1},
        ),
        ({"step": 0} | OLD_ZEROS, {"step": 0}),
        ({"step": 7} | OLD_ZEROS | {"tokens_per_second": 9.0}, {"step": 7, "tokens_per_second": 9.0}),
        ({"step": 7, "learning_rate": 0.1, "gradient_norm": 0.0}, None),
        ({"step": 7, "learning_rate": 0.0, "gradient_norm": 0.3}, None),
    ],
    ids=["before the first update", "before counting", "counted", "a gradient of zero", "a rate of zero"],
)
def test_the_zeros_of_old_files_are_no_measurements_where_no_update_was_made(
    tmp_path: Path, line: dict[str, float], measured: dict[str, float] | None
) -> None:
    (tmp_path / "metrics").write_text(json.dumps(line) + "\n")
    assert read_metrics(tmp_path / "metrics") == [line if measured is None else measured]


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
