"""What was learned beside a model, as llama.cpp adds it to the model's file."""

import numpy as np
import pytest
import torch
from foreign_models import VOCABULARY, add_tokenizer, saved
from gguf_files import gguf_of

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.gguf_file import read_gguf

KINDS = ["llama", "gpt2", "phi3", "mistral", "gpt_neox", "qwen2", "gemma2", "falcon", "bloom"]
SHORT = {"steps": 4, "batch": 2, "length": 8, "rank": 3, "alpha": 5, "learning_rate": 0.05}


@pytest.fixture(autouse=True)
def own_data(monkeypatch, tmp_path):
    torch.set_num_threads(1)
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))


@pytest.fixture
def text(tmp_path):
    words = np.random.default_rng(0).integers(1, VOCABULARY, 300)
    path = tmp_path / "words.txt"
    path.write_text(" ".join(f"w{word}" for word in words))
    return path


def merged(base, adapter, out):
    """The file of llama.cpp with W + alpha / rank · B · A in the place of each W, as its loader adds it."""
    learned, whole = read_gguf(adapter), read_gguf(base)
    assert learned.said["general.type"] == "adapter"
    assert learned.said["adapter.type"] == "lora"
    assert learned.said["general.architecture"] == whole.said["general.architecture"]
    numbers = {name: packed.values().float() for name, packed in learned.tensors.items()}
    changed = {name.removesuffix(".lora_a") for name in numbers if name.endswith(".lora_a")}
    assert len(numbers) == 2 * len(changed) > 0
    content = bytearray(base.read_bytes())
    for name in changed:
        first, second = numbers[f"{name}.lora_a"], numbers[f"{name}.lora_b"]
        before = whole.tensors[name].values().float()
        after = before + learned.said["adapter.lora.alpha"] / len(first) * second @ first
        at = content.find(before.numpy().tobytes())
        assert at >= 0
        content[at : at + before.nbytes] = after.numpy().tobytes()
    out.write_bytes(content)
    return out


def logits(place, **options):
    tokens = torch.arange(12)[None] * 7 % VOCABULARY
    with torch.no_grad():
        return lmviz.open_model(place, **options)(tokens)


@pytest.mark.parametrize(
    "kind", [*KINDS[:3], *(pytest.param(each, marks=pytest.mark.slow) for each in KINDS[3:])]
)
def test_an_adapter_in_gguf_gives_the_same_logits(kind, text, tmp_path):
    """Units are in the order of llama.cpp, and the scale of joined matrices is right."""
    base = add_tokenizer(saved(kind, tmp_path / "base"))
    run = lmviz.train(start=base, corpus=text, out=tmp_path / "run", **SHORT)
    adapter = lmviz.convert(run.folder, tmp_path / "adapter.gguf")
    assert adapter == tmp_path / "adapter.gguf"
    whole = merged(gguf_of(kind, tmp_path / "base.gguf"), adapter, tmp_path / "merged.gguf")
    assert not torch.allclose(logits(run.folder), logits(base), atol=1e-2)
    assert torch.allclose(logits(whole), logits(run.folder), rtol=0, atol=1e-4)


def test_the_base_may_be_a_file_of_llama_cpp(text, tmp_path):
    base = gguf_of("llama", tmp_path / "base.gguf")
    add_tokenizer(tmp_path)
    run = lmviz.train(start=base, corpus=text, out=tmp_path / "run", **SHORT)
    first = lmviz.convert(run.folder, tmp_path / "first.gguf", step=2)
    last = lmviz.convert(run.folder, tmp_path / "last.gguf")
    for step, adapter in ((2, first), (4, last)):
        whole = merged(base, adapter, tmp_path / f"{step}.gguf")
        assert torch.allclose(logits(whole), logits(run.folder, step=step), rtol=0, atol=1e-4)


def test_what_is_no_adapter_of_a_checkpoint_is_refused(text, tmp_path):
    base = add_tokenizer(saved("gptj", tmp_path / "base"))
    run = lmviz.train(start=base, corpus=text, out=tmp_path / "run", **SHORT)
    with pytest.raises(LmvizError, match=r"is GPT-J, for which llama.cpp has no model"):
        lmviz.convert(run.folder, tmp_path / "adapter.gguf")
    for what, options in ((run.folder, {"merged": True}), ("stories-gru", {})):
        with pytest.raises(LmvizError, match=r"Only a LoRA .* is written as .gguf: name a folder"):
            lmviz.convert(what, tmp_path / "adapter.gguf", **options)
    with pytest.raises(LmvizError, match="At step 0 nothing was learned yet"):
        lmviz.convert(add_run(tmp_path, text), tmp_path / "adapter.gguf", step=0)
    assert not (tmp_path / "adapter.gguf").exists()


def add_run(folder, text):
    base = add_tokenizer(saved("llama", folder / "llama"))
    return lmviz.train(start=base, corpus=text, out=folder / "another", **SHORT).folder
