"""Gradient × embedding beside erasing, of each sequence, and the sentence that says how well they agree."""

import numpy as np
import pytest

from lmviz.families import build_model, find_family
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.interventions import zero
from lmviz.inspection.saliency import (
    Saliency,
    agreement_sentence,
    correlation,
    farthest_off,
    saliencies,
)
from lmviz.models.given_source import GivenSource
from lmviz.models.prediction import NEXT_TOKEN

TEXT, SOURCE = np.array([0, 3, 5, 2]), np.array([4, 0, 2, 1])


def item(predicted, measured, tokens=("the", "hens", "eat")):
    return Saliency("text", "embedding", tokens, np.array(predicted, float), np.array(measured, float))


@pytest.mark.parametrize("family", ["rnn", "gru", "transformer"])
def test_words_of_a_source_are_erased_as_those_of_the_text_are(family):
    settings = {"layers": 1, "width": 4} | ({"heads": 2, "context": 8} if family == "transformer" else {})
    configuration = find_family(family).configuration.from_values(settings)
    model = build_model(family, configuration, 6, 0, NEXT_TOKEN, 5).eval().requires_grad_(False)
    found = gradient(model, TEXT, ("logits", (3, 1)), source=SOURCE)
    of_text, of_source = saliencies(model, found)
    assert (of_text.sequence, of_source.sequence) == ("text", "source")
    for one in (of_text, of_source):
        axis = "position" if one.sequence == "text" else "source"
        for place in range(4):
            change = zero(one.address, **{axis: place})
            without = gradient(model, TEXT, ("logits", (3, 1)), interventions=[change], source=SOURCE)
            assert one.measured[place] == pytest.approx(without.value - found.value, abs=1e-5)
        assert np.abs(one.measured).max() > 1e-3
        values, slopes = found.trace[one.address].array, found[one.address].array
        np.testing.assert_allclose(one.predicted, -(values * slopes).sum(axis=1), rtol=1e-5)


def test_a_translator_with_its_source_settled_is_differentiated_as_with_the_source_given():
    configuration = find_family("gru").configuration.from_values({"layers": 1, "width": 4})
    model = build_model("gru", configuration, 6, 0, NEXT_TOKEN, 5).eval().requires_grad_(False)
    expected = gradient(model, TEXT, "loss", source=SOURCE)
    found = gradient(GivenSource(model, SOURCE), TEXT, "loss")
    assert found.value == expected.value
    assert found.trace.beside["source"].tolist() == SOURCE.tolist()
    for address, array in expected.arrays.items():
        np.testing.assert_array_equal(found[address].array, array.array)


def test_what_was_predicted_exactly_agrees_well():
    found = [item([1, -2, 0.5], [2, -4, 1])]
    assert correlation(found) == pytest.approx(1)
    assert agreement_sentence(found) == (
        "The gradient predicts well what erasing each word does: the correlation is 1.00."
    )


def test_the_word_that_is_farthest_off_is_named_with_both_numbers():
    found = [item([1, -2, 0.5], [0.9, 3, 0.4])]
    assert farthest_off(found) == (found[0], 1)
    assert agreement_sentence(found) == (
        "The gradient does not predict what erasing each word does, with a correlation of −0.94: without "
        "“hens” the number changes by +3.00, and not by −2.00."
    )
    rough = [item([1, -2, 0.5], [0.2, -2, 1.9])]
    assert agreement_sentence(rough).startswith("The gradient predicts roughly what erasing each word does")


def test_the_correlation_is_over_the_words_of_both_sequences():
    text, source = item([1, 2, 3], [1, 2, 3]), item([1, 2, 3], [-1, -2, -3], ("les", "poules", "mangent"))
    assert correlation([text]) == pytest.approx(1)
    both = np.corrcoef([1, 2, 3, 1, 2, 3], [1, 2, 3, -1, -2, -3])[0, 1]
    assert correlation([text, source]) == pytest.approx(both)
    assert farthest_off([text, source]) == (source, 2)
    assert "“mangent”" in agreement_sentence([text, source])


@pytest.mark.parametrize("one", [item([0], [1], ("the",)), item([0, 0, 0], [1, 2, 3])])
def test_where_nothing_varies_there_is_no_correlation(one):
    assert np.isnan(correlation([one]))
    assert agreement_sentence([one]).startswith("No two words differ")
