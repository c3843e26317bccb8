"""Rotary angles that depend on how long the text is, beside what transformers computes at every length."""

import numpy as np
import pytest
import torch
from closeness import relative_error
from foreign_models import peer, saved
from gguf_files import gguf_of

import lmviz
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.read_contrast import read_contrast
from lmviz.decoding.continuation import Continuation
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.tracing import trace
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration

CLOSE = 2e-6
ORIGINAL = {"llama dynamic": 32, "llama longrope": 20, "phi3 longrope": 20, "gpt_neox dynamic": 10}
LENGTHS = [
    (name, length)
    for name, original in ORIGINAL.items()
    for length in (original - 3, original, original + 1, original + 10)
]
IDS = np.random.default_rng(0).integers(3, 50, 60)


@pytest.fixture
def model(name, tmp_path):
    return open_checkpoint(saved(name, tmp_path / "it")).model()


def apart(found, wanted):
    return relative_error(np.asarray(found, np.float64), np.asarray(wanted, np.float64), 1e-9)


@torch.no_grad()
def read_by_transformers(name, ids, **options):
    """A whole reading; a short text comes first, since transformers keeps the angles of a longer one."""
    tokens = torch.from_numpy(ids)[None]
    peer(name)(tokens[:, :2])
    return peer(name)(tokens, **options)


@pytest.mark.parametrize("length", [19, 20, 21, 30])
def test_a_gguf_file_holds_both_lists_of_longrope(length, tmp_path):
    model = open_checkpoint(gguf_of("phi3 longrope", tmp_path / "model.gguf")).model()
    ids = IDS[:length]
    expected = read_by_transformers("phi3 longrope", ids)
    assert apart(trace(model, ids)["logits"].array, expected.logits[0]) <= CLOSE


@pytest.mark.parametrize(("name", "length"), LENGTHS)
def test_logits_and_attention_are_those_of_transformers_at_every_length(name, length, model):
    ids = IDS[:length]
    expected = read_by_transformers(name, ids, output_attentions=True)
    with torch.no_grad():
        assert apart(model(torch.from_numpy(ids)[None]), expected.logits) <= CLOSE
    found = lmviz.trace(model, ids)
    assert apart(found["logits"].array, expected.logits[0]) <= CLOSE
    for layer, weights in enumerate(expected.attentions):
        assert apart(found[f"layers/{layer}/attention/weights"].array, weights[0]) <= CLOSE


@pytest.mark.parametrize("name", ORIGINAL)
def test_what_is_typed_past_the_original_context_is_read_anew(name, model):
    """By the cache of a continuation, by a trace that goes on, and back again."""
    original = ORIGINAL[name]
    assert model.context == {"dynamic": 2 * original, "longrope": 32}[name.split()[1]]
    earlier = trace(model, IDS[: original - 2])
    writing = Continuation.of(model, IDS[: original - 2])
    for end in (original - 1, original, original + 1, original + 2, original + 3, original - 1):
        ids = IDS[:end]
        whole = trace(model, ids)
        expected = read_by_transformers(name, ids).logits[0]
        earlier = trace(model, ids, earlier=earlier)
        assert apart(earlier["logits"].array, expected) <= CLOSE
        for address, traced in whole.arrays.items():
            seen = np.isfinite(traced.array)
            assert apart(earlier[address].array[seen], traced.array[seen]) <= CLOSE, address
        if end > len(writing.ids):
            beside = Continuation.of(model, IDS[1:end])
            [writing, beside] = Continuation.extended_together(
                [(writing, int(IDS[end - 1])), (Continuation.of(model, IDS[: end - 1][::-1]), 5)]
            )
            assert apart(writing.logits, expected[-1]) <= CLOSE
            turned = np.append(IDS[: end - 1][::-1], 5)
            assert apart(beside.logits, read_by_transformers(name, turned).logits[0, -1]) <= CLOSE


