"""Ablation over twenty prompts of names, beside transformers' own GPT-2 with plain hooks, for each head.

These are no published numbers of a trained GPT-2, whose weights do not come with lmviz. The GPT-2 here is
small (3 layers, 4 heads), its weights drawn by numpy, so that they are the same without these programs:
what is compared is the arithmetic of a mean ablation, not what heads do. `MEASURED` is what the peer gave,
found once by hand: `print(repr(hooked(...)))` of the slow test, with transformers 5.23.0 and torch 2.13.0.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

import lmviz
from lmviz.circuits.ablation import ablate
from lmviz.circuits.contrast import Contrast

NAMES = ("Mary", "John", "Tom", "Anna", "James", "Lucy")
PROMPT = "When {A} and {B} went to the {place} , {B} gave a {thing} to"
LISTS = {"A": NAMES, "B": NAMES, "place": ("store", "river", "market"), "thing": ("ring", "ball", "book")}
LAYERS, HEADS, WIDTH, POSITIONS = 3, 4, 32, 32


MEASURED = np.array(
    [
        [0.0307623, -0.19717113, 0.15627967, 0.01546658],
        [0.00357972, -0.0185094, -0.01452183, 0.07908208],
        [-0.0415519, -0.15172121, 0.00781037, -0.03182505],
    ]
)
"""(layer, head) By how much the wanted name gains on the other without each head, on average."""


def weights(vocabulary: int) -> dict[str, np.ndarray]:
    """Random weights of a GPT-2 under the names of transformers."""
    chance = np.random.default_rng(0)
    shapes = {"wte.weight": (vocabulary, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
    for layer in range(LAYERS):
        block = f"h.{layer}."
        shapes |= {
            f"{block}attn.c_attn.weight": (WIDTH, 3 * WIDTH),
            f"{block}attn.c_attn.bias": (3 * WIDTH,),
            f"{block}attn.c_proj.weight": (WIDTH, WIDTH),
            f"{block}attn.c_proj.bias": (WIDTH,),
            f"{block}mlp.c_fc.weight": (WIDTH, 4 * WIDTH),
            f"{block}mlp.c_fc.bias": (4 * WIDTH,),
            f"{block}mlp.c_proj.weight": (4 * WIDTH, WIDTH),
            f"{block}mlp.c_proj.bias": (WIDTH,),
        }
    found = {name: chance.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for norm in ("ln_f", *(f"h.{layer}.ln_{part}" for layer in range(LAYERS) for part in (1, 2))):
        found |= {f"{norm}.weight": np.ones(WIDTH, np.float32), f"{norm}.bias": np.zeros(WIDTH, np.float32)}
    return {f"transformer.{name}": value for name, value in found.items()}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory):
    """The folder of a GPT-2, twenty prompts as ids, and the ids of the names that may follow."""
    rows = lmviz.text_set(pattern=PROMPT, lists=LISTS, wanted="{A}", other="{B}", sample=20)
    words = sorted({word for row in rows for word in row.text.split()} | set(NAMES))
    ids = {word: number for number, word in enumerate(words)}
    folder: Path = tmp_path_factory.mktemp("peer")
    configuration = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": len(words),
        "n_positions": POSITIONS,
        "n_embd": WIDTH,
        "n_layer": LAYERS,
        "n_head": HEADS,
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(configuration))
    save_file(weights(len(words)), folder / "model.safetensors", {"format": "pt"})
    prompts = [tuple(ids[word] for word in row.text.split()) for row in rows]
    return folder, prompts, [(ids[row.wanted], ids[row.other]) for row in rows]


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


def ablated(folder: Path, prompts, answers) -> np.ndarray:
    contrasts = [
        Contrast(prompt, measure=f"logit:{wanted}-{other}")
        for prompt, (wanted, other) in zip(prompts, answers, strict=True)
    ]
    return ablate(lmviz.open_model(folder), contrasts, "layers/*/attention/heads", by="mean").array


def test_the_mean_ablation_of_all_heads_is_what_transformers_once_measured(asked):
    np.testing.assert_allclose(ablated(*asked), MEASURED, atol=1e-5)
    assert np.abs(MEASURED).max() > 0.01


@pytest.mark.slow
def test_the_mean_ablation_of_all_heads_is_that_of_plain_hooks(asked):
    transformers = pytest.importorskip("transformers")
    folder, prompts, answers = asked
    theirs = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    np.testing.assert_allclose(hooked(theirs, prompts, answers), MEASURED, atol=1e-5)
