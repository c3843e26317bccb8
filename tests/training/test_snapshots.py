from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.training.snapshots import (
    read_snapshot,
    snapshot_steps,
    state_bytes,
    superfluous,
    write_snapshot,
)
from lmviz.training.tensors import write_tensors


@given(st.integers(1, 10**8), st.integers(2, 400))
def test_snapshots_are_as_many_as_asked_from_first_to_last(steps: int, count: int) -> None:
    chosen = snapshot_steps(steps, count)
    assert len(chosen) == min(count, steps + 1)
    assert list(chosen) == sorted(set(chosen))
    assert chosen[0] == 0
    assert chosen[-1] == steps


def test_the_offset_is_the_smallest_that_keeps_neighbours_apart() -> None:
    assert snapshot_steps(24, 3) == (0, 4, 24)  # step + 1 is 1, 5, 25


def test_the_first_steps_may_be_neighbours() -> None:
    assert snapshot_steps(15, 5) == (0, 1, 3, 7, 15)  # step + 1 doubles


def test_snapshots_are_denser_early() -> None:
    chosen = snapshot_steps(10_000, 50)
    gaps = [later - earlier for earlier, later in pairwise(chosen)]
    assert gaps[0] <= 2
    assert all(later >= earlier - 1 for earlier, later in pairwise(gaps))
    assert gaps[-1] > 100 * gaps[0]


@given(st.sets(st.integers(0, 10**6), min_size=1, max_size=60), st.integers(1, 60))
def test_thinning_keeps_both_ends_and_as_many_as_allowed(steps: set[int], count: int) -> None:
    ordered = sorted(steps)
    kept = sorted(steps - set(superfluous(ordered, count)))
    assert len(kept) == min(len(ordered), max(2, count))
    assert (kept[0], kept[-1]) == (ordered[0], ordered[-1])


def test_thinning_keeps_what_is_left_spread_out() -> None:
    kept = sorted(set(range(1001)) - set(superfluous(range(1001), 10)))
    ratios = [(later + 1) / (earlier + 1) for earlier, later in pairwise(kept)]
    assert max(ratios) / min(ratios) < 3


def test_a_snapshot_comes_back_bit_for_bit(tmp_path: Path) -> None:
    state = {
        "weight": torch.randn(5, 3),
        "half": torch.randn(3).half(),
        "counts": torch.arange(4),
        "flags": torch.tensor([True, False]),
    }
    write_snapshot(tmp_path / "full", 7, state)
    found = read_snapshot(tmp_path / "full")
    assert found.keys() == state.keys()
    assert all(tensor.dtype == state[name].dtype for name, tensor in found.items())
    assert all(torch.equal(tensor, state[name]) for name, tensor in found.items())


@pytest.mark.parametrize(
    ("precision", "share", "error"), [("half", 1 / 2, 1e-3), ("quarter", 1 / 4, 1 / 254)]
)
def test_a_lesser_snapshot_takes_less_room_and_is_nearly_the_same(
    tmp_path: Path, precision: str, share: float, error: float
) -> None:
    state = {"weight": torch.randn(200, 1000), "bias": torch.randn(4), "counts": torch.arange(4)}
    write_snapshot(tmp_path / "less", 7, state, precision)
    back = read_snapshot(tmp_path / "less")
    assert set(back) == set(state)
    assert back["weight"].dtype == torch.float32
    largest = state["weight"].abs().amax(dim=1, keepdim=True)
    assert ((back["weight"] - state["weight"]).abs() <= 1.01 * error * largest).all()
    assert torch.allclose(back["bias"], state["bias"], rtol=1e-3)
    assert torch.equal(back["counts"], state["counts"])
    size = (tmp_path / "less").stat().st_size
    assert size == pytest.approx(state_bytes(state, precision), abs=500)
    assert size == pytest.approx(state_bytes(state) * share, rel=0.01)


def test_a_row_of_zeros_stays_one(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "zeros", 0, {"weight": torch.zeros(3, 2)}, "quarter")
    assert torch.equal(read_snapshot(tmp_path / "zeros")["weight"], torch.zeros(3, 2))


def test_a_scale_that_does_not_fit_is_a_sentence(tmp_path: Path) -> None:
    tensors = {"weight": torch.zeros(3, 2, dtype=torch.int8), "weight|scale": torch.ones(2, 1)}
    write_tensors(tmp_path / "odd", tensors, {"precision": "quarter"})
    with pytest.raises(LmvizError, match="scale"):
        read_snapshot(tmp_path / "odd")


def test_tied_weights_are_written_as_often_as_they_are_named(tmp_path: Path) -> None:
    weight = torch.randn(4, 2)
    write_snapshot(tmp_path / "tied", 0, {"embedding": weight, "output": weight})
    back = read_snapshot(tmp_path / "tied")
    assert torch.equal(back["embedding"], weight)
    assert torch.equal(back["output"], weight)