@pytest.mark.parametrize("name", ["llama dynamic", "phi3 longrope"])
def test_every_cell_follows_from_its_operands_and_every_gradient_from_its_consumers(name, model):
    ids = IDS[: ORIGINAL[name] + 5]
    found = lmviz.gradient(model, ids, "loss")
    reader = TraceReader(model, found.trace)
    for kind in ("query", "key"):
        address = f"layers/1/attention/{kind}_rotated"
        array = found.trace[address].array
        tap = next(tap for tap in model.taps() if tap.address == address)
        for index in list(np.ndindex(array.shape))[:: array.size // 20]:
            arithmetic = tap.operation.explain(reader, address, index)
            assert arithmetic.evaluate() == pytest.approx(array[index], 1e-4, 1e-5)
            turned_back = f"gradient/layers/1/attention/{kind}"
            given = lmviz.explain(model, found, turned_back, index)
            assert given.evaluate() == pytest.approx(given.value, 1e-4, 1e-6)


@pytest.mark.parametrize("name", ["llama dynamic"])
def test_gradients_are_those_of_transformers_past_the_original_context(name, model):
    ids = IDS[: ORIGINAL[name] + 5]
    read_by_transformers(name, ids)
    there = peer(name).requires_grad_()
    try:
        with torch.enable_grad():
            logits = there(torch.from_numpy(ids)[None]).logits[0, :-1]
            torch.nn.functional.cross_entropy(logits, torch.from_numpy(ids[1:]), reduction="sum").backward()
        ours = lmviz.gradient(model, ids, "loss").parameters["layers.0.attention.output.weight"]
        assert apart(ours, there.model.layers[0].self_attn.o_proj.weight.grad) <= 1e-5
    finally:
        there.zero_grad()
        there.requires_grad_(False)


@pytest.mark.parametrize("name", ["llama dynamic"])
def test_a_question_about_an_early_position_reads_the_whole_text(name, model):
    ids = [int(id) for id in IDS[: ORIGINAL[name] + 5]]
    changed = [*ids[:3], ids[3] + 1 if ids[3] < 49 else 3, *ids[4:]]
    question = read_contrast(model, Contrast(ids, changed, ("logits", (4, 7))))
    clean, _ = question.passes()
    assert clean.measure(question.scalar) == pytest.approx(
        float(trace(model, ids)["logits"].array[4, 7]), rel=1e-5
    )


@pytest.mark.parametrize("scaling", ["dynamic", "longrope"])
def test_what_is_computed_for_a_text_does_not_depend_on_how_it_is_padded(scaling):
    divisors = {"rotary_divisors": "1 1.5 2", "rotary_long_divisors": "2 4 8"}
    settings = {"rotary_original": 6, "rotary_scaling": scaling, "rotary_factor": 3.0}
    if scaling == "longrope":
        settings |= divisors
    configuration = TransformerConfiguration(
        context=24, width=12, heads=2, layers=2, positions="rotary", **settings
    )
    model = TransformerModel(configuration, 50).eval()
    lengths = torch.tensor([5, 6, 7, 12])
    tokens = torch.from_numpy(IDS[:48].reshape(4, 12))
    with torch.no_grad():
        together = model(tokens, lengths)
        for row, length in enumerate(lengths.tolist()):
            alone = model(tokens[row : row + 1, :length])[0]
            assert apart(together[row, :length], alone) <= CLOSE
    assert model.reads_alone


@pytest.mark.parametrize("scaling", ["dynamic", "longrope"])
def test_what_is_trained_here_is_read_by_transformers(scaling, tmp_path):
    transformers = pytest.importorskip("transformers")
    own = {"rotary_divisors": "1 1.5 2", "rotary_long_divisors": "2 4 8", "rotary_magnitude": 1.25}
    configuration = TransformerConfiguration(
        context=24,
        width=12,
        heads=2,
        layers=2,
        positions="rotary",
        norm_kind="rms",
        gated=True,
        activation="silu",
        attention_bias="none",
        feedforward_bias=False,
        rotary_original=6,
        rotary_scaling=scaling,
        rotary_factor=4.0,
        **(own if scaling == "longrope" else {}),
    )
    model = TransformerModel(configuration, 50).eval()
    folder = lmviz.save_pretrained(model, tmp_path / "out")
    there = transformers.AutoModelForCausalLM.from_pretrained(folder)
    for length in (5, 6, 7, 12):
        tokens = torch.from_numpy(IDS[None, :length])
        with torch.no_grad():
            there(tokens[:, :2])
            assert apart(model(tokens), there(tokens).logits) <= CLOSE
    assert open_checkpoint(folder).model().configuration.context == 24
