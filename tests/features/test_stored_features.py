"""Files of features of other programs, read and written; what is in them may come from anybody."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.base.errors import LmvizError

ENCODED = {
    "topk": {
        "cfg": {
            "d_in": 4,
            "d_sae": 6,
            "dtype": "float32",
            "device": "cpu",
            "apply_b_dec_to_input": True,
            "normalize_activations": "none",
            "reshape_activations": "none",
            "metadata": {"model_name": "gpt2", "hook_name": "blocks.1.hook_resid_post"},
            "k": 2,
            "rescale_acts_by_decoder_norm": True,
            "architecture": "topk",
        },
        "b_dec": [-0.61, -0.51, -0.52, -0.13],
        "W_dec": [
            [0.86, 0.11, 1.26, 0.63],
            [0.79, -1.19, 0.47, 0.13],
            [-0.51, -1.17, -0.7, -1.66],
            [0.94, 0.08, 0.77, 0.67],
            [-0.21, 1.02, 0.02, -0.7],
            [0.76, 1.03, -0.53, 0.45],
        ],
        "W_enc": [
            [-0.44, -2.31, -1.21, 0.82, -0.27, 1.26],
            [0.15, 0.3, 1.15, -0.09, 0.46, -0.14],
            [0.95, -0.13, -0.04, 0.52, -0.7, 0.12],
            [1.52, 0.31, 0.03, -0.82, 0.59, 0.89],
        ],
        "b_enc": [-0.13, -0.38, -1.58, 0.5, -0.09, 0.37],
        "states": [[0.33, 1.64, -1.25, -0.06], [1.19, 1.22, -0.85, -1.19], [1.11, 0.66, -0.04, 0.46]],
        "reconstructed": [
            [0.07188105583190918, 1.9763929843902588, -1.1469429731369019, -0.41560494899749756],
            [2.830554485321045, 1.1466162204742432, 0.6699992418289185, 2.192753314971924],
            [3.113281726837158, 2.6604549884796143, -0.8771399259567261, 2.2527480125427246],
        ],
        "activations": [
            [0.0, 0.0, 0.0, 0.0, 1.502802848815918, 1.7889418601989746],
            [0.0, 0.0, 0.0, 3.4996097087860107, 0.0, 2.0579898357391357],
            [0.0, 0.0, 0.0, 2.1833813190460205, 0.0, 4.306075096130371],
        ],
    },
    "jumprelu": {
        "cfg": {
            "d_in": 4,
            "d_sae": 6,
            "dtype": "float32",
            "device": "cpu",
            "apply_b_dec_to_input": True,
            "normalize_activations": "none",
            "reshape_activations": "none",
            "metadata": {"model_name": "gpt2", "hook_name": "blocks.1.hook_resid_post"},
            "architecture": "jumprelu",
        },
        "b_dec": [-0.79, 1.36, 0.09, -0.74],
        "W_dec": [
            [0.93, 0.62, 0.31, 0.23],
            [-2.21, -0.67, 0.39, 0.23],
            [0.43, 1.23, 0.87, 1.0],
            [0.09, 1.3, 0.37, 1.04],
            [0.7, 0.05, 0.62, -0.78],
            [-0.71, -0.25, -0.27, 0.36],
        ],
        "W_enc": [
            [0.4, 0.7, 0.31, 1.17, 0.38, -0.43],
            [-0.03, 0.53, 0.24, -0.55, -0.03, 1.47],
            [-0.44, 0.63, 0.55, 1.21, -0.51, -0.13],
            [0.39, -0.38, -1.51, 0.59, -0.07, -1.14],
        ],
        "threshold": [0.32, 0.78, 0.22, 0.42, 0.92, 0.52],
        "b_enc": [0.84, 1.56, -0.41, 0.37, 0.64, 2.21],
        "states": [[-0.18, 0.81, 0.54, 0.84], [-1.02, 1.76, 0.58, -0.05], [0.26, 0.64, -0.51, 0.37]],
        "activations": [
            [1.5186998844146729, 1.378600001335144, 0.0, 2.8628997802734375, 0.0, 0.0],
            [0.7894999980926514, 1.65749990940094, 0.0, 0.8809000253677368, 0.0, 2.046599864959717],
            [1.9784998893737793, 1.1135998964309692, 0.0, 1.923399806022644, 1.2888998985290527, 0.0],
        ],
        "reconstructed": [
            [-2.166654109954834, 5.099701404571533, 2.157723903656006, 2.903794527053833],
            [-5.092644691467285, 1.3724850416183472, 0.7545210123062134, 1.475721836090088],
            [-0.33571502566337585, 4.405422687530518, 2.6484146118164062, 0.9661768674850464],
        ],
    },
    "standard": {
        "cfg": {
            "d_in": 4,
            "d_sae": 6,
            "dtype": "float32",
            "device": "cpu",
            "apply_b_dec_to_input": True,
            "normalize_activations": "none",
            "reshape_activations": "none",
            "metadata": {"model_name": "gpt2", "hook_name": "blocks.1.hook_resid_post"},
            "architecture": "standard",
        },
        "b_dec": [-0.87, 0.61, -0.05, -0.5],
        "W_dec": [
            [-0.27, -1.24, -0.01, 0.98],
            [1.27, -1.31, 0.84, 0.09],
            [-0.82, -0.55, -0.03, -1.14],
            [0.19, -1.39, -0.44, -0.5],
            [-0.83, -1.12, 0.75, -0.33],
            [-0.73, 0.45, -0.62, 0.48],
        ],
        "W_enc": [
            [1.2, 0.43, 0.39, 0.5, 1.47, -0.76],
            [-0.65, 0.29, -0.39, -0.94, -0.55, -1.87],
            [0.08, -0.16, 2.5, 0.14, -0.27, 0.26],
            [0.43, 1.58, -0.17, -0.02, 0.21, 0.49],
        ],
        "b_enc": [-0.54, -0.62, 0.33, 0.27, -1.1, 0.88],
        "states": [[-0.43, -1.4, -1.27, -1.53], [-1.07, 1.11, 0.23, -0.59], [-0.8, 0.57, 0.14, -1.24]],
        "activations": [
            [0.7540000081062317, 0.0, 0.0, 2.2292001247406006, 0.7654000520706177, 3.4823999404907227],
            [0.0, 0.0, 0.7723000049591064, 0.0, 0.0, 0.1256999969482422],
            [0.0, 0.0, 0.9737000465393066, 0.3840000331401825, 0.0, 0.5884000062942505],
        ],
        "reconstructed": [
            [-3.8274660110473633, -2.7137160301208496, -2.6234259605407715, 0.5432898998260498],
            [-1.5950469970703125, 0.2417999804019928, -0.15110300481319427, -1.3200860023498535],
            [-2.025006055831909, -0.19451504945755005, -0.6129790544509888, -1.5195860862731934],
        ],
    },
}
"""What SAELens 6.54 wrote, and what it computed: settings, weights, states, activations, reconstructions."""

ARRAYS = ("W_enc", "W_dec", "b_enc", "b_dec", "threshold")


def saelens_folder(folder, written, **changed):
    folder.mkdir(exist_ok=True)
    (folder / "cfg.json").write_text(json.dumps(written["cfg"] | changed), encoding="utf-8")
    save_file(
        {name: torch.tensor(written[name]) for name in ARRAYS if name in written},
        folder / "sae_weights.safetensors",
    )
    return folder


def small(kind="topk", written="", skip=None):
    drawn = np.random.default_rng(1)

    def some(*shape):
        return drawn.standard_normal(shape).astype(np.float32)

    return lmviz.Dictionary(
        kind=kind,
        tap="layers/0/norm2" if written else "layers/0/residual2",
        written=written,
        encoder=some(6, 4),
        encoder_bias=some(6),
        decoder=some(6, 4),
        decoder_bias=some(4),
        k=2 if kind == "topk" else None,
        threshold=np.abs(some(6)) if kind in ("jumprelu", "batchtopk") else None,
        skip=skip,
    )


@pytest.mark.parametrize("kind", ENCODED)
def test_a_folder_of_saelens_gives_its_activations(kind, tmp_path):
    stored = ENCODED[kind]
    found = lmviz.open_features(saelens_folder(tmp_path / "sae", stored))
    assert (found.tap, found.size, found.width, found.model) == ("blocks.1.hook_resid_post", 6, 4, "gpt2")
    np.testing.assert_allclose(found.encode(stored["states"]), stored["activations"], atol=1e-5)
    np.testing.assert_allclose(found.reconstruct(stored["states"]), stored["reconstructed"], atol=1e-5)


@pytest.mark.parametrize(
    ("form", "kind", "written"),
    [
        ("saelens", "topk", ""),
        ("saelens", "relu", ""),
        ("saelens", "batchtopk", ""),
        ("saelens", "jumprelu", "layers/0/feedforward/output"),
        ("gemma-scope", "jumprelu", ""),
        ("circuit-tracer", "topk", "layers/0/feedforward/output"),
        ("circuit-tracer", "relu", "layers/0/feedforward/output"),
        ("circuit-tracer", "jumprelu", "layers/0/feedforward/output"),
    ],
)
def test_what_is_written_for_other_programs_is_read_as_it_was(form, kind, written, tmp_path):
    skip = np.eye(4, dtype=np.float32) if form != "gemma-scope" and written else None
    own = small(kind, written, skip)
    name = {"saelens": "sae", "gemma-scope": "params.npz"}.get(form, "layer_0.safetensors")
    found = lmviz.open_features(lmviz.save_features(own, tmp_path / name, form))
    states = np.random.default_rng(2).standard_normal((50, 4))
    np.testing.assert_allclose(found.encode(states), own.encode(states), atol=1e-6)
    np.testing.assert_allclose(found.reconstruct(states), own.reconstruct(states), atol=1e-6)
    if form == "circuit-tracer":
        assert (found.tap, found.written) == (own.tap, own.written)


def test_circuit_tracers_names_say_where_a_transcoder_reads(tmp_path):
    own = small("relu", "layers/0/feedforward/output")
    path = lmviz.save_features(own, tmp_path / "layer_3.safetensors", "circuit-tracer")
    config = 'model_name: "x"\nfeature_input_hook: hook_resid_mid\nfeature_output_hook: "hook_mlp_out"\n'
    (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
    found = lmviz.open_features(path)
    assert (found.tap, found.written) == ("blocks.3.hook_resid_mid", "blocks.3.hook_mlp_out")
    assert load_file(path)["W_enc"].shape == (6, 4)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"architecture": "gated"}, "architecture 'gated'"),
        ({"architecture": ["topk"]}, "architecture"),
        ({"normalize_activations": "layer_norm"}, "normalize_activations is 'layer_norm'"),
        ({"k": 0}, "k is 0"),
        ({"k": "many"}, "k is 'many'"),
    ],
)
def test_what_lmviz_does_not_do_is_refused(changed, said, tmp_path):
    folder = saelens_folder(tmp_path / "sae", ENCODED["topk"], **changed)
    with pytest.raises(LmvizError, match=said):
        lmviz.open_features(folder)


@pytest.mark.parametrize("name", ["sae_weights.safetensors", "params.npz", "layer_0.safetensors", "cfg.json"])
@settings(max_examples=40)
@given(data=st.data())
def test_any_bytes_give_features_or_one_sentence(name, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    if name in ("sae_weights.safetensors", "cfg.json"):
        path, changed = saelens_folder(folder / "sae", ENCODED["topk"]), folder / "sae" / name
    elif name == "params.npz":
        path = changed = lmviz.save_features(small("jumprelu"), folder / name, "gemma-scope")
    else:
        own = small("topk", "layers/0/feedforward/output")
        path = changed = lmviz.save_features(own, folder / name, "circuit-tracer")
    whole = bytearray(changed.read_bytes())
    if data.draw(st.booleans()):
        for _ in range(data.draw(st.integers(1, 4))):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    else:
        whole = whole[: data.draw(st.integers(0, len(whole)))] + data.draw(st.binary(max_size=8))
    changed.write_bytes(bytes(whole))
    said = ""
    try:
        assert np.isfinite(lmviz.open_features(path).encoder).all()
    except LmvizError as refusal:
        said = str(refusal)
    assert "for a reason that lmviz did not expect" not in said
    assert "\n" not in said


def test_an_array_that_would_run_something_is_refused(tmp_path):
    np.savez(tmp_path / "params.npz", W_enc=np.array([{"a": 1}], dtype=object))
    with pytest.raises(LmvizError, match="holds no features of Gemma Scope"):
        lmviz.open_features(tmp_path / "params.npz")


def test_a_wrong_dictionary_is_refused_by_the_loss(tmp_path):
    model = lmviz.open_model("stories-window")
    texts = [
        "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the barrel.",
        "Tobin had a green doll. He laid it in the box. At home he opened the box.",
        "Wilma had a grey knife. She put it in the trunk next to the piano.",
    ]
    width = lmviz.trace(model, texts[0])["hidden"].array.shape[1]
    both = np.concatenate([np.eye(width), -np.eye(width)]).astype(np.float32)
    right = replace(
        small("relu"),
        tap="hidden",
        encoder=both,
        encoder_bias=np.zeros(2 * width, np.float32),
        decoder=both,
        decoder_bias=np.zeros(width, np.float32),
    )
    path = lmviz.save_features(right, tmp_path / "right", "saelens")
    assert lmviz.open_features(path, model, texts, tap="hidden").worth.recovered == pytest.approx(1, abs=1e-3)
    turned = replace(right, decoder=np.roll(both, 7, axis=1))
    wrong = lmviz.save_features(turned, tmp_path / "wrong", "saelens")
    said = r"do not belong to hidden of .*: on \d passages? the loss with them is"
    with pytest.raises(LmvizError, match=said):
        lmviz.open_features(wrong, model, texts, tap="hidden")
    with pytest.raises(LmvizError, match="channels"):
        lmviz.open_features(wrong, model, tap="embedding")
