"""Where a training computes, on machines with and without graphics cards."""

import pytest

from lmviz.errors import LmvizError
from lmviz.training.devices import choose_device


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
