"""On a graphics card the same is learned and seen as on the processor; skipped where there is none."""

import copy

import numpy as np
import pytest
import torch
from contrasts import contrasts_of, measure_for
from family_cases import IDS, beside, every_case, traced, trained
from small_trainings import SMALL, Make, NewRun, start

from lmviz.base.errors import LmvizError, is_out_of_memory
from lmviz.circuits.ablation import ablate
from lmviz.circuits.attribution import attribute
from lmviz.circuits.patching import patch
from lmviz.inspection.backpropagation import gradient
from lmviz.training.controls import Controls
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no NVIDIA card")


def close(one: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    """Whether two arrays agree within a share of the greatest number of the second."""
    finite = other[np.isfinite(other)]
    scale = max(1e-3, float(abs(finite).max(initial=0.0)))
    return np.allclose(one, other, rtol=0, atol=tolerance * scale, equal_nan=True)


def both(family, options, kind=torch.float32):
    """A model on the processor, and the same on the card."""
    model = copy.deepcopy(trained(family, tuple(options.items()))).to(kind)
    return model, copy.deepcopy(model).to("cuda")


@every_case
def test_every_value_is_the_same(family, options):
    wanted, found = (traced(model, IDS) for model in both(family, options))
    assert list(found.arrays) == list(wanted.arrays)
    for address, array in wanted.arrays.items():
        assert close(found[address].array, array.array, 1e-4), address


@every_case
def test_every_gradient_is_the_same(family, options):
    here, there = both(family, options)
    if family == "ngram":
        pytest.skip("it has no parameters")
    wanted, found = (gradient(model, IDS, measure_for(model), **beside(model)) for model in (here, there))
    for address, array in wanted.arrays.items():
        assert close(found[address].array, array.array, 1e-3), address
    for name, array in wanted.parameters.items():
        assert close(found.parameters[name], array, 1e-3), name


@every_case
def test_what_is_tried_on_it_does_the_same(family, options):
    here, there = both(family, options, torch.float64)  # shares divide by small differences
    for contrast in contrasts_of(here):
        for ask in (patch, attribute, ablate):
            try:
                wanted = ask(here, contrast)
            except LmvizError:
                continue  # no such question for this family
            assert close(ask(there, contrast).array, wanted.array, 1e-6), ask.__name__


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_the_same_is_learned(
    request: pytest.FixtureRequest, kind: str, new_run: NewRun, ids: np.ndarray
) -> None:
    make: Make = request.getfixturevalue(kind)
    losses = []
    for device in ("cpu", "cuda"):
        model, options = make(), TrainingOptions(**SMALL | {"device": device})
        told = list(start(model, ids, options, new_run(model, options, device)))
        assert told[-1].finished
        losses.append([progress.loss for progress in told[1:]])
    np.testing.assert_allclose(losses[1], losses[0], rtol=5e-3)


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_goes_on_where_it_stopped(
    request: pytest.FixtureRequest, kind: str, precision: str, new_run: NewRun, ids: np.ndarray
) -> None:
    make: Make = request.getfixturevalue(kind)
    options = TrainingOptions(**SMALL | {"device": "cuda", "precision": precision})
    straight = make(dropout=0.2)
    told = list(start(straight, ids, options, new_run(straight, options, "straight")))
    assert told[-1].loss < 0.9 * told[1].loss
    model, controls = make(dropout=0.2), Controls()
    run = new_run(model, options, "interrupted")
    for progress in start(model, ids, options, run, controls=controls):
        controls.stop = progress.step == 17
    fresh = make(dropout=0.2)
    again = list(start(fresh, ids, options, Run.open(run.folder), resume=True))
    assert again[-1].step == 40
    assert not any(tensor.is_cuda for tensor in run.load_snapshot(40).values())
    for name, tensor in straight.state().items():
        torch.testing.assert_close(fresh.state()[name], tensor, rtol=0, atol=0, msg=name)


def test_a_run_of_the_card_goes_on_without_it(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    model, controls = lstm(), Controls()
    run = new_run(model, TrainingOptions(**SMALL | {"device": "cuda"}))
    options = TrainingOptions(**SMALL | {"device": "cuda"})
    for progress in start(model, ids, options, run, controls=controls):
        controls.stop = progress.step == 17
    on_processor = TrainingOptions(**SMALL | {"device": "cpu"})
    told = list(start(lstm(), ids, on_processor, Run.open(run.folder), resume=True))
    assert told[-1].finished
    assert told[-1].step == 40


def test_a_card_that_is_full_is_said_and_the_run_stays(
    transformer: Make, new_run: NewRun, ids: np.ndarray
) -> None:
    options = TrainingOptions(**SMALL | {"device": "cuda"})
    model = transformer()
    run = new_run(model, options)
    steps = start(model, ids, options, run)
    for _ in range(5):
        next(steps)
    torch.cuda.empty_cache()
    loss = model.loss

    def hungry(*arguments: torch.Tensor) -> object:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
        return loss(*arguments)

    model.loss = hungry  # type: ignore[method-assign]
    with pytest.raises(RuntimeError) as raised:
        list(steps)
    assert is_out_of_memory(raised.value)
    model.loss = loss  # type: ignore[method-assign]
    assert list(start(transformer(), ids, options, Run.open(run.folder), resume=True))[-1].finished
