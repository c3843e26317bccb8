"""Networks as files, those that come with lmviz, and the program for PyTorch."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from lmviz.autodiff import open_network, read, save_network, shipped_network, shipped_networks
from lmviz.base.errors import LmvizError


def test_a_network_is_saved_with_its_numbers_of_now_and_opened_again(lecture, tmp_path):
    lecture.edit("β", (1, 0), 0.123456789)
    path = save_network(lecture, tmp_path / "mine.net")
    opened = open_network(path)
    assert opened["β"].value[1, 0] == 0.123456789
    assert opened.text == lecture.text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x = 1\n" * 100_000])
def test_bytes_that_are_no_network(content, tmp_path):
    path = tmp_path / "strange.net"
    path.write_bytes(content)
    with pytest.raises(LmvizError):
        open_network(path)


@pytest.mark.parametrize("path", ["/nowhere/at.net", "a\0b"])
def test_files_that_are_not_there(path):
    with pytest.raises(LmvizError):
        open_network(path)


def test_what_is_shipped():
    names = [each.name for each in shipped_networks()]
    assert names[0] == "lecture"
    assert {
        "diamond",
        "summation",
        "comparison",
        "recurrence_tanh",
        "recurrence_sigmoid",
        "recurrence_identity",
        "poll",
        "dot_attention",
        "bilinear_attention",
        "lstm",
        "layer_norm",
    } < set(names)
    assert all(each.title for each in shipped_networks())


def test_a_name_that_is_not_shipped():
    with pytest.raises(LmvizError, match="there are lecture"):
        shipped_network("lectern")


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_shipped_networks_check(name):
    net = read(shipped_network(name).text)
    assert net.check().agrees


@pytest.mark.slow
def test_the_program_for_torch_runs_and_agrees(lecture):
    lecture.edit("z", (1,), 0.25).backward()
    done = subprocess.run([sys.executable, "-c", lecture.torch], capture_output=True, text=True, check=True)
    numbers = done.stdout.replace("β", "").replace("α", "").split("tensor")
    found = [np.array(eval(part.partition("dtype")[0].strip("(), \n"), {})) for part in numbers[1:]]
    np.testing.assert_allclose(found[0], lecture["α"].gradient, atol=5e-5)
    np.testing.assert_allclose(found[1], lecture["β"].gradient, atol=5e-5)


UNREACHED = (
    "x = 2\ny = stop(x)",
    "x = 2\nz = 3\na = exp(stop(z))\ny = multiply(x, a)",
    "x = 2\nz = 3\ny = exp(x)",
)


@pytest.mark.parametrize("text", [*(each.text for each in shipped_networks()), *UNREACHED])
def test_the_program_of_every_network_agrees(text):
    net = read(text).backward()
    found = {}
    kept = torch.get_default_dtype()
    try:
        exec(net.torch, {"print": lambda name, gradient: found.update({name: gradient.numpy()})})
    finally:
        torch.set_default_dtype(kept)
    assert set(found) == {node.name for node in (net.parameters or net.inputs)}
    for value, gradient in found.items():
        np.testing.assert_allclose(gradient, net[value].gradient, rtol=1e-9, atol=1e-12)


def test_names_that_python_does_not_take_are_written_in_another_way():
    net = read("lambda = 2\nx′ = 3\nx_ = 4\ntorch = 5\nh[1] = add(lambda, x′, x_, torch)\ny = square(h[1])")
    compile(net.torch, "program", "exec")
    assert "value_lambda = " in net.torch
    assert "x = " in net.torch
    assert "torch_2 = " in net.torch


@pytest.mark.slow
def test_a_program_runs_whose_values_are_named_as_what_it_calls():
    text = "len = [1 2; 3 4]\nprint = causal_attention(len, len, len)\nrepr = sum(print)\ntorch = exp(repr)"
    net = read(text).backward()
    done = subprocess.run([sys.executable, "-c", net.torch], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith("len tensor([[")
