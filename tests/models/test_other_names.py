"""Names of other programs: each row of the table leads to a tap, and whoever asks by one is told."""

import re
from pathlib import Path

import pytest
from family_cases import IDS, untrained

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.models.other_names import OTHER_NAMES, hint, own_address

PAGE = (Path(__file__).parents[2] / "docs" / "names-elsewhere.md").read_text(encoding="utf-8")
GPT, LLAMA = {}, {"positions": "rotary", "gated": True}


def addresses(options):
    return [tap.address for tap in untrained("transformer", options).taps()]


@pytest.mark.parametrize("row", OTHER_NAMES, ids=lambda row: row.name)
def test_every_name_leads_to_a_tap_and_is_on_the_page(row):
    known = {*addresses(GPT), *addresses(LLAMA)}
    program, address = own_address(row.name.replace("{layer}", "1"), known)
    assert program == row.program
    assert address in known
    shown = [own.replace("{layer}", "L").replace("{before}", "L−1") for own in row.addresses]
    cells = " or ".join(f"`{own}`" for own in shown)
    assert f"| `{row.name.replace('{layer}', 'L')}` | {cells} |" in PAGE


def test_the_page_has_no_other_rows():
    section = PAGE.split("## Values")[1].split("## Calls")[0]
    assert len(re.findall(r"^\| `", section, re.MULTILINE)) == len(OTHER_NAMES)


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ("blocks.0.hook_resid_pre", "embedding/sum"),
        ("blocks.1.hook_resid_pre", "layers/0/residual2"),
        ("blocks.*.attn.hook_pattern", "layers/*/attention/weights"),
        ("blocks.0.mlp.hook_pre", "layers/0/feedforward/hidden"),
        ("transformer.h[1].output[0]", "layers/1/residual2"),
        ("model.layers.1.self_attn", "layers/1/attention/output"),
        ("attentions[1]", "layers/1/attention/weights"),
        (("resid_mid", 1), "layers/1/residual1"),
        (("embed",), "embedding/token"),
    ],
)
def test_names_are_read_in_the_ways_they_are_written(asked, address):
    assert own_address(asked, addresses(GPT))[1] == address


def test_of_a_gated_network_what_goes_through_the_function_is_the_gate():
    assert own_address("blocks.0.mlp.hook_pre", addresses(LLAMA))[1] == "layers/0/feedforward/gate"


@pytest.mark.parametrize(
    "asked", ["blocks.9.hook_resid_mid", "blocks.0.hook_nothing", "hook_pos_embed.x", (), 3]
)
def test_nothing_is_said_of_what_is_not_there(asked):
    assert own_address(asked, addresses(LLAMA)) is None


def test_a_long_list_of_addresses_is_summed_up():
    said = hint("nowhere at all", addresses(GPT))
    assert "layers/*/residual1" in said
    assert "layers/0" not in said


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, pair: lmviz.trace(model, IDS)["blocks.1.hook_resid_mid"],
        lambda model, pair: lmviz.trace(model, IDS)["resid_mid", 1],
        lambda model, pair: lmviz.trace(model, IDS, taps="blocks.1.hook_resid_mid"),
        lambda model, pair: lmviz.trace(model, IDS, interventions=[lmviz.zero("blocks.1.hook_resid_mid")]),
        lambda model, pair: lmviz.patch(model, pair, taps="blocks.1.hook_resid_mid"),
        lambda model, pair: lmviz.ablate(model, pair, parts="blocks.1.hook_resid_mid"),
        lambda model, pair: lmviz.gradient(model, IDS, of=("blocks.1.hook_resid_mid", (0, 0))),
    ],
    ids=["trace[]", "trace[pair]", "trace", "zero", "patch", "ablate", "gradient"],
)
def test_who_asks_by_another_name_is_told_the_address(ask):
    model = untrained("transformer", GPT)
    pair = Contrast(tuple(IDS.tolist()), (*IDS[:-1].tolist(), 1), "logit:3")
    with pytest.raises(LmvizError, match="TransformerLens calls so is 'layers/1/residual1' here"):
        ask(model, pair)


EVERYWHERE = {
    "trace": lambda model, pair, name: lmviz.trace(model, IDS, taps=name),
    "zero": lambda model, pair, name: lmviz.trace(model, IDS, interventions=[lmviz.zero(name)]),
    "patch": lambda model, pair, name: lmviz.patch(model, pair, taps=name),
    "ablate": lambda model, pair, name: lmviz.ablate(model, pair, parts=name),
}
"""The functions that take patterns of addresses."""


@pytest.mark.parametrize("ask", EVERYWHERE.values(), ids=EVERYWHERE)
@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("layers/*/feed_forward/output", "layers/*/feedforward/output"),
        ("layers/1/mlp/output", "layers/1/feedforward/output"),
        ("blocks.1.hook_z", "layers/1/attention/mixed"),
        ("layers/*/attention/head", "layers/*/attention/heads"),
        ("layers/*/residul2", r"layers/\*/residual2"),
    ],
)
def test_a_near_miss_is_told_what_was_meant(ask, asked, meant):
    model = untrained("transformer", GPT)
    pair = Contrast(tuple(IDS.tolist()), (*IDS[:-1].tolist(), 1), "logit:3")
    with pytest.raises(LmvizError, match=f"did you mean {meant.replace('/*', '/.')}"):
        ask(model, pair, asked)


@pytest.mark.parametrize("ask", EVERYWHERE.values(), ids=EVERYWHERE)
def test_heads_mean_the_same_in_every_function(ask):
    model = untrained("transformer", GPT)
    pair = Contrast(tuple(IDS.tolist()), (*IDS[:-1].tolist(), 1), "logit:3")
    found, same = (ask(model, pair, f"layers/*/attention/{name}") for name in ("heads", "mixed"))
    if hasattr(found, "array"):
        assert (found.array == same.array).all()
        return
    assert found.arrays.keys() == same.arrays.keys()
    heads = found["layers/1/attention/heads"] if found.arrays else None
    assert heads is found["layers/1/attention/mixed"]


def test_a_part_of_a_circuit_has_its_layer_head_and_position():
    model = untrained("transformer", GPT)
    pair = Contrast(tuple(IDS.tolist()), (*IDS[:-1].tolist(), 1), "logit:3")
    parts = lmviz.circuit(model, pair, keep=30).parts
    assert {part.head is None for part in parts} == {True, False}
    for part in parts:
        assert part.layer is not None
        assert part.position == len(IDS) - 1
        assert part.head == (part.number if part.kind == "head" else None)
