"""Learning a dictionary of a small model's states: what it is, what it is worth, and going on with it."""

from __future__ import annotations

import numpy as np
import pytest

import lmviz
from lmviz.features.folder import FeatureFolder

SETTINGS = {"size": 12, "k": 3, "tokens": 60 * 32, "batch": 32, "dead_after": 100, "seed": 3}


@pytest.fixture(scope="module")
def trained(small_text, tmp_path_factory):
    corpus = lmviz.load_corpus(small_text)
    folder = tmp_path_factory.mktemp("features") / "run"
    sizes = {"width": 8, "heads": 2, "layers": 2, "context": 16, "length": 8, "steps": 2, "seed": 0}
    run = lmviz.train("transformer", corpus, folder, **sizes)
    return lmviz.open_model(run.folder), corpus


@pytest.mark.parametrize("kind", ["topk", "batchtopk", "jumprelu"])
def test_what_is_found_reads_and_writes_states_as_its_arrays_say(trained, kind):
    model, corpus = trained
    found = lmviz.find_features(model, corpus, "layers/0/residual2", kind=kind, **SETTINGS)
    states = lmviz.trace(model, "The cow eats corn and the bat")["layers/0/residual2"].array
    scores = states.astype(np.float64) @ found.encoder.T + found.encoder_bias
    if kind == "topk":
        border = np.sort(scores, axis=1)[:, -3][:, None]
        on = np.where(scores >= border, np.maximum(scores, 0), 0)
    else:
        on = np.where(scores > found.threshold, np.maximum(scores, 0), 0)
    np.testing.assert_allclose(found.encode(states), on, atol=1e-5)
    np.testing.assert_allclose(found.reconstruct(states), on @ found.decoder + found.decoder_bias, atol=1e-5)
    assert found.decoder.shape == (12, 8)
    np.testing.assert_allclose(np.linalg.norm(found.decoder, axis=1), 1, atol=1e-5)


def test_a_training_that_was_stopped_goes_on_bit_for_bit(trained, tmp_path):
    model, corpus = trained

    class Stopped(Exception):
        pass

    def stop(progress):
        if progress.step == 37:
            raise Stopped

    whole = lmviz.find_features(model, corpus, out=tmp_path / "whole", **SETTINGS)
    with pytest.raises(Stopped):
        lmviz.find_features(model, corpus, out=tmp_path / "stopped", progress=stop, **SETTINGS)
    assert FeatureFolder(tmp_path / "stopped").can_go_on
    resumed = lmviz.find_features(model, corpus, out=tmp_path / "stopped", resume=True, **SETTINGS)
    for name in ("encoder", "encoder_bias", "decoder", "decoder_bias", "rates"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    assert resumed.worth == whole.worth
    folders = FeatureFolder(tmp_path / "whole"), FeatureFolder(tmp_path / "stopped")
    assert folders[0].history() == folders[1].history()
    assert folders[0].snapshots() == folders[1].snapshots() == list(range(6, 61, 6))


def test_the_loss_with_all_states_in_place_is_the_models_own(trained):
    from dataclasses import replace

    from lmviz.features.judging import judged
    from lmviz.features.texts import read_feature_texts

    model, corpus = trained
    found = lmviz.find_features(model, corpus, "layers/0/residual2", **SETTINGS)
    both = np.concatenate([np.eye(8), -np.eye(8)]).astype(np.float32)
    perfect = replace(
        found,
        kind="relu",
        k=None,
        encoder=both,
        encoder_bias=np.zeros(16, np.float32),
        decoder=both,
        decoder_bias=np.zeros(8, np.float32),
        rates=None,
    )
    rows = read_feature_texts(model, corpus, tokens=500).held_out
    worth = judged(model, perfect, rows).worth
    assert worth.variance_explained == pytest.approx(1, abs=1e-9)
    assert worth.loss_reconstructed == pytest.approx(worth.loss, abs=1e-6)
    assert worth.recovered == pytest.approx(1, abs=1e-4)
    assert worth.loss_mean != pytest.approx(worth.loss, abs=1e-4)


def test_a_saved_dictionary_is_opened_as_it_was(trained, tmp_path):
    model, corpus = trained
    found = lmviz.find_features(model, corpus, **SETTINGS)
    opened = lmviz.open_features(found.save(tmp_path / "made.safetensors"))
    assert vars(opened).keys() >= vars(found).keys() - {"directions"}
    for name, value in vars(found).items():
        np.testing.assert_array_equal(getattr(opened, name), value)


def test_a_transcoder_reads_what_the_feedforward_network_reads(trained):
    model, corpus = trained
    found = lmviz.find_features(model, corpus, "layers/1/feedforward/output", transcoder=True, **SETTINGS)
    assert (found.tap, found.target) == ("layers/1/norm2", "layers/1/feedforward/output")
    assert found.is_transcoder


@pytest.mark.parametrize(
    ("tap", "said"),
    [
        ("layers/9/residual2", "No tap is called"),
        ("layers/0/attention/weights", "a row of channels or units"),
    ],
)
def test_a_tap_without_states_is_refused(trained, tap, said):
    model, corpus = trained
    with pytest.raises(lmviz.LmvizError, match=said):
        lmviz.find_features(model, corpus, tap, **SETTINGS)


def test_what_does_not_fit_in_memory_is_refused_before_anything_is_written(trained, tmp_path, monkeypatch):
    model, corpus = trained
    monkeypatch.setattr("lmviz.features.memory_taken.machine_memory", lambda: 2**20)
    for asked in (
        lambda: lmviz.find_features(model, corpus, out=tmp_path / "made", **SETTINGS),
        lambda: lmviz.features_plan(model, corpus, **SETTINGS),
    ):
        with pytest.raises(lmviz.LmvizError, match="GB of memory, and the machine has"):
            asked()
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["reviews", "ambiguous"])
def test_labelled_text_is_read_in_the_models_own_tokens(trained, name):
    from lmviz.features.texts import read_feature_texts

    model, _ = trained
    corpus = lmviz.load_corpus(name)
    assert corpus.tokenizer.vocabulary_size != model.tokenizer.vocabulary_size
    found = read_feature_texts(model, corpus, tokens=500, length=8)
    for rows, texts in (
        (found.learned, corpus.training_documents),
        (found.held_out, corpus.validation_documents),
    ):
        read = {tuple(model.tokenizer.encode(text).tolist()[:8]) for text in texts}
        assert {tuple(row.ids.tolist()) for row in rows} <= read
    assert lmviz.find_features(model, corpus, **SETTINGS).width == 8


def test_pairs_are_read_in_the_models_own_tokens():
    from lmviz.features.texts import read_feature_texts

    model = lmviz.open_model(lmviz.api.training.find_run("twin-gru-short"))
    corpus = lmviz.load_corpus("twin", tokenizer="characters")
    own, written = model.tokenizer_of("source"), model.tokenizer
    found = read_feature_texts(model, corpus, tokens=500)
    sources, targets = corpus.training_documents, corpus.training_examples.texts
    wanted = {
        (
            *own.encode(source).tolist(),
            own.end_id,
            written.start_id,
            *written.encode(target).tolist(),
            written.end_id,
        )
        for source, target in zip(sources, targets, strict=True)
    }
    assert {(*row.source.tolist(), *row.ids.tolist()) for row in found.learned} <= wanted
