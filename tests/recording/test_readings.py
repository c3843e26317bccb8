"""A module that lmviz does not compute: what it answered is recorded, and plainly not recomputed."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from own_modules import GPT, VOCABULARY, GPTConfig, all_logits
from torch import nn
from torch.nn import functional

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.recording.known_module import UnknownModule
from lmviz.recording.read_module import attention_weights

TABLE = {character: number for number, character in enumerate("abcdefghijk")}
PREFIXES = ["cab", "a", "ji"]


class Mine(nn.Module):
    """A module with names of its own: one layer of attention over sums of token and position."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, 8), nn.Embedding(16, 8)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"mix": nn.Linear(8, 24), "act": nn.Tanh()}) for _ in range(2)
        )
        self.answer = nn.Linear(8, VOCABULARY)

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            parts = (each.unflatten(-1, (2, 4)).transpose(1, 2) for each in block["mix"](x).split(8, dim=-1))
            mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + block["act"](mixed.transpose(1, 2).flatten(2))
        return {"logits": self.answer(x)}


def train(module, folder, **settings):
    """Some steps; the logits over the first prefix at each."""
    torch.manual_seed(0)
    ids, kept = torch.tensor([[2, 0, 1]]), {}
    with lmviz.record(folder, module, tokenizer=TABLE, **settings) as recording:
        for step in range(6):
            if step:
                with torch.no_grad():
                    for parameter in module.parameters():
                        parameter.add_(0.1 * torch.randn_like(parameter))
                recording.step(step, loss=3.0 - step / 4)
            with torch.no_grad():
                kept[step] = (
                    module(ids)["logits"][0].numpy()
                    if isinstance(module, Mine)
                    else all_logits(module, ids).numpy()
                )
    return kept


def test_distributions_surprisal_and_activations_are_those_of_the_module(tmp_path):
    module = Mine()
    kept = train(module, tmp_path / "run", prefixes=PREFIXES, taps=["blocks.*.act"])
    readings = lmviz.open_readings(tmp_path / "run")
    assert readings.snapshots() == [0, 1, 2, 4, 5]
    assert readings.prefixes == tuple(PREFIXES)
    assert [line["loss"] for line in readings.metrics()] == [2.75, 2.5, 2.25, 2.0, 1.75]
    for step in readings.snapshots():
        found = readings.reading(step)
        assert found.ids.tolist() == [2, 0, 1]
        assert found.tokens == ("c", "a", "b")
        np.testing.assert_allclose(found.logits, kept[step], rtol=1e-5, atol=1e-5)
        expected = torch.from_numpy(kept[step]).log_softmax(-1)
        np.testing.assert_allclose(found.log_probabilities, expected, rtol=1e-4, atol=1e-5)
        nll = functional.cross_entropy(
            torch.from_numpy(kept[step])[:-1], torch.tensor([0, 1]), reduction="none"
        )
        np.testing.assert_allclose(found.surprisal, nll, rtol=1e-4, atol=1e-5)
        assert set(found.activations) == {"blocks.0.act", "blocks.1.act"}
        assert found.activations["blocks.1.act"].shape == (3, 8)
        assert [each.shape for each in found.attention] == [(2, 3, 3)] * 2
        np.testing.assert_allclose(found.attention[0].sum(-1), 1, rtol=1e-5)
        assert (np.triu(found.attention[1], 1) == 0).all()
    last = module.blocks[1]["act"](torch.from_numpy(readings.reading(5).activations["blocks.1.act"]).atanh())
    np.testing.assert_allclose(last.detach(), readings.reading(5).activations["blocks.1.act"], rtol=1e-4)
    assert readings.reading(5, 2).prefix == "ji"
    assert readings.tokenizer().encode("cab").tolist() == [2, 0, 1]


@pytest.mark.parametrize("way", ["causal", "mask", "bias", "scale", "groups"])
def test_the_weights_of_attention_are_those_that_torch_sums_with(way):
    query, key, value = (torch.randn(1, 4, 5, 3) for _ in range(3))
    given = {
        "causal": {"is_causal": True},
        "mask": {"attn_mask": torch.rand(5, 5) > 0.3},
        "bias": {"attn_mask": torch.randn(4, 5, 5)},
        "scale": {"scale": 0.3},
        "groups": {"enable_gqa": True},
    }[way]
    if way == "mask":
        given["attn_mask"][:, 0] = True
    if way == "groups":
        key, value = key[:, :2], value[:, :2]
    weights = attention_weights(query, key, value, **given)
    expected = functional.scaled_dot_product_attention(query, key, value, **given)
    values = value.repeat_interleave(2, dim=1) if way == "groups" else value
    torch.testing.assert_close(weights @ values, expected)


