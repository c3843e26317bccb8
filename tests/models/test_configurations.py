"""Configurations of the neural families: limits, help, and estimates that tell the truth."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError, SettingError
from lmviz.families import FAMILIES, build_model, obstacle_to
from lmviz.models.estimate import Asked
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.recurrent_configuration import LSTMConfiguration, RNNConfiguration
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.tasks import TASKS

NEURAL = ("window", "rnn", "lstm", "gru", "transformer")
VARIATIONS = [
    ("window", {}),
    ("window", {"direct": True, "embedding": 20, "window": 3}),
    *(
        (family, options)
        for family in ("rnn", "lstm", "gru")
        for options in ({}, {"tied": True, "layers": 3})
    ),
    ("gru", {"embedding": 20}),
    ("transformer", {}),
    ("transformer", {"norm": "post", "tied": False, "positions": "rotary", "feedforward": 20}),
    (
        "transformer",
        {"norm_kind": "rms", "gated": True, "key_value_heads": 2, "attention_bias": "query key value"},
    ),
    ("transformer", {"attention_bias": "none", "feedforward_bias": False, "head_channels": 20}),
    ("transformer", {"norm_bias": False, "parallel": True}),
    ("transformer", {"attention_alone": True, "feedforward": 20, "gated": True, "norm": "both"}),
    ("transformer", {"attention_alone": True, "attention_bias": "none", "norm": "post"}),
    ("transformer", {"norm": "none", "residual": False, "positions": "relative"}),
    ("transformer", {"positions": "relative", "causal": False, "context": 9}),
    ("transformer", {"norm": "both", "query_key_norm": "all", "key_value_heads": 2, "norm_kind": "rms"}),
    ("transformer", {"norm": "result", "query_key_norm": "heads", "output_bias": True, "tied": False}),
    ("transformer", {"parallel": True, "parallel_norm": "shared", "query_key_norm": "head"}),
    ("transformer", {"norm_gain": "none", "embedding_norm": True, "attention_bias": "output"}),
    ("transformer", {"embedding_width": 20, "tied": False}),
    ("transformer", {"position_offset": 2, "embedding_norm": True, "norm_bias": False}),
]


@pytest.mark.parametrize(("family", "options"), VARIATIONS)
def test_estimates_count_the_parameters_there_are(family, options):
    configuration = FAMILIES[family].configuration(**options)
    with torch.device("meta"):
        model = build_model(family, configuration, 50, seed=0)
    assert configuration.estimate(50, batch=2, length=3).parameters == model.parameter_count()


def test_a_transformer_of_labels_begins_without_the_causal_mask():
    begin = TransformerConfiguration.beginning_for
    assert {task: begin(task).causal for task in TASKS} == {
        "next-token": True,
        "tagging": False,
        "classification": False,
        "translation": True,
        "captioning": True,
    }
    assert begin("tagging", {"causal": "true", "width": 8}).causal  # what is said is kept
    assert TransformerConfiguration.from_values({}).causal  # and so are runs that say nothing
    assert RNNConfiguration.beginning_for("tagging") == RNNConfiguration()


def test_what_was_not_chosen_moves_with_the_task():
    chosen = TransformerConfiguration(width=96)
    tagger = chosen.moved("next-token", "tagging")
    assert (tagger.causal, tagger.width) == (False, 96)
    assert tagger.moved("tagging", "classification") == tagger
    assert tagger.moved("tagging", "next-token") == chosen
    masked = TransformerConfiguration(causal=True)
    assert masked.moved("tagging", "classification").causal  # a person has chosen it
    windowed = TransformerConfiguration(attention_window=8)  # which needs the mask
    assert windowed.moved("next-token", "tagging") == windowed


LABELLED = [
    ("window", {"direct": True}, "tagging"),
    ("rnn", {"tied": True, "direction": "backward"}, "tagging"),
    ("gru", {"direction": "both", "layers": 2, "embedding": 5}, "tagging"),
    ("lstm", {"direction": "both", "pooling": "attention"}, "classification"),
    ("lstm", {"pooling": "mean"}, "classification"),
    ("transformer", {"tied": True, "causal": False}, "tagging"),
    ("transformer", {"pooling": "attention", "positions": "relative"}, "classification"),
]


@pytest.mark.parametrize(("family", "options", "task"), LABELLED)
def test_estimates_count_the_parameters_of_models_of_labels(family, options, task):
    configuration = FAMILIES[family].configuration(**options)
    predicts = TASKS[task].predicts(("a", "b", "c"))
    with torch.device("meta"):
        model = build_model(family, configuration, 50, seed=0, predicts=predicts)
    asked = Asked(labels=3, per_text=task == "classification")
    assert configuration.estimate(50, 2, 3, asked).parameters == model.parameter_count()


TRANSLATING = [
    ("rnn", {"attention": "none"}),
    ("gru", {"attention": "dot", "layers": 2}),
    ("gru", {"direction": "backward", "tied": True}),
    ("lstm", {"attention": "bilinear", "direction": "both", "layers": 3, "embedding": 5}),
    ("transformer", {}),
    ("transformer", {"norm": "post", "positions": "sinusoidal", "tied": False, "heads": 2}),
    ("transformer", {"attention_bias": "none", "norm_kind": "rms", "gated": True, "key_value_heads": 1}),
    ("transformer", {"attention_bias": "query key value", "head_channels": 20, "feedforward_bias": False}),
]


@pytest.mark.parametrize(("family", "options"), TRANSLATING)
def test_estimates_count_the_parameters_of_translators(family, options):
    configuration = FAMILIES[family].configuration(**options)
    with torch.device("meta"):
        model = build_model(family, configuration, 50, seed=0, source_vocabulary=70)
    asked = Asked(source_vocabulary=70)
    estimate = configuration.estimate(50, batch=2, length=3, asked=asked)
    assert estimate.parameters == model.parameter_count()
    assert estimate.operations_per_step > configuration.estimate(50, batch=2, length=3).operations_per_step


@pytest.mark.parametrize("family", NEURAL)
def test_estimates_grow_with_the_batch(family):
    configuration = FAMILIES[family].configuration()
    small, large = (configuration.estimate(1000, batch=batch, length=32) for batch in (1, 8))
    assert large.operations_per_step == 8 * small.operations_per_step
    assert small.bytes < large.bytes < 8 * small.bytes
    assert small.bytes > 16 * small.parameters


def test_work_of_a_known_network():
    configuration = LSTMConfiguration(width=10)
    matrices = 4 * 10 * (10 + 10) + 7 * 10
    estimate = configuration.estimate(7, batch=2, length=3)
    assert estimate.operations_per_step == 6 * matrices * 2 * 3  # ×2 to add as well, ×3 to go back as well


def test_memory_grows_by_what_each_token_leaves_for_the_way_back():
    """Embedding, the two steps of either layer, logits and probabilities, of four bytes each."""
    configuration = RNNConfiguration(width=10, layers=2, embedding=5)
    small, large = (configuration.estimate(7, batch, length=3) for batch in (1, 2))
    assert large.bytes - small.bytes == 4 * 3 * (5 + 2 * 2 * 10 + 2 * 7)


def test_every_layer_of_a_transformer_leaves_as_much_for_the_way_back():
    """At least its hidden units, and of each token its query, key, value and what it gives."""
    left = []
    for layers in (1, 2, 3):
        configuration = FAMILIES["transformer"].configuration(layers=layers, width=8, heads=2, feedforward=20)
        small, large = (configuration.estimate(7, batch, length=4).bytes for batch in (1, 2))
        left.append(large - small)
    assert left[2] - left[1] == left[1] - left[0] >= 4 * 4 * (20 + 4 * 8)


def test_the_k_of_add_k_is_no_setting_of_other_smoothings():
    assert "added" in NgramConfiguration(smoothing="add-k").used()
    for smoothing in ("kneser-ney", "maximum-likelihood"):
        names = NgramConfiguration.names()
        assert NgramConfiguration(smoothing=smoothing).used() == names - {"added"}


@pytest.mark.parametrize(
    ("scaling", "own"),
    [
        ("none", set()),
        ("linear", {"factor"}),
        ("llama3", {"factor", "slow", "fast", "original"}),
        ("yarn", {"factor", "slow", "fast", "original", "whole"}),
        ("dynamic", {"factor", "original"}),
        ("longrope", {"divisors", "long_divisors"}),
    ],
)
def test_each_way_to_scale_rotary_angles_has_settings_of_its_own(scaling, own):
    kind = FAMILIES["transformer"].configuration
    divisors = "1 1.5 2 2.5 " * 4
    used = kind(positions="rotary", rotary_scaling=scaling, rotary_divisors=divisors).used()
    found = {name.removeprefix("rotary_") for name in used if name.startswith("rotary_")}
    assert found == own | {"base", "channels", "scaling", "pairs", "layers", "magnitude"}
    longer = kind(
        positions="rotary", rotary_scaling=scaling, rotary_divisors=divisors, rotary_long_divisors=divisors
    )
    assert ("rotary_original" in longer.used()) == (scaling == "longrope" or "original" in own)
    learned = kind(positions="learned", rotary_scaling=scaling).used()
    assert not [name for name in learned if name.startswith("rotary_")]


@pytest.mark.parametrize("scaling", ["none", "linear", "llama3", "yarn", "dynamic", "longrope"])
def test_where_a_window_has_a_base_of_its_own_nothing_is_scaled(scaling):
    divisors = {"rotary_divisors": "1 1.5 2 2.5 " * 4, "rotary_long_divisors": "3 3.5 4 4.5 " * 4}
    settings = FAMILIES["transformer"].configuration(
        positions="rotary",
        rotary_scaling=scaling,
        rotary_factor=4.0,
        rotary_original=8,
        rotary_window_base=100.0,
        attention_window=4,
        **(divisors if scaling == "longrope" else {}),
    )
    turned = settings.rotary_of(0)
    plain = 100.0 ** (-np.arange(0, turned.channels, 2) / turned.channels)
    for positions in (4, 16):
        assert turned.in_text(positions).frequencies == pytest.approx(plain)
    assert turned.magnitude == 1.0


def test_an_ngram_model_has_at_most_one_ngram_of_every_order_for_each_token():
    estimate = FAMILIES["ngram"].configuration(order=3).estimate(10, batch=2, length=60)
    assert estimate.parameters == 10 + 100 + 120  # there are no more than 100 bigrams of 10 tokens
    assert estimate.bytes == 40 * estimate.parameters


@pytest.mark.parametrize("family", NEURAL)
def test_every_setting_has_its_limits_and_says_what_it_does(family):
    for item in FAMILIES[family].configuration.settings():
        assert len(item.help) > 25
        assert item.help.endswith(".")
        assert item.kind in (bool, str) or (item.minimum is not None and item.maximum is not None)
        assert item.kind is not str or item.choices or item.name.endswith(("_layers", "_divisors"))


@pytest.mark.parametrize(
    ("configuration", "settings", "sentence"),
    [
        (
            TransformerConfiguration,
            {"width": 100, "heads": 3},
            "width of 100 cannot be shared by 3 .*99",
        ),
        (TransformerConfiguration, {"width": 12, "heads": 4, "positions": "rotary"}, "even number"),
        (
            TransformerConfiguration,
            {"positions": "rotary", "rotary_channels": 40},
            "32 channels, of which 40 cannot be turned",
        ),
        (TransformerConfiguration, {"key_value_heads": 3}, "4 heads cannot share 3"),
        (TransformerConfiguration, {"parallel": True, "norm": "post"}, "choose pre-norm"),
        (TransformerConfiguration, {"parallel": True, "attention_alone": True}, "has nothing beside it"),
        (
            TransformerConfiguration,
            {"positions": "rotary", "rotary_scaling": "llama3", "rotary_fast": 1.0},
            "choose a larger rotary_fast",
        ),
        (
            TransformerConfiguration,
            {"attention_window": 4, "causal": False},
            "without a causal mask there is none",
        ),
        (
            TransformerConfiguration,
            {"attention_window": 4, "window_layers": "1x"},
            "'1x' does not say which layers",
        ),
        (
            TransformerConfiguration,
            {"positions": "rotary", "rotary_scaling": "longrope", "rotary_divisors": "1 two"},
            "'1 two' is not what 16 pairs of channels are divided by",
        ),
        (
            TransformerConfiguration,
            {"positions": "rotary", "rotary_scaling": "longrope"}
            | {"rotary_divisors": "1 " * 16, "rotary_long_divisors": "1 2"},
            "'1 2' is not what 16 pairs of channels are divided by",
        ),
        (TransformerConfiguration, {"rotary_layers": ""}, "write a 1 or a 0 for each"),
        (TransformerConfiguration, {"logit_cap": 30, "logit_factor": 2}, "either multiplied or capped"),
        (LSTMConfiguration, {"tied": True, "embedding": 5}, "tied output needs an embedding as wide"),
        (LSTMConfiguration, {"layers": 0}, "Layers must be at least 1, and not 0"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(configuration, settings, sentence):
    with pytest.raises(LmvizError, match=sentence):
        configuration(**settings)


def test_a_head_that_cannot_be_turned_in_pairs_names_the_settings_that_mend_it():
    with pytest.raises(SettingError) as refused:
        TransformerConfiguration(width=12, heads=4, positions="rotary")
    assert refused.value.settings == ("width", "heads", "positions")


def test_configurations_do_not_load_torch():
    names = ("recurrent", "transformer", "window")
    script = "; ".join(f"import lmviz.models.{name}_configuration" for name in names)
    script += "; import sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("family", ["rnn", "lstm", "gru", "transformer"])
@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ("next-token", Asked()),
        ("tagging", Asked(labels=3)),
        ("classification", Asked(labels=3, per_text=True)),
        ("translation", Asked(source_vocabulary=30)),
        ("captioning", Asked(pixels=49)),
    ],
)
def test_a_tied_output_is_offered_where_it_makes_a_difference(family: str, task: str, asked: Asked) -> None:
    if obstacle_to(family, task):
        pytest.skip("the family cannot do this")
    tied, untied = (FAMILIES[family].configuration(tied=value) for value in (True, False))
    sizes = {each.estimate(30, 2, 5, asked).parameters for each in (tied, untied)}
    assert ("tied" in untied.used_for(task)) == (len(sizes) > 1)
