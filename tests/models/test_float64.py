"""Double precision is made where there is such: a device without it is simulated, see tests/apple_chip.py."""

import re
from pathlib import Path

import pytest
import torch
from apple_chip import CHIP, apple_chip, is_on_chip

import lmviz
from lmviz.models.float64 import in_float64

FREELY = re.compile(r"(?<!\.cpu\(\))\.double\(\)|(?<!\.cpu\(\))\.sum\(dtype=torch\.float64\)")
ON_THE_PROCESSOR = {"models/float64.py", "interchange/gguf_checkpoint.py", "training/counting.py"}
"""Where it is asked for of what is never elsewhere: blocks of a file, and models that count."""


def test_the_simulated_chip_has_no_float64_and_is_left_by_cpu_alone():
    with apple_chip():
        there = torch.ones(3).to(CHIP)
        assert (
            there.device.type == (there * 2).device.type == torch.zeros(2, device=CHIP).device.type == "mps"
        )
        with pytest.raises(RuntimeError, match="same device"):
            there + torch.ones(3)
        for ask in (torch.Tensor.double, lambda one: one.sum(dtype=torch.float64)):
            with pytest.raises(TypeError, match="float64"):
                ask(there)
        assert not is_on_chip(there.cpu())
        assert there.cpu().double().device.type == "cpu"


def test_float64_is_made_on_the_processor_where_the_device_has_none():
    numbers = torch.tensor([1 / 3, 1e-30])
    with apple_chip():
        found = in_float64(numbers.to(CHIP))
        assert (found.dtype, found.device.type) == (torch.float64, "cpu")
    assert found.equal(numbers.double())


def test_elsewhere_it_is_made_where_the_tensor_stands():
    found = in_float64(torch.zeros(2, device="meta"))
    assert (found.dtype, found.device.type) == (torch.float64, "meta")


def test_nothing_asks_a_device_for_float64_but_by_this_function():
    package = Path(lmviz.__file__).parent
    asking = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if FREELY.search(path.read_text(encoding="utf-8"))
    }
    assert asking == ON_THE_PROCESSOR
