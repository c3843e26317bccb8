from collections.abc import Callable

import pytest
import torch
from torch import nn

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.training.optimizers import (
    OPTIMIZERS,
    build_optimizer,
    load_optimizer_tensors,
    optimizer_tensors,
    set_learning_rate,
)
from lmviz.training.options import TrainingOptions


def quadratic() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(4, 3)


def step(model: nn.Linear, optimizer: torch.optim.Optimizer, seed: int) -> None:
    inputs = torch.randn(8, 4, generator=torch.Generator().manual_seed(seed))
    model(inputs).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def test_sgd_steps_against_the_gradient() -> None:
    model = quadratic()
    optimizer = build_optimizer(model, TrainingOptions(optimizer="sgd"))
    set_learning_rate(optimizer, 0.5)
    before = model.weight.detach().clone()
    model.weight.grad = torch.ones_like(model.weight)
    optimizer.step()
    assert torch.allclose(model.weight, before - 0.5)


def test_adamw_decays_matrices_and_nothing_else() -> None:
    model = quadratic()
    weight, bias = model.weight.detach().clone(), model.bias.detach().clone()
    optimizer = build_optimizer(model, TrainingOptions(optimizer="adamw", weight_decay=0.5))
    set_learning_rate(optimizer, 0.1)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert torch.allclose(model.weight, weight * 0.95)
    assert torch.equal(model.bias, bias)


def test_the_others_decay_nothing() -> None:
    for name in ("sgd", "momentum", "adam"):
        groups = build_optimizer(quadratic(), TrainingOptions(optimizer=name)).param_groups
        assert all(group["weight_decay"] == 0 for group in groups)


@pytest.mark.parametrize(("device", "fused"), [("cpu", True), ("cuda", True), ("mps", False)])
def test_weights_are_stepped_by_one_kernel_where_torch_has_it(device: str, fused: bool) -> None:
    # Weights that only say where they lie, so that the device need not be there.
    there = type("There", (nn.Parameter,), {"device": torch.device(device)})
    model = nn.Module()
    model.weight = there(torch.ones(2, 2))
    assert build_optimizer(model, TrainingOptions()).defaults["fused"] is fused


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_goes_on_exactly_from_its_tensors(name: str) -> None:
    options = TrainingOptions(optimizer=name, learning_rate=0.01)
    model = quadratic()
    optimizer = build_optimizer(model, options)
    for seed in range(3):
        step(model, optimizer, seed)
    twin = quadratic()
    twin.load_state_dict(model.state_dict())
    other = build_optimizer(twin, options)
    load_optimizer_tensors(twin, other, optimizer_tensors(model, optimizer))
    for seed in range(3, 6):
        step(model, optimizer, seed)
        step(twin, other, seed)
    assert torch.equal(model.weight, twin.weight)
    assert torch.equal(model.bias, twin.bias)


def test_tensors_of_another_model_are_refused() -> None:
    model = quadratic()
    optimizer = build_optimizer(model, TrainingOptions())
    with pytest.raises(LmvizError, match="another model"):
        load_optimizer_tensors(model, optimizer, {"weight/exp_avg": torch.zeros(2, 2)})


@pytest.mark.parametrize(
    "damage",
    [
        lambda tensors: tensors.pop("weight/exp_avg"),
        lambda tensors: tensors.pop("bias/step"),
        lambda tensors: tensors.update({"weight/exp_bvg": tensors.pop("weight/exp_avg_sq")}),
        lambda tensors: tensors.update({"weight/step": torch.zeros(2)}),
    ],
)
def test_tensors_that_are_damaged_are_refused(damage: Callable[[dict[str, torch.Tensor]], object]) -> None:
    model = quadratic()
    optimizer = build_optimizer(model, TrainingOptions())
    step(model, optimizer, 0)
    tensors = optimizer_tensors(model, optimizer)
    damage(tensors)
    with pytest.raises(LmvizError, match="damaged or belongs to another model"):
        load_optimizer_tensors(model, build_optimizer(model, TrainingOptions()), tensors)


def test_tensors_of_another_kind_are_refused() -> None:
    model = quadratic()
    optimizer = build_optimizer(model, TrainingOptions(optimizer="momentum"))
    step(model, optimizer, 0)
    with pytest.raises(LmvizError, match="damaged or belongs to another model"):
        load_optimizer_tensors(
            model, build_optimizer(model, TrainingOptions()), optimizer_tensors(model, optimizer)
        )


def test_a_model_without_weights_is_refused() -> None:
    with pytest.raises(LmvizError, match="nothing to learn"):
        build_optimizer(nn.Identity(), TrainingOptions())


def test_tied_weights_are_stepped_once(transformer: Callable[..., Model]) -> None:
    model = transformer(tied=True)
    optimizer = build_optimizer(model, TrainingOptions())
    counted = sum(item.numel() for group in optimizer.param_groups for item in group["params"])
    assert counted == model.parameter_count()
