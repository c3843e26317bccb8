"""Modules and loops as people write them for themselves, with the names of nanoGPT."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 11


@dataclass
class GPTConfig:
    """What nanoGPT calls its sizes."""

    block_size: int = 16
    vocab_size: int = VOCABULARY
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    dropout: float = 0.1
    bias: bool = True


class SelfAttention(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.heads, self.dropout = config.n_head, config.dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.c_attn(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(
            *parts, is_causal=True, dropout_p=self.dropout if self.training else 0.0
        )
        return self.c_proj(mixed.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, config: GPTConfig, activation: nn.Module) -> None:
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)
        self.activation, self.dropout = activation, nn.Dropout(config.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.c_proj(self.activation(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, config: GPTConfig, activation: nn.Module) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(config.n_embd, bias=config.bias) for _ in range(2))
        self.attn, self.mlp = SelfAttention(config), FeedForward(config, activation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    """A module with the names of nanoGPT: tied, and without targets only the last position is answered."""

    def __init__(self, config: GPTConfig | None = None, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config = config or GPTConfig()
        blocks = [Block(config, activation or nn.GELU()) for _ in range(config.n_layer)]
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(config.vocab_size, config.n_embd),
                "wpe": nn.Embedding(config.block_size, config.n_embd),
                "h": nn.ModuleList(blocks),
                "ln_f": nn.LayerNorm(config.n_embd, bias=config.bias),
            }
        )
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, ids: torch.Tensor, targets: torch.Tensor | None = None) -> tuple[torch.Tensor, object]:
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.transformer.wte(ids) + self.transformer.wpe(places)
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1]]), None
        logits = self.lm_head(x)
        return logits, functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batch_of(generator: torch.Generator, vocabulary: int = VOCABULARY, length: int = 9) -> torch.Tensor:
    """Rows that count upwards from anywhere, (4, length)."""
    start = torch.randint(vocabulary, (4, 1), generator=generator)
    return (start + torch.arange(length)) % vocabulary


def all_logits(module: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """The logits (position, token) of a module without dropout."""
    training = module.training
    module.eval()
    with torch.no_grad():
        answer = module(ids, ids) if isinstance(module, GPT) else module(ids)
    module.train(training)
    return (answer.logits if hasattr(answer, "logits") else answer[0])[0].detach().clone()