def test_a_module_that_answers_for_its_last_position_alone_is_read_at_each(tmp_path):
    torch.manual_seed(0)
    module = GPT(GPTConfig(), activation=nn.Tanh())
    nn.init.normal_(module.transformer.h[0].mlp.c_fc.weight)
    nn.init.normal_(module.transformer.h[0].mlp.c_proj.weight)
    kept = train(module, tmp_path / "run", prefixes="cab")
    readings = lmviz.open_readings(tmp_path / "run")
    assert readings.recorded == {"by": "a loop of PyTorch", "module": "GPT"}
    for step in readings.snapshots():
        np.testing.assert_allclose(readings.reading(step).logits, kept[step], rtol=1e-4, atol=1e-4)
        assert len(readings.reading(step).attention) == 2


def test_a_known_module_is_a_run_whatever_prefixes_are_given(tmp_path):
    with lmviz.record(tmp_path / "run", GPT(), tokenizer=TABLE, prefixes=["cab"]):
        pass
    assert lmviz.Run.open(tmp_path / "run").snapshots() == [0]


def test_what_cannot_be_is_said(tmp_path):
    with pytest.raises(UnknownModule, match=r"with prefixes=\[…\] what it answers"):
        lmviz.record(tmp_path / "run", Mine(), tokenizer=TABLE)
    with pytest.raises(LmvizError, match="No module is called 'layers"):
        lmviz.record(tmp_path / "run", Mine(), tokenizer=TABLE, prefixes=["cab"], taps=["layers.*"])
    module = nn.Sequential(nn.Embedding(5, 4), nn.Flatten())
    with pytest.raises(LmvizError, match="no logits"):
        lmviz.record(tmp_path / "run", module, prefixes=["1 2"])
    assert not (tmp_path / "run").exists()
    train(Mine(), tmp_path / "run", prefixes=["cab"])
    readings = lmviz.open_readings(tmp_path / "run")
    for wrong in (
        lambda: readings.reading(3),
        lambda: readings.reading(4, 1),
        lambda: readings.reading(4, -1),
    ):
        with pytest.raises(LmvizError, match=r"no readings of step 3|no number of a prefix"):
            wrong()
    with pytest.raises(LmvizError, match="recorded, not recomputed"):
        lmviz.open_model(tmp_path / "run")
    with pytest.raises(LmvizError, match="a recording already"):
        train(Mine(), tmp_path / "run", prefixes=["cab"])
    train(Mine(), tmp_path / "run", prefixes=["ji"], overwrite=True)
    assert lmviz.open_readings(tmp_path / "run").prefixes == ("ji",)
    with lmviz.record(tmp_path / "run", Mine(), tokenizer=TABLE, prefixes=["ji"], resume=True) as recording:
        recording.step(2)
    assert lmviz.open_readings(tmp_path / "run").snapshots() == [0, 1, 2]


@pytest.mark.parametrize(
    "change", [{"format": 7}, {"prefixes": []}, {"prefixes": [{"text": "a", "ids": [True]}]}, {"recorded": 1}]
)
def test_a_description_that_is_none_is_said(change, tmp_path):
    train(Mine(), tmp_path / "run", prefixes=["cab"])
    path = tmp_path / "run" / "readings.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(LmvizError, match="describes no readings"):
        lmviz.open_readings(tmp_path / "run")
    path.write_text("nonsense")
    with pytest.raises(LmvizError, match="describes no readings"):
        lmviz.open_readings(tmp_path / "run")


@given(st.data())
def test_a_file_from_a_stranger_is_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "readings"
    if not folder.exists():
        train(Mine(), folder, prefixes=["cab"])
    path = folder / "readings" / "000004.safetensors"
    keep = path.read_bytes()
    content = bytearray(keep)
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(content)[: data.draw(st.sampled_from([None, place]))])
    try:
        found = lmviz.open_readings(folder).reading(4)
        assert found.logits.shape[0] == 3
    except LmvizError:
        pass
    finally:
        path.write_bytes(keep)
