"""What a model and a trained one say to the same beginnings: against single questions to each."""

import numpy as np
import pytest
import torch

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.differences.before_after import FACTS, knows_words_of, telling_beginnings

PROMPTS = ["The cow", "The bat eats", "The"]


@pytest.fixture(scope="module")
def two(small_text, tmp_path_factory):
    """The last step of a small Transformer, and its first."""
    out = tmp_path_factory.mktemp("before") / "run"
    options = {"width": 8, "heads": 2, "layers": 2, "context": 16, "length": 8, "steps": 6, "seed": 0}
    run = lmviz.train("transformer", lmviz.load_corpus(small_text), out, **options)
    return lmviz.open_model(run.folder), lmviz.open_model(run.folder, 0)


def test_shares_are_those_of_each_model_alone(two):
    found = lmviz.before_and_after(*two, PROMPTS)
    for place, prompt in enumerate(PROMPTS):
        one, other = (lmviz.next_token(model, prompt) for model in two)
        best = int(np.argmax(one.probabilities))
        assert found.words[place] == two[0].tokenizer.token(best)
        assert found.before[place] == pytest.approx(one.probabilities[best], abs=1e-6)
        assert found.after[place] == pytest.approx(other.probabilities[best], abs=1e-6)
        assert found.expected[1][place] == two[1].tokenizer.token(int(np.argmax(other.probabilities)))
    assert np.allclose(found.change, found.after - found.before)
    assert found.texts == ()


def test_both_go_on_with_a_text_by_the_same_draws(two):
    options = {"temperature": 0.8, "top_p": 0.95, "seed": 0}
    found = lmviz.before_and_after(*two, PROMPTS, text="The cow", tokens=5)
    for model, text in zip(two, found.texts, strict=True):
        [*_, last] = lmviz.sample(model, "The cow", tokens=5, **options)
        assert f"The cow{text}" == last.text
    again = lmviz.before_and_after(two[0], two[0], PROMPTS, text="The cow", tokens=5)
    assert again.texts[0] == again.texts[1] == found.texts[0]
    assert not again.change.any()


def test_beginnings_are_cut_where_the_model_is_neither_lost_nor_certain(two):
    model = two[0]
    rows = np.stack([model.tokenizer.encode_prefix("The cow eats corn The bat eats").ids] * 2)
    [found] = telling_beginnings(model, rows)
    with torch.no_grad():
        sure = model(torch.from_numpy(rows[:1]))[0].softmax(-1).max(-1).values.numpy()
    wanted = min(range(3, rows.shape[1] + 1), key=lambda length: abs(float(sure[length - 1]) - 0.6))
    assert found == model.tokenizer.decode(rows[0][:wanted])


def test_sentences_of_english_are_not_put_to_a_model_without_the_words(two):
    assert not knows_words_of(two[0], FACTS)
    assert knows_words_of(two[0], ["The cow"])


def test_other_tokens_are_refused(two):
    with pytest.raises(LmvizError, match="different tokens"):
        lmviz.before_and_after(two[0], "stories-gru", PROMPTS)
