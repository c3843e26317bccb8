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


def lightning_series(folder: Path) -> dict[int, torch.Tensor]:
    """`epoch=0-step=N.ckpt` as Lightning writes it: a `state_dict`, and `global_step`."""
    model, logits = fresh("gpt2"), {}
    folder.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(folder)
    add_tokenizer(folder)
    for step in trained(model, 4, 2):
        values = {
            "epoch": 0,
            "global_step": step,
            "pytorch-lightning_version": "2.5.0",
            "state_dict": {f"model.{name}": value.clone() for name, value in model.state_dict().items()},
            "loops": {"fit_loop": {"state_dict": {}}},
            "callbacks": {},
            "optimizer_states": [],
            "lr_schedulers": [],
        }
        torch.save(values, folder / f"epoch=0-step={step}.ckpt")
        logits[step] = logits_of(model)
    return logits


def litgpt_series(folder: Path, kind: str = "llama", is_older: bool = False) -> dict[int, torch.Tensor]:
    """`step-0000000N/lit_model.pth` with `model_config.yaml`, named and joined as by litgpt.

    Older ones deal queries, keys and values out by group. The model that is trained is of transformers.
    """
    model, logits = fresh(kind), {}
    said = model.config
    is_llama = kind.startswith("llama")
    groups = getattr(said, "num_key_value_heads", said.num_attention_heads)
    head = said.hidden_size // said.num_attention_heads
    share = 1.0 if is_llama else said.rope_parameters["partial_rotary_factor"]
    settings = {
        "name": "tiny",
        "hf_config": "\n  org: nobody\n  name: tiny",
        "block_size": said.max_position_embeddings,
        "vocab_size": VOCABULARY,
        "padded_vocab_size": VOCABULARY,
        "n_layer": said.num_hidden_layers,
        "n_head": said.num_attention_heads,
        "head_size": head,
        "n_embd": said.hidden_size,
        "rotary_percentage": share,
        "parallel_residual": "false" if is_llama else "true",
        "bias": "false" if is_llama else "true",
        "lm_head_bias": "false",
        "n_query_groups": groups,
        "shared_attention_norm": "false",
        "norm_class_name": "RMSNorm" if is_llama else "LayerNorm",
        "norm_eps": 1e-06 if is_llama else 1e-05,
        "mlp_class_name": "LLaMAMLP" if is_llama else "GptNeoxMLP",
        "gelu_approximate": "none",
        "intermediate_size": said.intermediate_size,
        "rope_condense_ratio": 1,
        "rope_base": 10000,
        "rope_adjustments": "null",
        "n_expert": 0,
    }
    for step in trained(model, 4, 2):
        place = folder / f"step-{step:08d}"
        place.mkdir(parents=True)
        add_tokenizer(place)
        lines = [f"{name}: {value}".replace(": \n", ":\n") for name, value in settings.items()]
        (place / "model_config.yaml").write_text("\n".join(lines) + "\n")
        (place / "config.json").write_text('{"model_type": "llama"}')  # which litgpt copies beside it
        state = _in_names_of_litgpt(model, is_llama, groups, head, is_older)
        values = {"model": state, "optimizer": {}, "iter_num": 4 * step, "step_count": step}
        torch.save(values, place / "lit_model.pth")
        logits[step] = logits_of(model)
    return logits


def _in_names_of_litgpt(
    model: torch.nn.Module, is_llama: bool, groups: int, head: int, is_older: bool
) -> dict[str, torch.Tensor]:
    inner = model.model if is_llama else model.gpt_neox
    found = {"lm_head.weight": model.get_output_embeddings().weight}
    found["transformer.wte.weight"] = model.get_input_embeddings().weight
    final = inner.norm if is_llama else inner.final_layer_norm
    modules: dict[str, torch.nn.Module] = {"ln_f": final}
    for number, layer in enumerate(inner.layers):
        before = f"h.{number}."
        modules[f"{before}norm_1"] = layer.input_layernorm
        modules[f"{before}norm_2"] = layer.post_attention_layernorm
        name = f"transformer.{before}attn.{'attn' if is_older else 'qkv'}"
        if is_llama:
            attention, network = layer.self_attn, layer.mlp
            modules[f"{before}attn.proj"] = attention.o_proj
            modules[f"{before}mlp.fc_1"], modules[f"{before}mlp.fc_2"] = network.gate_proj, network.up_proj
            modules[f"{before}mlp.proj"] = network.down_proj
            parts = [getattr(attention, f"{letter}_proj").weight for letter in "qkv"]
            if is_older:
                dealt = [part.unflatten(0, (groups, -1)) for part in parts]
                found[f"{name}.weight"] = torch.cat(dealt, dim=1).flatten(0, 1)
            else:
                found[f"{name}.weight"] = torch.cat(parts)
        else:
            attention, network = layer.attention, layer.mlp
            modules[f"{before}attn.proj"] = attention.dense
            modules[f"{before}mlp.fc"], modules[f"{before}mlp.proj"] = (
                network.dense_h_to_4h,
                network.dense_4h_to_h,
            )
            for end in ("weight", "bias"):
                whole = getattr(attention.query_key_value, end)
                if not is_older:
                    whole = whole.unflatten(0, (-1, 3, head)).transpose(0, 1).flatten(0, 2)
                found[f"{name}.{end}"] = whole
    for name, module in modules.items():
        found |= {f"transformer.{name}.{end}": value for end, value in module.state_dict().items()}
    return {name: value.detach().clone() for name, value in found.items()}


def distributed_series(folder: Path) -> dict[int, torch.Tensor]:
    """`step-N/` of torch.distributed.checkpoint with the optimizer beside the model; config.json above."""
    import warnings

    import torch.distributed.checkpoint as distributed

    model, logits = fresh("llama"), {}
    folder.mkdir(parents=True, exist_ok=True)
    model.config.save_pretrained(folder)
    add_tokenizer(folder)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in trained(model, 4, 2):
        values = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "train_state": {"step": step},
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is one process
            distributed.save(values, checkpoint_id=str(folder / f"step-{step}"))
        logits[step] = logits_of(model)
    return logits
