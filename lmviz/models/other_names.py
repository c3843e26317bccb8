"""What TransformerLens, transformers and nnsight call the taps of lmviz, and what to say where none is found.

nnsight names the modules of a checkpoint as transformers does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lmviz.base.errors import LmvizError
from lmviz.models.address import Address, with_heads
from lmviz.models.tap import Tap

LENS, HOOK, MODULE, OUTPUT = "TransformerLens", "hook_", "transformers, nnsight", "transformers' outputs"
LAYER, BEFORE = "{layer}", "{before}"
FIRST = "embedding/sum"
"""What enters the first layer, before which there is no other."""

_WORDS = {
    **dict.fromkeys(("layer", "block", "blocks", "h"), "layers"),
    **dict.fromkeys(("feed_forward", "feed-forward", "ffn", "mlp"), "feedforward"),
    **dict.fromkeys(("attn", "self_attn", "self_attention", "self-attention"), "attention"),
    "head": "heads",
    "q": "query",
    "k": "key",
    "v": "value",
    "queries": "query",
    "keys": "key",
    "values": "value",
    "pattern": "weights",
    "resid_mid": "residual1",
    "resid_post": "residual2",
}
"""What else the parts of an address are called."""


class OtherName(NamedTuple):
    """One name of another program: with `LAYER` for the number of a layer, from 0 on as in addresses.

    Of the `addresses` a model has the first or else the next; `BEFORE` is the layer before.
    """

    program: str
    name: str
    addresses: tuple[str, ...]


def _rows(program: str, names: dict[str, str]) -> tuple[OtherName, ...]:
    return tuple(OtherName(program, name, tuple(own.split(" or "))) for name, own in names.items())


OTHER_NAMES: tuple[OtherName, ...] = (
    *_rows(
        LENS,
        {
            "hook_embed": "embedding/token",
            "hook_pos_embed": "embedding/position",
            "blocks.{layer}.hook_resid_pre": "layers/{before}/residual2",
            "blocks.{layer}.ln1.hook_normalized": "layers/{layer}/norm1",
            "blocks.{layer}.attn.hook_q": "layers/{layer}/attention/query",
            "blocks.{layer}.attn.hook_k": "layers/{layer}/attention/key",
            "blocks.{layer}.attn.hook_v": "layers/{layer}/attention/value",
            "blocks.{layer}.attn.hook_rot_q": "layers/{layer}/attention/query_rotated",
            "blocks.{layer}.attn.hook_rot_k": "layers/{layer}/attention/key_rotated",
            "blocks.{layer}.attn.hook_attn_scores": "layers/{layer}/attention/scores",
            "blocks.{layer}.attn.hook_pattern": "layers/{layer}/attention/weights",
            "blocks.{layer}.attn.hook_z": "layers/{layer}/attention/mixed",
            "blocks.{layer}.hook_attn_out": "layers/{layer}/attention/output",
            "blocks.{layer}.hook_resid_mid": "layers/{layer}/residual1",
            "blocks.{layer}.ln2.hook_normalized": "layers/{layer}/norm2",
            "blocks.{layer}.mlp.hook_pre": (
                "layers/{layer}/feedforward/gate or layers/{layer}/feedforward/hidden"
            ),
            "blocks.{layer}.mlp.hook_pre_linear": "layers/{layer}/feedforward/hidden",
            "blocks.{layer}.mlp.hook_post": "layers/{layer}/feedforward/activation",
            "blocks.{layer}.hook_mlp_out": "layers/{layer}/feedforward/output",
            "blocks.{layer}.hook_resid_post": "layers/{layer}/residual2",
            "ln_final.hook_normalized": "norm",
        },
    ),
    *_rows(
        MODULE,
        {
            "transformer.wte": "embedding/token",
            "transformer.wpe": "embedding/position",
            "transformer.h.{layer}": "layers/{layer}/residual2",
            "transformer.h.{layer}.ln_1": "layers/{layer}/norm1",
            "transformer.h.{layer}.attn": "layers/{layer}/attention/output",
            "transformer.h.{layer}.ln_2": "layers/{layer}/norm2",
            "transformer.h.{layer}.mlp": "layers/{layer}/feedforward/output",
            "transformer.h.{layer}.mlp.c_fc": "layers/{layer}/feedforward/hidden",
            "transformer.h.{layer}.mlp.act": "layers/{layer}/feedforward/activation",
            "transformer.ln_f": "norm",
            "model.embed_tokens": "embedding/token",
            "model.layers.{layer}": "layers/{layer}/residual2",
            "model.layers.{layer}.input_layernorm": "layers/{layer}/norm1",
            "model.layers.{layer}.self_attn": "layers/{layer}/attention/output",
            "model.layers.{layer}.self_attn.q_proj": "layers/{layer}/attention/query",
            "model.layers.{layer}.self_attn.k_proj": "layers/{layer}/attention/key",
            "model.layers.{layer}.self_attn.v_proj": "layers/{layer}/attention/value",
            "model.layers.{layer}.post_attention_layernorm": "layers/{layer}/norm2",
            "model.layers.{layer}.mlp": "layers/{layer}/feedforward/output",
            "model.layers.{layer}.mlp.gate_proj": "layers/{layer}/feedforward/gate",
            "model.layers.{layer}.mlp.up_proj": "layers/{layer}/feedforward/hidden",
            "model.norm": "norm",
            "lm_head": "logits",
        },
    ),
    *_rows(
        OUTPUT,
        {
            "hidden_states[{layer}]": "layers/{before}/residual2",
            "attentions[{layer}]": "layers/{layer}/attention/weights",
        },
    ),
)
"""The names of values, in the order in which a model computes them."""


def hint(asked: object, addresses: Collection[str]) -> str:
    """What to say to whoever asked for a tap that is not among the addresses: the rest of a sentence."""
    found = own_address(asked, addresses)
    if found is not None:
        program, address = found
        calls = "transformers and nnsight call" if program == MODULE else f"{program} calls"
        return f"what {calls} so is {address!r} here."
    near = _near(asked, addresses)
    return f"did you mean {near}?" if near else f"there are {', '.join(_summed_up(addresses))}."


def taps_matching(taps: Sequence[Tap], patterns: Collection[str]) -> list[Tap]:
    """The taps that patterns of addresses mean, in the order of computation.

    This is what a pattern means wherever one is taken. LmvizError, with what may have been meant, for a
    pattern that means none.
    """
    at = [Address.parse(tap.address) for tap in taps]
    for pattern in patterns:
        if not any(address.matches(pattern) for address in at):
            raise LmvizError(f"No tap matches {pattern!r}: {hint(pattern, [tap.address for tap in taps])}")
    return [tap for tap, address in zip(taps, at, strict=True) if any(map(address.matches, patterns))]


def _near(asked: object, addresses: Collection[str]) -> str | None:
    """What may have been meant: a hook without its module, a part by another word, or a slip of the pen."""
    import difflib  # for those who mistype

    name = str(asked)
    hook = re.search(rf"(?:^|\D)(\d+|\*)\D(?:.*\W)?({HOOK}\w+)$", name)
    for row in OTHER_NAMES if hook is not None else ():
        if hook is not None and row.name.endswith(f".{hook[2]}"):
            for own in row.addresses:
                if _is_there(_placed(own, hook[1]), addresses):
                    return _placed(own, hook[1])
    ours = "/".join(_WORDS.get(part, part) for part in re.split(r"[./]", name))
    for pattern in (ours, with_heads(ours)):
        if any(Address.parse(address).matches(pattern) for address in addresses):
            return ours
    known = [*addresses, *_summed_up(addresses)]
    near = difflib.get_close_matches(ours, known, n=1) or difflib.get_close_matches(name, known, n=1)
    return near[0] if near else None


def own_address(asked: object, addresses: Collection[str]) -> tuple[str, str] | None:
    """Whose name was asked for, and its address or pattern here; None where it is nobody's, or not there.

    TransformerLens also has pairs such as ("resid_mid", 0).
    """
    name = _written_out(asked)
    for row in OTHER_NAMES:
        met = re.fullmatch(re.escape(row.name).replace(re.escape(LAYER), r"(\d+|\*)"), name)
        for own in row.addresses if met else ():
            address = _placed(own, met[1] if met is not None and met.groups() else "")
            if _is_there(address, addresses):
                return row.program, address
    return None


def _written_out(asked: object) -> str:
    """A name as the table has it, also from a pair, and from square brackets around the number of a layer."""
    if isinstance(asked, Sequence) and not isinstance(asked, str) and asked and isinstance(asked[0], str):
        layer = str(asked[1]) if len(asked) > 1 else ""
        short = next((row.name for row in OTHER_NAMES if row.name.endswith(f"{HOOK}{asked[0]}")), "")
        return short.replace(LAYER, layer)
    name = str(asked)
    inside = not name.startswith(("hidden_states", "attentions"))
    return (
        re.sub(r"\[(\d+|\*)\]", r".\1", name).removesuffix(".output.0").removesuffix(".output")
        if inside
        else name
    )


def _placed(own: str, layer: str) -> str:
    if BEFORE not in own or layer == "*":
        return own.replace(LAYER, layer).replace(BEFORE, layer)
    return own.replace(BEFORE, str(int(layer) - 1)) if int(layer) else FIRST


def _is_there(address: str, addresses: Collection[str]) -> bool:
    pattern = re.compile(re.escape(address).replace(r"\*", r"\d+"))
    return any(pattern.fullmatch(each) for each in addresses)


def _summed_up(addresses: Collection[str]) -> list[str]:
    """The addresses, those that differ in a number alone as one pattern."""
    patterns = (re.sub(r"/\d+(?=/|$)", "/*", address) for address in addresses)
    return list(dict.fromkeys(patterns))
