"""Ablation over twenty prompts beside transformers' own model with plain hooks: one number for each head."""

from pathlib import Path

import numpy as np
import pytest
import torch

import lmviz
from lmviz.circuits.ablation import ablate
from lmviz.circuits.contrast import Contrast

transformers = pytest.importorskip("transformers")

NAMES = ("Mary", "John", "Tom", "Anna", "James", "Lucy")
PROMPT = "When {A} and {B} went to the {place} , {B} gave a {thing} to"
LISTS = {"A": NAMES, "B": NAMES, "place": ("store", "river", "market"), "thing": ("ring", "ball", "book")}
LAYERS, HEADS, WIDTH = 3, 4, 32


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory):
    """A GPT-2 with random weights, as transformers and as lmviz open it, and twenty prompts as ids."""
    rows = lmviz.text_set(pattern=PROMPT, lists=LISTS, wanted="{A}", other="{B}", sample=20)
    words = sorted({word for row in rows for word in row.text.split()} | set(NAMES))
    ids = {word: number for number, word in enumerate(words)}
    torch.manual_seed(0)
    configuration = transformers.GPT2Config(
        vocab_size=len(words),
        n_positions=32,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        initializer_range=0.3,
    )
    theirs = transformers.GPT2LMHeadModel(configuration).eval()
    folder: Path = tmp_path_factory.mktemp("peer")
    theirs.save_pretrained(folder)
    prompts = [tuple(ids[word] for word in row.text.split()) for row in rows]
    answers = [(ids[row.wanted], ids[row.other]) for row in rows]
    return theirs, lmviz.open_model(folder), prompts, answers


def logit_difference(theirs, prompt, answer) -> float:
    with torch.no_grad():
        logits = theirs(torch.tensor([prompt])).logits[0, -1]
    return float(logits[answer[0]] - logits[answer[1]])


def hooked(theirs, prompts, answers) -> np.ndarray:
    """The mean change without each head, (layer, head): set to its mean over all words of all prompts."""
    size, kept = WIDTH // HEADS, {}
    for layer, block in enumerate(theirs.transformer.h):
        block.attn.c_proj.register_forward_pre_hook(
            lambda module, given, layer=layer: kept.setdefault(layer, []).append(given[0][0])
        )
    intact = [
        logit_difference(theirs, prompt, answer) for prompt, answer in zip(prompts, answers, strict=True)
    ]
    means = {layer: torch.cat(kept[layer]).mean(dim=0) for layer in kept}
    found = np.zeros((LAYERS, HEADS))
    for layer, block in enumerate(theirs.transformer.h):
        block.attn.c_proj._forward_pre_hooks.clear()
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)

            def put(module, given, part=part, layer=layer):
                written = given[0].clone()
                written[..., part] = means[layer][part]
                return (written,)

            handle = block.attn.c_proj.register_forward_pre_hook(put)
            changed = [
                logit_difference(theirs, prompt, answer)
                for prompt, answer in zip(prompts, answers, strict=True)
            ]
            handle.remove()
            found[layer, head] = np.mean(np.subtract(changed, intact))
    return found


@pytest.mark.slow
def test_the_mean_ablation_of_all_heads_is_that_of_plain_hooks(models):
    theirs, ours, prompts, answers = models
    contrasts = [
        Contrast(prompt, measure=f"logit:{wanted}-{other}")
        for prompt, (wanted, other) in zip(prompts, answers, strict=True)
    ]
    if ours.tokenizer is not None:
        pytest.skip("ids are named by words here")
    found = ablate(ours, contrasts, "layers/*/attention/heads", by="mean")
    np.testing.assert_allclose(found.array, hooked(theirs, prompts, answers), atol=2e-5)
    assert np.abs(found.array).max() > 0.01
