"""Public models that are offered, and where they are once they are here: where the hub keeps them."""

import pytest

from lmviz.interchange.hub import NAME
from lmviz.interchange.public_models import OFFERED_MODELS, hub_cache

VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")


@pytest.mark.parametrize("model", OFFERED_MODELS, ids=lambda model: model.title)
def test_one_that_is_offered_is_found_once_it_is_whole(model, tmp_path):
    assert NAME.fullmatch(model.name)
    assert model.licence in model.sentence
    assert " MB" in model.sentence
    assert model.folder(tmp_path) is None
    folder = tmp_path / f"models--{model.name.replace('/', '--')}" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    assert model.folder(tmp_path) is None, "its weights have not arrived"
    (folder / "model.safetensors").touch()
    assert model.folder(tmp_path) == folder


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_place_is_that_of_the_hubs_own_library(variable, tmp_path, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    expected = {
        "HF_HOME": tmp_path / "hub",
        "XDG_CACHE_HOME": tmp_path / "huggingface" / "hub",
    }.get(variable, tmp_path)
    assert hub_cache() == expected
