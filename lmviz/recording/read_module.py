"""A torch module that lmviz does not compute: what it answers to some prefixes, recorded while it trains.

Its numbers are taken down as they come: the distribution over the next token at each position, the outputs
of named modules by forward hooks, and the weights of attention in each `scaled_dot_product_attention`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from lmviz.base.errors import LmvizError
from lmviz.recording.modules import evaluating, is_sharded, logits_of
from lmviz.recording.tensors import whole
from lmviz.recording.tokenizers_given import read_given_tokenizer
from lmviz.text.tokenizer import Encoding, Tokenizer

LOGITS, TAP, ATTENTION = "logits", "tap", "attention"
"""How the names of what is kept of a prefix begin, after its number: "0/tap/blocks.1.attn"."""

Copies = dict[str, torch.Tensor]


class ReadModule:
    """A module, the prefixes that it reads, and the modules within it whose outputs are kept.

    `taps` are the names of these, which are those that `patterns` mean: "blocks.*.attn" has a module for each
    block. LmvizError where it answers ids with no logits, where a prefix cannot be read, and where a pattern
    means no module.
    """

    def __init__(
        self, module: nn.Module, tokenizer: Any, prefixes: Sequence[str], patterns: Sequence[str] = ()
    ) -> None:
        self.module, self.is_sharded = module, is_sharded(module)
        self.taps = tuple(_meant(module, patterns))
        self.vocabulary_size = self._logits(torch.zeros(1, dtype=torch.int64)).shape[-1]
        self.tokenizer: Tokenizer = read_given_tokenizer(tokenizer, self.vocabulary_size)
        self.prefixes = tuple(prefixes)
        self.encodings: tuple[Encoding, ...] = tuple(map(self.tokenizer.encode_prefix, self.prefixes))
        for prefix, encoding in zip(self.prefixes, self.encodings, strict=True):
            if not len(encoding):
                raise LmvizError(f"The prefix {prefix!r} has no tokens: give one that has.")

    def copies(self, keeps: bool = True) -> Copies:
        """What the module answers to the prefixes now, on the processor; it stays as it is."""
        found: Copies = {}
        for number, encoding in enumerate(self.encodings):
            read = self._read(torch.from_numpy(encoding.ids))
            if keeps:
                found |= {f"{number}/{name}": value for name, value in read.items()}
        return found

    def _read(self, ids: torch.Tensor) -> Copies:
        noted: Copies = {}
        with ExitStack() as stack:
            for name in self.taps:
                stack.enter_context(_hooked(self.module.get_submodule(name), _noting(noted, f"{TAP}/{name}")))
            attention = stack.enter_context(_AttentionNoted())
            logits = self._logits(ids)
        noted |= {f"{ATTENTION}/{number}": _copy(each[0]) for number, each in enumerate(attention.weights)}
        if len(logits) < len(ids):  # it answers for the last position alone
            earlier = [self._logits(ids[:length])[-1] for length in range(1, len(ids))]
            logits = torch.stack([*earlier, logits[-1]])
        noted[LOGITS] = _copy(logits)
        return noted

    def _logits(self, ids: torch.Tensor) -> torch.Tensor:
        """The logits (position, token) for ids (position,)."""
        device = next((each.device for each in self.module.parameters()), torch.device("cpu"))
        with evaluating(self.module), torch.no_grad():
            found = logits_of(self.module(ids[None].to(device)))
        if found is None or found.shape[0] != 1:
            raise LmvizError(
                "The module answers token ids with no logits of shape (1, position, token): wrap it in one "
                "that does."
            )
        return found[0]


def _meant(module: nn.Module, patterns: Iterable[str]) -> Iterator[str]:
    """The names of the modules that patterns mean; a * stands for a part between two dots."""
    names = [name for name, _ in module.named_modules() if name]
    met: set[str] = set()
    for pattern in patterns:
        found = [name for name in names if _fits(name.split("."), pattern.split("."))]
        if not found:
            raise LmvizError(
                f"No module is called {pattern!r}: give names of named_modules(), such as {names[:3]}."
            )
        yield from (name for name in found if name not in met)
        met |= set(found)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))


@contextmanager
def _hooked(module: nn.Module, hook: Callable[..., None]) -> Iterator[None]:
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _noting(noted: Copies, name: str) -> Callable[..., None]:
    def note(_module: nn.Module, _given: Any, answer: Any) -> None:
        tensor = _first_tensor(answer)
        if tensor is not None:
            noted[name] = _copy(tensor[0] if tensor.dim() > 1 and tensor.shape[0] == 1 else tensor)

    return note


def _first_tensor(answer: Any) -> torch.Tensor | None:
    if isinstance(answer, torch.Tensor):
        return answer
    if isinstance(answer, Mapping):
        answer = tuple(answer.values())
    several = answer if isinstance(answer, tuple | list) else ()
    return next((each for each in several if isinstance(each, torch.Tensor)), None)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return whole(tensor).to("cpu", torch.float32, copy=True).contiguous()


class _AttentionNoted(TorchFunctionMode):
    """Notes the weights (batch, head, query, key) of each call of `scaled_dot_product_attention`.

    torch computes them without keeping them, so they are computed here once more, as its documentation says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[torch.Tensor] = []

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if function is scaled_dot_product_attention:
            self.weights.append(attention_weights(*args, **kwargs))
        return function(*args, **kwargs)


def attention_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """The weights (…, head, query, key) with which torch's attention of these arguments sums the values."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query.float() @ key.float().transpose(-2, -1) * scale
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    return scores.softmax(-1)
