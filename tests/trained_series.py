"""Tiny models trained for a moment by other programs' own means, and their logits at each kept step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import torch
from foreign_models import GPT2, VOCABULARY, add_tokenizer, peer

PROBE = torch.arange(12)[None] * 7 % VOCABULARY
"""Tokens that each model reads at each step."""


def trained(model: torch.nn.Module, steps: int, every: int, rate: float = 0.01) -> Iterator[int]:
    """A plain loop over texts that repeat themselves; gives the number of updates whenever one would save."""
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.requires_grad_(True).parameters(), lr=rate)
    yield 0
    for step in range(1, steps + 1):
        half = torch.randint(VOCABULARY, (4, 8), generator=generator)
        tokens = torch.cat([half, half], dim=1)
        logits = model(tokens)
        logits = getattr(logits, "logits", logits)
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            yield step


@torch.no_grad()
def logits_of(model: torch.nn.Module) -> torch.Tensor:
    """Those of the probe, as the program's own model computes them."""
    was_training = model.training
    found = model.eval()(PROBE)
    model.train(was_training)
    return getattr(found, "logits", found)[0].clone()


def fresh(kind: str = "gpt2") -> torch.nn.Module:
    """A model of transformers that nobody else trains."""
    from copy import deepcopy

    return deepcopy(peer(kind))


def transformers_series(
    folder: Path, kind: str = "gpt2", steps: int = 6, every: int = 2
) -> dict[int, torch.Tensor]:
    """`checkpoint-N/` as transformers' Trainer names them, and the logits by step."""
    model, logits = fresh(kind), {}
    for step in trained(model, steps, every):
        place = folder / f"checkpoint-{step}"
        model.save_pretrained(place)
        add_tokenizer(place)
        state = {"epoch": step / 10, "global_step": step, "log_history": [], "max_steps": steps}
        (place / "trainer_state.json").write_text(json.dumps(state, indent=2))
        logits[step] = logits_of(model)
    return logits


def nanogpt_series(folder: Path) -> dict[int, torch.Tensor]:
    """`ckpt_N.pt` with `iter_num`, as a loop of nanoGPT's kind saves them."""
    model, logits = fresh("gpt2"), {}
    folder.mkdir(parents=True, exist_ok=True)
    arguments = {
        "n_layer": 2,
        "n_head": 3,
        "n_embd": 24,
        "block_size": 32,
        "bias": True,
        "vocab_size": VOCABULARY,
    }
    model.config.activation_function = "gelu"
    for block in model.transformer.h:  # nanoGPT computes the exact GELU
        block.mlp.act = torch.nn.GELU()
    for step in trained(model, 4, 2):
        state = {}
        for name, value in model.state_dict().items():
            on_side = name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))
            state[f"_orig_mod.{name}"] = (value.t() if on_side else value).clone()
        torch.save(
            {"model": state, "optimizer": {}, "model_args": arguments, "iter_num": step},
            folder / f"ckpt_{step:06d}.pt",
        )
        logits[step] = logits_of(model)
    add_tokenizer(folder)
    assert arguments["n_embd"] == GPT2["n_embd"]
    return logits
