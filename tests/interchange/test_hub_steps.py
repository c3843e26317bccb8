"""The steps of a training are downloaded from a hub, which is on this machine, and open as a series."""

import hashlib
import shutil

import pytest
import torch
from foreign_models import add_tokenizer, saved
from hub_server import serving
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import unheard
from lmviz.interchange.hub_steps import download_steps, read_steps
from lmviz.runs.opening import open_recorded

pytest.importorskip("huggingface_hub")


@pytest.fixture
def hub(tmp_path):
    """A model with the steps 0, 1, 2 and 8, the last two of which are the finished model."""
    folder = add_tokenizer(saved("gpt2", tmp_path / "there"))
    steps = {}
    for name, factor in (("step0", 0.5), ("step1", 0.75), ("step2-tokens4B", 1.0), ("step8", 1.0)):
        steps[name] = tmp_path / name
        shutil.copytree(folder, steps[name])
        tensors = load_file(folder / "model.safetensors")
        changed = {key: value * factor for key, value in tensors.items()}
        save_file(changed, steps[name] / "model.safetensors", {"format": "pt"})
    shutil.copy(steps["step8"] / "model.safetensors", folder)
    with serving(folder) as server:
        server.steps = steps
        yield server


def fetch(hub, tmp_path, steps, progress=unheard):
    return download_steps("someone/small", steps, progress, cache=tmp_path / "cache", address=hub.address)


def weights_asked_for(hub):
    return [first for name, first in hub.asked if name == "model.safetensors"]


def test_steps_are_downloaded_and_open_as_a_series(hub, tmp_path):
    shares = []
    folder = fetch(hub, tmp_path, [2, 0, 1], shares.append)
    assert open_recorded(folder).snapshots() == [0, 1, 2]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    for step, name in ((0, "step0"), (1, "step1"), (2, "step2-tokens4B")):
        found = lmviz.open_model(folder, step=step)
        expected = lmviz.open_model(hub.steps[name])
        assert torch.equal(found(torch.tensor([[1, 2, 3]])), expected(torch.tensor([[1, 2, 3]])))
    assert folder.name == "small"


def test_what_is_alike_is_downloaded_once(hub, tmp_path):
    fetch(hub, tmp_path, [0, 2])
    before = len(hub.asked)
    folder = fetch(hub, tmp_path, None)
    assert open_recorded(folder).snapshots() == [0, 1, 2, 8]
    assert [name for name, _ in hub.asked[before:]] == ["model.safetensors"]  # that of step 1
    assert fetch(hub, tmp_path, [8, 1]) == folder
    assert len(hub.asked) == before + 1


def test_one_that_was_given_up_goes_on_where_it_was(hub, tmp_path, monkeypatch):
    monkeypatch.setattr("lmviz.interchange.hub.STEP", 10_000)

    class GivenUp(Exception):
        pass

    def cancel(share):
        if share > 0.6:
            raise GivenUp

    with pytest.raises(GivenUp):
        fetch(hub, tmp_path, [0, 1], cancel)
    assert len(weights_asked_for(hub)) == 2
    folder = fetch(hub, tmp_path, [0, 1])
    asked = weights_asked_for(hub)
    assert len(asked) == 3
    assert asked[2] > 0
    for step in (0, 1):
        found, there = (
            (each / "model.safetensors").read_bytes()
            for each in (folder / f"step{step}", hub.steps[f"step{step}"])
        )
        assert hashlib.sha256(found).digest() == hashlib.sha256(there).digest()


def test_a_step_that_arrives_damaged_is_refused_and_comes_again(hub, tmp_path):
    hub.lies = True
    with pytest.raises(LmvizError, match="damaged"):
        fetch(hub, tmp_path, [0])
    hub.lies = False
    assert open_recorded(fetch(hub, tmp_path, [0, 1])).snapshots() == [0, 1]


def test_steps_that_are_not_there_are_said(hub, tmp_path):
    with pytest.raises(LmvizError, match=r"has no step 4 of someone/small: it has 0, 1, 2, 8\."):
        fetch(hub, tmp_path, [0, 4])
    with pytest.raises(LmvizError, match="no steps to download"):
        fetch(hub, tmp_path, [])
    with pytest.raises(LmvizError, match="steps must be"):
        fetch(hub, tmp_path, ["one"])
    hub.steps = {}
    with pytest.raises(LmvizError, match="has no steps of someone/small, only the model"):
        fetch(hub, tmp_path, [0])
    assert not hub.asked


def test_steps_as_a_person_lists_them():
    assert read_steps(" 0, 1;2 4\n") == [0, 1, 2, 4]
    assert read_steps("All") is None
    for nonsense in ("", ",", "1-4", "one", "-1", "1.5"):
        with pytest.raises(LmvizError, match="lists no steps"):
            read_steps(nonsense)
