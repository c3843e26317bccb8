"""Where a training computes, on machines with and without graphics cards."""

import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.training.devices import choose_device, seed_chance


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"), [(False, False, "cpu"), (True, False, "cuda"), (False, True, "mps")]
)
def test_a_device_is_taken_where_there_is_one_and_refused_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, chosen: str
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: mps)
    assert choose_device("auto").type == chosen
    assert choose_device("cpu").type == "cpu"
    for name, is_there in (("cuda", cuda), ("mps", mps)):
        if is_there:
            assert choose_device(name).type == name
        else:
            with pytest.raises(LmvizError, match=f"torch finds no device '{name}'"):
                choose_device(name)


@pytest.mark.parametrize("kind", ["cuda", "mps", "cpu"])
def test_what_is_drawn_next_depends_on_the_seed_where_it_is_drawn(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    seeded: list[tuple[str, int]] = []
    for card in ("cuda", "mps"):
        monkeypatch.setattr(f"torch.{card}.manual_seed", lambda seed, card=card: seeded.append((card, seed)))
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(1)
        seeded.clear()
        seed_chance(torch.device(kind), 5)
        assert seeded == ([] if kind == "cpu" else [(kind, 5)])
        assert torch.initial_seed() == (5 if kind == "cpu" else 1)
