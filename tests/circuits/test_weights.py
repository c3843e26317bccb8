"""The matrices of a Transformer make the numbers that its taps have."""

import numpy as np
import pytest
from family_cases import IDS, OPTIONS, trained

from lmviz.base.errors import LmvizError
from lmviz.circuits.weights import Weights
from lmviz.inspection.tracing import trace

GATED = next(options for options in OPTIONS["transformer"] if options.get("norm_kind") == "rms")
WITHOUT_BIAS = {"attention_bias": "none", "feedforward_bias": False, "norm": "pre"}


@pytest.mark.parametrize("options", [WITHOUT_BIAS, GATED, WITHOUT_BIAS | {"heads": 4, "key_value_heads": 2}])
def test_what_is_read_times_a_matrix_is_what_the_tap_has(options):
    model = trained("transformer", tuple(options.items()))
    matrices, traced = Weights(model), trace(model, IDS)
    shared = matrices.query.shape[1] // model.configuration.groups
    for layer in range(matrices.layers):
        read = traced[f"layers/{layer}/norm1"].array
        for head in range(matrices.query.shape[1]):
            for name in ("query", "key", "value"):
                made = traced[f"layers/{layer}/attention/{name}"].array
                made = made[head if name == "query" else head // shared]
                assert read @ getattr(matrices, name)[layer, head] == pytest.approx(made, abs=1e-5)
            if model.configuration.positions != "rotary":
                scores = traced[f"layers/{layer}/attention/products"].array[head]
                assert read @ matrices.qk(layer, head) @ read.T == pytest.approx(scores, abs=1e-4)
        mixed = traced[f"layers/{layer}/attention/mixed"].array
        brought = sum(mixed[head] @ matrices.output[layer, head] for head in range(len(mixed)))
        assert brought == pytest.approx(traced[f"layers/{layer}/attention/output"].array, abs=1e-5)
        weights = traced[f"layers/{layer}/attention/weights"].array
        through = sum(weights[head] @ read @ matrices.ov(layer, head) for head in range(len(mixed)))
        assert through == pytest.approx(brought, abs=1e-5)
        read = traced[f"layers/{layer}/norm2"].array
        assert read @ matrices.read[layer] == pytest.approx(
            traced[f"layers/{layer}/feedforward/hidden"].array, abs=1e-5
        )
        if matrices.gate is not None:
            gate = traced[f"layers/{layer}/feedforward/gate"].array
            assert read @ matrices.gate[layer] == pytest.approx(gate, abs=1e-5)
        active = traced[f"layers/{layer}/feedforward/activation"].array
        written = traced[f"layers/{layer}/feedforward/output"].array
        assert active @ matrices.write[layer] == pytest.approx(written, abs=1e-5)
    assert matrices.embedding[IDS] == pytest.approx(traced["embedding/token"].array, abs=1e-6)
    assert traced["norm"].array @ matrices.unembedding == pytest.approx(traced["logits"].array, abs=1e-5)


def test_embeddings_that_are_narrower_come_to_the_width_of_the_stream():
    model = trained(
        "transformer", tuple((WITHOUT_BIAS | {"embedding_width": 5, "positions": "none"}).items())
    )
    matrices, traced = Weights(model), trace(model, IDS)
    width = model.configuration.width
    assert matrices.embedding.shape == matrices.unembedding.T.shape == (7, width)
    assert matrices.embedding[IDS] == pytest.approx(traced["embedding/sum"].array, abs=1e-6)
    assert traced["norm"].array @ matrices.unembedding == pytest.approx(traced["logits"].array, abs=1e-5)
    assert (matrices.embedding @ matrices.ov(0, 1) @ matrices.unembedding).shape == (7, 7)


def test_attention_alone_has_no_matrices_of_feed_forward_networks():
    matrices = Weights(trained("transformer", (("attention_alone", True),)))
    assert matrices.read is matrices.gate is matrices.write is None
    assert len(matrices.output) == 2


def test_they_cannot_be_written_to_and_leave_the_model_as_it_is():
    model = trained("transformer", ())
    with pytest.raises(ValueError, match="read-only"):
        Weights(model).query[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        Weights(model).embedding[:] = 0
    assert np.abs(model.embedding.weight.numpy()).max() > 0


def test_a_model_without_layers_of_attention_says_so():
    with pytest.raises(LmvizError, match="has no layers of attention"):
        Weights(trained("lstm", ()))
