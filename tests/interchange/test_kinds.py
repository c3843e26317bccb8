"""Every kind of checkpoint, beside what transformers computes from the same files, number by number."""

import tracemalloc
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from closeness import relative_error
from foreign_models import IMPLEMENTATIONS, LONGER, PEERS, peer, saved
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.interventions import zero
from lmviz.inspection.tracing import trace
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import KINDS, OTHERS
from lmviz.interchange.kinds.settings import MOST_LAYERS
from lmviz.interchange.layout import StoredLayout

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 47, 30, 2, 9, 11, 8, 2, 2, 7])
CLOSE = 2e-6
QUICK = ("qwen3", "gemma2", "falcon new", "gptj")

every_kind = pytest.mark.parametrize("name", PEERS)
few_kinds = pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PEERS]
)


@pytest.fixture
def folder(name, tmp_path):
    return saved(name, tmp_path / "it")


@pytest.fixture
def model(folder):
    return open_checkpoint(folder).model()


def apart(found, wanted):
    return relative_error(np.asarray(found, np.float64), np.asarray(wanted, np.float64), 1e-9)


def tokens():
    return torch.from_numpy(IDS)[None]


def there(name, module):
    """The module of transformers that a module of ours is stored as."""
    kind, layout = kind_and_layout(name)
    [stored] = layout.stored_names(f"{module}.weight")
    return peer(name).get_submodule(kind.inside + stored.removesuffix(".weight"))


def kind_and_layout(name):
    values = peer(name).config.to_dict()
    kind = KINDS[values["model_type"]]
    return kind, StoredLayout(kind, kind.configuration(Fields(values)))


def test_every_kind_is_compared():
    assert {peer(name).config.model_type for name in PEERS} == set(KINDS)


def test_the_guide_has_the_table():
    guide = (Path(__file__).parents[2] / "docs/guide/checkpoints.md").read_text(encoding="utf-8")
    rows = [f"| {kind.title} | `{name}` | {kind.about} |" for name, kind in KINDS.items()]
    head = "| kind | `model_type` | what is special about it |\n|---|---|---|\n"
    assert head + "\n".join(rows) + "\n\n" in guide


@every_kind
def test_logits_and_attention_are_those_of_transformers(name, model):
    attends = name not in IMPLEMENTATIONS
    with torch.no_grad():
        expected = peer(name)(tokens(), output_attentions=attends)
        assert apart(model(tokens()), expected.logits) <= CLOSE
    found = lmviz.trace(model, IDS)
    assert apart(found["logits"].array, expected.logits[0]) <= CLOSE
    for layer, weights in enumerate(expected.attentions or () if attends else ()):
        assert apart(found[f"layers/{layer}/attention/weights"].array, weights[0]) <= CLOSE


@few_kinds
def test_taps_are_what_the_modules_of_transformers_give(name, model):
    last = model.configuration.layers - 1
    places = ["layers/0/attention/output", f"layers/{last}/feedforward/output"]
    for tap in model.taps():
        if tap.axes == ("position", "channel") and tap.address.rpartition("/")[2].startswith("norm"):
            places.append(tap.address)
    taps = {place: place.replace("embedding/", "embedding_").replace("/", ".") for place in places}
    assert len(taps) >= 3
    given = {}
    hooks = [
        there(name, module).register_forward_hook(
            lambda _, read, result, place=place: given.update({place: result.clone()})
        )
        for place, module in taps.items()
    ]
    with torch.no_grad():
        peer(name)(tokens())
    for hook in hooks:
        hook.remove()
    found = lmviz.trace(model, IDS)
    for place in taps:
        assert apart(found[place].array, given[place].reshape(len(IDS), -1)) <= CLOSE, place


@few_kinds
def test_weights_in_half_precision_are_the_numbers_that_they_round_to(name, tmp_path):
    rounded = deepcopy(peer(name))
    deepcopy(rounded).bfloat16().save_pretrained(tmp_path / "it")
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.bfloat16().float())
        model = open_checkpoint(tmp_path / "it").model()
        wanted = rounded(tokens()).logits
    assert apart(model(tokens()), wanted) <= CLOSE
    assert apart(lmviz.trace(model, IDS)["logits"].array, wanted[0]) <= CLOSE


