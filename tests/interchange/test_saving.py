"""Transformers saved for Hugging Face's transformers, and loaded by it."""

import json

import foreign_tokenizers
import numpy as np
import pytest
import torch
from foreign_tokenizers import CHAT, END_OF_TURN
from gpt2 import gpt2_small

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.described import described
from lmviz.models.transformer_configuration import TransformerConfiguration

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 11, 30, 2, 9])
SMALL = {"layers": 2, "heads": 4, "width": 16, "context": 24}
ROTARY = SMALL | {"positions": "rotary"}
CONFIGURATIONS = {
    "as trained by default": SMALL,
    "linear": SMALL | {"activation": "identity"},
    "tanh": SMALL | {"activation": "tanh"},
    "squared": SMALL | {"activation": "relu_squared"},
    "untied relu": SMALL | {"tied": False, "activation": "relu", "feedforward": 20},
    "gpt2": SMALL | {"activation": "gelu_tanh", "dropout": 0.1, "norm_epsilon": 1e-3},
    "gpt_neox": ROTARY | {"parallel": True, "rotary_channels": 2, "tied": False},
    "rotary in turn": ROTARY,
    "llama": ROTARY
    | {
        "norm_kind": "rms",
        "gated": True,
        "activation": "silu",
        "key_value_heads": 2,
        "attention_bias": "none",
    }
    | {"feedforward_bias": False, "head_channels": 6, "rotary_scaling": "llama3", "rotary_original": 8},
    "qwen2": ROTARY
    | {"norm_kind": "rms", "gated": True, "activation": "silu", "attention_bias": "query key value"}
    | {"feedforward_bias": False, "rotary_base": 5000.0},
    "qwen3": ROTARY
    | {"norm_kind": "rms", "gated": True, "activation": "silu", "attention_bias": "none"}
    | {"feedforward_bias": False, "query_key_norm": "head", "tied": False},
    "mistral": ROTARY
    | {"norm_kind": "rms", "gated": True, "activation": "silu", "attention_bias": "none"}
    | {"feedforward_bias": False, "attention_window": 4},
}


