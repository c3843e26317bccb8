"""Trainings that multiply in bfloat16, on a processor: what is learned, kept and gone on with."""

import numpy as np
import pytest
import torch
from covering import others_slow
from small_trainings import SMALL, NewRun, assert_equal_states, start

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model, find_family
from lmviz.models.model import Model
from lmviz.training.controls import Controls
from lmviz.training.devices import has_bfloat16
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

OPTIONS = TrainingOptions(**SMALL | {"device": "cpu", "precision": "bfloat16"})
LEARNING = [name for name, family in FAMILIES.items() if not family.counts]
VOCABULARY = 7


@pytest.fixture(autouse=True)
def in_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor without these instructions computes the same, slowly: enough to see that it is right."""
    monkeypatch.setattr("lmviz.training.devices.has_bfloat16", lambda device: True)


def ask_the_processor(family: str) -> None:
    """Without these instructions torch computes all families but one."""
    if family == "lstm" and not has_bfloat16(torch.device("cpu")):
        pytest.skip("This processor does not multiply bfloat16, and oneDNN then has no LSTM in it.")


def small(family: str) -> Model:
    configuration = find_family(family).configuration
    settings = {"width": 8, "layers": 2, "heads": 2, "context": 16, "window": 3}
    chosen = {name: value for name, value in settings.items() if name in configuration.names()}
    return build_model(family, configuration(**chosen), VOCABULARY, seed=0)


@pytest.mark.parametrize("family", others_slow(LEARNING, "lstm", "transformer"))
def test_every_family_learns_about_the_same_and_keeps_its_weights_in_float32(
    family: str, new_run: NewRun, ids: np.ndarray
) -> None:
    ask_the_processor(family)
    losses = {}
    for precision in ("float32", "bfloat16"):
        model, options = small(family), TrainingOptions(**SMALL | {"device": "cpu", "precision": precision})
        run = new_run(model, options, precision)
        told = list(start(model, ids, options, run))
        losses[precision] = [progress.loss for progress in told[1:]]
        assert {tensor.dtype for tensor in run.load_snapshot(told[-1].step).values()} == {torch.float32}
    assert losses["bfloat16"] != losses["float32"]
    np.testing.assert_allclose(losses["bfloat16"][0], losses["float32"][0], rtol=2e-3)
    np.testing.assert_allclose(np.mean(losses["bfloat16"][-10:]), np.mean(losses["float32"][-10:]), rtol=0.1)


@pytest.mark.parametrize("family", others_slow(LEARNING, "rnn", "gru", "window"))
def test_every_family_goes_on_bit_for_bit(family: str, new_run: NewRun, ids: np.ndarray) -> None:
    ask_the_processor(family)
    straight = small(family)
    list(start(straight, ids, OPTIONS, new_run(straight, OPTIONS, "straight")))
    model, controls = small(family), Controls()
    run = new_run(model, OPTIONS, "interrupted")
    for progress in start(model, ids, OPTIONS, run, controls=controls):
        controls.stop = progress.step == 17
    fresh = small(family)
    list(start(fresh, ids, OPTIONS, Run.open(run.folder), resume=True))
    assert_equal_states(fresh.state(), straight.state())


def test_a_processor_without_it_says_so(
    monkeypatch: pytest.MonkeyPatch, new_run: NewRun, ids: np.ndarray
) -> None:
    monkeypatch.setattr("lmviz.training.devices.has_bfloat16", has_bfloat16)
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_f": True})
    model = small("lstm")
    with pytest.raises(LmvizError, match="This processor does not multiply bfloat16: choose float32"):
        next(start(model, ids, OPTIONS, new_run(model, OPTIONS)))
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"amx_bf16": True})
    assert has_bfloat16(torch.device("cpu"))
    assert not has_bfloat16(torch.device("mps"))