@few_kinds
def test_typing_on_is_reading_the_whole(name, model):
    state = None
    for first, end in ((0, 6), (6, 7), (7, 11), (11, 16)):
        logits, state = model.advance(tokens()[:, first:end], state)
        assert apart(logits, model(tokens()[:, :end])[:, first:]) <= CLOSE
    earlier, found = None, lmviz.trace(model, IDS)
    for end in (5, 6, 13, 16):
        earlier = trace(model, IDS[:end], earlier=earlier)
    for address, traced in found.arrays.items():
        ours = earlier[address].array
        seen = np.isfinite(traced.array)
        assert np.array_equal(seen, np.isfinite(ours)), address
        assert apart(ours[seen], traced.array[seen]) <= CLOSE, address


@few_kinds
def test_gradients_are_those_of_transformers(name, model):
    """Of the loss of the text, by every parameter that is stored as it is."""
    model_there = peer(name).requires_grad_()
    try:
        with torch.enable_grad():
            logits = model_there(tokens()).logits[0, :-1]
            loss = torch.nn.functional.cross_entropy(logits, tokens()[0, 1:], reduction="sum")
            loss.backward()
        found = lmviz.gradient(model, IDS, "loss")
        assert found.value == pytest.approx(float(loss.detach()), rel=1e-5)
        names = [f"layers.{layer}.{part}.output" for layer in (0, 1) for part in ("attention", "feedforward")]
        for module in names:
            wanted = there(name, module).weight.grad
            ours = found.parameters[f"{module}.weight"]
            wanted = wanted.t() if wanted.shape != ours.shape or "gpt2" in name else wanted
            assert apart(ours, wanted) <= 1e-5, module
        if model.output.weight is not None:  # then the embedding is read alone
            wanted = there(name, "embedding").weight.grad
            read = np.arange(len(wanted)) != there(name, "embedding").padding_idx
            assert apart(found.parameters["embedding.weight"][read], wanted[read]) <= 1e-5
    finally:
        model_there.zero_grad()
        model_there.requires_grad_(False)


@few_kinds
def test_an_intervention_does_what_the_same_hook_of_transformers_does(name, model):
    def without_unit(_, read):
        changed = read[0].clone()
        changed[..., 3] = 0.0
        return (changed, *read[1:])

    hook = there(name, "layers.0.feedforward.output").register_forward_pre_hook(without_unit)
    with torch.no_grad():
        wanted = peer(name)(tokens()).logits[0]
    hook.remove()
    found = lmviz.trace(model, IDS, interventions=[zero("layers/0/feedforward/activation", unit=3)])
    assert apart(found["logits"].array, wanted) <= CLOSE
    assert apart(lmviz.trace(model, IDS)["logits"].array, wanted) > 100 * CLOSE