def made(settings):
    model = build_model("transformer", TransformerConfiguration(**settings), 50, seed=1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    return model.requires_grad_(False)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_transformers_loads_it_with_equal_logits(name, tmp_path):
    transformers = pytest.importorskip("transformers")
    model = made(CONFIGURATIONS[name])
    folder = lmviz.save_pretrained(model, tmp_path / "out")
    loaded, report = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    tokens = torch.from_numpy(IDS)[None]
    with torch.no_grad():
        torch.testing.assert_close(loaded(tokens).logits, model(tokens), rtol=1e-4, atol=1e-4)
    again = open_checkpoint(folder).model()
    assert torch.equal(again(tokens), model(tokens))


def test_a_run_keeps_its_tokenizer(tmp_path):
    transformers = pytest.importorskip("transformers")
    text = tmp_path / "text.txt"
    text.write_text("the cows eat corn .\nthe cows sleep at night .\n" * 40)
    corpus = lmviz.load_corpus(text, tokenizer="words", documents="line")
    run = lmviz.train(
        "transformer", corpus, tmp_path / "run", steps=3, layers=1, heads=2, width=8, context=16
    )
    folder = lmviz.convert(run.folder, tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = lmviz.open_model(run.folder)
    read = lmviz.trace(model, "the cows sleep")
    assert tokenizer("the cows sleep")["input_ids"] == read.ids.tolist()
    assert tokenizer.bos_token_id == model.tokenizer.start_id
    loaded = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        logits = loaded(torch.from_numpy(read.ids.copy())[None]).logits[0]
    np.testing.assert_allclose(read["logits"].array, logits, rtol=1e-4, atol=1e-5)
    assert lmviz.trace(lmviz.open_model(folder), "the cows sleep").tokens == read.tokens


def test_gpt2_small_is_described_as_transformers_does():
    values = described(gpt2_small())
    assert values["model_type"] == "gpt2"
    assert (values["n_layer"], values["n_embd"], values["activation_function"]) == (12, 768, "gelu_new")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"positions": "alibi"}, "positions=alibi cannot be written in a form"),
        ({"positions": "relative"}, "positions=relative cannot be written in a form"),
        ({"attention_alone": True}, "with attention_alone=True cannot be written"),
        ({"norm": "post"}, "norm=post"),
        ({"norm": "none"}, "norm=none"),
        ({"residual": False}, "residual=False"),
        ({"heads": 3, "head_channels": 4}, "sizes like these cannot be written in a form"),
        ({"key_value_heads": 2}, "key_value_heads=2"),
        ({"norm_bias": False}, "norm_bias=False"),
        ({"query_key_norm": "head"}, "with query_key_norm=head cannot be written"),
    ],
)
def test_what_transformers_does_not_have_is_refused_in_a_sentence(settings, sentence, tmp_path):
    with pytest.raises(LmvizError, match=sentence):
        lmviz.save_pretrained(made(SMALL | settings), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_families_and_other_checkpoints_are_left_alone(tmp_path):
    with pytest.raises(LmvizError, match="transformers has no lstm"):
        lmviz.save_pretrained("stories-lstm", tmp_path / "out")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(LmvizError, match="holds a checkpoint already"):
        lmviz.save_pretrained(made(SMALL), tmp_path)
    assert json.loads((tmp_path / "config.json").read_text()) == {}
    (tmp_path / "file").write_text("")
    with pytest.raises(LmvizError, match="cannot be written to"):
        lmviz.save_pretrained(made(SMALL), tmp_path / "file" / "out")


@pytest.fixture(params=["LlamaConfig", "MistralConfig", "GPT2Config"])
def chat_folder(request, tmp_path):
    pytest.importorskip("transformers")
    return foreign_tokenizers.chat_folder(tmp_path / "in", request.param)


def meaning(path):
    text = path.read_text()
    return json.loads(text) if path.suffix == ".json" else text


def test_a_folder_of_transformers_is_written_as_it_was_opened(chat_folder, tmp_path):
    import transformers

    (chat_folder / "special_tokens_map.json").write_text(json.dumps({"eos_token": END_OF_TURN}))
    out = lmviz.save_pretrained(lmviz.open_model(chat_folder), tmp_path / "out")
    files = {path.name for path in chat_folder.iterdir()}
    assert files == {path.name for path in out.iterdir()}
    for name in files - {"model.safetensors"}:
        assert meaning(out / name) == meaning(chat_folder / name), name
    models = [transformers.AutoModelForCausalLM.from_pretrained(folder) for folder in (chat_folder, out)]
    peers = [transformers.AutoTokenizer.from_pretrained(folder) for folder in (chat_folder, out)]
    (ids, again), turns = [peer(CHAT)["input_ids"] for peer in peers], [{"role": "user", "content": "Who?"}]
    assert ids == again
    assert len({peer.apply_chat_template(turns, tokenize=False) for peer in peers}) == 1
    assert models[0].generation_config.eos_token_id == models[1].generation_config.eos_token_id
    assert models[1].config.eos_token_id == peers[1].eos_token_id
    with torch.no_grad():
        first, second = (model(torch.tensor([ids])).logits for model in models)
    assert torch.equal(first, second)


def test_several_ends_and_a_template_of_its_own_stay(chat_folder, tmp_path):
    ends = {"eos_token_id": [2, 1], "pad_token_id": 2, "temperature": 0.6}
    (chat_folder / "generation_config.json").write_text(json.dumps(ends))
    (chat_folder / "chat_template.jinja").write_text("{{ messages }}")
    out = lmviz.convert(chat_folder, tmp_path / "out")
    assert meaning(out / "generation_config.json") == ends
    model = lmviz.open_model(out)
    assert model.tokenizer.end_ids == (2, 1)
    assert model.tokenizer.chat_template == "{{ messages }}"


def test_a_folder_that_is_there_no_more_cannot_be_written_again(chat_folder, tmp_path):
    model = lmviz.open_model(chat_folder)
    (chat_folder / "config.json").unlink()
    with pytest.raises(LmvizError, match=r"there is no config.json in it"):
        lmviz.save_pretrained(model, tmp_path / "out")
    assert not (tmp_path / "out").exists()
