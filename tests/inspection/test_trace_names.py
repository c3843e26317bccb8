"""What stands along the axes of a trace, whatever its model predicts."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import answer_at, likeliest_answers, matrix, strip
from lmviz.tasks import TASKS

LABELS = ("noun", "verb")


def labelling(a, task, **settings):
    """A recurrent model of labels with the tokenizer of the language models here."""
    tokenizer = a("lstm").tokenizer
    configuration = FAMILIES["gru"].configuration(width=4, **settings)
    model = build_model("gru", configuration, tokenizer.vocabulary_size, 0, TASKS[task].predicts(LABELS))
    model.tokenizer = tokenizer
    return model.eval().requires_grad_(False)


@pytest.fixture
def tagger(a):
    return labelling(a, "tagging", direction="both")


@pytest.fixture
def classifier(a):
    return labelling(a, "classification", direction="both", pooling="attention")


def test_a_language_models_axes_have_the_prefix_and_the_vocabulary(a, text):
    model = a("lstm")
    found = trace(model, text)
    assert found.names("position") == found.names("query") == found.tokens
    assert found.names("token") == model.tokenizer.tokens()
    assert found.names("unit") == found.names("label") == ()


def test_a_taggers_answers_are_labels(tagger, text):
    found = trace(tagger, text)
    assert found["probabilities"].axes == ("position", "label")
    assert found.names("label") == LABELS
    best = likeliest_answers(found, 1)
    assert found["probabilities"].array[1, best[0]] == found["probabilities"].array[1].max()
    assert matrix(found, "probabilities", 0, 1, ()).values.shape == (2, len(found))


def test_a_classifier_answers_once_for_the_text(classifier, text):
    found = trace(classifier, text)
    assert found["probabilities"].axes == ("label",)
    np.testing.assert_array_equal(answer_at(found, 0), answer_at(found, 3))
    assert strip(found, "probabilities", 2, 0, ()).values.shape == (1, 2)
    assert strip(found, "pooling/weights", 2, 0, ()).values.shape == (1, 1)
    assert matrix(found, "pooling/weights", 0, 2, ()).values.shape == (1, len(found))
    assert found["pooling/weights"].array.sum() == pytest.approx(1)


def test_what_is_predicted_survives_a_file(tagger, text, tmp_path):
    found = trace(tagger, text)
    found.save(tmp_path / "tags.npz")
    assert Trace.load(tmp_path / "tags.npz").predicts == tagger.predicts


def test_the_lens_shows_labels_of_states_and_none_of_a_pooled_text(tagger, classifier, text):
    found = trace(tagger, text)
    lens = logit_lens(tagger, found)
    assert lens.places == ("layers/0/joined",)
    np.testing.assert_allclose(lens.probabilities[-1, 2].sum(), 1, atol=1e-6)
    with pytest.raises(LmvizError, match="one answer for the whole text"):
        logit_lens(classifier, trace(classifier, text))


def test_nothing_is_continued_where_later_words_are_read(tagger, text):
    whole = trace(tagger, text)
    longer = trace(tagger, np.append(whole.ids, whole.ids[-1]), earlier=whole)
    expected = trace(tagger, longer.ids)
    np.testing.assert_array_equal(longer["probabilities"].array, expected["probabilities"].array)
    again = trace(tagger, text, earlier=whole)
    assert np.shares_memory(again["probabilities"].array, whole["probabilities"].array)


def test_a_function_may_change_a_direction_and_is_stated_in_the_order_of_the_text(tagger, text):
    from lmviz.inspection.intervention import Intervention

    double = Intervention("layers/0/backward/hidden", "replace", lambda values: values * 2)
    found = trace(tagger, text, interventions=[double])
    again = trace(tagger, text, interventions=found.interventions)
    np.testing.assert_array_equal(found["probabilities"].array, again["probabilities"].array)
    assert np.shape(found.interventions[0].value) == found["layers/0/backward/hidden"].array.shape


@pytest.mark.parametrize("ask", ["next_token", "sample"])
def test_a_model_of_labels_continues_no_text(tagger, text, ask):
    import lmviz

    with pytest.raises(LmvizError, match="one of 2 labels for each token and continues no text"):
        list(getattr(lmviz, ask)(tagger, text))


def test_the_two_directions_agree_with_the_fused_path_on_the_same_words(tagger, text):
    found = trace(tagger, text)
    with torch.no_grad():
        logits = tagger(torch.from_numpy(found.ids.copy())[None])[0]
    np.testing.assert_allclose(found["logits"].array, logits, atol=1e-6)