@few_kinds
def test_every_cell_follows_from_its_operands(name, model):
    found = lmviz.trace(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        array = found[tap.address].array
        for index in list(np.ndindex(array.shape))[:: max(1, array.size // 20)]:
            arithmetic = tap.operation.explain(reader, tap.address, index)
            computed = arithmetic.evaluate()
            assert computed == arithmetic.value or computed == pytest.approx(array[index], 1e-4, 1e-5)


@few_kinds
def test_what_was_opened_is_saved_as_it_was(name, model, folder, tmp_path):
    transformers = pytest.importorskip("transformers")
    out = lmviz.save_pretrained(model, tmp_path / "out")
    loaded, report = transformers.AutoModelForCausalLM.from_pretrained(out, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    wanted = peer(name).state_dict()
    for key, value in loaded.state_dict().items():
        assert torch.equal(value, wanted[key]), key
    assert torch.equal(open_checkpoint(out).model()(tokens()), model(tokens()))


# What is another kind of thing


@pytest.mark.parametrize(
    ("model_type", "sentence"),
    [
        ("mamba", "'mamba' is a state space model"),
        ("jamba", "'jamba' is a state space model, or has layers of one"),
        ("t5", "'t5' is an encoder with a decoder"),
        ("bert", "'bert' is an encoder, which fills in words and continues no text"),
        ("mixtral", "'mixtral' is a mixture of experts"),
        ("qwen2_vl", "'qwen2_vl' is a model of pictures, or of pictures and words"),
        ("whisper", "'whisper' is a model of sounds"),
        ("invented", "'invented' is none of gpt2, gpt_neo"),
    ],
)
def test_what_is_another_kind_of_thing_is_refused_with_that_reason(model_type, sentence, tmp_path):
    (tmp_path / "config.json").write_text(f'{{"model_type": "{model_type}"}}')
    save_file({"weight": torch.ones(1)}, tmp_path / "model.safetensors")
    with pytest.raises(LmvizError, match=sentence) as refused:
        lmviz.open_model(tmp_path)
    assert str(refused.value).startswith(str(tmp_path))


def test_other_kinds_are_named_once_and_as_transformers_names_them():
    auto = pytest.importorskip("transformers.models.auto.configuration_auto")
    named = [model_type for names in OTHERS.values() for model_type in names.split()]
    assert len(named) == len(set(named))
    assert not set(named) & set(KINDS)
    assert set(named) <= set(auto.CONFIG_MAPPING_NAMES)


OLDER = {
    "llama": {"rope_theta": 5e5, "rope_scaling": {**LONGER, "original_max_position_embeddings": 512}},
    "mistral": {"sliding_window": None, "rope_theta": 1e6},
    "qwen2": {"rope_theta": 1e6, "use_sliding_window": False, "sliding_window": 131072}
    | {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}},
    "gemma": {"hidden_act": "gelu", "hidden_activation": None, "num_key_value_heads": 1},
    "gemma2": {"rope_theta": 1e4, "cache_implementation": "hybrid", "final_logit_softcapping": None},
    "gemma3_text": {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 5}
    | {"rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 512},
    "phi": {"partial_rotary_factor": 0.4, "rope_theta": 1e4, "rope_scaling": None, "hidden_size": 2560},
    "phi3": {"sliding_window": 262144, "max_position_embeddings": 131072}
    | {"original_max_position_embeddings": 4096}
    | {"rope_scaling": {"type": "longrope", "short_factor": [1.5] * 48, "long_factor": [3.0] * 48}},
    "stablelm": {"partial_rotary_factor": 0.25, "rope_theta": 1e4, "use_qkv_bias": True},
    "gpt_neox": {"rotary_pct": 0.25, "rotary_emb_base": 10000},
    "gpt_neo": {"attention_types": [[["local", "global"], 12]]},
    "cohere2": {"rope_theta": 5e4, "sliding_window_pattern": 4, "head_dim": 128},
    "smollm3": {"no_rope_layers": [1, 1, 0] * 12, "rope_theta": 5e6, "num_key_value_heads": None},
    "olmo3": {"rope_theta": 5e5, "rope_scaling": {"rope_type": "yarn", "factor": 8.0}},
    "falcon": {"num_attention_heads": 16, "n_embed": 512, "alibi": True, "multi_query": False},
    "bloom": {"n_head": 16, "n_layer": 24, "n_embed": 1024},
    "nemotron": {"partial_rotary_factor": 0.5, "rope_theta": 1e4},
}
"""What files on the hub say, in the words of their time."""


@pytest.mark.parametrize(
    ("name", "said"), [*((name, {}) for name in KINDS), *OLDER.items()], ids=lambda value: str(value)[:20]
)
def test_what_a_file_leaves_out_is_as_in_transformers(name, said):
    """And so is what it says in older words: the file means what transformers makes of it."""
    auto = pytest.importorskip("transformers.models.auto.configuration_auto")
    made = auto.CONFIG_MAPPING[name](**deepcopy(said)).to_dict()
    read = KINDS[name].configuration
    assert meaning(read(Fields(said))) == meaning(read(Fields(made)))


def test_slopes_are_those_that_mpt_was_trained_with():
    """transformers takes 8 whatever the file says."""
    steep = KINDS["mpt"].configuration(Fields({"attn_config": {"alibi_bias_max": 16}}))
    assert steep.alibi.by_head[-1] == 2.0**-16


def meaning(configuration):
    """A configuration with sizes in the place of zeros, and what each layer has in that of patterns."""
    layers = range(configuration.layers)
    return {
        **configuration.to_values(),
        "key_value_heads": configuration.groups,
        "head_channels": configuration.head_width,
        "feedforward": configuration.feedforward_width,
        "window_layers": [configuration.window_of(layer) for layer in layers],
        "rotary_layers": [configuration.rotary_of(layer) for layer in layers],
    }


WRONG = (None, -1, 0, 10**12, 1e308, -0.5, float("nan"), "x", [], {}, True, [1], [[["local"], 10**12]])
SCALED = (
    {"rope_type": "yarn", "factor": 0},
    {"rope_type": "yarn", "rope_theta": 1.0, "factor": 2.0},
    {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 0},
    {"rope_type": "longrope", "short_factor": [0.0] * 64},
)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_wrong_value_in_any_field_is_no_fault(name):
    """And none takes memory: a pattern of layers is no longer than layers can be."""
    auto = pytest.importorskip("transformers.models.auto.configuration_auto")
    whole = auto.CONFIG_MAPPING[name]().to_dict() | {"sliding_window_pattern": 6, "rope_scaling": None}
    fields, refused = list(whole), 0
    for listed in ("layer_types", "no_rope_layers"):  # older files have patterns in their place
        whole.pop(listed, None)
    for field in fields:
        for value in (*WRONG, *SCALED):
            try:
                read = KINDS[name].configuration(Fields(whole | {field: value}))
            except (LmvizError, ZeroDivisionError, OverflowError):
                refused += 1
                continue
            assert len(read.window_layers) + len(read.rotary_layers) <= 2 * MOST_LAYERS
            rotary = read.rotary_of(0)
            assert rotary is None or np.isfinite(rotary.frequencies).all()
    assert refused > 50


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("opt", {"_remove_final_layer_norm": True}, "an end of the stream that is not normalised"),
        ("bloom", {"apply_residual_connection_post_layernorm": True}, "normalised in passing"),
        ("mpt", {"attn_config": {"qk_ln": True}}, "normalised queries and keys"),
        ("mpt", {"no_bias": False}, "asks for biases"),
        ("phi3", {"rope_parameters": {"rope_type": "longrope"}}, "write 2 positive numbers"),
        (
            "phi3",
            {"rope_parameters": {"rope_type": "longrope", "short_factor": "1"}},
            "not a list of numbers",
        ),
        ("gemma2", {"layer_types": ["chunked_attention"] * 2}, "layers of kind 'chunked_attention'"),
        ("gemma", {"use_bidirectional_attention": True}, "attention to later words"),
        ("gpt_neo", {"attention_types": [["global", 2, 3]]}, "not a list of words and numbers"),
        ("smollm3", {"no_rope_layers": "0101"}, "not a list of whole numbers"),
        ("gemma2", {"layer_types": "full_attention"}, "not a list of words"),
    ],
)
def test_what_a_kind_does_not_compute_is_named(name, values, sentence):
    described = peer(name).config.to_dict() | values
    with pytest.raises(LmvizError, match=sentence):
        KINDS[described["model_type"]].configuration(Fields(described))


def test_a_pattern_of_layers_takes_no_more_room_than_its_file():
    described = peer("gpt_neo").config.to_dict()
    described["attention_types"] = [[["local"] * 2000, 10**9], [[], 10**9], [["global"], 10**9]]
    tracemalloc.start()
    try:
        found = KINDS["gpt_neo"].configuration(Fields(described))
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert found.window_of(0) == found.attention_window


def test_no_part_of_a_joined_matrix_is_lost(tmp_path):
    folder = saved("phi3", tmp_path / "it")
    tensors = load_file(folder / "model.safetensors")
    short = tensors["model.layers.0.mlp.gate_up_proj.weight"][:-2].clone()
    save_file(tensors | {"model.layers.0.mlp.gate_up_proj.weight": short}, folder / "model.safetensors")
    with pytest.raises(LmvizError, match=r"gate_up_proj.weight of shape 78 × 24, .* 80 × 24"):
        lmviz.open_model(folder)
