from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lmviz.training.snapshots import (
    read_snapshot,
    snapshot_steps,
    state_bytes,
    superfluous,
    write_snapshot,
)


@given(st.integers(1, 10**8), st.integers(2, 400))
def test_snapshots_are_as_many_as_asked_from_first_to_last(steps: int, count: int) -> None:
    chosen = snapshot_steps(steps, count)
    assert len(chosen) == min(count, steps + 1)
    assert list(chosen) == sorted(set(chosen))
    assert chosen[0] == 0
    assert chosen[-1] == steps


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
    state = {"weight": torch.randn(5, 3), "counts": torch.arange(4), "flags": torch.tensor([True, False])}
    write_snapshot(tmp_path / "full", 7, state)
    assert all(torch.equal(tensor, state[name]) for name, tensor in read_snapshot(tmp_path / "full").items())


def test_a_half_snapshot_takes_half_the_room_and_is_nearly_the_same(tmp_path: Path) -> None:
    state = {"weight": torch.randn(200, 100), "counts": torch.arange(4)}
    write_snapshot(tmp_path / "half", 7, state, half=True)
    back = read_snapshot(tmp_path / "half")
    assert back["weight"].dtype == torch.float32
    assert torch.allclose(back["weight"], state["weight"], rtol=1e-3, atol=1e-6)
    assert torch.equal(back["counts"], state["counts"])
    size = (tmp_path / "half").stat().st_size
    assert size == pytest.approx(state_bytes(state, half=True), abs=500)
    assert size == pytest.approx(state_bytes(state, half=False) / 2, abs=500)


def test_tied_weights_are_written_as_often_as_they_are_named(tmp_path: Path) -> None:
    weight = torch.randn(4, 2)
    write_snapshot(tmp_path / "tied", 0, {"embedding": weight, "output": weight})
    back = read_snapshot(tmp_path / "tied")
    assert torch.equal(back["embedding"], weight)
    assert torch.equal(back["output"], weight)
